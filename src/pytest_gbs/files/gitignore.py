"""`.gitignore` as git reads it: which paths below a folder its patterns leave out."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pytest_gbs.files.globs import path_regex, segments, tokens
from pytest_gbs.model.limits import MOST_WILD_CHARACTERS, MOST_WILD_PATTERNS
from pytest_gbs.model.pattern import re
from pytest_gbs.model.record import NamedTuple

_WILD: Final = frozenset("*?[\\")


class _Pattern(NamedTuple):
    """One line: its text, and the regular expression of a whole name or path where it is more than a literal."""

    text: str
    regex: str
    ignores: bool
    folders_only: bool
    by_name: bool

    def matches(self, path: str, name: str, folder: bool) -> bool:
        """Whether this line matches `path`, relative to the folder of its file."""
        if self.folders_only and not folder:
            return False
        subject = name if self.by_name else path
        return _compiled(self.regex).match(subject) is not None if self.regex else subject == self.text


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(f"(?:{regex})\\Z", re.DOTALL)


class IgnoreFile:
    """The patterns of one `.gitignore`; `base` is the length of its folder's path, with its slash, in the paths it is asked about.

    Nearly every path is settled by looking whether any pattern could match at all: a name in a set, an ending, one regular
    expression for all other names and one for all other paths. Only then each pattern is tried, the last one first.
    """

    def __init__(self, text: str, base: int = 0) -> None:
        self.base = base
        found = _read(text)
        self._patterns = tuple(reversed(found))
        self._names = frozenset(p.text for p in found if p.by_name and not p.regex)
        self._paths = frozenset(p.text for p in found if not p.by_name and not p.regex)
        odd = [p for p in found if p.by_name and p.regex]
        self._endings = tuple(p.text[1:] for p in odd if _is_ending(p.text))
        self._odd_names = _any_of([p for p in odd if not _is_ending(p.text)])
        self._odd_paths = _any_of([p for p in found if not p.by_name and p.regex])

    def __bool__(self) -> bool:
        """Whether there is any pattern."""
        return bool(self._patterns)

    def says(self, path: str, name: str, folder: bool) -> bool | None:
        """Whether `path` is left out (True) or kept (False), or None if no pattern matches it."""
        path = path[self.base :]
        if not (
            name in self._names
            or name.endswith(self._endings)
            or path in self._paths
            or (self._odd_names is not None and self._odd_names.match(name))
            or (self._odd_paths is not None and self._odd_paths.match(path))
        ):
            return None
        for pattern in self._patterns:
            if pattern.matches(path, name, folder):
                return pattern.ignores
        return None


def _read(text: str) -> list[_Pattern]:
    lines = text.removeprefix("\ufeff").split("\n")
    found: list[_Pattern] = []
    number = characters = 0
    for line in lines:
        pattern = _read_line(line)
        if pattern is not None and pattern.regex:
            number, characters = number + 1, characters + len(line)
        if pattern is not None and (not pattern.regex or (number <= MOST_WILD_PATTERNS and characters <= MOST_WILD_CHARACTERS)):
            found.append(pattern)
    return found


def _is_ending(text: str) -> bool:
    return text[0] == "*" and _WILD.isdisjoint(text[1:])


def _any_of(patterns: list[_Pattern]) -> re.Pattern[str] | None:
    return _compiled("|".join(dict.fromkeys(p.regex for p in patterns))) if patterns else None


def _read_line(line: str) -> _Pattern | None:
    """The pattern of one line as `dir.c` of git reads it, or None if the line says nothing or can match nothing."""
    if line.startswith("#"):
        return None
    text = _without_spaces(line.removesuffix("\r"))
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    by_name = "/" not in text
    text = text.removeprefix("/")
    if not text:
        return None
    if _WILD.isdisjoint(text):
        return _Pattern(text, "", ignores, folders_only, by_name)
    found = tokens(text)
    if found is None:
        return None
    return _Pattern(text, path_regex(segments(found)), ignores, folders_only, by_name)


def _without_spaces(line: str) -> str:
    """`line` without the spaces at its end, but for one that a backslash keeps."""
    stripped = line.rstrip(" ")
    if len(stripped) == len(line):
        return line
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 else stripped
