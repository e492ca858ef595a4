"""Which versions of a package the files of a repository ask for: requirements, projects, lock files, environments, images.

No file is parsed as a whole: a lock file has ten thousand lines, and one package is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pytest_gbs.frameworks.versions import normalised, read_specifiers
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pins import Pin

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")


def asks_for_versions(name: str) -> bool:
    """Whether a file of this name may say which versions a repository is for."""
    return _pattern(name) is not None


def read_pins(source: Source, package: str) -> Iterator[Pin]:
    """Yield what the file says of `package`, each time with its place; what leaves every version open is left out."""
    name = source.path.rpartition("/")[2]
    pattern = _pattern(name)
    if pattern is None or normalised(package).split("-")[0] not in source.text.lower():
        return
    for match in pattern.finditer(source.text):
        if normalised(match["name"]) != normalised(package) or _is_commented(source.text, match.start("name")):
            continue
        text = match["version"].strip()
        pin = read_specifiers(package, f"=={text}" if name in LOCKS else _of_conda(text))
        if pin is not None:
            start, stop = match.span("version")
            yield pin._replace(at=Location(source.path, start, stop), origin=source.path)


def _pattern(name: str) -> re.Pattern[str] | None:
    """The pattern of requirements in a file of this name; None if it has none."""
    if name in LOCKS:
        return _locked()
    if name in ("pyproject.toml", "setup.py"):
        return _quoted()
    if name == "setup.cfg" or (name.startswith("requirements") and name.endswith(".txt")):
        return _line()
    if name.startswith(("environment", "conda")) and name.endswith((".yml", ".yaml")):
        return _item()
    return _word() if name.startswith("Dockerfile") or name.endswith(".dockerfile") else None


def _is_commented(text: str, at: int) -> bool:
    """Whether the line around `at` is a comment."""
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


def _of_conda(text: str) -> str:
    """A specifier as packages of Python write it: to conda, `=4.40` is each release of 4.40, and a build may stand behind it."""
    if text[:1] != "=" or text[1:2] == "=":
        return text
    return f"=={text[1:].partition('=')[0].strip().removesuffix('.*')}.*"


@cache
def _locked() -> re.Pattern[str]:
    """A pattern for `name = "trl"` with `version = "0.15.2"` on the line below, as lock files write it."""
    return re.compile(r'(?m)^name = "(?P<name>[\w.-]{1,100})"\r?\nversion = "(?P<version>[^"\n]{1,60})"')


@cache
def _quoted() -> re.Pattern[str]:
    """A pattern for a requirement in quotes: `"trl[vllm]==0.15.2; python_version > '3.9'"`."""
    return re.compile(r"""["'](?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n"']{0,200}\])?[ \t]*(?P<version>[<>=!~][^"';\n]{1,200})["';]""")


@cache
def _line() -> re.Pattern[str]:
    """A pattern for a line of a requirements file."""
    return re.compile(r"(?m)^[ \t]*(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n]{0,200}\])?[ \t]*(?P<version>[<>=!~][^;#\n\\]{1,200})")


@cache
def _item() -> re.Pattern[str]:
    """A pattern for an item of a list in YAML: `- trl==0.15.2`, `- conda-forge::transformers=4.40`."""
    return re.compile(
        r"""(?m)^[ \t]*-[ \t]+["']?(?:[\w./-]{1,100}::)?(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n]{0,200}\])?[ \t]*"""
        r"""(?P<version>[<>=!~][^;#\n"']{1,200})"""
    )


@cache
def _word() -> re.Pattern[str]:
    """A pattern for an exact version among the words of a command: `pip install trl[vllm]==0.15.2`."""
    return re.compile(
        r"""(?m)(?:^|(?<=[\s"']))(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\s"']{0,200}\])?(?P<version>==[0-9][\w.+*]{0,60})(?=$|[\s"';&\\])"""
    )
