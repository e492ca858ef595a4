"""Bugs in gbs, each kept with the file that it was met on: one file may fail, and all others are reported."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.record import Final, TypeVar
from pytest_gbs.model.report import Bug

Found = TypeVar("Found")
Other = TypeVar("Other")
_LONGEST: Final = 300  # characters of what an exception says; it may hold a whole file


class Guard:
    """What failed. The one place where an exception that was not expected is caught, for one rule or one file at a time."""

    def __init__(self) -> None:
        self.bugs: list[Bug] = []

    def attempt(self, path: str, find: Callable[[], Found], otherwise: Other, code: str = "") -> Found | Other:
        """What `find` gives; if it fails, `otherwise`, and the bug is kept for the file at `path` and the rule `code`, once.

        Raises: GbsError: the settings or the call are broken, which a person must correct.
        """
        try:
            return find()
        except GbsError:
            raise
        except Exception as error:
            self.keep((Bug(f"{type(error).__name__}: {str(error)[:_LONGEST]}", path, code),))
            return otherwise

    def keep(self, bugs: tuple[Bug, ...]) -> None:
        """Keep bugs that were met elsewhere, in another process for one."""
        self.bugs += (bug for bug in bugs if bug not in self.bugs)
