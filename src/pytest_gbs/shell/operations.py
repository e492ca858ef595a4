"""What `${...}` does to a value: defaults, slices, prefixes and suffixes taken off, parts replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.model.command import Part
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import patterns
from pytest_gbs.shell.expansion import read_region
from pytest_gbs.shell.state import Variable, emptiness, lowered, text_of, unknown
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.shell.machine import Machine


class Expanded(NamedTuple):
    """What an expansion gives: one value, or several that are words of their own even between quotes."""

    elements: tuple[Parts, ...]
    spread: bool = False


class Named(NamedTuple):
    """What stands in `${...}`: the sign before the name, the name, the subscript, and where the rest starts and stops."""

    prefix: str
    name: str
    subscript: str
    rest: int
    stop: int


class Operation(NamedTuple):
    """What `${...}` does to a value: the sign, where its operand starts, and where all of it stands."""

    node: Node
    named: Named
    sign: str
    operand: int
    at: Location


def one(parts: Parts) -> Expanded:
    """Return one value."""
    return Expanded((parts,))


def conditional(machine: Machine, operation: Operation, found: Expanded) -> Expanded:
    """Return the value, or what stands for it where it is nothing: `:-`, `:=`, `:+`, `:?` and the same without colon."""
    node, named, operator, operand, at = operation
    every = tuple(part for element in found.elements for part in element)
    variable = machine.state.variables.get(named.name)
    empty, default = emptiness(every)
    if operator[0] != ":" and empty and not default and variable is not None and not variable.unset:
        empty = False  # set to nothing is set
    if operator[-1] == "?":
        return Expanded(tuple(tuple(p._replace(default=p.default and p.text is not None) for p in e) for e in found.elements), found.spread)
    if operator[-1] == "+":
        return _alternate(machine, operation, empty, default)
    if empty is False:
        return found
    other = read_region(machine, node, operand, named.stop)
    if empty is None:
        return found
    other = lowered(other, at) if default else other
    if operator[-1] == "=" and named.name.isidentifier() and not named.subscript:
        machine.state.assign(named.name, Variable(other))
    return one(other)


def _alternate(machine: Machine, operation: Operation, empty: bool | None, default: bool) -> Expanded:
    node, named, _, operand, at = operation
    if empty is False:
        found = read_region(machine, node, operand, named.stop)
        return one(lowered(found, at) if default else found)
    if empty and not default:
        return one(())
    return one((unknown(named.name, at, many=True, default=default),))


def sliced(machine: Machine, operation: Operation, found: Expanded) -> Expanded:
    """Return some characters of a value or some items of an array: `${A:1}`, `${A:0:2}`, `${A[@]:1}`."""
    node, named, _, operand, at = operation
    bounds = text_of(read_region(machine, node, operand, named.stop))
    numbers = [machine.reckon_text(bound) for bound in bounds.split(":")] if bounds is not None else [None]
    every = tuple(part for element in found.elements for part in element)
    hidden = any(part.text is None for part in every)
    if None in numbers or len(numbers) > 2 or any(number is not None and number < 0 for number in numbers):
        return Expanded(((unknown(named.name, at, many=found.spread),),), found.spread)
    start = numbers[0] or 0
    stop = None if len(numbers) == 1 else start + (numbers[1] or 0)
    if found.spread:
        if any(part.many for part in every):
            return Expanded(((unknown(named.name, at, many=True, default=named.name in "@*"),),), spread=True)
        items = ((), *found.elements) if named.name in "@*" else found.elements
        return Expanded(items[start:stop], spread=True)
    text = text_of(every)
    if hidden or text is None:
        return one((unknown(named.name, at),))
    return one(_kept(every, text, start, len(text) if stop is None else min(stop, len(text)), at))


def changed(machine: Machine, operation: Operation, parts: Parts) -> Parts:
    """Return a value after `%`, `#`, `/`, `^`, `,`; unknown where the value or the pattern is, or where we do not read it."""
    node, named, operator, operand, at = operation
    text = text_of(parts)
    if text is None:
        whole = parts[0].path if len(parts) == 1 and operator == "%" and machine.text.string[operand : named.stop] == "/*" else None
        if whole is not None:
            return (parts[0]._replace(path="/".join(whole.split("/")[:-1]), at=at, use=at),)
        return (unknown(named.name, at),)
    if operator in ("/", "//"):
        return _replaced(machine, operation, parts, text)
    pattern = text_of(read_region(machine, node, operand, named.stop))
    if pattern is None:
        return (unknown(named.name, at),)
    if operator in ("^", "^^", ",", ",,"):
        return _cased(operation, parts, text, pattern)
    machine.budget.step(1 + len(text) ** 2 * len(pattern) // 2000)
    longest = len(operator) == 2
    if operator[0] == "%":
        left = patterns.without_suffix(text, pattern, longest=longest)
        return (unknown(named.name, at),) if left is None else _kept(parts, text, 0, len(left), at)
    left = patterns.without_prefix(text, pattern, longest=longest) if operator[0] == "#" else None
    return (unknown(named.name, at),) if left is None else _kept(parts, text, len(text) - len(left), len(text), at)


def _replaced(machine: Machine, operation: Operation, parts: Parts, text: str) -> Parts:
    node, named, operator, operand, at = operation
    raw = machine.text.string[operand : named.stop]
    middle = raw.find("/", 1)
    pattern = text_of(read_region(machine, node, operand, named.stop if middle < 0 else operand + middle))
    new = "" if middle < 0 else text_of(read_region(machine, node, operand + middle + 1, named.stop))
    if pattern is None or new is None or "$" in raw[: max(middle, 0)]:
        return (unknown(named.name, at),)
    left = patterns.replaced(text, pattern, new, every=operator == "//")
    if left is None:
        return (unknown(named.name, at),)
    return parts if left == text else (_made(parts, left, at),)


def _cased(operation: Operation, parts: Parts, text: str, pattern: str) -> Parts:
    _, named, operator, _, at = operation
    if pattern:
        return (unknown(named.name, at),)
    change = str.upper if operator[0] == "^" else str.lower
    new = change(text) if len(operator) == 2 else change(text[:1]) + text[1:]
    return parts if new == text else (_made(parts, new, at),)


def _kept(parts: Parts, text: str, start: int, stop: int, at: Location) -> Parts:
    """Return the characters `start` to `stop` of a value, each with its own place."""
    if len(parts) == 1:
        return (parts[0].cut(start, stop),) if stop > start else ()
    return (_made(parts, text[start:stop], at),)


def _made(parts: Parts, text: str, at: Location) -> Part:
    """Return a text that was made from `parts` at a place."""
    return Part(text, at, at, default=any(part.default for part in parts))
