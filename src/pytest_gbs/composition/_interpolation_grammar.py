"""OmegaConf's interpolations as trees: `${a.b}`, `${.x}`, `${a.${b}}`, `${oc.env:NAME,8}`, and the text around them."""

# Written after omegaconf/grammar/OmegaConfGrammarLexer.g4, OmegaConfGrammarParser.g4 and grammar_visitor.py of OmegaConf 2.3.
# Backslashes that escape an interpolation or a quote, and names of resolvers that are computed, are not read.

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, TypeAlias

from pytest_gbs.composition._tokens import OMEGACONF, PRIMITIVE, GrammarError, Token, TokenReader, UnsupportedSyntax, scalar, unescaped
from pytest_gbs.model.limits import DEEPEST_INTERPOLATION, LONGEST_INTERPOLATION
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple


class Reference(NamedTuple):
    """`${a.${b}[0]}`: the parts of the dotted key, some of them interpolations."""

    parts: tuple[str | Interpolation, ...]


class Call(NamedTuple):
    """`${name:argument,argument}`: an argument is a scalar, an `InterpolatedText`, or a list or dict of these."""

    name: str
    arguments: list[Any]


Interpolation: TypeAlias = Reference | Call


class InterpolatedText(NamedTuple):
    """Text with interpolations in it. A `quoted` one, or one of several parts, is always a string."""

    parts: tuple[str | Interpolation, ...]
    quoted: bool = False


@lru_cache(maxsize=1_024)
def parse_text(text: str) -> InterpolatedText:
    """The parts of a configuration value that contains `${`.

    Raises: GrammarError: OmegaConf would not parse it.
            UnsupportedSyntax: gbs does not.
    """
    return InterpolatedText(_reader(text).text(""))


def parse_argument(text: str) -> Any:
    """The value that `text` denotes as the argument of a resolver.

    Raises: GrammarError: OmegaConf would not parse it.
            UnsupportedSyntax: gbs does not.
    """
    reader = _reader(text)
    found = reader.element()
    if reader.place < len(text):
        raise GrammarError(f"unexpected {text[reader.place]!r}")
    return found


def check_text(value: object) -> None:
    """Raise GrammarError if `value` is text that OmegaConf takes for an interpolation and does not parse."""
    if type(value) is str and "${" in value:
        try:
            parse_text(value)
        except GrammarError as error:
            raise GrammarError(f"OmegaConf can't parse {value[:80]!r}: {error}") from error
        except UnsupportedSyntax:
            return


def _reader(text: str) -> _InterpolationReader:
    if len(text) > LONGEST_INTERPOLATION:
        raise GrammarError(f"longer than {LONGEST_INTERPOLATION:,} characters")
    return _InterpolationReader(text)


class _InterpolationReader(TokenReader):
    grammar = OMEGACONF
    deepest = DEEPEST_INTERPOLATION

    def text(self, quote: str) -> tuple[str | Interpolation, ...]:
        """The parts of the text up to its closing `quote`, or up to the end if it has none."""
        parts: list[str | Interpolation] = []
        while self.place < len(self.string):
            if quote and self.string.startswith(quote, self.place):
                return tuple(parts)
            if self.string.startswith("${", self.place):
                parts.append(self.interpolation())
                continue
            match = _plain_text(quote).match(self.string, self.place)
            assert match is not None
            self.place = match.end()
            if match.group().endswith("\\") and self.place < len(self.string):
                raise UnsupportedSyntax("a backslash before an interpolation or a quote")
            parts.append(match.group())
        if quote:
            raise GrammarError("a quote is not closed")
        return tuple(parts)

    def interpolation(self) -> Interpolation:
        """The interpolation that starts here with `${`."""
        self.enter()
        match = _call().match(self.string, self.place)
        if match is not None:
            self.place = match.end()
            found: Interpolation = Call(match.group(1), self.elements("}"))
        else:
            match = _opening().match(self.string, self.place)
            assert match is not None
            self.place = match.end()
            found = Reference((match.group(1), *self.key()))
        self.depth -= 1
        return found

    def key(self) -> list[str | Interpolation]:
        """The parts of the key up to the closing brace."""
        parts: list[str | Interpolation] = []
        while True:
            if self.string.startswith("[", self.place):
                self.place += 1
                parts += ("[", self.step(), "]")
                if not self.string.startswith("]", self.place):
                    raise GrammarError(f"expected ']' at character {self.place}")
                self.place += 1
            else:
                parts.append(self.step())
            if self.take("}"):
                return parts
            if self.string.startswith(".", self.place):
                parts.append(".")
                self.place += 1
            elif self.take("colon") and not all(isinstance(part, str) for part in parts):
                raise UnsupportedSyntax("a resolver whose name is computed")
            elif not self.string.startswith("[", self.place):
                raise GrammarError(f"expected '}}' at character {self.place}")

    def step(self) -> str | Interpolation:
        """One step of a key."""
        if self.string.startswith("${", self.place):
            return self.interpolation()
        match = _step().match(self.string, self.place)
        if match is None:
            raise GrammarError(f"expected a key at character {self.place}")
        self.place = match.end()
        return match.group()

    def item(self) -> Any:
        """The argument that starts here; one that is left out is an empty text."""
        token = self.peek()
        return "" if token is not None and token.kind in ("comma", "]", "}") else self.element()

    def simple(self) -> Any:
        """The value that starts here, neither a list nor a mapping."""
        token = self.peek()
        if token is not None and token.kind in ("'", '"'):
            self.place += 1
            parts = self.text(token.kind)
            self.place += 1
            return InterpolatedText(parts, quoted=True)
        return self.unquoted()

    def unquoted(self) -> Any:
        """The value without quotes that starts here: a scalar, or text with interpolations in it."""
        parts: list[str | Interpolation] = []
        tokens: list[Token] = []
        while (token := self.peek()) is not None and (token.kind == "${" or token.kind in PRIMITIVE):
            if token.kind == "${":
                parts.append(self.interpolation())
            else:
                tokens.append(token)
                parts.append(unescaped(token))
                self.place += len(token.text)
        if not parts:
            raise GrammarError(f"expected a value at character {self.place}")
        return scalar(tokens) if len(parts) == len(tokens) == 1 else InterpolatedText(tuple(parts))


@cache
def _plain_text(quote: str) -> re.Pattern[str]:
    return re.compile(rf"(?s:[^${quote}]|\$(?!\{{))+")


@cache
def _call() -> re.Pattern[str]:
    name = r"[a-zA-Z_][a-zA-Z0-9_-]*"
    return re.compile(rf"\$\{{[ \t]*({name}(?:\.{name})*)[ \t]*:[ \t]*")


_opening = lazy_pattern(r"\$\{[ \t]*(\.*)")
_step = lazy_pattern(r"[^\\{}()\[\]:. \t'\"]+")
