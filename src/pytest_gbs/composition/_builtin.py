"""The resolvers that OmegaConf brings: `oc.env`, `oc.decode`, `oc.select` and the like."""

# After omegaconf/resolvers/oc/__init__.py and dict.py of OmegaConf 2.3. A program could replace them; none is known to.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from pytest_gbs.composition._grammar import parse_element
from pytest_gbs.composition._interpolation import Element, Failed, Text
from pytest_gbs.composition._nodes import Branch, Container, path_of
from pytest_gbs.composition.composed import Why
from pytest_gbs.model.location import Location


class Interpolations(Protocol):
    """What a resolver asks of the configuration that it stands in: the environment, and the values of other nodes and texts."""

    environment: Mapping[str, str]
    complete: bool

    def string(self, value: Any) -> str:
        """Return `value` as Python prints it within a text."""

    def text(self, text: Text, parent: Container, at: Location) -> Any:
        """Return the value of `text`."""

    def element(self, element: Element, parent: Container, at: Location) -> Any:
        """Return the plain value of a resolver's argument."""

    def select(self, key: str, parent: Container, *, absent: bool = False) -> Any:
        """Return the node that `${key}` stands for in a value that hangs in `parent`; with `absent`, None if there is none."""


Builtin: TypeAlias = "Callable[[Interpolations, list[Any], Container, Location], Any]"


def _environment(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:  # noqa: ARG001
    """Return the value of an environment variable, or the default where it is known to be unset."""
    name, *default = arguments
    _text(name, at)
    if name in within.environment:
        return within.environment[name]
    if not within.complete:
        raise Failed(Why.ENVIRONMENT, f"environment variable {name} decides", at)
    if not default:
        raise Failed(Why.ENVIRONMENT, f"environment variable {name} must be set", at)
    return None if default[0] is None else within.string(default[0])


def _decode(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:
    """Return the value that a text denotes in OmegaConf's grammar."""
    if arguments[0] is None:
        return None
    _text(arguments[0], at)
    element = parse_element(arguments[0])
    return within.text(element, parent, at) if isinstance(element, Text) else within.element(element, parent, at)


def _create(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:  # noqa: ARG001
    """Return a mapping or a list as part of the configuration; text, which would be YAML, is not followed."""
    if isinstance(arguments[0], str):
        raise Failed(Why.RESOLVER, "oc.create of text is not followed", at)
    return arguments[0]


def _select(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:
    """Return what stands at a key, or the default."""
    key, *default = arguments
    _text(key, at)
    try:
        found = within.select(key, parent, absent=True)
    except Failed as error:
        if error.reason != Why.TO_MISSING:
            raise
        found = None
    return found if found is not None else default[0] if default else None


def _deprecated(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:
    """Return what stands at the key that replaces this one."""
    _text(arguments[0], at)
    return within.select(arguments[0], parent)


def _keys(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:
    return list(_branch(within, arguments[0], parent, at).content)


def _values(within: Interpolations, arguments: list[Any], parent: Container, at: Location) -> Any:
    branch = _branch(within, arguments[0], parent, at)
    prefix = ".".join(map(str, path_of(branch)))
    return [f"${{{prefix}.{name}}}" for name in branch.content]


def _branch(within: Interpolations, key: Any, parent: Container, at: Location) -> Branch:
    found = within.select(key, parent, absent=True) if type(key) is str else key
    if not isinstance(found, Branch):
        raise Failed(Why.TYPE, "oc.dict needs a mapping", at)
    return found


def _text(value: Any, at: Location) -> None:
    if type(value) is not str:
        raise Failed(Why.TYPE, "a resolver needs text", at)


# By name: the least and the most arguments, and the function.
BUILTIN: Final[dict[str, tuple[int, int, Builtin]]] = {
    "oc.env": (1, 2, _environment),
    "oc.decode": (1, 1, _decode),
    "oc.create": (1, 1, _create),
    "oc.select": (1, 2, _select),
    "oc.deprecated": (1, 2, _deprecated),
    "oc.dict.keys": (1, 1, _keys),
    "oc.dict.values": (1, 1, _values),
}
