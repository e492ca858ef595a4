"""Arithmetic as bash does it: 64 bits, division towards zero, names that are variables, and holes for what is unknown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from pytest_gbs.model.pattern import lazy_pattern

LookUp: TypeAlias = Callable[[str], int | None]
Assign: TypeAlias = Callable[[str, int | None], None]

HOLE: Final = "\ue000"  # stands for a value that is unknown
_LEVELS: Final = (
    ("|",), ("^",), ("&",), ("==", "!="), ("<=", ">=", "<", ">"), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_ASSIGNMENTS: Final = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=")
_DEEPEST: Final = 40
_MOST_TOKENS: Final = 400


class InvalidExpression(Exception):
    """An expression that bash would refuse, or that is not read."""


def evaluate(text: str, look_up: LookUp, assign: Assign) -> int | None:
    """The value of an expression, 0 for an empty one; None if it is unknown.

    `look_up` gives the value of a variable (None: unknown), `assign` sets one.

    Raises: InvalidExpression: it is not an expression.
    """
    return _Evaluation(text, look_up, assign).result()


class _Evaluation:
    """One expression and the place in it that was reached."""

    __slots__ = ("assign", "depth", "look_up", "place", "skipping", "tokens")

    def __init__(self, text: str, look_up: LookUp, assign: Assign) -> None:
        self.tokens = _tokens(text)
        self.look_up, self.assign = look_up, assign
        self.place = self.depth = 0
        self.skipping = False  # a side of `?:` that is not taken has no effects

    def result(self) -> int | None:
        if not self.tokens:
            return 0
        value = self.assignment()
        if self.place < len(self.tokens):
            raise InvalidExpression
        return value

    def peek(self, ahead: int = 0) -> str:
        index = self.place + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self, *signs: str) -> str:
        """The next token, passed over, if it is one of `signs`; else nothing."""
        token = self.peek()
        if token not in signs or not token:
            return ""
        self.place += 1
        return token

    def nest(self, read: Callable[[], int | None]) -> int | None:
        """What `read` reads, one level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise InvalidExpression
        value = read()
        self.depth -= 1
        return value

    def assignment(self) -> int | None:
        return self.nest(self.assignment_or_choice)

    def assignment_or_choice(self) -> int | None:
        """The value of `name = ...`, which sets the variable, or of `a ? b : c`."""
        name, sign = self.peek(), self.peek(1)
        if not _is_name(name) or sign not in _ASSIGNMENTS:
            return self.choice()
        self.place += 2
        value = self.assignment()
        if sign != "=":
            value = _binary(sign[:-1], self.look_up(name), value)
        return self.set(name, value)

    def choice(self) -> int | None:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.side(condition == 0, self.assignment)
        if not self.take(":"):
            raise InvalidExpression
        second = self.side(condition is not None and condition != 0, self.assignment)
        if condition is None:
            return first if first == second else None
        return first if condition else second

    def side(self, skip: bool, read: Callable[[], int | None]) -> int | None:
        """What `read` reads, without effects if `skip`."""
        before, self.skipping = self.skipping, self.skipping or skip
        value = read()
        self.skipping = before
        return value

    def binary(self, level: int) -> int | None:
        """The value of operands joined by operators of `level` or of ones that bind tighter."""
        if level == len(_LEVELS):
            return self.power()
        value = self.binary(level + 1)
        while sign := self.take(*_LEVELS[level]):
            value = _binary(sign, value, self.binary(level + 1), skipped=self.skipping)
        return value

    def power(self) -> int | None:
        base = self.unary()
        return _power(base, self.power()) if self.take("**") else base

    def unary(self) -> int | None:
        sign = self.take("-", "+", "!", "~", "++", "--")
        if not sign:
            return self.operand()
        if sign in ("++", "--"):
            name = self.peek()
            if not _is_name(name):
                raise InvalidExpression
            self.place += 1
            return self.count(name, sign)
        value = self.nest(self.unary)
        return None if value is None else {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]

    def count(self, name: str, sign: str) -> int | None:
        """The value of a variable after `++` or `--`."""
        old = self.look_up(name)
        return self.set(name, None if old is None else old + (1 if sign == "++" else -1))

    def operand(self) -> int | None:
        token = self.peek()
        self.place += 1
        if token == "(":
            value = self.assignment()
            if not self.take(")"):
                raise InvalidExpression
            return value
        if token[:1] == HOLE:
            return None
        if token[:1].isdigit():
            return number(token)
        if not _is_name(token):
            raise InvalidExpression
        old = self.look_up(token)
        if sign := self.take("++", "--"):
            self.count(token, sign)
        return old

    def set(self, name: str, value: int | None) -> int | None:
        if not self.skipping:
            self.assign(name, value)
        return value


_token = lazy_pattern(
    rf"\s*(?:(?P<number>[0-9]+(?!\w))|(?P<name>[A-Za-z_]\w*|{HOLE}+)"
    r"|(?P<sign><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|[-+*/%&|^]=|[-+*/%<>=!~?:()&|^]))",
    re.ASCII,
)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _token().match(text, place)
        if match is None or len(tokens) >= _MOST_TOKENS:
            raise InvalidExpression
        tokens.append(match.group().strip())
        place = match.end()
    return tokens


def number(text: str) -> int:
    """The number that bash reads in `text`: decimal, or octal behind a 0.

    Raises: InvalidExpression: it is not a number.
    """
    try:
        value = int(text, 8 if text[0] == "0" and len(text) > 1 else 10)
    except ValueError as error:
        raise InvalidExpression from error
    return _in_64_bits(value)


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _in_64_bits(value: int) -> int:
    if not -(2**63) <= value < 2**63:  # bash goes on with another number
        raise InvalidExpression
    return value


def _power(base: int | None, exponent: int | None) -> int | None:
    if base is None or exponent is None:
        return None
    if exponent < 0 or (exponent > 64 and abs(base) > 1):
        raise InvalidExpression
    return _in_64_bits(base**exponent) if abs(base) > 1 else base ** (exponent % 2 or (2 if exponent else 0))


def _binary(sign: str, left: int | None, right: int | None, *, skipped: bool = False) -> int | None:
    if left is None or right is None:
        return None
    if (sign in ("<<", ">>") and not 0 <= right < 64) or (sign in ("/", "%") and not right):
        if skipped and not right:
            return None
        raise InvalidExpression
    return _in_64_bits(_OPERATORS[sign](left, right))


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATORS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - _quotient(a, b) * b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
}
