"""Recognising with the tables of a user's own frameworks, which come before the built-in ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_gbs.files.globs import matches_any
from pytest_gbs.frameworks import called, hints, recognise
from pytest_gbs.frameworks._recognition import Recogniser, build
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.program import NO_PROGRAM, Program

Recognise: TypeAlias = Callable[[Document, Program], Framework | None]


def recogniser(extra: tuple[Framework, ...]) -> Recognise:
    """A function like `recognise` for which the tables `extra` come first."""
    if not extra:
        return recognise
    fitting: dict[tuple[int, ...], Recogniser] = {}

    def recognise_own(document: Document, program: Program = NO_PROGRAM) -> Framework | None:
        path = document.source.path
        chosen = tuple(n for n, table in enumerate(extra) if _has_file(table, path))
        if chosen not in fitting:
            index = build(("", number, extra[number]) for number in chosen)
            fitting[chosen] = Recogniser(index, lambda entry: extra[entry.number])
        return fitting[chosen].recognise(document, program) or recognise(document, program)

    return recognise_own


def words(extra: tuple[Framework, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words of which one occurs in the text of every recipe, and of every program with one, those of the tables `extra` too."""
    if not extra:
        return hints(), called()
    own = build(("", number, table) for number, table in enumerate(extra))
    return (*hints(), *own.hints), (*called(), *own.called)


def _has_file(table: Framework, path: str) -> bool:
    return not table.recognition.files or matches_any(path, table.recognition.files)
