"""The rules of one check, by what they look at, and those that may have something to say of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from pytest_gbs.model.framework import Framework
from pytest_gbs.model.record import Final
from pytest_gbs.model.rule import Needs, Rule, Scope

# What a rule may need of a table rather than of a run.
OF_TABLE: Final = frozenset((Needs.CHECKED, Needs.CONSTRAINTS, Needs.SWITCHES, Needs.REQUIREMENTS))


class Rulebook:
    """The rules that are switched on, sorted out once for all files."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.all = tuple(rules)
        self.by_code = {rule.code: rule for rule in self.all}
        self._scopes: defaultdict[str, tuple[Rule, ...]] = defaultdict(tuple)
        for rule in self.all:
            self._scopes[rule.scope] += (rule,)
        self.about = lru_cache(self._about)

    def of(self, scope: str) -> tuple[Rule, ...]:
        """The rules of one scope."""
        return self._scopes[scope]

    def _about(self, framework: Framework) -> tuple[Rule, ...]:
        """The rules about runs and launches that may have something to say of a recipe of `framework`."""
        checked = frozenset(constraint.rule for constraint in framework.constraints)
        return tuple(rule for rule in self.all if rule.scope in (Scope.RUN, Scope.LAUNCH) and _fits(rule, framework, checked))


def _fits(rule: Rule, framework: Framework, checked: frozenset[str]) -> bool:
    if rule.frameworks and framework.name not in rule.frameworks:
        return False
    if rule.needs == Needs.CHECKED:
        return rule.name in checked
    return rule.needs not in OF_TABLE or bool(getattr(framework, rule.needs))
