"""The table files of this folder, as TOML gives them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from os import listdir
from pathlib import Path

from pytest_gbs.files.plugins import read_beside
from pytest_gbs.frameworks._building import build_framework
from pytest_gbs.frameworks._notation import Raw, expand
from pytest_gbs.model.framework import Framework


@cache
def description(name: str) -> Raw | None:
    """What `name`.toml says, a shared part (`_trl`) too; None if there is no such file."""
    from pytest_gbs.files.toml import tomllib

    plain = name.replace("_", "").isalnum()
    data = read_beside("pytest_gbs.frameworks", f"{name}.toml") if plain else None
    return None if data is None else tomllib.loads(data.decode("utf-8"))


def names() -> list[str]:
    """The names of all files, those of shared parts, which start with an underscore, too."""
    return sorted(name.removesuffix(".toml") for name in listdir(Path(__file__).parent) if name.endswith(".toml"))


def built_in() -> Iterator[tuple[str, int, Framework]]:
    """Yield each table, built, with the name of its file and its number there."""
    for name in names():
        if not name.startswith("_"):
            for number, plain in enumerate(expand(description(name) or {}, description)):
                yield name, number, build_framework(plain.raw, name, "")
