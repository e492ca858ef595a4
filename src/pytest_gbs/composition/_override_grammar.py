"""Hydra's override grammar: `a.b=1`, `+a=[1,2]`, `++a={b: c}`, `~group`, `group@package=option`."""

# Written after hydra/grammar/OverrideLexer.g4, OverrideParser.g4 and core/override_parser/overrides_visitor.py of Hydra 1.3.

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pytest_gbs.composition._tokens import HYDRA, PRIMITIVE, Token, next_token, typed, unescaped
from pytest_gbs.model.limits import DEEPEST_OVERRIDE, LONGEST_OVERRIDE
from pytest_gbs.model.record import NamedTuple

CHANGE: Final = ""
ADD: Final = "+"
FORCE: Final = "++"
DELETE: Final = "~"

_SWEEPS: Final = frozenset(("choice", "range", "interval", "glob", "tag"))


class NotAnOverride(Exception):
    """A text that Hydra's parser stops at."""


class Sweep(NamedTuple):
    """Several values, of which Hydra runs one after the other, only with --multirun."""

    text: str


class Parsed(NamedTuple):
    """An override as read: `kind` is its prefix; `stated` is false where there is no `=`."""

    kind: str
    key: str
    package: str | None
    value: Any
    stated: bool

    @property
    def group_key(self) -> str:
        """The key with its package: `model@policy`."""
        return self.key if self.package is None else f"{self.key}@{self.package}"


def parse_override(text: str) -> Parsed:
    """Return what `text` means.

    Raises: NotAnOverride: Hydra's parser stops at it.
    """
    if len(text) > LONGEST_OVERRIDE:
        raise NotAnOverride(f"longer than {LONGEST_OVERRIDE:,} characters")
    match = _override().fullmatch(text)
    if match is None:
        raise NotAnOverride("no override has a key like this")
    stated = match["equal"] is not None
    if not stated and match["kind"] != DELETE:
        raise NotAnOverride("no '=' in it")
    value = _Values(match["value"]).value() if stated and match["value"] else "" if stated else None
    return Parsed(match["kind"] or CHANGE, match["key"], match["package"], value, stated)


@cache
def _override() -> re.Pattern[str]:
    word, special, number = r"[a-zA-Z_][a-zA-Z0-9_-]*", r"[a-zA-Z_$][a-zA-Z0-9_$-]*", r"(?:0|[1-9](?:_?[0-9])*)"
    dotted = rf"(?:{special}|{number})(?:\.(?:{special}|{number}))+"
    package = rf"(?:{dotted}|{special}|)"
    return re.compile(
        rf"(?P<kind>~|\+\+|\+)?(?P<key>{word}(?:/{word})+|{package})(?:@(?P<package>{package}))?(?P<equal>=[ \t]*(?P<value>.*))?",
        re.DOTALL,
    )


class _Values:
    """A parser at work on what stands behind `=`."""

    __slots__ = ("depth", "place", "text", "token")

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0
        self.token = self.read()

    def read(self) -> Token | None:
        """Return the token that starts here, None at the end."""
        token = next_token(self.text, self.place, HYDRA)
        if token is None and self.place < len(self.text):
            raise NotAnOverride(f"unexpected {self.text[self.place]!r}")
        return token

    def go_on(self) -> None:
        """Go behind the token."""
        assert self.token is not None
        self.place += len(self.token.text)
        self.token = self.read()

    def at(self, kind: str) -> bool:
        """Return whether the token is of `kind`."""
        return self.token is not None and self.token.kind == kind

    def expect(self, kind: str) -> None:
        """Go behind a token of `kind`, which must stand here."""
        if not self.at(kind):
            raise NotAnOverride(f"expected '{kind}' at character {self.place} of the value")
        self.go_on()

    def value(self) -> Any:
        """Return the whole value."""
        value = self.element()
        if self.at("comma"):
            while self.at("comma"):
                self.go_on()
                self.element()
            value = Sweep(self.text)
        if self.token is not None:
            raise NotAnOverride(f"unexpected {self.token.text!r}")
        return value

    def element(self) -> Any:
        """Return the element that starts here."""
        self.depth += 1
        if self.depth > DEEPEST_OVERRIDE:
            raise NotAnOverride(f"nested deeper than {DEEPEST_OVERRIDE} levels")
        try:
            if self.at("["):
                return self.items()
            if self.at("{"):
                return self.pairs()
            if self.at("quoted"):
                assert self.token is not None
                text = _unquoted(self.token.text)
                self.go_on()
                return text
            return self.primitive_or_call()
        finally:
            self.depth -= 1

    def items(self) -> list[Any]:
        """Return the list whose bracket stands here."""
        self.go_on()
        found: list[Any] = []
        while not self.at("]"):
            if found:
                self.expect("comma")
            found.append(self.element())
        self.go_on()
        return found

    def pairs(self) -> dict[Any, Any]:
        """Return the mapping whose brace stands here."""
        self.go_on()
        found: dict[Any, Any] = {}
        begun = False
        while not self.at("}"):
            if begun:
                self.expect("comma")
            key = _scalar(self.tokens(PRIMITIVE - {"colon"}))
            self.expect("colon")
            found[key] = self.element()
            begun = True
        self.go_on()
        return found

    def tokens(self, kinds: frozenset[str]) -> list[Token]:
        """Return the tokens of these kinds that stand here, at least one."""
        found = []
        while self.token is not None and self.token.kind in kinds:
            found.append(self.token)
            self.go_on()
        if not found:
            raise NotAnOverride(f"expected a value at character {self.place} of it")
        return found

    def primitive_or_call(self) -> Any:
        """Return the scalar here, or what the function that is called here returns."""
        start = self.token
        if start is not None and start.kind == "id":
            self.go_on()
            if self.at("("):
                return self.call(start.text)
            more = self.tokens(PRIMITIVE | {"interpolation"}) if self.token and self.token.kind in PRIMITIVE | {"interpolation"} else []
            return _scalar([start, *more])
        return _scalar(self.tokens(PRIMITIVE | {"interpolation"}))

    def call(self, name: str) -> Any:
        """Return what function `name` makes of its arguments."""
        self.go_on()
        arguments: list[Any] = []
        named: dict[str, Any] = {}
        while not self.at(")"):
            if arguments or named:
                self.expect("comma")
            keyword = self.keyword()
            value = self.element()
            if keyword:
                named[keyword] = value
            elif named:
                raise NotAnOverride("a positional argument behind a named one")
            else:
                arguments.append(value)
        self.go_on()
        return _called(name, arguments, named)

    def keyword(self) -> str:
        """Return the name of the argument that starts here, and go behind its `=`; nothing where it has none."""
        token, place = self.token, self.place
        if token is None or token.kind != "id":
            return ""
        self.go_on()
        if self.at("equal"):
            self.go_on()
            return token.text
        self.place, self.token = place, token
        return ""


def _scalar(tokens: list[Token]) -> Any:
    """Return the value of a primitive: typed where it is one word, else text; blanks around it don't count."""
    start = 1 if tokens[0].kind == "ws" else 0
    stop = len(tokens) - 1 if tokens[-1].kind == "ws" else len(tokens)
    inner = tokens[start:stop]
    if not inner:
        raise NotAnOverride("a value of blanks alone")
    if len(inner) > 1:
        return "".join(map(unescaped, inner))
    try:
        return typed(inner[0])
    except ValueError as error:
        raise NotAnOverride("a number is too long") from error


def _unquoted(text: str) -> str:
    """Return the content of a quoted value: backslashes escape only where they stand before its kind of quote."""
    body, place = text[1:], 0
    pieces: list[str] = []
    for match in re.finditer(rf"\\+{text[0]}", body):
        pieces += (body[place : match.start()], match.group()[1::2])
        place = match.end()
    return "".join((*pieces, body[place:][:-1]))


def _called(name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
    if name in _SWEEPS:
        return Sweep(name)
    cast = _CASTS.get(name)
    values = [*arguments, *([named["value"]] if "value" in named else [])]
    if cast is not None and set(named) <= {"value"} and len(arguments) + len(named) >= 1:
        if len(arguments) > 1:
            return Sweep(name)
        if any(isinstance(value, Sweep) for value in values):
            return Sweep(name)
        return _cast(cast, values[0])
    if name == "sort":
        return _sorted(arguments, named)
    if name == "shuffle":
        if len(arguments) == 1 and isinstance(arguments[0], list):
            raise NotAnOverride("shuffle gives another order each time")
        return [arguments[0]] if len(arguments) == 1 and not isinstance(arguments[0], Sweep) else Sweep(name)
    raise NotAnOverride(f"no function {name}")


def _sorted(arguments: list[Any], named: dict[str, Any]) -> Any:
    single = len(arguments) == 1
    if single and isinstance(arguments[0], Sweep):
        return arguments[0]
    if single and not isinstance(arguments[0], list):
        return arguments[0]
    values = arguments[0] if single else arguments
    if not arguments or (not single and any(isinstance(value, list | dict | Sweep) or value is None for value in values)):
        raise NotAnOverride("sort takes values or a list")
    try:
        found = sorted(values, reverse=bool(named.get("reverse", False)))
    except TypeError as error:
        raise NotAnOverride("sort of values that have no order") from error
    return found if single else Sweep("sort")


def _cast(cast: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, list):
        return [_cast(cast, item) for item in value]
    if isinstance(value, dict):
        return {key: _cast(cast, item) for key, item in value.items()}
    if value is None:
        raise NotAnOverride("null can't be cast")
    try:
        return cast(value)
    except (ValueError, OverflowError) as error:
        raise NotAnOverride(f"{str(value)[:40]!r} can't be cast") from error


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() not in ("true", "false"):
            raise ValueError
        return value.lower() == "true"
    return bool(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_CASTS: Final[dict[str, Callable[[Any], Any]]] = {"int": int, "float": float, "bool": _boolean, "str": _text}
