"""The training frameworks: one table each (`*.toml`), found by listing this folder, built when a recipe of theirs is met."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pytest_gbs.core.document import Document
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.plugins import prebuilt
from pytest_gbs.core.typed import Final, NamedTuple
from pytest_gbs.frameworks._notation import Raw, expand
from pytest_gbs.frameworks._recognition import Entry, Index, Recogniser, build, from_json

_FOLDER: Final = Path(__file__).parent


class Described(NamedTuple):
    """How all tables are recognised, and the plain description of each by the name of its file and its number there."""

    index: Index
    texts: dict[tuple[str, int], str]


@cache
def tables() -> tuple[Framework, ...]:
    """Return the tables of all frameworks, built."""
    return tuple(table for _, _, table in named_tables())


def named_tables() -> Iterator[tuple[str, int, Framework]]:
    """Yield each table with the name of its file and its number there."""
    for name, number in _described().texts:
        yield name, number, _built(name, number)


def titles() -> tuple[str, ...]:
    """Return the titles of all tables, none of them built."""
    return tuple(entry.title for entry in _described().index.entries)


def hints() -> tuple[str, ...]:
    """Return words of which at least one occurs in the text of every recipe."""
    return _described().index.hints


def recognise(document: Document, program: str = "") -> Framework | None:
    """Return the table that `document` is a recipe of, or None where it is no recipe that any table knows.

    Where `program` is the path of the program that reads it, its words count as nearer than those of the document's own path.
    """
    return _recogniser().recognise(document, program)


@cache
def description(name: str) -> Raw | None:
    """Return what `name`.toml of this folder says, shared parts (`_trl`) included; None where there is no such file."""
    import tomllib

    path = _FOLDER / f"{name}.toml"
    if not name.replace("_", "").isalnum() or not path.is_file():
        return None
    return tomllib.loads(path.read_text(encoding="utf-8"))


def plain_descriptions() -> Iterator[tuple[str, int, Raw]]:
    """Yield the plain description of each table, nothing in it inherited or abbreviated, with the name of its file and its number there."""
    names = sorted(path.stem for path in _FOLDER.glob("[!_]*.toml"))
    for name in names:
        for number, raw in enumerate(expand(description(name) or {}, description)):
            yield name, number, raw


@cache
def _recogniser() -> Recogniser:
    return Recogniser(_described().index, lambda entry: _built(entry.name, entry.number))


@cache
def _built(name: str, number: int) -> Framework:
    from pytest_gbs.frameworks._building import build_framework

    return build_framework(json.loads(_described().texts[name, number]), name, "")


@cache
def _described() -> Described:
    """Return all tables as they were written down when the package was built, or, where one has changed since, from the tables."""
    lines = prebuilt("frameworks", (str(_FOLDER),))
    return _from_lines(lines) if lines is not None else _from_tables()


def _from_lines(lines: list[str]) -> Described:
    index = from_json(json.loads(lines[0]))
    return Described(index, {(entry.name, entry.number): text for entry, text in zip(index.entries, lines[1:], strict=True)})


def _from_tables() -> Described:
    from pytest_gbs.frameworks._building import build_framework

    found = tuple(plain_descriptions())
    index = build((name, number, build_framework(raw, name, "")) for name, number, raw in found)
    return Described(index, {(name, number): json.dumps(raw) for name, number, raw in found})


def index_lines() -> list[str]:
    """Return what is written down when the package is built: how tables are recognised, then the plain description of each."""
    index, texts = _from_tables()
    return [json.dumps(index), *texts.values()]


__all__ = ["Entry", "description", "hints", "index_lines", "named_tables", "plain_descriptions", "recognise", "tables", "titles"]
