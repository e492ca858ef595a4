"""The rules: one file each, found by listing this folder, loaded when there is something for them to judge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from pytest_gbs.files.plugins import module, modules, prebuilt
from pytest_gbs.model.outcome import Outcome
from pytest_gbs.model.record import Any, NamedTuple
from pytest_gbs.model.rule import Rule


class RuleEntry(NamedTuple):
    """What is known of a rule without loading its module: everything but its check, its manual and its examples."""

    module: str
    facts: dict[str, Any]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code, without manual and examples; its module is loaded when it is first asked to check something."""
    written = prebuilt("rules", __path__)
    found = entries() if written is None else map(RuleEntry._make, written)
    return tuple(Rule(bad=(), good=(), check=partial(_check, entry.module), **entry.facts) for entry in found)


def named(name: str) -> Rule:
    """The rule called `name`, without manual and examples; a rule has its number here and nowhere else."""
    return {rule.name: rule for rule in rules()}[name]


@cache
def manuals() -> tuple[Rule, ...]:
    """Every rule, by code, whole: its manual is its module's docstring."""
    found = [each.RULE._replace(manual=each.__doc__ or "") for each in modules(__name__, __path__)]
    return tuple(sorted(found, key=lambda rule: rule.code))


def entries() -> tuple[RuleEntry, ...]:
    """What is reported of every rule, read from the rules themselves; what a rule leaves as it usually is stays out."""
    found = [RuleEntry(each.__name__.rpartition(".")[2], dict(_facts(each.RULE))) for each in modules(__name__, __path__)]
    return tuple(sorted(found, key=lambda entry: str(entry.facts["code"])))


def _facts(rule: Rule) -> Iterator[tuple[str, Any]]:
    usual = Rule._field_defaults
    for name, value in rule._asdict().items():
        if name not in ("bad", "good", "check", "manual") and (name not in usual or value != usual[name]):
            yield name, value


def _check(name: str, subject: Any) -> Iterator[Outcome]:
    return _loaded(name).check(subject)


@cache
def _loaded(name: str) -> Rule:
    rule: Rule = module(f"{__name__}.{name}").RULE
    return rule
