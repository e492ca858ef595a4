"""File-name patterns of the shell: matching, and the `%`, `#`, `/`, `:` operations of `${...}` on text that is known."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 256  # characters of a text in which a pattern is sought
_LONGEST_PATTERN: Final = 40


def matches(pattern: str, text: str) -> bool | None:
    """Return whether all of `text` matches `pattern` (`*`, `?`, `[a-z]`, backslash); None where we do not read the pattern."""
    tokens = _tokens(pattern)
    return None if tokens is None or len(text) > LONGEST else _match(tokens, text)


def is_plain(pattern: str) -> bool:
    """Return whether a pattern matches only itself."""
    return not any(sign in pattern for sign in "*?[\\(")


def without_prefix(text: str, pattern: str, *, longest: bool) -> str | None:
    """Return `text` without the shortest or longest start that matches; None where we can't tell."""
    tokens = _tokens(pattern)
    if tokens is None or len(text) > LONGEST:
        return None
    lengths = range(len(text) + 1)
    for length in reversed(lengths) if longest else lengths:
        if _match(tokens, text[:length]):
            return text[length:]
    return text


def without_suffix(text: str, pattern: str, *, longest: bool) -> str | None:
    """Return `text` without the shortest or longest end that matches; None where we can't tell."""
    tokens = _tokens(pattern)
    if tokens is None or len(text) > LONGEST:
        return None
    places = range(len(text) + 1)
    for place in places if longest else reversed(places):
        if _match(tokens, text[place:]):
            return text[:place]
    return text


def replaced(text: str, pattern: str, new: str, *, every: bool) -> str | None:
    """Return `text` with the first or every occurrence of a plain pattern replaced; None for other patterns."""
    plain = pattern.replace("\\", "", 1) if pattern[:1] == "\\" and len(pattern) == 2 else pattern
    if not plain or (plain == pattern and not is_plain(pattern)) or "\\" in new or "&" in new:
        return None
    if plain[0] in "#%" and plain == pattern and len(plain) > 1:
        return None
    return text.replace(plain, new, -1 if every else 1)


def _tokens(pattern: str) -> list[tuple[str, str]] | None:
    """Return (kind, characters) for each element of a pattern: `=` itself, `?`, `*`, `[` one of, `!` none of."""
    if len(pattern) > _LONGEST_PATTERN or any(sign + "(" in pattern for sign in "@!+*?"):
        return None
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        place += 1
        if sign == "\\" and place < len(pattern):
            found.append(("=", pattern[place]))
            place += 1
        elif sign == "*":
            if not found or found[-1][0] != "*":
                found.append(("*", ""))
        elif sign == "?":
            found.append(("?", ""))
        elif sign == "[" and "]" in pattern[place + 1 :]:
            stop = pattern.index("]", place + 1)
            members = _members(pattern[place:stop].lstrip("!^"))
            if members is None:
                return None
            found.append(("!" if pattern[place] in "!^" else "[", members))
            place = stop + 1
        else:
            found.append(("=", sign))
    return found


def _members(inside: str) -> str | None:
    """Return the characters of `a-z0-9_`; None for classes and ranges that depend on the language."""
    if "[" in inside or "\\" in inside:
        return None
    found, place = "", 0
    while place < len(inside):
        if place + 2 < len(inside) and inside[place + 1] == "-":
            first, last = inside[place], inside[place + 2]
            if not (first.isascii() and last.isascii() and first.isalnum() and last.isalnum()) or ord(last) < ord(first):
                return None
            found += "".join(map(chr, range(ord(first), ord(last) + 1)))
            place += 3
        else:
            found += inside[place]
            place += 1
    return found


def _match(tokens: list[tuple[str, str]], text: str) -> bool:
    """Return whether all of `text` matches: the last star takes one more character wherever what follows it fails."""
    token = place = 0
    star, resume = -1, 0
    while place < len(text):
        if token < len(tokens) and tokens[token][0] == "*":
            star, resume = token, place
            token += 1
        elif token < len(tokens) and _fits(tokens[token], text[place]):
            token += 1
            place += 1
        elif star >= 0:
            resume += 1
            token, place = star + 1, resume
        else:
            return False
    return all(kind == "*" for kind, _ in tokens[token:])


def _fits(token: tuple[str, str], character: str) -> bool:
    kind, members = token
    if kind == "=":
        return character == members
    return kind == "?" or (kind == "[") == (character in members)
