"""What a condition comes to: true, false or unknown, and whether that is so only while nobody sets anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.expansion import read_value
from pytest_gbs.shell.patterns import matches
from pytest_gbs.shell.state import emptiness, text_of
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.shell.machine import Machine


class Truth(NamedTuple):
    """How a command ends: well, badly, or unknown (None). `default`: a user can change it; `hoped`: it is meant to end well."""

    value: bool | None
    default: bool = False
    hoped: bool = False

    def negated(self) -> Truth:
        """Return the opposite."""
        return Truth(None if self.value is None else not self.value, self.default)


YES: Final = Truth(True)
NO: Final = Truth(False)
UNKNOWN: Final = Truth(None)
HOPED: Final = Truth(None, hoped=True)

_COMPARED: Final = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}


def both(left: Truth, right: Truth) -> Truth:
    """Return `left && right`."""
    for one in (left, right):
        if one.value is False and not one.default:
            return one
    if None in (left.value, right.value):
        return UNKNOWN
    return Truth(bool(left.value and right.value), left.default or right.default)


def either(left: Truth, right: Truth) -> Truth:
    """Return `left || right`."""
    return both(left.negated(), right.negated()).negated()


def read_test(machine: Machine, node: Node) -> Truth:
    """Return what `[ ... ]` or `[[ ... ]]` comes to; `(( ... ))` is no test of this kind."""
    inside = [child for child in node.children if child.is_named]
    if len(inside) != 1 or node.has_error:
        return UNKNOWN
    double = node.children[0].type == "[["
    return _expression(machine, inside[0], double=double)


def _expression(machine: Machine, node: Node, *, double: bool) -> Truth:
    machine.budget.step()
    kind = node.type
    if kind == "parenthesized_expression":
        inside = [child for child in node.children if child.is_named]
        return _expression(machine, inside[0], double=double) if len(inside) == 1 else UNKNOWN
    if kind == "unary_expression":
        return _unary(machine, node, double=double)
    if kind == "binary_expression":
        return _binary(machine, node, double=double)
    if kind in ("negation_expression", "ternary_expression", "postfix_expression"):
        return UNKNOWN
    return _full(read_value(machine, node))


def _full(parts: Parts) -> Truth:
    empty, default = emptiness(parts)
    return Truth(None if empty is None else not empty, default)


def _unary(machine: Machine, node: Node, *, double: bool) -> Truth:
    operator = node.child_by_field_name("operator")
    operand = [child for child in node.children if child.is_named and (operator is None or child.id != operator.id)]
    sign = machine.raw_node(operator) if operator is not None else "!"
    if len(operand) != 1:
        return UNKNOWN
    if sign == "!":
        return _expression(machine, operand[0], double=double).negated()
    return _of_one(machine, sign, read_value(machine, operand[0]))


def _of_one(machine: Machine, sign: str, parts: Parts) -> Truth:
    if sign == "-n":
        return _full(parts)
    if sign == "-z":
        return _full(parts).negated()
    name = text_of(parts)
    if sign == "-v" and name:
        variable = machine.state.variables.get(name)
        return Truth(False, default=True) if variable is None else Truth(not variable.unset)
    if sign in ("-f", "-e") and machine.has_file(parts):
        return YES
    return UNKNOWN


def _binary(machine: Machine, node: Node, *, double: bool) -> Truth:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None or len(node.children) != 3:
        return UNKNOWN
    sign = machine.raw_node(operator)
    if sign in ("&&", "-a"):
        return both(_expression(machine, left, double=double), _expression(machine, right, double=double))
    if sign in ("||", "-o"):
        return either(_expression(machine, left, double=double), _expression(machine, right, double=double))
    if not double and (right.type == "binary_expression" or left.type == "binary_expression"):
        return UNKNOWN  # the grammar groups `-a` and `-o` of `[` otherwise than bash
    if left.type == "unary_expression":
        inside = [child for child in left.children if child.is_named]
        if machine.raw_node(left)[:1] != "!" or len(inside) != 1:
            return UNKNOWN
        quoted = right.type in ("string", "raw_string") or not double
        return _of_two(machine, read_value(machine, inside[0]), sign, read_value(machine, right), quoted=quoted).negated()
    quoted = right.type in ("string", "raw_string") or not double
    return _of_two(machine, read_value(machine, left), sign, read_value(machine, right), quoted=quoted)


def _of_two(machine: Machine, left: Parts, sign: str, right: Parts, *, quoted: bool) -> Truth:
    if sign in _COMPARED:
        numbers = machine.reckon(left), machine.reckon(right)
        one, other = numbers[0][0], numbers[1][0]
        if _counts_arguments(left) and other is not None:
            one = 0
        if one is None or other is None:
            return UNKNOWN
        return Truth(_COMPARED[sign](one, other), numbers[0][1] or numbers[1][1] or _counts_arguments(left))
    if sign not in ("=", "==", "!="):
        return UNKNOWN
    text, pattern = text_of(left), text_of(right)
    if text is None or pattern is None:
        return _by_emptiness(left, sign, pattern)
    default = any(part.default for part in (*left, *right))
    same = text == pattern if quoted else matches(pattern, text)
    return Truth(None if same is None else same == (sign != "!="), default)


def _counts_arguments(parts: Parts) -> bool:
    """Return whether this is `$#` of a script of whose arguments nothing is known: none, unless somebody gives some."""
    return len(parts) == 1 and parts[0].text is None and parts[0].name == "#" and parts[0].default


def _by_emptiness(left: Parts, sign: str, pattern: str | None) -> Truth:
    """Return the answer of `[ "$X" = "" ]`, and of `[ "x$X" = "x" ]`, for a variable of the environment."""
    holes = [part for part in left if part.text is None]
    known = text_of(part for part in left if part.text is not None) or ""
    if pattern is None or not holes or pattern != known or not all(part.default for part in holes):
        return UNKNOWN
    return Truth(sign != "!=", default=True)


def read_words(machine: Machine, words: tuple[Word, ...]) -> Truth:
    """Return what `test` with these words as arguments comes to."""
    if not words:
        return NO
    if words[0].text == "!":
        return read_words(machine, words[1:]).negated()
    if len(words) == 1:
        return _full(words[0].parts)
    if len(words) == 2 and words[0].text is not None:
        return _of_one(machine, words[0].text, words[1].parts)
    if len(words) == 3 and words[1].text is not None:
        return _of_two(machine, words[0].parts, words[1].text, words[2].parts, quoted=True)
    return UNKNOWN
