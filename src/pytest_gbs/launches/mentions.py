"""Which files a text may name, and whether it may launch training: asked of a script of which a part was not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from pytest_gbs.files.words import LAUNCHING, MATTERING
from pytest_gbs.model.limits import LONGEST_NAME_PATTERN, MOST_NAME_PATTERNS

# Of the programs that launch training, those that run anything else as well.
_ANY: Final = frozenset(("python", "srun", "uv run", "ray job", "composer ", "swift "))


def may_launch(text: str, names_recipe: Callable[[], bool]) -> bool:
    """Return whether a program stands in `text` that launches training, or one that runs any program beside a batch key or a recipe."""
    found = {match.group() for match in _programs().finditer(text)}
    if not found <= _ANY:
        return True
    return bool(found) and (has_batch_key(text) or names_recipe())


def has_batch_key(text: str) -> bool:
    """Return whether a key of a batch or a launch stands in `text`."""
    return any(word in text for word in MATTERING)


@cache
def _programs() -> re.Pattern[str]:
    words = "|".join(re.escape(word) + ("(?![A-Za-z_])" if word[-1].isalnum() else "") for word in LAUNCHING)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{words})")


def named(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of `names`, of files or of recipes as programs know them (`8B_full`), that stand in `text`."""
    wanted = {name: _token().findall(name) for name in names}
    known = {token for tokens in wanted.values() for token in tokens}
    there = known.intersection(token for match in _token().finditer(text) for token in _forms(match.group()))
    return frozenset(name for name, tokens in wanted.items() if tokens and there.issuperset(tokens))


def fitting(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of `names` that fit a name with variables in it that stands in `text`: `${size}_sft.yaml`."""
    wanted = frozenset(names)
    starts = {name[:stop] for name in wanted for stop in range(len(name) + 1)}
    ends = {name[start:] for name in wanted for start in range(len(name) + 1)}
    found: set[tuple[str | None, ...]] = set()
    for match in _run().finditer(text):
        word = match.group()[-LONGEST_NAME_PATTERN:].translate(_QUOTES)
        printed = word.startswith(".") and text[match.start() - 1 : match.start()] in (")", "`")  # $(...).yaml
        parts = _file_name(word, printed) if printed or "$" in word else ()
        if any(parts) and not all(parts) and (parts[0] or "") in starts and (parts[-1] or "") in ends:
            found.add(parts)
        if len(found) > MOST_NAME_PATTERNS:
            return wanted
    pattern = re.compile("|".join(like(parts).pattern for parts in found) or r"(?!)")
    return frozenset(name for name in wanted if pattern.fullmatch(name))


@cache
def _token() -> re.Pattern[str]:
    return re.compile(r"[\w.+-]+")


def _forms(token: str) -> tuple[str, str]:
    """Return a token of a text as it stands, and without what a sentence or an option puts around it."""
    return token, token.strip(".-+")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(r"[^\s;|&()<>`]+")


_QUOTES: Final = str.maketrans("", "", "\"'")


def _file_name(word: str, printed: bool = False) -> tuple[str | None, ...]:
    """Return the known parts of the file name that a word ends with, None for each variable; `printed` words stand behind one."""
    found: list[str | None] = [None] if printed else []
    start = place = 0
    while (sign := word.find("$", place)) >= 0:
        found += [word[start:sign], None]
        start = place = _behind(word, sign + 1)
    found.append(word[start:])
    for index in range(len(found) - 1, -1, -1):
        known = found[index] or ""
        cut = max(known.rfind("/"), known.rfind("=")) + 1
        if cut:
            found = [known[cut:], *found[index + 1 :]]
            break
    return tuple(part for part in found if part != "")


def _behind(word: str, place: int) -> int:
    """Return the offset behind the variable whose `$` stands before `place`."""
    if not word.startswith("{", place):
        stop = place
        while stop < len(word) and (word[stop].isalnum() or word[stop] == "_"):
            stop += 1
        return max(stop, place + 1)
    depth = 0
    for stop in range(place, len(word)):
        depth += (word[stop] == "{") - (word[stop] == "}")
        if depth == 0:
            return stop + 1
    return len(word)


def like(parts: Sequence[str | None]) -> re.Pattern[str]:
    """Return what matches paths like a word of which some parts are unknown (None).

    An unknown part ends where the known one behind it first occurs, and is never tried again: many of them cost no more than one.
    """
    pattern, unknown, last = "", False, max((i for i, part in enumerate(parts) if part), default=-1)
    for i, part in enumerate(parts):
        if not part:
            unknown = unknown or part is None
            continue
        literal = re.escape(part.removeprefix("./") if not pattern and not unknown else part)
        ends = i == last and None not in parts[i:]
        pattern += literal if not unknown else f"[^/]+{literal}" if ends else f"(?>[^/]+?{literal})"
        unknown = False
    pattern += "[^/]+" if unknown else ""
    return re.compile(f"(?:.*/)?{pattern}" if parts and parts[0] is None else pattern)
