"""The words that values are made of, alike in Hydra's overrides and in the arguments of OmegaConf's resolvers."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

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

# What the plain texts of a primitive are made of.
PRIMITIVE: Final = frozenset(("id", "null", "int", "float", "bool", "char", "colon", "esc", "ws"))


class Token(NamedTuple):
    """A word: its kind and its text."""

    kind: str
    text: str


@cache
def _patterns(grammar: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in grammar)


def next_token(text: str, place: int, grammar: tuple[tuple[str, str], ...]) -> Token | None:
    """Return the token of `grammar` that starts at `place`, or None where none does."""
    best, stop = "", place
    for kind, pattern in _patterns(grammar):
        match = pattern.match(text, place)
        if match is not None and match.end() > stop:
            best, stop = kind, match.end()
    return Token(best, text[place:stop]) if best else None


def typed(token: Token) -> int | float | bool | str | None:
    """Return the value of a primitive that is this one token.

    Raises: ValueError: a number has more digits than Python converts.
    """
    kind, text = token
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "bool":
        return text.lower() == "true"
    if kind == "null":
        return None
    return unescaped(token)


def unescaped(token: Token) -> str:
    """Return the text that `token` adds to a longer one."""
    return token.text[1::2] if token.kind == "esc" else token.text
