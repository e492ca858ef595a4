"""Bugs of ours, each kept with the file that it was met on: one file may fail, and all others are reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from pytest_gbs.model.errors import GbsError

Found = TypeVar("Found")
_LONGEST: Final = 300  # characters of what an exception says; it may hold a whole file


class Guard:
    """What failed, by file. The one place where an exception that nobody expected is caught."""

    __slots__ = ("bugs",)

    def __init__(self) -> None:
        self.bugs: dict[str, list[str]] = {}

    def attempt(self, path: str, find: Callable[[], Found], otherwise: Found, within: str = "") -> Found:
        """Return what `find` gives; where that fails, note it as an internal error on the file at `path` and return `otherwise`.

        `within` says where it failed, if that is known: the code of a rule.

        Raises: GbsError: the settings or the call are broken, which a person must mend.
        """
        try:
            return find()
        except GbsError:
            raise
        except Exception as error:
            where = f" in {within}" if within else ""
            self.note(path, f"internal error{where} on {path}: {type(error).__name__}: {str(error)[:_LONGEST]}")
            return otherwise

    def note(self, path: str, bug: str) -> None:
        """Keep a bug that was met on the file at `path`, once."""
        known = self.bugs.setdefault(path, [])
        if bug not in known:
            known.append(bug)
