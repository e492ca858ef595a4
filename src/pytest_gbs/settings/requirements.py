"""Which versions of a package the files of a repository ask for: requirements, projects, lock files, environments, images.

No file is parsed as a whole: a lock file has ten thousand lines, and one package is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pytest_gbs.frameworks.versions import between_releases, normalised, read_reference, read_specifiers
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.pins import Pin

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
SUBMODULES = ".gitmodules"


def asks_for_versions(name: str) -> bool:
    """Whether a file of this name may say which versions a repository is for."""
    return _pattern(name) is not None


def read_pins(source: Source, package: str) -> Iterator[Pin]:
    """Yield what the file says of `package`, each time with its place; what leaves every version open is left out."""
    name = source.path.rpartition("/")[2]
    if name == SUBMODULES:
        yield from _from_submodules(source, package)
    pattern = _pattern(name)
    if pattern is None or normalised(package).split("-")[0] not in source.text.lower():
        return
    for match in pattern.finditer(source.text):
        if normalised(match["name"]) != normalised(package) or _is_commented(source.text, match.start("name")):
            continue
        pin = _read(package, match["version"].strip(), name)
        if pin is not None:
            yield _placed(pin, source, match, "version")
    yield from _from_repositories(source, package, name)
    if name == "pyproject.toml":
        yield from _from_poetry(source, package)


def read_installed(source: Source, package: str) -> Iterator[Pin]:
    """Yield the exact versions of `package` that the cells of a notebook install: `!pip install trl==0.15.2`, in each case."""
    for line in _installs().finditer(source.text):
        for match in _word().finditer(source.text, *line.span("words")):
            if normalised(match["name"]) == normalised(package):
                pin = _read(package, match["version"], source.path)
                if pin is not None:
                    yield _placed(pin, source, match, "version")


def _read(package: str, text: str, name: str) -> Pin | None:
    """What `text` says in a file of this name; a lock file has the version that is installed, maybe from a commit."""
    specifier = f"=={text}" if name in LOCKS else _of_conda(text)
    return read_specifiers(package, specifier) or between_releases(package, specifier.removeprefix("=="))


def _placed(pin: Pin, source: Source, match: re.Match[str], group: str) -> Pin:
    return pin._replace(at=Location(source.path, *match.span(group)), origin=source.path)


def _from_repositories(source: Source, package: str, name: str) -> Iterator[Pin]:
    """Yield what is installed from a repository of the package: the release that a tag names, else a commit whose version is unknown.

    A lock file has its version beside it, and the main branch is the newest version, as if nothing is pinned.
    """
    if name in LOCKS:
        return
    for pattern in (_address(), _archive(), _git_table()):
        for match in pattern.finditer(source.text):
            named = match["name"] or match["egg"] or match["repository"].removesuffix(".git")
            if normalised(named) == normalised(package) and not _is_commented(source.text, match.start()):
                pin = read_reference(package, match["reference"])
                if pin is not None:
                    yield _placed(pin, source, match, "reference")


def _from_submodules(source: Source, package: str) -> Iterator[Pin]:
    """Yield the repository of the package, or a fork of it, that git keeps at one commit, which is not in the tree; with where it lies."""
    for match in _submodule().finditer(source.text):
        if normalised(match["repository"].removesuffix(".git")) == normalised(package):
            yield _placed(Pin(package, match["path"], commit=True), source, match, "path")


def _from_poetry(source: Source, package: str) -> Iterator[Pin]:
    """Yield what a line of a table says of `package`: `trl = "^0.15.2"`, `trl = { version = "0.15.2", extras = ["vllm"] }`."""
    for match in _line_of_table().finditer(source.text):
        if normalised(match["name"]) == normalised(package):
            pin = read_specifiers(package, _of_poetry(match["version"]))
            if pin is not None:
                yield _placed(pin, source, match, "version")


def _of_poetry(text: str) -> str:
    """A specifier as packages of Python write it: to Poetry `^0.15.2` is each later 0.15, and `~0.15` too."""
    caret = _caret().fullmatch(text.strip())
    if caret is None:
        return text
    numbers = [int(number) for number in caret["version"].split(".")]
    if caret["sign"] == "~":
        kept = numbers[:2]
    else:
        first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
        kept = numbers[: first + 1]
    return f">={caret['version']},<{'.'.join(map(str, (*kept[:-1], kept[-1] + 1)))}"


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
    """A specifier as packages of Python write it: to conda, `=4.40` is each release of 4.40, and a build may be behind it."""
    if text[:1] != "=" or text[1:2] == "=":
        return text
    return f"=={text[1:].partition('=')[0].strip().removesuffix('.*')}.*"


# The two lines that git writes of a submodule.
_submodule = lazy_pattern(r"(?m)^[ \t]*path = (?P<path>\S{1,200})\r?\n[ \t]*url = \S{0,300}/(?P<repository>[\w.-]{1,100})/?[ \t]*\r?$")

# `name = "trl"` with `version = "0.15.2"` on the line below, as lock files write it.
_locked = lazy_pattern(r'(?m)^name = "(?P<name>[\w.-]{1,100})"\r?\nversion = "(?P<version>[^"\n]{1,60})"')

# A requirement in quotes: `"trl[vllm]==0.15.2; python_version > '3.9'"`.
_quoted = lazy_pattern(r"""["'](?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n"']{0,200}\])?[ \t]*(?P<version>[<>=!~][^"';\n]{1,200})["';]""")

# A line of a requirements file.
_line = lazy_pattern(r"(?m)^[ \t]*(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n]{0,200}\])?[ \t]*(?P<version>[<>=!~][^;#\n\\]{1,200})")

# An item of a list in YAML: `- trl==0.15.2`, `- conda-forge::transformers=4.40`.
_item = lazy_pattern(
    r"""(?m)^[ \t]*-[ \t]+["']?(?:[\w./-]{1,100}::)?(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n]{0,200}\])?[ \t]*"""
    r"""(?P<version>[<>=!~][^;#\n"']{1,200})"""
)

# A line of a notebook's JSON that installs packages whatever holds, so one that is not indented.
_installs = lazy_pattern(
    r"""(?:"|\\n)[!%][ ]?(?:uv[ ]|[\w./]{1,40}[ ]-m[ ]){0,2}pip3?[ ]install(?P<words>[ ](?:[^"\\\n]|\\["\\])*)""", re.VERBOSE
)

# An exact version among the words of a command: `pip install trl[vllm]==0.15.2`.
_word = lazy_pattern(
    r"""(?m)(?:^|(?<=[\s"']))(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\s"']{0,200}\])?(?P<version>==[0-9][\w.+*]{0,60})(?=$|[\s"';&\\])"""
)


# The name before `@`, the commit, tag or branch behind the address, and the name in the fragment.
_NAME = r"""(?:(?<![\w.-])(?P<name>[A-Za-z][\w.-]{0,99})(?:\[[^\]\n"']{0,200}\])?[ \t]*@[ \t]*)?"""
_EGG = r"""(?:#(?:[\w=.-]{1,60}&)?egg=(?P<egg>[\w.-]{1,100}))?"""


@cache
def _address() -> re.Pattern[str]:
    """A pattern for a package from its repository: `trl @ git+https://github.com/huggingface/trl.git@019fc6d`, with or without a name."""
    where = r"""git\+[a-z]{2,5}://(?:[\w.-]{1,60}@)?(?:[\w.:~-]{1,100}/){1,6}(?P<repository>[\w.-]{1,100})"""
    return re.compile(rf"""{_NAME}{where}@(?P<reference>[\w./+-]{{1,100}}){_EGG}""")


@cache
def _archive() -> re.Pattern[str]:
    """A pattern for the archive of a commit or a tag: `trl @ https://github.com/huggingface/trl/archive/019fc6d.zip`."""
    where = r"""https://(?:[\w.-]{1,100}/){2,3}(?P<repository>[\w.-]{1,100})/archive/(?:refs/[a-z]{4,5}/)?"""
    return re.compile(rf"""{_NAME}{where}(?P<reference>[\w.+-]{{1,100}}?)\.(?:zip|tar\.gz){_EGG}""")


# The table of a source: `trl = { git = "https://github.com/huggingface/trl", rev = "019fc6d" }`.
_git_table = lazy_pattern(
    r"""(?m)^[ \t]*["']?(?P<name>[A-Za-z][\w.-]{0,99})["']?[ \t]*=[ \t]*\{(?=[^}\n]{0,300}\bgit[ \t]*=)(?P<repository>)(?P<egg>)"""
    r"""[^}\n]{0,300}?\b(?:rev|tag|branch|ref)[ \t]*=[ \t]*["'](?P<reference>[^"'\n]{1,100})"""
)

# A requirement as the value of a key.
_line_of_table = lazy_pattern(
    r"""(?m)^["']?(?P<name>[A-Za-z][\w.-]{0,99})["']?[ \t]*=[ \t]*(?:\{(?:[^}\n]{0,200}?[ \t,{])?version[ \t]*=[ \t]*)?"""
    r"""["'](?P<version>[\^~=<>!]{0,3}[ \t]*[0-9][^"'\n]{0,100})["']"""
)

# The two specifiers that only Poetry has.
_caret = lazy_pattern(r"(?P<sign>\^|~(?!=))[ \t]*(?P<version>[0-9]{1,9}(?:\.[0-9]{1,9}){0,3})")
