"""Overrides of the command line applied to a composed tree that takes no new keys unless told to."""

# After `_apply_overrides_to_config`, hydra/_internal/config_loader_impl.py of Hydra 1.3, and `OmegaConf.update`, OmegaConf 2.3.

from __future__ import annotations

from typing import Any

from pytest_gbs.composition._grammar import NotAnInterpolation, parse_text
from pytest_gbs.composition._interpolation import Failed
from pytest_gbs.composition._merge import Clash, Merger, NotInStruct
from pytest_gbs.composition._nodes import Branch, Container, Items, Leaf, Node, child, from_data
from pytest_gbs.composition._override_grammar import ADD, CHANGE, DELETE, Parsed
from pytest_gbs.composition._resolve import Interpolations, split_key
from pytest_gbs.composition.composed import Why
from pytest_gbs.model.limits import DEEPEST_COMPOSED
from pytest_gbs.model.location import Location


class Rejected(Exception):
    """Hydra refuses the override; the message says why."""


def apply(root: Branch, parsed: Parsed, at: Location, merger: Merger, interpolations: Interpolations) -> None:
    """Change `root` by the override `parsed` that stands at `at`.

    Raises: Rejected: Hydra refuses it.
            TooMuch: it is too deep or too large.
    """
    if parsed.package is not None:
        raise Rejected(f"there is no group {parsed.key}")
    _check(parsed.value)
    if parsed.kind == DELETE:
        _delete(root, parsed, interpolations)
        return
    if parsed.kind == ADD and not isinstance(parsed.value, dict | list) and _selected(parsed.key, root, interpolations) is not None:
        raise Rejected(f"{parsed.key} is there already; + only adds")
    force = parsed.kind != CHANGE
    try:
        _update(root, parsed.key, from_data(parsed.value, at, merger.budget), merger, force)
    except NotInStruct as error:
        raise Rejected(f"there is no {parsed.key} to override; +{parsed.key} would add it" if not force else error.message) from error
    except Clash as error:
        raise Rejected(error.message) from error


def _check(value: Any) -> None:
    """Raise Rejected where a text within `value` looks like an interpolation and is none."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key is None:
                raise Rejected("null is no key")
            _check(item)
    elif isinstance(value, list):
        for item in value:
            _check(item)
    elif isinstance(value, str) and "${" in value:
        try:
            parse_text(value)
        except NotAnInterpolation as error:
            raise Rejected(f"OmegaConf can't parse {value[:80]!r}: {error}") from error


def _update(root: Branch, key: str, value: Node, merger: Merger, force: bool) -> None:
    """Set `key` to `value`, or merge it into the mapping or list that is there."""
    steps = split_key(key)
    if len(steps) > DEEPEST_COMPOSED:
        raise Rejected(f"nested deeper than {DEEPEST_COMPOSED} levels")
    node: Container = root
    for step in steps[:-1]:
        inner = child(node, step)
        if inner is None or isinstance(inner, Leaf):
            inner = Branch(value.at)
            merger.budget.spend()
            _put(node, step, inner, force)
        node = inner
    there = child(node, steps[-1])
    if there is not None and not isinstance(there, Leaf) and not isinstance(value, Leaf):
        merger.merge_container(there, value, struct=not force)
        return
    _put(node, steps[-1], value, force)


def _put(node: Container, key: str, value: Node, force: bool) -> None:
    if isinstance(node, Branch):
        if key not in node.content and not force:
            raise NotInStruct(f"there is no key {key}", value.at)
        node.put(key, value)
        return
    before = child(node, key)
    if before is None:
        raise Rejected(f"the list has no item {key}")
    value.overrode = (before.at, *before.overrode)
    value.parent = node
    node.content[int(key)] = value


def _selected(key: str, root: Branch, interpolations: Interpolations) -> Any:
    """Return what stands at `key`: a container, or the value of a scalar; None where there is nothing, null, or `???`."""
    try:
        found = interpolations.select(key, root, absent=True)
    except Failed as error:
        if error.reason in (Why.NO_SUCH_KEY, Why.TO_MISSING):
            return None
        if error.reason in (Why.ENVIRONMENT, Why.RESOLVER, Why.LOOP):
            return key  # something is there
        raise Rejected(error.message) from error
    return found.value if isinstance(found, Leaf) else found


def _delete(root: Branch, parsed: Parsed, interpolations: Interpolations) -> None:
    found = _selected(parsed.key, root, interpolations)
    if found is None:
        raise Rejected(f"there is no {parsed.key} to delete")
    if parsed.value is not None and parsed.value != found:
        raise Rejected(f"{parsed.key} is {_short(found)} and not {parsed.value}")
    *above, last = split_key(parsed.key)
    node: Node | None = root
    for step in above:
        node = child(node, step) if isinstance(node, Branch | Items) else None
    if isinstance(node, Branch) and last in node.content:
        del node.content[last]
    elif isinstance(node, Items) and (item := child(node, last)) is not None:
        node.content.remove(item)
    else:
        raise Rejected(f"{parsed.key} can't be deleted through an interpolation")


def _short(found: Any) -> str:
    return "a mapping or a list" if isinstance(found, Branch | Items) else str(found)[:40]
