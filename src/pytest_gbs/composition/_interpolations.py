"""The values of interpolations: each evaluated once, loops found, what only the environment or code knows left unresolved."""

# After OmegaConf 2.3: `_resolve_node_interpolation` and `_select_impl` in base.py, grammar_visitor.py, resolvers/oc.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from pytest_gbs.composition._errors import LimitExceeded
from pytest_gbs.composition._interpolation_grammar import InterpolatedText, Interpolation, Reference, parse_argument, parse_text
from pytest_gbs.composition._nodes import Branch, Budget, Container, Items, Leaf, Node, child, from_data, path_of
from pytest_gbs.composition._tokens import GrammarError, UnsupportedSyntax
from pytest_gbs.composition.calculated import calculate
from pytest_gbs.composition.composed import Unresolved, UnresolvedReason
from pytest_gbs.model.limits import DEEPEST_CHAIN, LONGEST_INTERPOLATION
from pytest_gbs.model.location import Location, dotted

Resolvers: TypeAlias = Mapping[str, Callable[..., Any]]


class ResolutionError(Exception):
    """An interpolation has no value; the reason is one of `UnresolvedReason`."""

    def __init__(self, reason: str, message: str, at: Location | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.at = at


class Interpolations:
    """The interpolations of the tree under `root`, each evaluated at most once.

    `resolvers` are functions of numbers that the program registers. `environment` has all environment variables; None if they
    are not known, but for those of `variables`.
    """

    def __init__(
        self,
        root: Container,
        budget: Budget,
        resolvers: Resolvers | None = None,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.root = root
        self.budget = budget
        self.resolvers = resolvers or {}
        self.environment = environment
        self.variables = variables or {}
        self._known: dict[int, Node | Unresolved] = {}
        self._alive: list[Node] = []  # keeps the identities in `_known` from being used again
        self._open: set[int] = set()
        self._level = 0

    def resolve(self, leaf: Leaf) -> Node | Unresolved:
        """The node that `leaf` refers to, which is itself if it is not an interpolation."""
        if not leaf.interpolates:
            return leaf
        found = self._known.get(id(leaf))
        if found is None:
            try:
                found = self._evaluate(leaf)
            except ResolutionError as error:
                found = Unresolved(error.reason, error.message, error.at or leaf.at)
            except LimitExceeded as error:
                found = Unresolved(UnresolvedReason.TOO_LARGE, str(error), leaf.at)
            self._known[id(leaf)] = found
            self._alive.append(leaf)
        return found

    def node(self, leaf: Leaf) -> Node:
        """The node that `leaf` refers to.

        Raises: ResolutionError: it is unresolved.
        """
        found = self.resolve(leaf)
        if isinstance(found, Unresolved):
            raise ResolutionError(found.reason, found.message, found.at)
        return found

    def select(self, key: str, parent: Container, *, absent: bool = False) -> Any:
        """The node that `${key}` means in a value below `parent`; with `absent`, None if there is none.

        Raises: ResolutionError: there is none, it is missing, or leads back here.
        """
        base, steps = self._start(key, parent)
        for number, step in enumerate(steps[:-1]):
            inner = _step(base, step, key)
            if isinstance(inner, Leaf) and inner.interpolates:
                inner = self.node(inner)
            if isinstance(inner, Branch | Items):
                base = inner
                continue
            if absent:
                return None
            where = ".".join(steps[: number + 1])
            message = f"there is no {where}" if inner is None else f"{where} has no keys"
            raise ResolutionError(UnresolvedReason.NO_SUCH_KEY, message, inner.at if inner else None)
        target = _step(base, steps[-1], key)
        if isinstance(target, Leaf) and target.interpolates:
            target = self.node(target)
        if isinstance(target, Leaf) and target.missing:
            raise ResolutionError(UnresolvedReason.TO_MISSING, f"{key} is ???", target.at)
        if absent:  # a resolver may look at what contains it
            return target
        if target is None:
            raise ResolutionError(UnresolvedReason.NO_SUCH_KEY, f"there is no {key}")
        if _contains(target, parent):
            raise ResolutionError(UnresolvedReason.LOOP, f"{key} contains this very value", target.at)
        return target

    def _start(self, key: str, parent: Container) -> tuple[Container, list[str]]:
        """Where the steps of `key` start, and these steps."""
        relative = key.lstrip(".")
        base: Container | None = parent if relative != key else self.root
        for _ in range(len(key) - len(relative) - 1):
            base = base.parent if base is not None else None
        if base is None:
            raise ResolutionError(UnresolvedReason.NO_SUCH_KEY, "a relative key leads above the root")
        return base, split_key(relative)

    def _evaluate(self, leaf: Leaf) -> Node:
        if id(leaf) in self._open:
            raise ResolutionError(UnresolvedReason.LOOP, f"{leaf.value[:80]} refers back to itself", leaf.at)
        self.budget.spend()
        self._open.add(id(leaf))
        try:
            assert leaf.parent is not None
            value = self._text(parse_text(leaf.value), leaf.parent)
        except GrammarError as error:
            raise ResolutionError(UnresolvedReason.SYNTAX, f"OmegaConf can't parse {leaf.value[:80]!r}: {error}", leaf.at) from error
        except UnsupportedSyntax as error:
            raise ResolutionError(UnresolvedReason.UNSUPPORTED, f"gbs does not read {error}", leaf.at) from error
        finally:
            self._open.discard(id(leaf))
        if isinstance(value, Leaf | Branch | Items):
            return value
        node = from_data(value, leaf.at, self.budget)
        node.parent = leaf.parent
        self._alive.append(node)
        return node

    def _text(self, text: InterpolatedText, parent: Container) -> Any:
        """The value of `text`: a node if it is one reference and nothing else, or a plain value."""
        if len(text.parts) == 1 and not text.quoted and not isinstance(text.parts[0], str):
            return self._interpolation(text.parts[0], parent)
        parts = []
        length = 0
        for part in text.parts:
            parts.append(part if isinstance(part, str) else _string(self._interpolation(part, parent)))
            length += len(parts[-1])
            if length > LONGEST_INTERPOLATION:
                raise LimitExceeded(f"a text of more than {LONGEST_INTERPOLATION:,} characters")
        return "".join(parts)

    def _interpolation(self, interpolation: Interpolation, parent: Container) -> Any:
        self._enter()
        try:
            if isinstance(interpolation, Reference):
                return self.select(self._key(interpolation, parent), parent)
            arguments = [self._argument(argument, parent) for argument in interpolation.arguments]
            return self._call(interpolation.name, arguments, parent)
        finally:
            self._level -= 1

    def _enter(self) -> None:
        if self._level >= DEEPEST_CHAIN:
            raise LimitExceeded(f"interpolations of interpolations, more than {DEEPEST_CHAIN} deep")
        self._level += 1

    def _key(self, reference: Reference, parent: Container) -> str:
        """The dotted key of `reference`."""
        found = []
        for part in reference.parts:
            value = part if isinstance(part, str) else self._interpolation(part, parent)
            value = value.value if isinstance(value, Leaf) else value
            if type(value) is not str:
                raise ResolutionError(UnresolvedReason.TYPE, "a key must be text")
            found.append(value)
        return "".join(found)

    def _argument(self, argument: Any, parent: Container) -> Any:
        """The plain value of a resolver's argument."""
        if isinstance(argument, InterpolatedText):
            value = self._text(argument, parent)
            return value.value if isinstance(value, Leaf) else value
        if not isinstance(argument, list | dict):
            return argument
        self._enter()
        try:
            if isinstance(argument, list):
                return [self._argument(item, parent) for item in argument]
            return {key: self._argument(value, parent) for key, value in argument.items()}
        finally:
            self._level -= 1

    def _call(self, name: str, arguments: list[Any], parent: Container) -> Any:
        """What the resolver `name` returns; a program could replace those of OmegaConf, but none is known to."""
        resolver = self.resolvers.get(name)
        if resolver is not None:
            return _of_numbers(name, resolver, arguments)
        if name not in _BUILTIN:
            raise ResolutionError(UnresolvedReason.RESOLVER, f"the resolver {name}, which gbs does not know, decides")
        least, most, function = _BUILTIN[name]
        if not least <= len(arguments) <= most:
            raise ResolutionError(UnresolvedReason.TYPE, f"{name} takes {least} to {most} arguments")
        return function(self, arguments, parent)

    def _oc_env(self, arguments: list[Any], parent: Container) -> Any:  # noqa: ARG002
        name, *default = arguments
        _check_text(name)
        if name in self.variables:
            return self.variables[name]
        if self.environment is None:
            raise ResolutionError(UnresolvedReason.ENVIRONMENT, f"environment variable {name} decides")
        if name in self.environment:
            return self.environment[name]
        if not default:
            raise ResolutionError(UnresolvedReason.ENVIRONMENT, f"environment variable {name} must be set")
        return None if default[0] is None else _string(default[0])

    def _oc_decode(self, arguments: list[Any], parent: Container) -> Any:
        if arguments[0] is None:
            return None
        _check_text(arguments[0])
        argument = parse_argument(arguments[0])
        return self._text(argument, parent) if isinstance(argument, InterpolatedText) else self._argument(argument, parent)

    def _oc_create(self, arguments: list[Any], parent: Container) -> Any:  # noqa: ARG002
        if isinstance(arguments[0], str):
            raise ResolutionError(UnresolvedReason.RESOLVER, "gbs does not read the YAML in oc.create")
        return arguments[0]

    def _oc_select(self, arguments: list[Any], parent: Container) -> Any:
        key, *default = arguments
        _check_text(key)
        try:
            found = self.select(key, parent, absent=True)
        except ResolutionError as error:
            if error.reason != UnresolvedReason.TO_MISSING:
                raise
            found = None
        return found if found is not None else default[0] if default else None

    def _oc_dict_keys(self, arguments: list[Any], parent: Container) -> Any:
        return list(self._branch(arguments[0], parent).content)

    def _oc_dict_values(self, arguments: list[Any], parent: Container) -> Any:
        branch = self._branch(arguments[0], parent)
        prefix = dotted(path_of(branch))
        return [f"${{{prefix}.{name}}}" for name in branch.content]

    def _branch(self, key: Any, parent: Container) -> Branch:
        found = self.select(key, parent, absent=True) if type(key) is str else key
        if not isinstance(found, Branch):
            raise ResolutionError(UnresolvedReason.TYPE, "oc.dict needs a mapping")
        return found


# OmegaConf's own resolvers: the least and the most arguments, and the function. After omegaconf/resolvers/oc of OmegaConf 2.3.
_BUILTIN: Final[dict[str, tuple[int, int, Callable[[Interpolations, list[Any], Container], Any]]]] = {
    "oc.env": (1, 2, Interpolations._oc_env),
    "oc.decode": (1, 1, Interpolations._oc_decode),
    "oc.create": (1, 1, Interpolations._oc_create),
    "oc.select": (1, 2, Interpolations._oc_select),
    "oc.dict.keys": (1, 1, Interpolations._oc_dict_keys),
    "oc.dict.values": (1, 1, Interpolations._oc_dict_values),
}


def split_key(key: str) -> list[str]:
    """The steps of `a.b[c]`: `a`, `b`, `c`."""
    head = re.match(r"[^.\[]*", key)
    assert head
    steps = [] if key.startswith("[") else [head.group()]
    for named, bracket in re.findall(r"\.([^.\[]*)|\[(.*?)\]", key[head.end() :]):
        steps.append(named or bracket)
    return steps or [key]


def _step(base: Container, step: str, key: str) -> Node | None:
    """What `base` has at one step of `key`."""
    if isinstance(base, Items) and re.fullmatch(r"\s*[+-]?\d+(_\d+)*\s*", step) is None:
        raise ResolutionError(UnresolvedReason.TYPE, f"{step} in {key} is not an index of a list", base.at)
    found = child(base, step)
    if isinstance(found, Leaf) and found.missing:
        raise ResolutionError(UnresolvedReason.TO_MISSING, f"{key} is ???", found.at)
    return found


def _contains(node: Node, inner: Container) -> bool:
    """Whether `node` is `inner` or above it."""
    above: Container | None = inner
    while above is not None and above is not node:
        above = above.parent
    return above is not None


def _string(value: Any) -> str:
    """A scalar, a mapping or a list as OmegaConf writes it within a text [BaseContainer.__repr__]."""
    if isinstance(value, Branch | Items):
        parts, length = [], 0
        for part in _written(value):
            parts.append(part)
            length += len(part)
            if length > LONGEST_INTERPOLATION:
                raise LimitExceeded(f"a text of more than {LONGEST_INTERPOLATION:,} characters")
        return "".join(parts)
    if isinstance(value, list | dict):
        raise ResolutionError(UnresolvedReason.UNSUPPORTED, "gbs does not write a mapping or a list within a text")
    return str(value.value if isinstance(value, Leaf) else value)


def _written(node: Node) -> Iterator[str]:
    """Yield the parts of what Python's `repr` gives of a node; interpolations in it stay as they are written."""
    if isinstance(node, Leaf):
        yield repr(node.value)
    elif isinstance(node, Items):
        yield "["
        for number, each in enumerate(node.content):
            yield ", " if number else ""
            yield from _written(each)
        yield "]"
    else:
        yield "{"
        for number, (key, each) in enumerate(node.content.items()):
            yield f"{', ' if number else ''}{key!r}: "
            yield from _written(each)
        yield "}"


def _of_numbers(name: str, resolver: Callable[..., Any], arguments: list[Any]) -> Any:
    """What `resolver` makes of numbers; it is not called with anything else, but for one that calculates what a text says."""
    numbers = [value for value in arguments if type(value) in (int, float) and abs(value) <= 1e18]
    text = resolver is calculate and len(arguments) == 1 and type(arguments[0]) is str
    if not text and (not arguments or len(numbers) < len(arguments)):
        raise ResolutionError(UnresolvedReason.RESOLVER, f"the program's own resolver {name} decides")
    try:
        return resolver(*arguments)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ResolutionError(UnresolvedReason.TYPE, f"{name} does not take these arguments") from error


def _check_text(value: Any) -> None:
    if type(value) is not str:
        raise ResolutionError(UnresolvedReason.TYPE, "a resolver needs text")
