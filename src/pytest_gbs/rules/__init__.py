"""The rules: one file each, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.plugins import modules
from pytest_gbs.core.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, by code; its manual is its module's docstring."""
    found = [module.RULE._replace(manual=module.__doc__ or "") for module in modules(__name__, __path__)]
    return tuple(sorted(found, key=lambda rule: rule.code))
