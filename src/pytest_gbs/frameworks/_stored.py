"""Tables and their index as they are written down when the package is built: plain tuples, a list for each named one."""

from __future__ import annotations

from pytest_gbs.frameworks._recognition import Index, TableEntry
from pytest_gbs.model import condition, equation, framework, pins
from pytest_gbs.model.record import Any, Final

# The named tuples that a table is made of.
_MODULES: Final = (condition, equation, framework, pins)
_KINDS: Final = {name: kind for module in _MODULES for name, kind in vars(module).items() if isinstance(kind, type)}
_HOOK: Final = "hook"


def stored(value: Any) -> Any:
    """`value` as plain tuples, sets, texts and numbers; a named tuple and a function become lists that start with their names."""
    if callable(value):
        return [_HOOK, value.__name__]
    if not isinstance(value, tuple):
        return value
    return tuple(map(stored, value)) if type(value) is tuple else [type(value).__name__, *map(stored, value)]


def restored(value: Any) -> Any:
    """What `stored` made `value` of."""
    kind = type(value)
    if kind is tuple:
        return tuple(map(restored, value)) if value else value
    if kind is not list:
        return value
    name, *parts = value
    return _hook(parts[0]) if name == _HOOK else _KINDS[name](*map(restored, parts))


def stored_index(index: Index) -> Any:
    """How tables are recognised, as `stored` does it; what is plain already stays so, since every start restores all of it."""
    return index.keys, tuple((*entry[:-1], stored(entry.when)) for entry in index.entries), index.hints, index.called


def restored_index(value: Any) -> Index:
    """What `stored_index` made `value` of."""
    keys, entries, hints, called = value
    return Index(keys, tuple(TableEntry._make((*plain, restored(when))) for *plain, when in entries), hints, called)


def _hook(name: str) -> Any:
    from pytest_gbs.frameworks.hooks import HOOKS

    return HOOKS[name]
