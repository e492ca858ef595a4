"""Versions of libraries: what comes before what, which of them a repository may mean, and what a framework is at these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Constraint, Era, Framework, KeyChoice, Switch
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.pins import Evidence, Pin, Version

# Whether a copy of the framework has one of the pieces of evidence, None if none of their files is in it.
Says: TypeAlias = Callable[[tuple[Evidence, ...]], "bool | None"]
_Evident = TypeVar("_Evident", Constraint, KeyChoice)
_Check = TypeVar("_Check", Equation, Constraint, KeyChoice, Switch)

_SHORT_COMMIT: Final = 7  # letters
_MAIN: Final = ("main", "master", "HEAD")  # what such a reference means is the newest version
# What of a table says in which versions it holds.
_DATED: Final = ("rows", "equations", "constraints", "exclusions", "requirements")
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


def read_reference(package: str, reference: str) -> Pin | None:
    """What a tag of the repository says (`v0.15.2`), of a commit or a branch that any version may be meant; None for the main branch."""
    if reference in _MAIN:
        return None
    release = read_specifiers(package, f"=={reference.removeprefix('v')}") if _tag().fullmatch(reference) else None
    return release or Pin(package, reference, commit=True)


def between_releases(package: str, text: str) -> Pin | None:
    """The releases between which a commit lies that calls itself `0.16.0.dev0`; None if `text` is another version."""
    match = _development().fullmatch(text)
    version = parse_version(match["version"]) if match else None
    if version is None:
        return None
    last = version[-1]
    low = (*version[:-1], last - 1) if last and len(version) > 1 else None
    return Pin(package, text, low, version, commit=True)


def _short(reference: str) -> str:
    """A commit as Git shortens it, a branch as it is."""
    return reference[:_SHORT_COMMIT] if _commit().fullmatch(reference) else reference


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
    spans = [(each.since, each.until) for field in _DATED for each in getattr(framework, field)]
    bounds = {version: text for both in spans for text in both if text and (version := parse_version(text))}
    eras = tuple(Era(bounds[version], _before(framework, version), evidence=_ended(framework, version)) for version in sorted(bounds))
    return _before(framework, None)._replace(eras=eras) if eras else framework


def _before(framework: Framework, bound: Version | None) -> Framework:
    """`framework` with what holds right before version `bound`; None: in the newest version."""

    def holds(since: str | None, until: str | None) -> bool:
        first, last = parse_version(since or ""), parse_version(until or "")
        if bound is None:
            return last is None
        return (first is None or first < bound) and (last is None or last >= bound)

    left: dict[str, Any] = {field: tuple(each for each in getattr(framework, field) if holds(each.since, each.until)) for field in _DATED}
    return framework._replace(**left)


def _ended(framework: Framework, bound: Version) -> tuple[Evidence, ...]:
    """What the source of a copy says if it has keys that version `bound` has no longer."""
    return tuple(piece for each in framework.rows if parse_version(each.until or "") == bound for piece in each.evidence)


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


_package = lazy_pattern(r"[A-Za-z][\w.-]{0,60}")


def in_any_version(framework: Framework, pin: Pin | None, set_keys: frozenset[KeyPath]) -> Framework:
    """`framework` as `at_version` has it, each of its checks that an older version of `pin` does not have with the doubt that follows.

    `set_keys` are the keys of sizes in the recipe: it is not for an older version which does not know one that `framework` knows.
    """
    newest = at_version(framework, pin)
    older = list(_older(framework, newest, (pin.low if pin else None) or (), set_keys))
    if not older:
        return newest
    tables = [(era.until, era.table) for era in older]
    checks = [(until, table.constraints) for until, table in tables]
    dropped = tuple(_dropped(newest.constraints, checks)) if pin is not None and pin.commit else ()
    return _with_doubted_switches(newest, older)._replace(
        commit=_short(pin.text) if pin is not None and pin.commit else "",
        equations=tuple(_doubted_equations(newest, older, set_keys)),
        constraints=(*_doubted(newest.constraints, checks), *dropped),
        exclusions=tuple(_doubted(newest.exclusions, [(until, table.exclusions) for until, table in tables])),
        requirements=tuple(_doubted(newest.requirements, [(until, table.requirements) for until, table in tables])),
    )


def in_unknown_version(framework: Framework, set_keys: frozenset[KeyPath]) -> Framework:
    """`framework` as it is now, its switches with doubt if an older version does not have them.

    Its checks have none: what is said of them names the version since which they are made.
    """
    return _with_doubted_switches(framework, list(_older(framework, framework, (), set_keys)))


def _with_doubted_switches(framework: Framework, older: list[Era]) -> Framework:
    """`framework` with the doubt of switches that one of the `older` eras does not have."""
    return framework._replace(switches=tuple(_doubted(framework.switches, [(era.until, era.table.switches) for era in older])))


def _older(framework: Framework, newest: Framework, low: Version, set_keys: frozenset[KeyPath]) -> Iterator[Era]:
    """Yield the eras before `newest`, from version `low` on, that know all of the `set_keys`."""
    for era in _own_eras(framework):
        if era.table is newest:
            return
        unknown = (set_keys & _keys(framework)) - _keys(era.table)
        if low < (parse_version(era.until) or ()) and not unknown:
            yield era


def of_every_trainer(framework: Framework) -> Framework:
    """`framework` without the checks that its trainers make, now or in some of the versions that may be meant."""
    older = [era.table.constraints for era in _own_eras(framework)]
    return framework._replace(
        constraints=tuple(
            each
            for each in framework.constraints
            if not each.by_trainer and not each.doubt and not any(_by_trainers(checks, each.rule) for checks in older)
        )
    )


def _by_trainers(checks: tuple[Constraint, ...], rule: str) -> bool:
    """Whether trainers make those of the `checks` that `rule` reports."""
    found = [each for each in checks if each.rule == rule]
    return bool(found) and all(each.by_trainer for each in found)


def undated(framework: Framework) -> Framework:
    """`framework`, whose version is known, without the words since when it does what it does, and without what it was before."""
    return framework._replace(
        eras=tuple(era for era in framework.eras if era.package),
        equations=tuple(each if each.doubt else each._replace(since=None) for each in framework.equations),
        constraints=tuple(each._replace(since=None) for each in framework.constraints),
        exclusions=tuple(each._replace(since=None) for each in framework.exclusions),
        requirements=tuple(each._replace(since=None) for each in framework.requirements),
    )


def _doubted(checks: tuple[_Check, ...], older: list[tuple[str, tuple[_Check, ...]]]) -> Iterator[_Check]:
    """Yield `checks`, those that an era does not have with the newest version before which that is so."""
    for check in checks:
        until = next((until for until, had in reversed(older) if not any(_same(check, each) for each in had)), None)
        yield check if until is None else check._replace(doubt=f"before {until} it does not check this")


def _dropped(newest: tuple[Constraint, ...], older: list[tuple[str, tuple[Constraint, ...]]]) -> Iterator[Constraint]:
    """Yield what only `older` eras check, each once, with the version before which that is so."""
    seen = list(newest)
    for until, checks in reversed(older):
        for check in checks:
            if not any(_same(check, each) for each in seen):
                seen.append(check)
                yield check._replace(only_before=until)


def _doubted_equations(newest: Framework, older: list[Era], set_keys: frozenset[KeyPath]) -> Iterator[Equation]:
    """Yield the equations, with doubt if an era has another one for the size, or takes one of its sizes from another of the `set_keys`."""
    for each in newest.equations:
        until = next((era.until for era in reversed(older) if _computes_otherwise(each, newest, era.table, set_keys)), None)
        yield each if until is None else each._replace(doubt=f"before {until} it computes this otherwise")


def _computes_otherwise(equation: Equation, newest: Framework, older: Framework, set_keys: frozenset[KeyPath]) -> bool:
    moved = {row.name for row in older.rows if row.key in set_keys - _keys(newest)}
    return bool(moved & set(equation.names)) or not any(_same(equation, each) for each in older.equations)


def _same(one: _Check, other: _Check) -> bool:
    """Whether two versions check the same, wherever that was read."""
    return _bare(one) == _bare(other)


def _bare(check: _Check) -> _Check:
    """`check` without where it was read, and by which of its classes the framework makes it."""
    return check._replace(source="", by_trainer=False) if isinstance(check, Constraint) else check._replace(source="")


def _own_eras(framework: Framework) -> Iterator[Era]:
    return (era for era in framework.eras if not era.package)


def _keys(framework: Framework) -> frozenset[KeyPath]:
    return frozenset(row.key for row in framework.rows)


def in_copy(framework: Framework, pin: Pin | None, set_keys: frozenset[KeyPath], says: Says) -> Framework:
    """`framework` as a copy of it has it: by the evidence in its source, and by its version `pin` if none is known."""
    eras = tuple(era for era in framework.eras if not era.evidence or says(era.evidence) is not False)
    by_evidence = next((era.table for era in eras if era.evidence and says(era.evidence)), None)
    found = by_evidence or in_any_version(framework._replace(eras=eras), pin, set_keys)
    return found._replace(
        constraints=tuple(_in_copy(framework.constraints, found.constraints, says)),
        exclusions=tuple(_in_copy(framework.exclusions, found.exclusions, says)),
        requirements=tuple(_in_copy(framework.requirements, found.requirements, says)),
    )


def _in_copy(newest: tuple[_Evident, ...], checks: tuple[_Evident, ...], says: Says) -> Iterator[_Evident]:
    """Yield those of the `newest` checks for which a copy has the evidence, and of the `checks` of its version those without any."""
    for check in newest:
        answer = says(check.evidence) if check.evidence else False
        if answer is None:
            yield check._replace(doubt="the copy in this repository may not check this")
        elif answer:
            yield check
    yield from (check for check in checks if not check.evidence)


_release = lazy_pattern(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})(?:\.?post[0-9]{1,9})?(?:\+[\w.]{1,60})?")
_specifier = lazy_pattern(r"(?P<sign>===?|[<>]=?|~=|!=)?\s*(?P<version>[0-9][^\s,*]{0,60}?)(?P<rest>\.\*)?")
_tag = lazy_pattern(r"v?[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}(?:\.?post[0-9]{1,9})?")
_development = lazy_pattern(r"(?P<version>[0-9]{1,9}(?:\.[0-9]{1,9}){1,4})\.?dev[0-9]{0,9}(?:\+[\w.]{1,60})?")
_commit = lazy_pattern(r"[0-9a-f]{40}")
