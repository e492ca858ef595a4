"""Which versions of a package the files of a repository ask for: requirements, pyproject.toml, and lock files.

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
    return name in (*LOCKS, "pyproject.toml") or (name.startswith("requirements") and name.endswith(".txt"))


def read_pins(source: Source, package: str) -> Iterator[Pin]:
    """Yield what the file says of `package`, each time with its place; what leaves every version open is left out."""
    name = source.path.rpartition("/")[2]
    if normalised(package).split("-")[0] not in source.text.lower():
        return
    pattern = _locked() if name in LOCKS else _quoted() if name.endswith(".toml") else _line()
    for match in pattern.finditer(source.text):
        if normalised(match["name"]) != normalised(package):
            continue
        text = match["version"].strip()
        pin = read_specifiers(package, f"=={text}" if name in LOCKS else text)
        if pin is not None:
            start, stop = match.span("version")
            yield pin._replace(at=Location(source.path, start, stop), origin=source.path)


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
