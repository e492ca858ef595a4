"""Patterns for paths: `*`, `?`, `[..]`, `**` and `{a,b}`, matched in time that no pattern can blow up."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from pytest_gbs.model.limits import MOST_SPELLINGS
from pytest_gbs.model.pattern import re
from pytest_gbs.model.record import Final

_SLASH, _STAR = "/", "*"
_POSIX: Final = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def matches(path: str, pattern: str) -> bool:
    """Whether `path` (with `/`; a folder ends in `/`) or a folder above it is what `pattern` names.

    A pattern without a slash names a file or folder anywhere, one with a slash is relative to the root. With a slash at its end
    it names folders only. A broken pattern (`[` never closed) matches nothing.
    """
    compiled = _compiled(pattern)
    return compiled is not None and compiled.match(path) is not None


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether `path` matches one of `patterns`."""
    return any(matches(path, pattern) for pattern in patterns)


def problem(pattern: str) -> str:
    """Why `pattern` can match nothing, or nothing if it is in order."""
    written = spellings(pattern)
    if written is None:
        return f"covers more than {MOST_SPELLINGS} patterns"
    if not pattern.strip("/") or any(tokens(spelling) is None for spelling in written):
        return "matches nothing"
    return ""


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    parts = [part for spelling in spellings(pattern) or () if (part := _regex(spelling)) is not None]
    return re.compile(f"(?:{'|'.join(parts)})\\Z", re.DOTALL) if parts else None


def _regex(pattern: str) -> str | None:
    """The regular expression of a pattern without braces, or None if it can match nothing."""
    found = tokens(pattern.removeprefix("./"))
    if found is None:
        return None
    folder = found[-1:] == [_SLASH]
    while found[-1:] == [_SLASH]:
        found.pop()
    anywhere = _SLASH not in found
    while found[:1] == [_SLASH]:
        found.pop(0)
    if not found:
        return None
    parts = segments(found)
    return path_regex([[_STAR, _STAR], *parts] if anywhere else parts) + ("/.*" if folder else "(?:/.*)?")


def tokens(pattern: str) -> list[str] | None:
    """The tokens of `pattern`: `/`, `*`, or a regular expression for exactly one character; None if it is broken."""
    found: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character in (_SLASH, _STAR):
            found.append(character)
        elif character == "?":
            found.append("[^/]")
        elif character == "[":
            read = _character_class(pattern, at)
            if read is None:
                return None
            token, at = read
            found.append(token)
        elif character == "\\":
            if at == len(pattern):
                return None
            found.append(_SLASH if pattern[at] == _SLASH else re.escape(pattern[at]))
            at += 1
        else:
            found.append(re.escape(character))
    return found


def _character_class(pattern: str, at: int) -> tuple[str, int] | None:
    """The class that opens before `at` as a regular expression, and where it ends; None if it is never closed."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    body: list[str] = []
    previous, first = "", True
    while first or pattern[at : at + 1] != "]":
        first = False
        character = pattern[at : at + 1]
        if character == "[" and pattern[at + 1 : at + 2] == ":":
            close = pattern.find("]", at + 2)
            if close < 0:
                return None
            if pattern[close - 1] == ":" and close - 1 >= at + 2:
                name = pattern[at + 2 : close - 1]
                if name not in _POSIX:
                    return None
                body.append(_POSIX[name])
                previous, at = "", close + 1
                continue
        if character == "-" and previous and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1
            high, at = _one(pattern, at)
            if not high:
                return None
            if previous <= high:
                body[-1] = f"{_escaped(previous)}-{_escaped(high)}"
            previous = ""
            continue
        character, at = _one(pattern, at)
        if not character:
            return None
        body.append(_escaped(character))
        previous = character
    inside = "".join(body)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _one(pattern: str, at: int) -> tuple[str, int]:
    """The character of a class at `at`, a backslash taken off, and what follows; nothing at the end of the pattern."""
    if pattern[at : at + 1] == "\\":
        at += 1
    return pattern[at : at + 1], at + 1


def _escaped(character: str) -> str:
    return "\\" + character if character in "\\]^-[&~|/" else character


def segments(found: list[str], sign: str = _SLASH) -> list[list[str]]:
    """`found` split at each `sign`."""
    parts: list[list[str]] = [[]]
    for token in found:
        if token == sign:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def path_regex(parts: list[list[str]]) -> str:
    """A regular expression for a path of these segments, with no end.

    What is between two stars is taken at the first place where it fits, for good: no later choice can make a pattern fit
    that does not fit then, and without choices to try again the time stays small whatever the pattern.
    """
    runs: list[list[str]] = [[]]
    for part in parts:
        if len(part) > 1 and all(token == _STAR for token in part):
            runs.append([])
        else:
            runs[-1].append(_segment_regex(part))
    first, *rest = runs
    if not rest:
        return "/".join(first)
    *middle, last = rest
    text = "".join(f"{segment}/" for segment in first)
    text += "".join(f"(?>(?:[^/]+/)*?{''.join(f'{segment}/' for segment in run)})" for run in middle if run)
    return text + ("(?:[^/]+/)*" + "/".join(last) if last else ".*")


def _segment_regex(part: list[str]) -> str:
    first, *others = segments(part, _STAR)
    if not others:
        return "".join(first)
    *middle, last = others
    if not any((first, *others)):
        return "[^/]+"
    text = "".join(first) + "".join(f"(?>[^/]*?{''.join(chunk)})" for chunk in middle if chunk)
    return text + "[^/]*" + "".join(last)


def spellings(pattern: str) -> list[str] | None:
    """`pattern` with its braces written out, or None if that makes too many."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        one = pending.pop()
        places = _braces(one)
        if places is None:
            done.append(one)
        else:
            head, tail = one[: places[0]], one[places[-1] + 1 :]
            pending.extend(head + one[left + 1 : right] + tail for left, right in pairwise(places))
        if len(done) + len(pending) > MOST_SPELLINGS:
            return None
    return done


def _braces(pattern: str) -> list[int] | None:
    """Where the first braces with a comma open, have their commas, and close."""
    if "{" not in pattern:
        return None
    found: list[list[int]] = []
    stack: list[list[int]] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif character == "{":
            stack.append([at])
        elif character == "," and stack:
            stack[-1].append(at)
        elif character == "}" and stack:
            group = stack.pop()
            if len(group) > 1:
                found.append([*group, at])
        at += 1
    return min(found) if found else None
