"""A launch as a script has it, before the recipe that it runs is read."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import EnvironmentValue, Script, Word, Written
from pytest_gbs.model.document import DOCUMENTS, NOTEBOOK
from pytest_gbs.model.launch import Kind, Launch, Start
from pytest_gbs.model.record import NamedTuple

_TESTS: Final = frozenset(("tests", "test", "ci", ".github"))


class FoundLaunch(NamedTuple):
    """A launch as a script has it: what it starts, the files it names that may be recipes, and the program's own file.

    `template` is true if a recipe is named by an unknown variable, and `candidates` are the files that it may name
    then; `missing` is true if the tree has no such file. `written` are those that the script writes itself, each with
    the word that names it. `environment` holds the variables that the script sets.
    """

    launch: Launch
    start: Start
    script: Script
    recipes: tuple[tuple[str, Word], ...]
    program: str | None
    template: bool
    missing: bool
    candidates: tuple[str, ...] = ()
    environment: tuple[EnvironmentValue, ...] = ()
    written: tuple[tuple[Written, Word], ...] = ()


def kind_in(path: str) -> str:
    """The kind of the launches in the file at `path`."""
    if not _TESTS.isdisjoint(path.lower().split("/")[:-1]):
        return Kind.TEST
    return Kind.DOCUMENT if path.lower().endswith((*DOCUMENTS, NOTEBOOK)) else Kind.SCRIPT
