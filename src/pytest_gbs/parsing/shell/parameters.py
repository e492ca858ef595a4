"""`$name` and `${name...}`: what a variable or an argument holds, its default, its length, a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_gbs.core.command import Part, hull
from pytest_gbs.core.location import Location
from pytest_gbs.parsing.shell import patterns
from pytest_gbs.parsing.shell.expansion import read_region
from pytest_gbs.parsing.shell.state import Variable, emptiness, lowered, text_of, unknown
from pytest_gbs.parsing.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.parsing.shell.machine import Machine

# Set on every machine, or by the shell itself: never nothing.
_ALWAYS: Final = frozenset(
    "HOME USER PATH PWD OLDPWD SHELL LOGNAME HOSTNAME RANDOM SECONDS LINENO UID EUID PPID BASHPID BASH BASH_VERSION OSTYPE ? $ ! - _".split()
)
_OPERATORS: Final = (":-", ":=", ":+", ":?", "%%", "##", "//", "^^", ",,", "-", "=", "+", "?", "%", "#", "/", "^", ",", ":", "@")


class Expanded(NamedTuple):
    """What an expansion gives: one value, or several that are words of their own even between quotes."""

    elements: tuple[Parts, ...]
    spread: bool = False


class _Named(NamedTuple):
    """What stands in `${...}`: the sign before the name, the name, the subscript, and where the rest starts and stops."""

    prefix: str
    name: str
    subscript: str
    rest: int
    stop: int


def expand(machine: Machine, node: Node, *, quoted: bool) -> Expanded:
    """Return what an expansion gives."""
    start, stop = machine.text.span(node)
    at = machine.text.location(start, stop)
    if node.type == "simple_expansion":
        name = machine.text.string[start + 1 : stop]
        return look_up(machine, name, at, quoted=quoted)
    named = _read_name(machine, node, start, stop)
    if named is None:
        return Expanded(((unknown(machine.text.string[start:stop][:40], at),),))
    raw = machine.text.string[named.rest : named.stop]
    if named.prefix == "!":
        return _indirect(machine, named, at, quoted=quoted) if not raw else Expanded(((unknown("!" + named.name, at),),))
    found = look_up(machine, named.name, at, named.subscript, quoted=quoted)
    if named.prefix == "#":
        return Expanded((_length(machine, named, found, at),))
    operator = next((sign for sign in _OPERATORS if raw.startswith(sign)), "")
    if not operator:
        return found if not raw else Expanded(((unknown(named.name, at),),))
    operand = named.rest + len(operator)
    if operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
        return _conditional(machine, node, named, found, operator, operand, at)
    if operator == ":":
        return _sliced(machine, node, named, found, operand, at)
    return Expanded(tuple(_changed(machine, node, named, element, operator, operand, at) for element in found.elements), found.spread)


def _read_name(machine: Machine, node: Node, start: int, stop: int) -> _Named | None:
    """Return the name in `${...}` and what is around it; None where it is of another form."""
    text = machine.text.string
    if text[stop - 1] != "}" or node.has_error:
        return None
    place, prefix = start + 2, ""
    if text[place] in "#!" and text[place + 1 : place + 2] not in ("}", "", ":", "-", "%"):
        prefix = text[place]
        place += 1
    end = place
    if text[place].isdigit():
        while text[end].isdigit():
            end += 1
    elif text[place].isalpha() or text[place] == "_":
        while text[end].isalnum() or text[end] == "_":
            end += 1
    elif text[place] in "@*#?$!-":
        end += 1
    else:
        return None
    name, subscript = text[place:end], ""
    if text[end] == "[":
        child = next((child for child in node.children if child.type == "subscript"), None)
        if child is None:
            return None
        last = machine.text.span(child)[1]
        index = text_of(read_region(machine, child, end + 1, last - 1))
        if index is None:
            return None
        subscript, end = index.strip('"'), last
    return _Named(prefix, name, subscript, end, stop - 1)


def look_up(machine: Machine, name: str, at: Location, subscript: str = "", *, quoted: bool = True) -> Expanded:
    """Return the value of a variable, an argument, an item or all items of an array."""
    if name in ("@", "*"):
        return _arguments(machine, name, at, quoted=quoted)
    if name == "#":
        count = machine.state.arguments
        return _one((unknown("#", at, default=True),) if count is None else (Part(str(len(count)), at, at),))
    if name.isdigit() and name != "0":
        return _one(_argument(machine, int(name), at))
    variable = machine.state.variables.get(name)
    if variable is None:
        return _one(_unset(machine, name, at))
    if subscript in ("@", "*"):
        items = (variable.parts,) if variable.items is None else tuple(parts for _, parts in variable.items)
        if variable.items is None and variable.text is None:
            items = (tuple(part._replace(many=True) for part in variable.parts),)
        return _spread(items, subscript, at, quoted=quoted)
    if subscript:
        return _one(_item(machine, name, variable, subscript, at))
    return _one(variable.scalar)


def _one(parts: Parts) -> Expanded:
    return Expanded((parts,))


def _spread(items: tuple[Parts, ...], sign: str, at: Location, *, quoted: bool) -> Expanded:
    if sign == "*" and quoted:
        joined: list[Part] = []
        for number, item in enumerate(items):
            joined += [Part(" ", at, at), *item] if number else item
        return _one(tuple(joined))
    return Expanded(items, spread=True)


def _arguments(machine: Machine, name: str, at: Location, *, quoted: bool) -> Expanded:
    known = machine.state.arguments
    if known is None:
        return Expanded(((unknown(name, at, many=True, default=True),),), spread=True)
    return _spread(known, name, at, quoted=quoted)


def _argument(machine: Machine, number: int, at: Location) -> Parts:
    known = machine.state.arguments
    if known is None:
        return (unknown(str(number), at, default=True),)
    return known[number - 1] if number <= len(known) else ()


def _unset(machine: Machine, name: str, at: Location) -> Parts:
    """Return the value of a variable that the script never set: what the environment has, if it has any."""
    if name in ("0", "BASH_SOURCE"):
        return (unknown(name, at)._replace(path=machine.text_path),)
    if name == "PWD" and machine.state.folder.rooted:
        return (unknown(name, at)._replace(path=machine.state.folder.path),)
    sure = name in _ALWAYS or (name.startswith("SLURM_") and machine.slurm)
    return (unknown(name, at, default=not sure and not machine.state.forgotten),)


def _item(machine: Machine, name: str, variable: Variable, subscript: str, at: Location) -> Parts:
    """Return one item of an array."""
    if variable.items is None:
        return variable.parts if subscript == "0" or variable.text is None else ()
    keys = dict(variable.items)
    if subscript in keys:
        return keys[subscript]
    if any(not key.isdigit() for key in keys):
        return ()
    number = machine.reckon_text(subscript)
    if number is None:
        return (unknown(name, at),)
    listed = [parts for _, parts in variable.items]
    return keys.get(str(number), listed[number] if -len(listed) <= number < 0 else ())


def _indirect(machine: Machine, named: _Named, at: Location, *, quoted: bool) -> Expanded:
    """Return the value of the variable whose name a variable holds, or the subscripts of an array."""
    variable = machine.state.variables.get(named.name)
    if named.subscript in ("@", "*"):
        if variable is None or variable.items is None:
            return _one((unknown("!" + named.name, at),))
        return Expanded(tuple((Part(key, at, at),) for key, _ in variable.items), spread=True)
    name = variable.text if variable is not None and not named.subscript else None
    if not name or not (name.isidentifier() or name.isdigit()):
        return _one((unknown("!" + named.name, at),))
    return look_up(machine, name, at, quoted=quoted)


def _length(machine: Machine, named: _Named, found: Expanded, at: Location) -> Parts:
    """Return the number of characters or items."""
    if named.rest < named.stop:
        return (unknown("#" + named.name, at),)
    every = tuple(part for element in found.elements for part in element)
    if named.name in "@*" or named.subscript in ("@", "*"):
        if any(part.text is None and (part.many or not machine.known_array(named.name)) for part in every):
            return (unknown("#" + named.name, at),)
        count, place = len(found.elements), hull([part.at for part in every]) or at
    else:
        text = text_of(every)
        if text is None:
            return (unknown("#" + named.name, at),)
        count, place = len(text), at
    return (Part(str(count), place, at, named.name, any(part.default for part in every)),)


def _conditional(machine: Machine, node: Node, named: _Named, found: Expanded, operator: str, operand: int, at: Location) -> Expanded:
    """Return the value, or what stands for it where it is nothing: `:-`, `:=`, `:+`, `:?` and the same without colon."""
    every = tuple(part for element in found.elements for part in element)
    variable = machine.state.variables.get(named.name)
    empty, default = emptiness(every)
    if operator[0] != ":" and empty and not default and variable is not None and not variable.unset:
        empty = False  # set to nothing is set
    if operator[-1] == "?":
        return Expanded(tuple(tuple(p._replace(default=p.default and p.text is not None) for p in e) for e in found.elements), found.spread)
    if operator[-1] == "+":
        return _alternate(machine, node, named, empty, default, operand, at)
    if empty is False:
        return found
    other = read_region(machine, node, operand, named.stop)
    if empty is None:
        return found
    other = lowered(other) if default else other
    if operator[-1] == "=" and named.name.isidentifier() and not named.subscript:
        machine.state.assign(named.name, Variable(other))
    return _one(other)


def _alternate(machine: Machine, node: Node, named: _Named, empty: bool | None, default: bool, operand: int, at: Location) -> Expanded:
    if empty is False:
        found = read_region(machine, node, operand, named.stop)
        return _one(lowered(found) if default else found)
    if empty and not default:
        return _one(())
    return _one((unknown(named.name, at, many=True, default=default),))


def _sliced(machine: Machine, node: Node, named: _Named, found: Expanded, operand: int, at: Location) -> Expanded:
    """Return some characters of a value or some items of an array: `${A:1}`, `${A:0:2}`, `${A[@]:1}`."""
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
        return _one((unknown(named.name, at),))
    return _one(_kept(every, text, start, len(text) if stop is None else min(stop, len(text)), at))


def _changed(machine: Machine, node: Node, named: _Named, parts: Parts, operator: str, operand: int, at: Location) -> Parts:
    """Return a value after `%`, `#`, `/`, `^`, `,`; unknown where the value or the pattern is, or where we do not read it."""
    text = text_of(parts)
    if text is None:
        whole = parts[0].path if len(parts) == 1 and operator == "%" and machine.text.string[operand : named.stop] == "/*" else None
        if whole is not None:
            return (parts[0]._replace(path="/".join(whole.split("/")[:-1]), at=at, use=at),)
        return (unknown(named.name, at),)
    if operator in ("/", "//"):
        return _replaced(machine, node, named, parts, text, operator, operand, at)
    pattern = text_of(read_region(machine, node, operand, named.stop))
    if pattern is None:
        return (unknown(named.name, at),)
    if operator in ("^", "^^", ",", ",,"):
        return _cased(named, parts, text, pattern, operator, at)
    machine.budget.step(1 + len(text) ** 2 * len(pattern) // 2000)
    longest = len(operator) == 2
    if operator[0] == "%":
        left = patterns.without_suffix(text, pattern, longest=longest)
        return (unknown(named.name, at),) if left is None else _kept(parts, text, 0, len(left), at)
    left = patterns.without_prefix(text, pattern, longest=longest) if operator[0] == "#" else None
    return (unknown(named.name, at),) if left is None else _kept(parts, text, len(text) - len(left), len(text), at)


def _replaced(machine: Machine, node: Node, named: _Named, parts: Parts, text: str, operator: str, operand: int, at: Location) -> Parts:
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


def _cased(named: _Named, parts: Parts, text: str, pattern: str, operator: str, at: Location) -> Parts:
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
