"""OmegaConf's interpolations as trees: `${a.b}`, `${.x}`, `${a.${b}}`, `${oc.env:NAME,8}`, and the text around them."""

# Written after omegaconf/grammar/OmegaConfGrammarLexer.g4, OmegaConfGrammarParser.g4 and grammar_visitor.py of OmegaConf 2.3.

from __future__ import annotations

import re
from functools import cache, lru_cache

from pytest_gbs.composition._interpolation import Call, Element, Interpolation, Many, Pairs, Plain, Reference, Text
from pytest_gbs.composition._tokens import OMEGACONF, PRIMITIVE, Token, next_token, typed, unescaped
from pytest_gbs.model.limits import DEEPEST_INTERPOLATION, LONGEST_INTERPOLATION


class NotAnInterpolation(Exception):
    """A text with `${` that OmegaConf would not parse."""


@lru_cache(maxsize=1_024)
def parse_text(text: str) -> Text:
    """Return the parts of a configuration value that holds `${`.

    Raises: NotAnInterpolation: OmegaConf would not parse it.
    """
    if len(text) > LONGEST_INTERPOLATION:
        raise NotAnInterpolation(f"longer than {LONGEST_INTERPOLATION:,} characters")
    parser = _Parser(text)
    parts = parser.text("")
    return Text(parts)


def parse_element(text: str) -> Element:
    """Return the value that `text` denotes where a resolver takes it for an argument.

    Raises: NotAnInterpolation: OmegaConf would not parse it.
    """
    if len(text) > LONGEST_INTERPOLATION:
        raise NotAnInterpolation(f"longer than {LONGEST_INTERPOLATION:,} characters")
    parser = _Parser(text)
    element = parser.element()
    if parser.place < len(text):
        raise NotAnInterpolation(f"unexpected {text[parser.place]!r}")
    return element


class _Parser:
    """A parser at work; `place` is where the next token starts."""

    __slots__ = ("depth", "place", "string")

    def __init__(self, string: str) -> None:
        self.string = string
        self.place = 0
        self.depth = 0

    def text(self, quote: str) -> tuple[str | Interpolation, ...]:
        """Return the parts of the text up to its closing `quote`, or up to the end where there is none."""
        parts: list[str | Interpolation] = []
        ends = f"$\\{quote}"
        while self.place < len(self.string):
            string, start = self.string, self.place
            first = string[start]
            if first == quote:
                return tuple(parts)
            if string.startswith("${", start):
                parts.append(self.interpolation())
            elif first == "\\":
                parts.append(self.backslashes(quote))
            else:
                stop = start + 1
                while stop < len(string) and string[stop] not in ends:
                    stop += 1
                parts.append(string[start:stop])
                self.place = stop
        if quote:
            raise NotAnInterpolation("a quote is not closed")
        return tuple(parts)

    def backslashes(self, quote: str) -> str:
        """Return what the backslashes here stand for: pairs count as one only before `${` and a quote."""
        start = self.place
        stop = start
        while stop < len(self.string) and self.string[stop] == "\\":
            stop += 1
        count = stop - start
        if self.string.startswith("${", stop):
            self.place = stop + 2 * (count % 2)
            return "\\" * (count // 2) + "${" * (count % 2)
        if quote and self.string.startswith(quote, stop):
            self.place = stop + count % 2
            return "\\" * (count // 2) + quote * (count % 2)
        self.place = stop
        return "\\" * count

    def interpolation(self) -> Interpolation:
        """Return the interpolation that starts here with `${`."""
        self.enter()
        self.place += 2
        self.skip()
        parts: list[str | Interpolation] = []
        names: list[str | Interpolation] = []
        while self.string.startswith(".", self.place):
            parts.append(".")
            self.place += 1
        plain = not parts  # whether it can still turn out to be a resolver's name
        while True:
            if self.string.startswith("[", self.place):
                plain = False
                self.place += 1
                parts += ("[", self.key()[0], "]")
                self.expect("]")
            else:
                key, named = self.key()
                plain = plain and named
                parts.append(key)
                names.append(key)
            match = _end().match(self.string, self.place)
            mark = match[1] or match[2] or match[3] if match else ""
            if match and mark in ("}", ":"):
                self.place = match.end()
                break
            if mark == ".":
                parts.append(".")
                self.place += 1
            elif mark != "[":
                raise NotAnInterpolation(f"expected '}}' at character {self.place}")
        self.depth -= 1
        if mark == "}":
            return Reference(tuple(parts))
        if not plain:
            raise NotAnInterpolation("a resolver's name is made of words and dots")
        return Call(tuple(names), self.sequence("}"))

    def key(self) -> tuple[str | Interpolation, bool]:
        """Return the key that starts here, and whether it could be part of a resolver's name."""
        if self.string.startswith("${", self.place):
            return self.interpolation(), True
        match = _key().match(self.string, self.place)
        if match is None:
            raise NotAnInterpolation(f"expected a key at character {self.place}")
        self.place = match.end()
        return match.group(), _name().fullmatch(match.group()) is not None

    def sequence(self, close: str) -> tuple[Element, ...]:
        """Return the elements up to the token `close`; one that is left out is an empty string."""
        self.enter()
        found: list[Element] = []
        if self.take(close):
            self.depth -= 1
            return ()
        while True:
            token = self.peek()
            found.append(Plain("") if token.kind in ("comma", close) else self.element())
            if self.take(close):
                self.depth -= 1
                return tuple(found)
            if not self.take("comma"):
                raise NotAnInterpolation(f"expected ',' or '{close}' at character {self.place}")

    def element(self) -> Element:
        """Return the element that starts here."""
        token = self.peek()
        if token.kind in ("'", '"'):
            self.place += 1
            parts = self.text(token.kind)
            self.place += 1
            return Text(parts, quoted=True)
        if token.kind == "[":
            self.place += len(token.text)
            return Many(self.sequence("]"))
        if token.kind == "{":
            self.place += len(token.text)
            return self.pairs()
        return self.primitive()

    def pairs(self) -> Pairs:
        """Return the mapping whose brace was opened."""
        self.enter()
        entries = []
        if not self.take("}"):
            while True:
                key = self.tokens(PRIMITIVE - {"colon"})
                if not self.take("colon"):
                    raise NotAnInterpolation(f"expected ':' at character {self.place}")
                entries.append((_single(key), self.element()))
                if self.take("}"):
                    break
                if not self.take("comma"):
                    raise NotAnInterpolation(f"expected ',' or '}}' at character {self.place}")
        self.depth -= 1
        return Pairs(tuple(entries))

    def primitive(self) -> Element:
        """Return the scalar that starts here: typed where it is one word, else text."""
        parts: list[str | Interpolation] = []
        tokens: list[Token] = []
        while True:
            token = next_token(self.string, self.place, OMEGACONF)
            if token is not None and token.kind == "${":
                parts.append(self.interpolation())
            elif token is not None and token.kind in PRIMITIVE:
                tokens.append(token)
                parts.append(unescaped(token))
                self.place += len(token.text)
            else:
                break
        if not parts:
            raise NotAnInterpolation(f"expected a value at character {self.place}")
        if len(parts) == 1 and tokens:
            return Plain(_single(tokens))
        return Text(tuple(parts))

    def tokens(self, kinds: frozenset[str]) -> list[Token]:
        """Return the tokens of these kinds that stand here, at least one."""
        found = []
        while (token := next_token(self.string, self.place, OMEGACONF)) is not None and token.kind in kinds:
            found.append(token)
            self.place += len(token.text)
        if not found:
            raise NotAnInterpolation(f"expected a key at character {self.place}")
        return found

    def peek(self) -> Token:
        """Return the token that starts here."""
        token = next_token(self.string, self.place, OMEGACONF)
        if token is None:
            raise NotAnInterpolation(f"expected a value at character {self.place}")
        return token

    def take(self, kind: str) -> bool:
        """Return whether a token of `kind` starts here, and go behind it."""
        token = next_token(self.string, self.place, OMEGACONF)
        if token is None or token.kind != kind:
            return False
        self.place += len(token.text)
        return True

    def expect(self, mark: str) -> None:
        """Go behind `mark`, which must stand here."""
        if not self.string.startswith(mark, self.place):
            raise NotAnInterpolation(f"expected '{mark}' at character {self.place}")
        self.place += len(mark)

    def skip(self) -> None:
        """Go behind blanks."""
        while self.string[self.place : self.place + 1] in (" ", "\t"):
            self.place += 1

    def enter(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST_INTERPOLATION:
            raise NotAnInterpolation(f"nested deeper than {DEEPEST_INTERPOLATION} levels")


def _single(tokens: list[Token]) -> int | float | bool | str | None:
    if len(tokens) > 1:
        return "".join(map(unescaped, tokens))
    if tokens[0].kind == "ws":
        raise NotAnInterpolation("a value of blanks alone")
    try:
        return typed(tokens[0])
    except ValueError as error:
        raise NotAnInterpolation("a number is too long") from error


@cache
def _key() -> re.Pattern[str]:
    return re.compile(r"[^\\{}()\[\]:. \t'\"]+")


@cache
def _name() -> re.Pattern[str]:
    return re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")


@cache
def _end() -> re.Pattern[str]:
    return re.compile(r"[ \t]*(?:(\})|(:)[ \t]*)|([.\[])")
