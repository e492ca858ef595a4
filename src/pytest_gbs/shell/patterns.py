"""File-name patterns of the shell (`*`, `?`): matching, and the `%`, `#` and `/` operations of `${...}` on known text."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_gbs.model.pattern import lazy_pattern, re

LONGEST: Final = 256  # characters of a text in which a pattern is sought
_LONGEST_PATTERN: Final = 40


def matches(pattern: str, text: str) -> bool | None:
    """Whether all of `text` matches `pattern`; None if the pattern is of a kind that is not read, or the text is too long."""
    expression = _expression(pattern)
    return None if expression is None or len(text) > LONGEST else expression.fullmatch(text) is not None


def without_prefix(text: str, pattern: str, *, longest: bool) -> str | None:
    """`text` without the shortest or longest start that matches; None if that is unknown."""
    expression = _expression(pattern)
    if expression is None or len(text) > LONGEST:
        return None
    lengths = range(len(text) + 1)
    return next((text[length:] for length in (reversed(lengths) if longest else lengths) if expression.fullmatch(text[:length])), text)


def without_suffix(text: str, pattern: str, *, longest: bool) -> str | None:
    """`text` without the shortest or longest end that matches; None if that is unknown."""
    expression = _expression(pattern)
    if expression is None or len(text) > LONGEST:
        return None
    places = range(len(text) + 1)
    return next((text[:place] for place in (places if longest else reversed(places)) if expression.fullmatch(text[place:])), text)


def replaced(text: str, pattern: str, new: str, *, every: bool) -> str | None:
    """`text` with the first or every occurrence of a pattern without special characters replaced; None for other patterns."""
    plain = pattern[1:] if pattern[:1] == "\\" and len(pattern) == 2 else pattern
    if not plain or (plain == pattern and any(sign in pattern for sign in "*?[\\(")) or "\\" in new or "&" in new:
        return None
    if plain[0] in "#%" and len(plain) > 1:
        return None
    return text.replace(plain, new, -1 if every else 1)


_element = lazy_pattern(r"\\(.)|(.)", re.DOTALL)


@lru_cache(2048)  # loops over arguments compare each with hundreds of them
def _expression(pattern: str) -> re.Pattern[str] | None:
    """The regular expression of a pattern; None for extended patterns and for sets of characters.

    What is between two stars matches where it first can (`(?>...)`), so that hostile patterns take no longer than others.
    """
    if len(pattern) > _LONGEST_PATTERN or any(sign + "(" in pattern for sign in "@!+*?"):
        return None
    pieces = [""]
    for match in _element().finditer(pattern):
        escaped, sign = match.groups()
        if sign == "[" and "]" in pattern[match.end() + 1 :]:
            return None
        if sign == "*":
            pieces.append("")
        else:
            pieces[-1] += "." if sign == "?" else re.escape(escaped or sign)
    first, *behind = pieces
    between = "".join(f"(?>.*?{piece})" for piece in behind[:-1])
    return re.compile(first + (f"{between}.*{behind[-1]}" if behind else ""), re.DOTALL)
