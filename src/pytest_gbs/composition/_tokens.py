"""The tokens of values, alike in Hydra's overrides and in the arguments of OmegaConf's resolvers, and how lists and mappings are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Final

from pytest_gbs.model.record import NamedTuple

# Hydra 1.3, hydra/grammar/OverrideLexer.g4; OmegaConf 2.3, omegaconf/grammar/OmegaConfGrammarLexer.g4, VALUE_MODE in both.
# The longest match wins, of equally long ones the first.
_INTEGER: Final = r"(?:0|[1-9](?:_?[0-9])*)"
_POINT: Final = rf"(?:{_INTEGER}?\.[0-9](?:_?[0-9])*|{_INTEGER}\.)"
_FLOAT: Final = rf"[+-]?(?:(?:{_POINT}|{_INTEGER})[eE][+-]?[0-9](?:_?[0-9])*|{_POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])"
_SHARED: Final = (
    ("comma", r"[ \t]*,[ \t]*"),
    ("[", r"\[[ \t]*"),
    ("]", r"[ \t]*\]"),
    ("{", r"\{[ \t]*"),
    ("}", r"[ \t]*\}"),
    ("colon", r"[ \t]*:[ \t]*"),
    ("float", _FLOAT),
    ("int", rf"[+-]?{_INTEGER}"),
    ("bool", r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"),
    ("null", r"[Nn][Uu][Ll][Ll]"),
    ("char", r"[/\-\\+.$%*@?|]"),
    ("id", r"[a-zA-Z_][a-zA-Z0-9_-]*"),
    ("esc", r"(?:\\[\\()\[\]{}:=, \t])+"),
    ("ws", r"[ \t]+"),
)
HYDRA: Final = (
    ("(", r"[ \t]*\([ \t]*"),
    (")", r"[ \t]*\)"),
    ("equal", r"[ \t]*=[ \t]*"),
    *_SHARED,
    ("quoted", r"(?s:\"(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)\")|(?s:'(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)')"),
    ("interpolation", r"\$\{[^}]+\}"),
)
OMEGACONF: Final = (("${", r"\$\{[ \t]*"), *_SHARED, ("'", "'"), ('"', '"'))

# Tokens that a value without quotes is made of.
PRIMITIVE: Final = frozenset(("id", "null", "int", "float", "bool", "char", "colon", "esc", "ws"))


class GrammarError(Exception):
    """A text that OmegaConf or Hydra does not parse."""


class UnsupportedSyntax(Exception):
    """A text that OmegaConf or Hydra parses, and gbs does not."""


class Token(NamedTuple):
    """One token: its kind and its text."""

    kind: str
    text: str


class TokenReader:
    """Reads a text token by token; `place` is where the next one starts. Lists and mappings are alike in all grammars."""

    grammar: ClassVar[tuple[tuple[str, str], ...]]
    deepest: ClassVar[int]

    def __init__(self, text: str) -> None:
        self.string = text
        self.place = 0
        self.depth = 0
        self._seen: tuple[int, Token | None] = (-1, None)  # what starts at a place: it is asked for each kind that may follow

    def element(self) -> Any:
        """The value that starts here."""
        if self.take("["):
            return self.elements("]")
        if self.take("{"):
            return self.pairs()
        return self.simple()

    def simple(self) -> Any:
        """The value that starts here, neither a list nor a mapping."""
        raise NotImplementedError

    def item(self) -> Any:
        """The value that starts here as an item of a list."""
        return self.element()

    def peek(self) -> Token | None:
        """The token that starts here: the longest, the first of equally long ones; None if no token does."""
        place, token = self._seen
        if place != self.place:
            token = self._token()
            self._seen = self.place, token
        return token

    def _token(self) -> Token | None:
        best, stop = "", self.place
        for kind, pattern in _patterns(self.grammar):
            match = pattern.match(self.string, self.place)
            if match is not None and match.end() > stop:
                best, stop = kind, match.end()
        return Token(best, self.string[self.place : stop]) if best else None

    def take(self, kind: str) -> bool:
        """Whether a token of `kind` starts here, and move past it."""
        token = self.peek()
        if token is None or token.kind != kind:
            return False
        self.place += len(token.text)
        return True

    def expect(self, kind: str) -> None:
        """Move past a token of `kind`, which must start here."""
        if not self.take(kind):
            raise GrammarError(f"expected '{kind}' at character {self.place}")

    def enter(self) -> None:
        """Count one more level of nesting."""
        self.depth += 1
        if self.depth > self.deepest:
            raise GrammarError(f"nested deeper than {self.deepest} levels")

    def elements(self, close: str) -> list[Any]:
        """The elements up to the token `close`, separated by commas."""
        return self.separated(close, self.item)

    def pairs(self) -> dict[Any, Any]:
        """The mapping whose brace was opened."""
        return dict(self.separated("}", self.pair))

    def pair(self) -> tuple[Any, Any]:
        """The key and the value that start here."""
        key = scalar(self.tokens(PRIMITIVE - {"colon"}))
        self.expect("colon")
        return key, self.element()

    def separated(self, close: str, read: Callable[[], Any]) -> list[Any]:
        """What `read` gives up to the token `close`, separated by commas."""
        self.enter()
        found: list[Any] = []
        closed = self.take(close)
        while not closed:
            found.append(read())
            closed = self.take(close)
            if not closed:
                self.expect("comma")
        self.depth -= 1
        return found

    def tokens(self, kinds: frozenset[str]) -> list[Token]:
        """The tokens of these kinds that follow, at least one."""
        found = []
        while (token := self.peek()) is not None and token.kind in kinds:
            found.append(token)
            self.place += len(token.text)
        if not found:
            raise GrammarError(f"expected a value at character {self.place}")
        return found


@cache
def _patterns(grammar: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in grammar)


def scalar(tokens: list[Token]) -> int | float | bool | str | None:
    """The value of a scalar without quotes: a number, a boolean or null if it is one token, else text."""
    if len(tokens) > 1:
        return "".join(map(unescaped, tokens))
    kind, text = tokens[0]
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError as error:
        raise GrammarError("a number is too long") from error
    if kind == "bool":
        return text.lower() == "true"
    if kind == "ws":
        raise GrammarError("a value of blanks only")
    return None if kind == "null" else unescaped(tokens[0])


def unescaped(token: Token) -> str:
    """The text that `token` adds to a longer one."""
    return token.text[1::2] if token.kind == "esc" else token.text
