"""Hydra's override grammar: `a.b=1`, `+a=[1,2]`, `++a={b: c}`, `~group`, `group@package=option`."""

# Written after hydra/grammar/OverrideLexer.g4, OverrideParser.g4 and core/override_parser/overrides_visitor.py of Hydra 1.3.
# Sweeps, and functions other than int, float and bool of one scalar, are not read.

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pytest_gbs.composition._tokens import HYDRA, PRIMITIVE, GrammarError, Token, TokenReader, UnsupportedSyntax, scalar
from pytest_gbs.model.limits import DEEPEST_OVERRIDE, LONGEST_OVERRIDE
from pytest_gbs.model.record import NamedTuple

CHANGE: Final = ""
ADD: Final = "+"
FORCE: Final = "++"
DELETE: Final = "~"


class ParsedOverride(NamedTuple):
    """An override as read; `kind` is its prefix."""

    kind: str
    key: str
    package: str | None
    value: Any

    @property
    def group_key(self) -> str:
        """The key with its package: `model@policy`."""
        return self.key if self.package is None else f"{self.key}@{self.package}"

    @property
    def path(self) -> str:
        """Where the value goes, with dots."""
        return self.key.replace("/", ".") if self.package is None else self.package


def parse_override(text: str) -> ParsedOverride:
    """What `text` means.

    Raises: GrammarError: Hydra's parser stops at it.
            UnsupportedSyntax: it is a sweep, or calls a function.
    """
    if len(text) > LONGEST_OVERRIDE:
        raise GrammarError(f"longer than {LONGEST_OVERRIDE:,} characters")
    match = _override().fullmatch(text)
    if match is None:
        raise GrammarError("this is not the key of an override")
    if match["equal"] is None and match["kind"] != DELETE:
        raise GrammarError("it has no '='")
    value = None if match["equal"] is None else _ValueReader(match["value"]).whole() if match["value"] else ""
    return ParsedOverride(match["kind"] or CHANGE, match["key"], match["package"], value)


@cache
def _override() -> re.Pattern[str]:
    word, special, number = r"[a-zA-Z_][a-zA-Z0-9_-]*", r"[a-zA-Z_$][a-zA-Z0-9_$-]*", r"(?:0|[1-9](?:_?[0-9])*)"
    dotted = rf"(?:{special}|{number})(?:\.(?:{special}|{number}))+"
    package = rf"(?:{dotted}|{special}|)"
    return re.compile(
        rf"(?P<kind>~|\+\+|\+)?(?P<key>{word}(?:/{word})+|{package})(?:@(?P<package>{package}))?(?P<equal>=[ \t]*(?P<value>.*))?", re.DOTALL
    )


class _ValueReader(TokenReader):
    """Reads what follows `=`."""

    grammar = HYDRA
    deepest = DEEPEST_OVERRIDE

    def whole(self) -> Any:
        """The whole value."""
        value = self.element()
        if self.take("comma"):
            raise UnsupportedSyntax("several values, a run for each")
        if self.place < len(self.string):
            raise GrammarError(f"unexpected {self.string[self.place]!r}")
        return value

    def simple(self) -> Any:
        """The value that starts here, neither a list nor a mapping."""
        token = self.peek()
        if token is not None and self.take("quoted"):
            return _unquoted(token.text)
        tokens = self.tokens(PRIMITIVE | {"interpolation"})
        if len(tokens) == 1 and tokens[0].kind == "id" and self.take("("):
            return self.cast(tokens[0].text)
        return scalar(_stripped(tokens))

    def cast(self, name: str) -> Any:
        """What the function `name`, whose bracket was opened, returns for its argument."""
        function = _CASTS.get(name)
        if function is None:
            raise UnsupportedSyntax(f"the function {name}")
        value = self.element()
        if not self.take(")") or not isinstance(value, int | float | str):
            raise UnsupportedSyntax(f"{name} of anything but one scalar")
        try:
            return function(value)
        except (ValueError, OverflowError) as error:
            raise GrammarError(f"{name} does not take {str(value)[:40]!r}") from error


def _stripped(tokens: list[Token]) -> list[Token]:
    """`tokens` without blanks around them; blanks alone stay."""
    start = 1 if tokens[0].kind == "ws" else 0
    stop = len(tokens) - 1 if tokens[-1].kind == "ws" else len(tokens)
    return tokens[start:stop] or tokens


def _unquoted(text: str) -> str:
    """The content of a quoted value: backslashes escape only if they precede its kind of quote."""
    body, place = text[1:], 0
    pieces: list[str] = []
    for match in re.finditer(rf"\\+{text[0]}", body):
        pieces += (body[place : match.start()], match.group()[1::2])
        place = match.end()
    return "".join((*pieces, body[place:][:-1]))


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() not in ("true", "false"):
            raise ValueError
        return value.lower() == "true"
    return bool(value)


_CASTS: Final[dict[str, Callable[[Any], Any]]] = {"int": int, "float": float, "bool": _boolean}
