"""What a program may take from beyond its own file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pytest_gbs.model.limits import MOST_COMPOSED
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable
from pytest_gbs.model.record import NamedTuple

Read: TypeAlias = Callable[[str], Source | Unreadable]
"""Gives the file at a path of the repository."""


def _missing(path: str) -> Source | Unreadable:
    return Unreadable(path, "no such file")


class ProgramContext(NamedTuple):
    """What a program may take from beyond its own file; by default, nothing.

    `in_folder` gives the paths of the files in a folder; `given_by_hydra` what Hydra makes of the file of a name in a folder, as plain
    data, and the places of what the command line gives of it, None if that is unknown; `has_table` says whether a table is for the class
    of a name, as it is imported; `set_by_arguments` which keys the arguments of a library's function set of what it returns;
    `most_composed` how many values a configuration may include from others.
    """

    read: Read = _missing
    in_folder: Callable[[str], Iterable[str]] = lambda _: ()
    given_by_hydra: Callable[[str, str], tuple[dict[Any, Any], dict[KeyPath, Location]] | None] = lambda *_: None
    has_table: Callable[[str], bool] = lambda _: False
    set_by_arguments: Callable[[str], Mapping[str, KeyPath]] = lambda _: {}
    most_composed: Callable[[], int] = lambda: MOST_COMPOSED
