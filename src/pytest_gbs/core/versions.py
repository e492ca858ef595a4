"""Versions of libraries: what comes before what, and which of them a repository may mean."""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.core.framework import Framework
from pytest_gbs.core.location import Location
from pytest_gbs.core.typed import NamedTuple, TypeAlias

Version: TypeAlias = tuple[int, ...]


class Pin(NamedTuple):
    """The one version of a library that a repository is for, and what says so: a place in a file, or words."""

    package: str
    text: str
    version: Version
    at: Location | None = None
    origin: str = ""


def parse_version(text: str) -> Version | None:
    """Return the release numbers of a version (`4.57.1` is (4, 57, 1)), or None where it is none; letters behind them do not count."""
    match = _release().match(text.strip())
    if match is None:
        return None
    numbers = [int(part) for part in match[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def is_preview(text: str) -> bool:
    """Return whether a version comes before the release whose numbers it has: `5.0.0rc1`, `0.16.0.dev0`."""
    return _preview().search(text) is not None


def normalised(package: str) -> str:
    """Return the name of a package as indexes compare it: `Hugging_Face.hub` is `hugging-face-hub`."""
    return re.sub(r"[-_.]+", "-", package).lower()


def within(version: Version, since: str | None, until: str | None) -> bool:
    """Return whether something that holds from `since` on and no longer at `until` holds at `version`."""
    low, high = parse_version(since or ""), parse_version(until or "")
    return (low is None or version >= low) and (high is None or version < high)


@cache
def at_version(framework: Framework, version: Version | None) -> Framework:
    """Return `framework` as it is at `version` of its package; None, which nobody states, is the newest."""

    def holds(since: str | None, until: str | None) -> bool:
        return until is None if version is None else within(version, since, until)

    rows = tuple(row for row in framework.rows if holds(row.since, row.until))
    equations = tuple(equation for equation in framework.equations if holds(equation.since, equation.until))
    constraints = tuple(constraint for constraint in framework.constraints if holds(constraint.since, constraint.until))
    if (rows, equations, constraints) == (framework.rows, framework.equations, framework.constraints):
        return framework
    return framework._replace(rows=rows, equations=equations, constraints=constraints)


@cache
def _release() -> re.Pattern[str]:
    return re.compile(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})(?![0-9])")


@cache
def _preview() -> re.Pattern[str]:
    return re.compile(r"(?i)[0-9][._-]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?[0-9]*")
