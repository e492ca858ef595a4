"""Arithmetic as bash does it: 64 bits, division towards zero, names that are variables, and holes for what is unknown."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<=", ">=", "<", ">"), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_ASSIGNS: Final = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=")
HOLE: Final = "\ue000"  # stands for a value that is unknown
_DEEPEST: Final = 40
_MOST_TOKENS: Final = 400


class Unreckonable(Exception):
    """An expression that bash would refuse, or that we do not read."""


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?:(?P<number>[0-9]+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]+|[0-9]+)|(?P<name>[A-Za-z_]\w*|{HOLE}+)"
        r"|(?P<sign><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~?:,()&|^]))",
        re.ASCII,
    )


class Reckoning:
    """One expression at work; a value is None where it is unknown.

    `look_up` gives the value of a variable (None: unknown), `assign` sets one.
    """

    __slots__ = ("assign", "depth", "look_up", "place", "quiet", "tokens")

    def __init__(self, text: str, look_up: Callable[[str], int | None], assign: Callable[[str, int | None], None]) -> None:
        self.tokens = _tokens(text)
        self.look_up, self.assign = look_up, assign
        self.place = self.depth = 0
        self.quiet = False  # a side of `?:`, `&&` or `||` that is not taken has no effects

    def result(self) -> int | None:
        """Return the value of the whole expression, 0 for an empty one.

        Raises: Unreckonable: it is no expression.
        """
        if not self.tokens:
            return 0
        value = self.comma()
        if self.place < len(self.tokens):
            raise Unreckonable
        return value

    def peek(self, ahead: int = 0) -> str:
        """Return the next token."""
        index = self.place + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self, *signs: str) -> str:
        """Return the next token and go past it if it is one of `signs`, else nothing."""
        token = self.peek()
        if token not in signs or not token:
            return ""
        self.place += 1
        return token

    def comma(self) -> int | None:
        """Return the last of expressions behind each other."""
        value = self.assignment()
        while self.take(","):
            value = self.assignment()
        return value

    def assignment(self) -> int | None:
        """Return the value of `name = ...` and set the variable, or that of a condition."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreckonable
        name, sign = self.peek(), self.peek(1)
        if _is_name(name) and sign in _ASSIGNS:
            self.place += 2
            value = self.assignment()
            if sign != "=":
                value = _binary(sign[:-1], self.value_of(name), value)
            self.set(name, value)
        else:
            value = self.choice()
        self.depth -= 1
        return value

    def choice(self) -> int | None:
        """Return the value of `a ? b : c`."""
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.muted(condition == 0, self.comma)
        if not self.take(":"):
            raise Unreckonable
        second = self.muted(condition is not None and condition != 0, self.assignment)
        if condition is None:
            return first if first == second else None
        return first if condition else second

    def muted(self, mute: bool, read: Callable[[], int | None]) -> int | None:
        """Return what `read` reads, without effects if `mute`."""
        before, self.quiet = self.quiet, self.quiet or mute
        value = read()
        self.quiet = before
        return value

    def binary(self, level: int) -> int | None:
        """Return the value of operands joined by operators of `level` or tighter ones."""
        if level == len(_LEVELS):
            return self.power()
        value = self.binary(level + 1)
        while sign := self.take(*_LEVELS[level]):
            skip = (sign == "&&" and value == 0) or (sign == "||" and value is not None and value != 0)
            value = _binary(sign, value, self.muted(skip, lambda: self.binary(level + 1)), skipped=self.quiet or skip)
        return value

    def power(self) -> int | None:
        """Return the value of `a ** b`, which groups from the right."""
        base = self.unary()
        return _power(base, self.power()) if self.take("**") else base

    def unary(self) -> int | None:
        """Return the value of an operand with the signs before it."""
        sign = self.take("-", "+", "!", "~", "++", "--")
        if not sign:
            return self.operand()
        if sign in ("++", "--"):
            return self.step(self.name(), sign, before=True)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreckonable
        value = self.unary()
        self.depth -= 1
        if value is None:
            return None
        return {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]

    def name(self) -> str:
        """Return the next token, which is a name."""
        token = self.peek()
        if not _is_name(token):
            raise Unreckonable
        self.place += 1
        return token

    def step(self, name: str, sign: str, *, before: bool) -> int | None:
        """Return the value of `++x` or `x++`."""
        old = self.value_of(name)
        new = None if old is None else old + (1 if sign == "++" else -1)
        self.set(name, new)
        return new if before else old

    def operand(self) -> int | None:
        """Return the value of a number, a name or an expression in brackets."""
        token = self.peek()
        self.place += 1
        if token == "(":
            value = self.comma()
            if not self.take(")"):
                raise Unreckonable
            return value
        if token[:1] == HOLE:
            return None
        if token[:1].isdigit():
            return number(token)
        if not _is_name(token):
            raise Unreckonable
        sign = self.take("++", "--")
        return self.step(token, sign, before=False) if sign else self.value_of(token)

    def value_of(self, name: str) -> int | None:
        """Return the value of a variable."""
        return self.look_up(name)

    def set(self, name: str, value: int | None) -> None:
        """Set a variable, unless this side is not taken."""
        if not self.quiet:
            self.assign(name, value)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _token().match(text, place)
        if match is None or len(tokens) >= _MOST_TOKENS:
            raise Unreckonable
        tokens.append(match.group().strip())
        place = match.end()
    return tokens


def number(text: str) -> int:
    """Return the number that bash reads in `text`: decimal, 0x hexadecimal, 0 octal, base#digits.

    Raises: Unreckonable: it is none.
    """
    try:
        if "#" in text:
            base, _, digits = text.partition("#")
            if not 2 <= int(base) <= 36:
                raise Unreckonable
            value = int(digits, int(base))
        elif text[:2] in ("0x", "0X"):
            value = int(text, 16)
        else:
            value = int(text, 8 if text[0] == "0" and len(text) > 1 else 10)
    except ValueError as error:
        raise Unreckonable from error
    return _bounded(value)


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _bounded(value: int) -> int:
    """Return `value` if it fits 63 bits; bash goes on with other numbers where it does not."""
    if not -(2**63) <= value < 2**63:
        raise Unreckonable
    return value


def _power(base: int | None, exponent: int | None) -> int | None:
    if base is None or exponent is None:
        return None
    if exponent < 0 or (exponent > 64 and abs(base) > 1):
        raise Unreckonable
    return _bounded(base**exponent) if abs(base) > 1 else base ** (exponent % 2 or (2 if exponent else 0))


def _binary(sign: str, left: int | None, right: int | None, *, skipped: bool = False) -> int | None:
    if sign in ("&&", "||"):
        known = [side for side in (left, right) if side is not None]
        if sign == "&&":
            return 0 if 0 in known else None if len(known) < 2 else 1
        return 1 if any(known) else None if len(known) < 2 else 0
    if left is None or right is None:
        return None
    if sign in ("/", "%"):
        if right == 0:
            if skipped:
                return None
            raise Unreckonable
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - quotient * right
    if sign in ("<<", ">>"):
        if not 0 <= right < 64:
            raise Unreckonable
        return _bounded(left << right) if sign == "<<" else left >> right
    return _bounded(_SIMPLE[sign](left, right))


_SIMPLE: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
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
