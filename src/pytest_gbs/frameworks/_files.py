"""The table files of this folder, as TOML gives them. In a wheel all are one file, since pytest looks at each when it starts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from os import listdir
from pathlib import Path
from re import split
from typing import Final

from pytest_gbs.files.plugins import PREBUILT, read_beside
from pytest_gbs.files.toml import tomllib
from pytest_gbs.frameworks._building import build_framework
from pytest_gbs.frameworks._notation import Raw, expand
from pytest_gbs.model.framework import Framework

PACKED: Final = "tables.txt"
_HEADING: Final = "######## {}.toml\n"


@cache
def description(name: str) -> Raw | None:
    """What `name`.toml says, a shared part (`_trl`) too; None if there is no such file."""
    text = _texts().get(name)
    return None if text is None else tomllib.loads(text)


def names() -> list[str]:
    """The names of all files, those of shared parts, which start with an underscore, too."""
    return sorted(_texts())


def packed() -> str:
    """All files as the one of a wheel, each below a line with its name."""
    return "".join(_HEADING.format(name) + _texts()[name] for name in names())


@cache
def _texts() -> dict[str, str]:
    """The text of each file by its name."""
    data = read_beside("pytest_gbs", f"{PREBUILT}/{PACKED}")
    if data is not None:
        _, *parts = split("(?m)^" + _HEADING.format(r"(\w+)"), data.decode("utf-8"))
        return dict(zip(parts[::2], parts[1::2], strict=True))
    found = Path(__file__).parent
    return {name.removesuffix(".toml"): (found / name).read_text("utf-8") for name in listdir(found) if name.endswith(".toml")}


def built_in() -> Iterator[tuple[str, int, Framework]]:
    """Yield each table, built, with the name of its file and its number there."""
    for name in names():
        if not name.startswith("_"):
            for number, plain in enumerate(expand(description(name) or {}, description)):
                yield name, number, build_framework(plain.raw, name, "")
