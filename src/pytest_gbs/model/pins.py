"""Which versions of a package a repository may mean."""

from __future__ import annotations

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple, TypeAlias

Version: TypeAlias = tuple[int, ...]


class Pin(NamedTuple):
    """The versions of a package that a repository may mean: from `low` on, and before `high`; None if that is open.

    `exact` is true if it is one version, `low`. With `commit` it is one state of the source between these, not a release: each of
    them may be meant, and not rather the newest. `text` says so as it is at `at`, or in the settings that `origin` names.
    """

    package: str
    text: str
    low: Version | None = None
    high: Version | None = None
    exact: bool = False
    at: Location | None = None
    origin: str = ""
    commit: bool = False


class Evidence(NamedTuple):
    """A `text` that is in `file` of a copy of the package if, and only if, that copy does what a table says; white space does not count."""

    file: str
    text: str
