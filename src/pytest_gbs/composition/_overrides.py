"""Overrides of the command line applied to a composed tree, which takes new keys only with `+`."""

# After `_apply_overrides_to_config`, hydra/_internal/config_loader_impl.py of Hydra 1.3, and `OmegaConf.update`, OmegaConf 2.3.

from __future__ import annotations

from typing import Any

from pytest_gbs.composition._errors import CompositionError
from pytest_gbs.composition._interpolation_grammar import check_text
from pytest_gbs.composition._interpolations import Interpolations, ResolutionError, split_key
from pytest_gbs.composition._merge import Merger
from pytest_gbs.composition._nodes import Branch, Budget, Container, Items, Leaf, Node, child, from_data
from pytest_gbs.composition._override_grammar import ADD, CHANGE, DELETE, ParsedOverride
from pytest_gbs.composition._tokens import GrammarError
from pytest_gbs.composition.composed import NOT_APPLIED, ProblemKind, UnresolvedReason
from pytest_gbs.model.limits import DEEPEST_COMPOSED
from pytest_gbs.model.location import Location


def apply_override(root: Branch, override: ParsedOverride, at: Location, budget: Budget, *, partial: bool = False) -> None:
    """Change `root` by an override that is written at `at`; a `partial` root, of which a file is not there, takes any key.

    Raises: CompositionError: Hydra refuses it.
            LimitExceeded: it is too deep or too large.
    """
    key, value = override.key, override.value
    if override.package is not None:
        raise _refused(f"there is no group {key}", at)
    if override.kind == DELETE:
        _delete(root, override, at, budget)
        return
    _check_interpolations(value, at)
    if override.kind == ADD and not isinstance(value, dict | list) and _selected(root, key, budget) is not None:
        raise _refused(f"{key} exists; + only adds", at)
    struct = override.kind == CHANGE and not partial
    node: Container = root
    *above, last = split_key(key)
    if len(above) > DEEPEST_COMPOSED:
        raise _refused(f"nested deeper than {DEEPEST_COMPOSED} levels", at)
    for step in above:
        inner = child(node, step)
        if not isinstance(inner, Branch | Items):
            inner = Branch(at)
            budget.spend()
            _put(node, step, inner, struct, key)
        node = inner
    old, new = child(node, last), from_data(value, at, budget)
    if isinstance(old, Branch | Items) and not isinstance(new, Leaf):
        Merger(root, budget).merge_container(old, new, struct)
    else:
        _put(node, last, new, struct, key)


def mark_not_applied(root: Branch, key: str, at: Location) -> None:
    """Make what the override of `key` at `at` would change unknown: the value of `key`, or all below it; new keys are left out."""
    node: Node | None = root
    for step in split_key(key):
        node = child(node, step) if isinstance(node, Branch | Items) else None
    if node is not None:
        _mark(node, at)


def _mark(node: Node, at: Location) -> None:
    if isinstance(node, Leaf):
        node.value = node.text = NOT_APPLIED
        node.at = at
    else:
        for inner in node.content.values() if isinstance(node, Branch) else node.content:
            _mark(inner, at)


def _refused(message: str, at: Location) -> CompositionError:
    return CompositionError(ProblemKind.OVERRIDE, message, at)


def _check_interpolations(value: Any, at: Location) -> None:
    """Raise CompositionError if a text within `value` looks like an interpolation and is none."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_interpolations(item, at)
        return
    try:
        check_text(value)
    except GrammarError as error:
        raise _refused(str(error), at) from error


def _put(node: Container, step: str, value: Node, struct: bool, key: str) -> None:
    if isinstance(node, Branch):
        if struct and step not in node.content:
            raise _refused(f"there is no {key} to override; +{key} would add it", value.at)
        node.put(step, value)
    elif child(node, step) is None:
        raise _refused(f"the list has no item {step}", value.at)
    else:
        value.parent = node
        node.content[int(step)] = value


def _selected(root: Branch, key: str, budget: Budget) -> Any:
    """What `key` has: a container, or the value of a scalar; None if there is nothing, null, or `???`."""
    try:
        found = Interpolations(root, budget).select(key, root, absent=True)
    except ResolutionError as error:
        return None if error.reason in (UnresolvedReason.NO_SUCH_KEY, UnresolvedReason.TO_MISSING) else key  # something is there
    return found.value if isinstance(found, Leaf) else found


def _delete(root: Branch, override: ParsedOverride, at: Location, budget: Budget) -> None:
    key = override.key
    found = _selected(root, key, budget)
    if found is None:
        raise _refused(f"there is no {key} to delete", at)
    if override.value is not None and override.value != found:
        raise _refused(f"{key} is not {override.value}", at)
    *above, last = split_key(key)
    node: Node | None = root
    for step in above:
        node = child(node, step) if isinstance(node, Branch | Items) else None
    if isinstance(node, Branch) and last in node.content:
        del node.content[last]
    elif isinstance(node, Items) and (item := child(node, last)) is not None:
        node.content.remove(item)
    else:
        raise _refused(f"{key} can't be deleted through an interpolation", at)
