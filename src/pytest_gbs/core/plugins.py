"""Finding the plug-ins of a package: whatever files lie in its folder, so that adding one is adding a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import listdir, scandir
from pathlib import Path

from pytest_gbs.core.typed import Any, Final

# Where the indexes lie that are made when the package is built (tools/build_indexes.py); the folder is in no repository.
PREBUILT: Final = Path(__file__).resolve().parents[1] / "_prebuilt"


def module(name: str) -> Any:
    """Return module `name`, imported: `importlib.import_module` without its package, which nothing else needs at start-up."""
    __import__(name)
    return sys.modules[name]


def modules(package: str, search: Sequence[str]) -> tuple[Any, ...]:
    """Return the modules of `package`, by name, but for those that start with an underscore.

    `search` is the package's `__path__`; where it is no folder (a zipped package) the import system is asked.
    """
    names = sorted(name for name in _names(search) if not name.startswith("_"))
    return tuple(module(f"{package}.{name}") for name in names)


def _names(search: Sequence[str]) -> set[str]:
    try:
        return {name.removesuffix(".py") for folder in search for name in listdir(folder) if name.endswith(".py")}
    except OSError:
        from pkgutil import iter_modules  # takes inspect along: several milliseconds

        return {found.name for found in iter_modules(search)}


def digest_of(search: Sequence[str]) -> str:
    """Return a checksum of the code and the tables in the folders of a package, "" where they are no folders."""
    from zlib import crc32

    found = 0
    try:
        for folder in search:
            for entry in sorted(scandir(folder), key=lambda entry: entry.name):
                if entry.name.endswith((".py", ".toml")):
                    with open(entry.path, "rb") as file:  # noqa: PTH123 - a Path for each of a hundred files costs more than reading them
                        found = crc32(file.read(), crc32(entry.name.encode(), found))
    except OSError:
        return ""
    return f"{found:08x}"


def prebuilt(name: str, search: Sequence[str]) -> list[str] | None:
    """Return the lines of index `name` that was made of the plug-ins in `search`, so that none need be loaded.

    None where there is no such index, or where a file has changed since: the plug-ins themselves are looked at then, which is slower
    and just as right.
    """
    try:
        first, *lines = (PREBUILT / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return lines if first == digest_of(search) else None


def write_prebuilt(name: str, search: Sequence[str], lines: Sequence[str]) -> None:
    """Write index `name` of the plug-ins in `search`, a JSON text in each line."""
    PREBUILT.mkdir(exist_ok=True)
    text = "\n".join((digest_of(search), *lines))
    (PREBUILT / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="\n")
