"""The rules: one file each, found by listing this folder, loaded when there is something for them to judge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from pytest_gbs.core.outcome import Outcome
from pytest_gbs.core.plugins import module, modules, prebuilt
from pytest_gbs.core.rule import Rule
from pytest_gbs.core.typed import Any, NamedTuple


class Entry(NamedTuple):
    """What is told of a rule without loading it: all but its check, its manual and its examples."""

    module: str
    code: str
    name: str
    scope: str
    summary: str
    severity: str
    default: bool
    since: str
    frameworks: tuple[str, ...]
    needs: str


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, by code, without manual and examples; its module is loaded when it is first asked to check something."""
    written = prebuilt("rules", __path__)
    return tuple(map(_light, entries() if written is None else map(Entry._make, written)))


@cache
def manuals() -> tuple[Rule, ...]:
    """Return every rule, by code, whole: its manual is its module's docstring."""
    found = [each.RULE._replace(manual=each.__doc__ or "") for each in modules(__name__, __path__)]
    return tuple(sorted(found, key=lambda rule: rule.code))


def entries() -> tuple[Entry, ...]:
    """Return what is told of every rule, read from the rules themselves."""
    found = [(each.__name__.rpartition(".")[2], each.RULE) for each in modules(__name__, __path__)]
    told = (Entry(name, r.code, r.name, r.scope, r.summary, r.severity, r.default, r.since, r.frameworks, r.needs) for name, r in found)
    return tuple(sorted(told, key=lambda entry: entry.code))


def _light(entry: Entry) -> Rule:
    check = partial(_check, entry.module)
    rest = (entry.severity, entry.default, entry.since, entry.frameworks)
    return Rule(entry.code, entry.name, entry.scope, entry.summary, (), (), check, *rest, needs=entry.needs)


def _check(name: str, subject: Any) -> Iterator[Outcome]:
    return _loaded(name).check(subject)


@cache
def _loaded(name: str) -> Rule:
    rule: Rule = module(f"{__name__}.{name}").RULE
    return rule
