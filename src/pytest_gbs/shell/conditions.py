"""Conditions: `[ ... ]`, `[[ ... ]]` and `test`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.shell import truth
from pytest_gbs.shell.expansion import Expansion
from pytest_gbs.shell.reading import Words
from pytest_gbs.shell.state import text_of
from pytest_gbs.shell.text import Parts
from pytest_gbs.shell.truth import NO, UNKNOWN, YES, Truth

if TYPE_CHECKING:
    from tree_sitter import Node


class Conditions(Expansion):
    """A file of which conditions are read."""

    def test(self, node: Node) -> Truth:
        """The answer of `[ ... ]` or `[[ ... ]]`."""
        inside = [child for child in node.children if child.is_named]
        if len(inside) != 1 or node.has_error:
            return UNKNOWN
        return self.test_expression(inside[0], double=node.children[0].type == "[[")

    def test_expression(self, node: Node, *, double: bool) -> Truth:
        """The answer of an expression in `[ ]`, or in `[[ ]]` if `double`."""
        self.budget.step()
        kind = node.type
        if kind == "parenthesized_expression":
            inside = [child for child in node.children if child.is_named]
            return self.test_expression(inside[0], double=double) if len(inside) == 1 else UNKNOWN
        if kind == "unary_expression":
            return self.test_of_one(node, double=double)
        if kind == "binary_expression":
            return self.test_of_two(node, double=double)
        if kind in ("negation_expression", "ternary_expression", "postfix_expression"):
            return UNKNOWN
        return truth.is_not_empty(self.value(node))

    def test_of_one(self, node: Node, *, double: bool) -> Truth:
        """The answer of `-n a` and the like."""
        operator = node.child_by_field_name("operator")
        operand = [child for child in node.children if child.is_named and (operator is None or child.id != operator.id)]
        sign = self.raw(operator) if operator is not None else "!"
        if len(operand) != 1:
            return UNKNOWN
        if sign == "!":
            return self.test_expression(operand[0], double=double).negated()
        return self.answer_of_one(sign, self.value(operand[0]))

    def answer_of_one(self, sign: str, parts: Parts) -> Truth:
        """The answer of an operator before one operand."""
        if sign in ("-n", "-z"):
            full = truth.is_not_empty(parts)
            return full if sign == "-n" else full.negated()
        name = text_of(parts)
        if sign == "-v" and name:
            variable = self.state.variables.get(name)
            return Truth(False, default=True) if variable is None else Truth(not variable.unset)
        return YES if sign in ("-f", "-e") and self.exists(self.word(parts, None)) else UNKNOWN

    def test_of_two(self, node: Node, *, double: bool) -> Truth:
        """The answer of `a = b` and the like."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or len(node.children) != 3:
            return UNKNOWN
        sign = self.raw(operator)
        if sign in ("&&", "-a", "||", "-o"):
            combine = truth.both if sign in ("&&", "-a") else truth.either
            return combine(self.test_expression(left, double=double), self.test_expression(right, double=double))
        if not double and (right.type == "binary_expression" or left.type == "binary_expression"):
            return UNKNOWN  # the grammar groups `-a` and `-o` of `[` otherwise than bash
        quoted = right.type in ("string", "raw_string") or not double
        if left.type == "unary_expression":  # to bash `! a = b` is `! (a = b)`
            inside = [child for child in left.children if child.is_named]
            if self.raw(left)[:1] != "!" or len(inside) != 1:
                return UNKNOWN
            return self.answer_of_two(self.value(inside[0]), sign, self.value(right), quoted=quoted).negated()
        if double and truth.counts_arguments(self.value(left)):
            sign = truth.AS_NUMBERS.get(sign, sign)
        return self.answer_of_two(self.value(left), sign, self.value(right), quoted=quoted)

    def answer_of_two(self, left: Parts, sign: str, right: Parts, *, quoted: bool) -> Truth:
        """The answer of an operator between two operands."""
        if sign == "=~":
            return truth.holds_expression(left, right)
        if sign not in truth.COMPARISONS:
            return truth.same_text(left, sign, right, quoted=quoted)
        (first, of_first, _), (second, of_second, _) = self.calculate(left), self.calculate(right)
        no_arguments = truth.counts_arguments(left)
        if no_arguments and second is not None:
            first = 0
        if first is None or second is None:
            return UNKNOWN
        return Truth(truth.COMPARISONS[sign](first, second), bool(of_first or of_second) or no_arguments)

    def test_words(self, words: Words) -> Truth:
        """The answer of `test` with these words as arguments."""
        if not words:
            return NO
        if words[0].text == "!":
            return self.test_words(words[1:]).negated()
        if len(words) == 1:
            return truth.is_not_empty(words[0].parts)
        if len(words) == 2 and words[0].text is not None:
            return self.answer_of_one(words[0].text, words[1].parts)
        if len(words) == 3 and words[1].text is not None:
            return self.answer_of_two(words[0].parts, words[1].text, words[2].parts, quoted=True)
        return UNKNOWN
