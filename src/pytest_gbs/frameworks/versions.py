"""Versions of libraries: what comes before what, which of them a repository may mean, and what a framework is at these."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_gbs.model.framework import Era, Framework
from pytest_gbs.model.pins import Pin, Version

_BEHIND: Final = (0,)  # what makes a version the next one after itself


def parse_version(text: str) -> Version | None:
    """The numbers of a release (`4.57.1` is (4, 57, 1)) without zeros at the end, or None where `text` is none."""
    numbers = _numbers(text)
    if numbers is None:
        return None
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _numbers(text: str) -> list[int] | None:
    """The numbers of a release as written, None where `text` is none; `.post1` and `+cu118` behind them are not among them."""
    match = _release().fullmatch(text.strip())
    return [int(part) for part in match[1].split(".")] if match is not None else None


def read_specifiers(package: str, text: str) -> Pin | None:
    """What version specifiers say (`==0.15.2`, `>=0.14,<0.15`, `~=0.14.0`, `0.15`), or None if they say nothing.

    A version before a release (`5.0.0rc1`, `0.16.0.dev0`) and everything that is not understood says nothing.
    """
    low: Version | None = None
    high: Version | None = None
    exact = False
    for part in text.split(","):
        match = _specifier().fullmatch(part.strip())
        version = parse_version(match["version"]) if match else None
        if match is None or version is None:
            return None
        sign, open_ended = match["sign"] or "==", match["rest"] is not None
        if sign in ("==", "===") and not open_ended:
            low, high, exact = version, (*version, *_BEHIND), True
        elif sign in ("~=", "=="):
            numbers = tuple(_numbers(match["version"]) or ())
            kept = numbers if open_ended else numbers[:-1]
            if not kept:
                return None
            low, high = _later(low, version), _earlier(high, (*kept[:-1], kept[-1] + 1))
        elif sign in (">", ">="):
            low = _later(low, version if sign == ">=" else (*version, *_BEHIND))
        elif sign in ("<", "<="):
            high = _earlier(high, version if sign == "<" else (*version, *_BEHIND))
    return Pin(package, text.strip(), low, high, exact) if low or high else None


def _later(known: Version | None, other: Version) -> Version:
    return other if known is None else max(known, other)


def _earlier(known: Version | None, other: Version) -> Version:
    return other if known is None else min(known, other)


def normalised(package: str) -> str:
    """The name of a package as indexes compare it: `Hugging_Face.hub` is `hugging-face-hub`."""
    return re.sub(r"[-_.]+", "-", package).lower()


def in_eras(framework: Framework) -> Framework:
    """`framework`, whose rows, equations and constraints say in which versions they hold, as it is now and as it was before.

    The newest version is the table itself, since that is what a recipe is for if it is not stated; older ones are its `eras`.
    """
    told = [(each.since, each.until) for each in framework.rows]
    told += [(each.since, each.until) for each in framework.equations]
    told += [(each.since, each.until) for each in framework.constraints]
    bounds = {version: text for both in told for text in both if text and (version := parse_version(text))}
    eras = tuple(Era(bounds[version], _before(framework, version)) for version in sorted(bounds))
    return _before(framework, None)._replace(eras=eras) if eras else framework


def _before(framework: Framework, bound: Version | None) -> Framework:
    """`framework` with what holds right before version `bound`; None: in the newest version."""

    def holds(since: str | None, until: str | None) -> bool:
        first, last = parse_version(since or ""), parse_version(until or "")
        if bound is None:
            return last is None
        return (first is None or first < bound) and (last is None or last >= bound)

    return framework._replace(
        rows=tuple(each for each in framework.rows if holds(each.since, each.until)),
        equations=tuple(each for each in framework.equations if holds(each.since, each.until)),
        constraints=tuple(each for each in framework.constraints if holds(each.since, each.until)),
    )


def at_version(framework: Framework, pin: Pin | None, package: str = "") -> Framework:
    """`framework` as it is at the newest version that `pin` allows; as it is now, if it is not stated.

    `package` is the one that `pin` is about, where that is not the framework's own.
    """
    if pin is None:
        return framework
    eras = (era for era in framework.eras if era.package == package)
    return next((era.table for era in eras if not era.until or (pin.high and pin.high <= (parse_version(era.until) or ()))), framework)


def parse_bound(text: str) -> tuple[str, str] | None:
    """The package and the version of `2.0`, `acme 2.0` and `acme`, each "" where it is not named; None where `text` is none of them."""
    package, _, version = text.strip().rpartition(" ")
    if parse_version(version) is not None:
        return normalised(package), version
    return (normalised(version), "") if not package and _package().fullmatch(version) else None


@cache
def _package() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z][\w.-]{0,60}")


@cache
def _release() -> re.Pattern[str]:
    return re.compile(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})(?:\.?post[0-9]{1,9})?(?:\+[\w.]{1,60})?")


@cache
def _specifier() -> re.Pattern[str]:
    return re.compile(r"(?P<sign>===?|[<>]=?|~=|!=)?\s*(?P<version>[0-9][^\s,*]{0,60}?)(?P<rest>\.\*)?")
