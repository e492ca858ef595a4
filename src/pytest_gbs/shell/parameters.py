"""`$name` and `${name...}`: what a variable or an argument holds, its default, its length, a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part, hull
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Location
from pytest_gbs.shell.expansion import read_region
from pytest_gbs.shell.operations import Expanded, Named, Operation, changed, conditional, one, sliced
from pytest_gbs.shell.state import Variable, text_of, unknown
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.shell.machine import Machine

# Set on every machine, or by the shell itself: never nothing.
_ALWAYS: Final = frozenset(
    [
        "HOME",
        "USER",
        "PATH",
        "PWD",
        "OLDPWD",
        "SHELL",
        "LOGNAME",
        "HOSTNAME",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "UID",
        "EUID",
        "PPID",
        "BASHPID",
        "BASH",
        "BASH_VERSION",
        "OSTYPE",
        "?",
        "$",
        "!",
        "-",
        "_",
    ]
)
_OPERATORS: Final = (":-", ":=", ":+", ":?", "%%", "##", "//", "^^", ",,", "-", "=", "+", "?", "%", "#", "/", "^", ",", ":", "@")


def expand(machine: Machine, node: Node, span: tuple[int, int], at: Location, *, quoted: bool) -> Expanded:
    """Return what an expansion gives that stands at `at`, `span` in the text."""
    start, stop = span
    if machine.text.hidden(start, stop):
        return one((unknown(machine.text.string[start:stop][:40], at, many=True),))
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
    operation = Operation(node, named, operator, named.rest + len(operator), at)
    if operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
        return conditional(machine, operation, found)
    if operator == ":":
        return sliced(machine, operation, found)
    return Expanded(tuple(changed(machine, operation, element) for element in found.elements), found.spread)


def _read_name(machine: Machine, node: Node, start: int, stop: int) -> Named | None:
    """Return the name in `${...}` and what is around it; None where it is of another form."""
    text = machine.text.string
    if text[stop - 1] != "}" or node.has_error:
        return None
    place, prefix = start + 2, ""
    if text[place] in "#!" and text[place + 1 : place + 2] not in ("}", "", ":", "-", "%"):
        prefix = text[place]
        place += 1
    end = place
    if is_digits(text[place]):
        while is_digits(text[end]):
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
    return Named(prefix, name, subscript, end, stop - 1)


def look_up(machine: Machine, name: str, at: Location, subscript: str = "", *, quoted: bool = True) -> Expanded:
    """Return the value of a variable, an argument, an item or all items of an array."""
    if name in ("@", "*"):
        return _arguments(machine, name, at, quoted=quoted)
    if name == "#":
        count = machine.state.arguments
        return one((unknown("#", at, default=True),) if count is None else (Part(str(len(count)), at, at),))
    if is_digits(name) and name != "0":
        return one(_argument(machine, name, at))
    variable = machine.state.variables.get(name)
    if variable is None:
        found = _unset(machine, name, at)
        if subscript in ("@", "*") and name != "BASH_SOURCE":
            return Expanded((tuple(part._replace(many=True) for part in found),), spread=True)
        return one(found)
    if subscript in ("@", "*"):
        items = (variable.parts,) if variable.items is None else tuple(parts for _, parts in variable.items)
        if variable.items is None and variable.text is None:
            items = (tuple(part._replace(many=True) for part in variable.parts),)
        return _spread(items, subscript, at, quoted=quoted)
    if subscript:
        return one(_item(machine, name, variable, subscript, at))
    return one(variable.scalar)


def _spread(items: tuple[Parts, ...], sign: str, at: Location, *, quoted: bool) -> Expanded:
    if sign == "*" and quoted:
        joined: list[Part] = []
        for number, item in enumerate(items):
            joined += [Part(" ", at, at), *item] if number else item
        return one(tuple(joined))
    return Expanded(items, spread=True)


def _arguments(machine: Machine, name: str, at: Location, *, quoted: bool) -> Expanded:
    known = machine.state.arguments
    if known is None:
        return Expanded(((unknown(name, at, many=True, default=True),),), spread=True)
    return _spread(known, name, at, quoted=quoted)


def _argument(machine: Machine, name: str, at: Location) -> Parts:
    known, number = machine.state.arguments, whole_number(name)
    if known is None or number == 0:
        return (unknown(name, at, default=True),)
    return known[number - 1] if number is not None and number <= len(known) else ()


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
    if any(not is_digits(key) for key in keys):
        return ()
    number = machine.reckon_text(subscript)
    if number is None:
        return (unknown(name, at),)
    listed = [parts for _, parts in variable.items]
    return keys.get(str(number), listed[number] if -len(listed) <= number < 0 else ())


def _indirect(machine: Machine, named: Named, at: Location, *, quoted: bool) -> Expanded:
    """Return the value of the variable whose name a variable holds, or the subscripts of an array."""
    variable = machine.state.variables.get(named.name)
    if named.subscript in ("@", "*"):
        if variable is None or variable.items is None:
            return one((unknown("!" + named.name, at),))
        return Expanded(tuple((Part(key, at, at),) for key, _ in variable.items), spread=True)
    name = variable.text if variable is not None and not named.subscript else None
    if not name or not (name.isidentifier() or is_digits(name)):
        return one((unknown("!" + named.name, at),))
    return look_up(machine, name, at, quoted=quoted)


def _length(machine: Machine, named: Named, found: Expanded, at: Location) -> Parts:
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
