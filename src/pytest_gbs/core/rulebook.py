"""The rules of one check, by what they look at, and those that may have something to say of a table."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.core.framework import Framework
from pytest_gbs.core.rule import Needs, Rule, Scope
from pytest_gbs.core.typed import Final

# What a rule may need of a table rather than of a run.
OF_TABLE: Final = frozenset((Needs.CHECKED, Needs.CONSTRAINTS, Needs.SWITCHES, Needs.REQUIREMENTS))
# Tables that live on are asked for again and again; those that were made for one document are not kept.
_MOST: Final = 256


class Rulebook:
    """The rules that are switched on, sorted out once for all files."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.all = tuple(rules)
        self._scopes: dict[str, tuple[Rule, ...]] = {}
        self._tables: dict[int, tuple[Framework, tuple[Rule, ...]]] = {}

    def of(self, scope: str) -> tuple[Rule, ...]:
        """Return the rules of one scope."""
        if scope not in self._scopes:
            self._scopes[scope] = tuple(rule for rule in self.all if rule.scope == scope)
        return self._scopes[scope]

    def about(self, framework: Framework) -> tuple[Rule, ...]:
        """Return the rules about runs and launches that may have something to say of a recipe of `framework`."""
        known = self._tables.get(id(framework))
        if known is None or known[0] is not framework:
            if len(self._tables) >= _MOST:
                self._tables.clear()
            checked = frozenset(constraint.code for constraint in framework.constraints)
            found = (rule for rule in self.all if rule.scope in (Scope.RUN, Scope.LAUNCH) and _fits(rule, framework, checked))
            known = self._tables[id(framework)] = framework, tuple(found)
        return known[1]


def _fits(rule: Rule, framework: Framework, checked: frozenset[str]) -> bool:
    if rule.frameworks and framework.name not in rule.frameworks:
        return False
    if rule.needs == Needs.CHECKED:
        return rule.code in checked
    return rule.needs not in OF_TABLE or bool(getattr(framework, rule.needs))
