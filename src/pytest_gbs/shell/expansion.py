"""Expansions of parameters and arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part, span_of_all
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import filters, patterns, values
from pytest_gbs.shell.arithmetic import HOLE, InvalidExpression, evaluate
from pytest_gbs.shell.state import Variable, emptiness, lowered, made_of, text_of, unknown
from pytest_gbs.shell.substitution import Substitution
from pytest_gbs.shell.text import Parts, ShellText, parse
from pytest_gbs.shell.truth import UNKNOWN, YES, Truth, counts_arguments
from pytest_gbs.shell.values import Expanded, one
from pytest_gbs.shell.word_reading import is_arithmetic
from pytest_gbs.shell.wrappers import words_of

if TYPE_CHECKING:
    from tree_sitter import Node


_DEEPEST_NAME: Final = 8
_OPERATORS: Final = (":-", ":=", ":+", ":?", "%%", "##", "//", "^^", ",,", "-", "=", "+", "?", "%", "#", "/", "^", ",", ":", "@")
# Set on every machine, or by the shell itself: never empty.
_ALWAYS_SET: Final = words_of(
    "HOME USER PATH PWD OLDPWD SHELL LOGNAME HOSTNAME RANDOM SECONDS LINENO UID EUID PPID BASHPID BASH BASH_VERSION OSTYPE ? $ ! - _"
)


class Parameter(NamedTuple):
    """What is in `${...}`: the sign before the name, the name, the subscript, the operator, and where its operand starts and stops."""

    node: Node
    at: Location
    prefix: str
    name: str
    subscript: str
    sign: str
    operand: int
    stop: int


class Expansion(Substitution):
    """A file of which words are read with all that they expand."""

    # Arithmetic

    def calculate_text(self, text: str) -> int | None:
        """The value of an expression that is known."""
        return self.calculate((Part(text, self.at_start, self.at_start),))[0]

    def calculate(self, parts: Parts) -> tuple[int | None, Parts, str]:
        """The value of an expression, the parts that a user can set from outside, and the name of what keeps it from being known."""
        self.budget.step()
        variables = _Variables(self, [part for part in parts if part.text is not None], next((p.name for p in parts if p.text is None), ""))
        string = "".join(HOLE if part.text is None else part.text for part in parts)
        at = parts[0].use if parts else self.at_start

        def assign(name: str, value: int | None) -> None:
            part = unknown(name, at) if value is None else made_of(variables.defaults, str(value), at)
            self.state.assign(name, Variable((part,)))

        try:
            value = evaluate(string, variables.look_up, assign)
        except InvalidExpression:
            return None, (), variables.unknown
        return value, tuple(variables.defaults), variables.unknown

    def arithmetic_expansion(self, node: Node) -> Parts:
        """The value of `$(( ... ))`; one that the grammar takes for a shell in a shell, and finds broken, is read by itself."""
        start, stop = self.text.span(node)
        if node.has_error and node.type != "arithmetic_expansion":
            return self.arithmetic_alone(self.text.slice(start, stop), node)
        opening, closing = (2, 1) if self.text.string.startswith("$[", start) else (3, 2)
        at = self.text.location(start, stop)
        value, defaults, name = self.calculate(self.region(node, start + opening, stop - closing, quoted=True))
        if value is None:
            return (unknown(name or self.text.string[start:stop][:40], at, default=bool(defaults)),)
        return (made_of(defaults, str(value), at),)

    def arithmetic_alone(self, parts: Parts, node: Node) -> Parts:
        """The value of `$(( ... ))` in a text of its own; unknown if it is broken there too."""
        text, outer = ShellText(parts), self.text
        found: Node | None = parse(text, self.budget)
        while found is not None and found.type != "arithmetic_expansion":
            found = found.children[0] if found.child_count == 1 else None
        if found is None:
            return (unknown(self.raw(node)[:40], self.at(node)),)
        self.text = text
        try:
            return self.arithmetic_expansion(found)
        finally:
            self.text = outer

    def has_broken(self, node: Node) -> bool:
        """Whether there is broken syntax in `node` beside arithmetic that the grammar takes for a shell in a shell."""
        if node.is_error or node.is_missing:
            return True
        if node.type == "command_substitution" and is_arithmetic(self.raw(node)):
            return False
        return any(child.has_error and self.has_broken(child) for child in node.children)

    def arithmetic_statement(self, node: Node, start: int, stop: int) -> Truth:
        """Whether an expression of `(( ... ))` is other than 0."""
        parts = self.region(node, start, stop, quoted=True)
        if not any(part.text is None or not part.text.isspace() for part in parts):
            return YES
        none = [counts_arguments((part,)) for part in parts]
        given = zip(parts, none, strict=True)
        value, defaults, _ = self.calculate(tuple(part._replace(text="0") if counts else part for part, counts in given))
        if value is None:
            self.forget_in(self.text.string[start:stop], self.text.location(start, stop), every=True)
            return UNKNOWN
        return Truth(value != 0, bool(defaults) or any(none))

    # Parameters

    def expand(self, node: Node, at: Location, *, quoted: bool) -> Expanded:
        """What `$name` or `${...}` gives, which is at `at`."""
        start, stop = self.text.span(node)
        string = self.text.string
        if self.text.hidden(start, stop):
            return one((unknown(string[start:stop][:40], at, many=True),))
        if node.type == "simple_expansion":
            return self.look_up(string[start + 1 : stop], at, quoted=quoted)
        parameter = self.parameter(node, start, stop, at)
        if parameter is None:
            return one((unknown(string[start:stop][:40], at),))
        name, sign, simple = parameter.name, parameter.sign, parameter.operand == parameter.stop and not parameter.sign
        if parameter.prefix == "!":
            return self.indirect(parameter, quoted=quoted) if simple else one((unknown("!" + name, at),))
        found = self.look_up(name, at, parameter.subscript, quoted=quoted)
        if parameter.prefix == "#":
            return one(self.length(parameter, found) if simple else (unknown("#" + name, at),))
        if not sign:
            return found if simple else one((unknown(name, at),))
        if sign in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
            return self.with_default(parameter, found)
        if sign == ":":
            bounds = text_of(self.region(node, parameter.operand, parameter.stop))
            return values.sliced(name, found, [self.calculate_text(b) for b in bounds.split(":")] if bounds is not None else [None], at)
        return Expanded(tuple(self.changed(parameter, element) for element in found.elements), found.spread)

    def parameter(self, node: Node, start: int, stop: int, at: Location) -> Parameter | None:
        """The name in `${...}` and what is around it; None if it is of another form."""
        text = self.text.string
        if text[stop - 1] != "}" or (node.has_error and self.has_broken(node)):
            return None
        place, prefix = start + 2, ""
        if text[place] in "#!" and text[place + 1 : place + 2] not in ("}", "", ":", "-", "%"):
            prefix = text[place]
            place += 1
        match = _parameter_name().match(text, place)
        if match is None:
            return None
        end, subscript = match.end(), ""
        if text[end] == "[":
            child = next((child for child in node.children if child.type == "subscript"), None)
            if child is None:
                return None
            last = self.text.span(child)[1]
            index = text_of(self.region(child, end + 1, last - 1))
            if index is None:
                return None
            subscript, end = index.strip('"'), last
        sign = next((sign for sign in _OPERATORS if text.startswith(sign, end, stop - 1)), "")
        return Parameter(node, at, prefix, match.group(), subscript, sign, end + len(sign), stop - 1)

    def look_up(self, name: str, at: Location, subscript: str = "", *, quoted: bool = True) -> Expanded:
        """The value of a variable, an argument, an item or all items of an array."""
        arguments = self.state.arguments
        if name in ("@", "*"):
            if arguments is None:
                return Expanded(((unknown(name, at, many=True, default=True),),), spread=True)
            return values.all_of(arguments, name, at, quoted=quoted)
        if name == "#":
            open_, default = values.any_number(arguments)
            return one((unknown("#", at, default=default),) if open_ or arguments is None else (Part(str(len(arguments)), at, at),))
        if is_digits(name) and name != "0":
            number = whole_number(name)
            open_, default = values.any_number(arguments[:number] if arguments is not None else None)
            if open_ or arguments is None or number == 0:
                return one((unknown(name, at, default=default or not open_),))
            return one(arguments[number - 1] if number is not None and number <= len(arguments) else ())
        variable = self.state.variables.get(name)
        if variable is None:
            found = self.not_set(name, at)
            if subscript in ("@", "*") and name != "BASH_SOURCE":
                return Expanded((tuple(part._replace(many=True) for part in found),), spread=True)
            return one(found)
        if subscript in ("@", "*"):
            items = (variable.parts,) if variable.items is None else tuple(parts for _, parts in variable.items)
            if variable.items is None and variable.text is None:
                items = (tuple(part._replace(many=True) for part in variable.parts),)
            return values.all_of(items, subscript, at, quoted=quoted)
        return one(self.item(name, variable, subscript, at) if subscript else variable.scalar)

    def not_set(self, name: str, at: Location) -> Parts:
        """The value of a variable that the script never set: what the environment has, if it has any."""
        if name in ("0", "BASH_SOURCE"):
            return (unknown(name, at)._replace(path=self.text_path),)
        if name == "PWD":
            return (unknown(name, at)._replace(path=filters.place_of(self.state.folder)),)
        return (unknown(name, at, default=not (self.is_always_set(name) or self.state.forgotten or self.state.unseen)),)

    def is_always_set(self, name: str) -> bool:
        """Whether the environment has variable `name` for certain."""
        return name in _ALWAYS_SET or (name.startswith("SLURM_") and self.in_job)

    def may_be_in_unseen_file(self, name: str) -> bool:
        """Whether nothing sets variable `name`, unless the environment does or a file that is not in the tree."""
        state = self.state
        return state.unseen and not state.forgotten and name.isidentifier() and name not in state.variables and not self.is_always_set(name)

    def item(self, name: str, variable: Variable, subscript: str, at: Location) -> Parts:
        """One item of an array."""
        if variable.items is None:
            return variable.parts if subscript == "0" or variable.text is None else ()
        items = dict(variable.items)
        if subscript in items or any(not is_digits(key) for key in items):
            return items.get(subscript, ())
        number = self.calculate_text(subscript)
        if number is None:
            return (unknown(name, at),)
        listed = list(items.values())
        return items.get(str(number), listed[number] if -len(listed) <= number < 0 else ())

    def indirect(self, parameter: Parameter, *, quoted: bool) -> Expanded:
        """The value of the variable whose name a variable holds (`${!A}`), or the subscripts of an array (`${!A[@]}`)."""
        variable, at = self.state.variables.get(parameter.name), parameter.at
        if parameter.subscript in ("@", "*"):
            if variable is None or variable.items is None:
                return one((unknown("!" + parameter.name, at),))
            return Expanded(tuple((Part(key, at, at),) for key, _ in variable.items), spread=True)
        name = variable.text if variable is not None and not parameter.subscript else None
        if not name or not (name.isidentifier() or is_digits(name)):
            return one((unknown("!" + parameter.name, at),))
        return self.look_up(name, at, quoted=quoted)

    def length(self, parameter: Parameter, found: Expanded) -> Parts:
        """The number of characters or items."""
        name, every, at = parameter.name, found.parts, parameter.at
        if name in "@*" or parameter.subscript in ("@", "*"):
            variable = self.state.variables.get(name)
            known = (variable is not None and variable.items is not None) or (name in "@*" and self.state.arguments is not None)
            if any(part.text is None and (part.many or not known) for part in every):
                return (unknown("#" + name, at),)
            count, place = len(found.elements), span_of_all([part.at for part in every]) or at
        else:
            text = text_of(every)
            if text is None:
                return (unknown("#" + name, at),)
            count, place = len(text), at
        return (Part(str(count), place, at, name, any(part.default for part in every)),)

    def with_default(self, parameter: Parameter, found: Expanded) -> Expanded:
        """The value, or what replaces an empty one: `:-`, `:=`, `:+`, `:?` and the same without colon."""
        variable, sign, at = self.state.variables.get(parameter.name), parameter.sign, parameter.at
        empty, default = emptiness(found.parts)
        if sign[-1] in "-=" and self.may_be_in_unseen_file(parameter.name):
            empty, default = True, True
        if sign[0] != ":" and empty and not default and variable is not None and not variable.unset:
            empty = False  # a variable that is set to nothing is set
        if sign[-1] == "?":
            elements = (tuple(p._replace(default=p.default and p.text is not None) for p in parts) for parts in found.elements)
            return Expanded(tuple(elements), found.spread)
        if sign[-1] == "+":
            if empty is not False:
                return one(() if empty and not default else (unknown(parameter.name, at, many=True, default=default),))
        elif empty is False:
            return found
        other = self.region(parameter.node, parameter.operand, parameter.stop)
        if empty is None:
            return found
        other = lowered(other, at, parameter.name) if default else other
        if sign[-1] == "=" and parameter.name.isidentifier() and not parameter.subscript:
            self.state.assign(parameter.name, Variable(other))
        return one(other)

    def changed(self, parameter: Parameter, parts: Parts) -> Parts:
        """A value after `%`, `#`, `/`, `^`, `,`; unknown if the value, the pattern or the operator is."""
        node, at, sign, operand = parameter.node, parameter.at, parameter.sign, parameter.operand
        text, raw = text_of(parts), self.text.string[operand : parameter.stop]
        hidden = (unknown(parameter.name, at),)
        if text is None:
            folder = parts[0].path if len(parts) == 1 and sign == "%" and raw == "/*" else None
            return hidden if folder in (None, ".") else (parts[0]._replace(path=folder.rpartition("/")[0], at=at, use=at),)
        middle = raw.find("/", 1) if sign in ("/", "//") else -1
        pattern = text_of(self.region(node, operand, parameter.stop if middle < 0 else operand + middle))
        if sign in ("/", "//"):
            new = "" if middle < 0 else text_of(self.region(node, operand + middle + 1, parameter.stop))
            if pattern is None or new is None or "$" in raw[: max(middle, 0)]:
                return hidden
            left = patterns.replaced(text, pattern, new, every=sign == "//")
            return hidden if left is None else values.with_text(parts, left, at)
        if pattern is None:
            return hidden
        if sign in ("^", "^^", ",", ",,"):
            return hidden if pattern else values.with_text(parts, values.with_case(text, sign), at)
        self.budget.step(1 + len(text) ** 2 * len(pattern) // 2000)
        stripped = values.stripped(parts, text, sign, pattern, at) if sign[0] in "%#" else None
        return hidden if stripped is None else stripped

    # Substitutions


class _Variables:
    """The variables that an arithmetic expression asks for."""

    __slots__ = ("defaults", "depth", "reading", "unknown")

    def __init__(self, reading: Expansion, known: Iterable[Part], name: str) -> None:
        self.reading, self.defaults, self.unknown, self.depth = reading, [part for part in known if part.default], name, 0

    def look_up(self, name: str) -> int | None:
        """The number that variable `name` holds, or the value of the expression that it holds."""
        variable = self.reading.state.variables.get(name)
        text = variable.text if variable else None
        if variable is None or text is None:
            if variable is not None and variable.unset:
                return 0
            self.unknown = self.unknown or name
            return None
        self.defaults += [part for part in variable.scalar if part.default]
        if self.depth >= _DEEPEST_NAME:
            raise InvalidExpression
        self.depth += 1
        self.reading.budget.step(1 + len(text) // 8)
        value = evaluate(text, self.look_up, lambda _name, _value: None)
        self.depth -= 1
        return value


_parameter_name = lazy_pattern(r"[0-9]+|[^\W0-9]\w*|[@*#?$!-]")
