"""Which files a text may name, and whether it may launch training: asked of a script of which a part was not read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from pytest_gbs.files.words import LAUNCHING, MATTERING
from pytest_gbs.model.limits import LONGEST_NAME_PATTERN, MOST_NAME_PATTERNS
from pytest_gbs.model.pattern import lazy_pattern, re

# Of the programs that launch training, those that run anything else as well.
_ANY: Final = frozenset(("python", "srun", "mpirun", "mpiexec", "uv run", "ray job", "composer ", "swift "))


def programs(text: str) -> frozenset[str]:
    """The programs in `text` that launch training, as `LAUNCHING` has them."""
    return _kept_once(frozenset(match.group() for match in _programs().finditer(text)))


@lru_cache
def _kept_once(found: frozenset[str]) -> frozenset[str]:
    """The first of equal sets: thousands of scripts have the same programs."""
    return found


def train(found: frozenset[str]) -> bool:
    """Whether one of the programs `found` trains, whatever it is given."""
    return not found <= _ANY


def has_batch_key(text: str) -> bool:
    """Whether a key of a batch or a launch is in `text`."""
    return any(word in text for word in MATTERING)


@cache
def _programs() -> re.Pattern[str]:
    words = "|".join(re.escape(word) + ("(?![A-Za-z_])" if word[-1].isalnum() else "") for word in LAUNCHING)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{words})")


class NameIndex:
    """Names of files, or of recipes as programs know them (`8B_full`), to be looked for in texts."""

    def __init__(self, names: Iterable[str]) -> None:
        self._tokens = {name: _token().findall(name) for name in names}
        self._by_token: defaultdict[str, list[str]] = defaultdict(list)  # each name once, by its longest token
        for name, tokens in self._tokens.items():
            if tokens:
                self._by_token[max(tokens, key=len)].append(name)
        self._starts: frozenset[str] = frozenset()
        self._ends: frozenset[str] = frozenset()

    def named(self, text: str, bare: bool = False) -> frozenset[str]:
        """The names that are in `text`; of `bare` ones, which have no suffix, those that are not words for an option, a folder or a key."""
        words = (match for match in _token().finditer(text) if not (bare and _is_no_value(match)))
        there = {token for match in words for token in _forms(match.group())}
        possible = (name for token in there & self._by_token.keys() for name in self._by_token[token])
        return frozenset(name for name in possible if there.issuperset(self._tokens[name]))

    def fitting(self, text: str) -> frozenset[str]:
        """The names that fit one with variables in it that is in `text`: `${size}_sft.yaml`; all if there are too many."""
        if not self._starts:
            self._starts = frozenset(name[:stop] for name in self._tokens for stop in range(len(name) + 1))
            self._ends = frozenset(name[start:] for name in self._tokens for start in range(len(name) + 1))
        found: set[tuple[str | None, ...]] = set()
        for parts in _with_variables(text):
            if (parts[0] or "") in self._starts and (parts[-1] or "") in self._ends:
                found.add(parts)
                if len(found) > MOST_NAME_PATTERNS:
                    return frozenset(self._tokens)
        if not found:
            return frozenset()
        pattern = re.compile("|".join(like(parts).pattern for parts in found))
        return frozenset(name for name in self._tokens if pattern.fullmatch(name))


def _with_variables(text: str) -> Iterator[tuple[str | None, ...]]:
    """Yield the file names in `text` of which a part is known and another one is a variable (None)."""
    for match in _run().finditer(text):
        word = match.group()[-LONGEST_NAME_PATTERN:].translate(_QUOTES)
        printed = word.startswith(".") and text[match.start() - 1 : match.start()] in (")", "`")  # $(...).yaml
        parts = _file_name(word, printed) if printed or "$" in word else ()
        if any(parts) and not all(parts):
            yield parts


_token = lazy_pattern(r"[\w.+-]+")


def _is_no_value(word: re.Match[str]) -> bool:
    """Whether a word of a text is an option (`--config`), a folder (`config/`) or what a value is given to (`config=`)."""
    return word.group().startswith("-") or word.string.startswith(("/", "="), word.end())


def _forms(token: str) -> tuple[str, str]:
    """A token of a text as it is, and without what a sentence or an option puts around it."""
    return token, token.strip(".-+")


_run = lazy_pattern(r"[^\s;|&()<>`]+")


_QUOTES: Final = str.maketrans("", "", "\"'")


def _file_name(word: str, printed: bool = False) -> tuple[str | None, ...]:
    """The known parts of the file name that a word ends with, None for each variable; `printed` words are behind one."""
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
    """The offset behind the variable whose `$` is before `place`."""
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
    """What matches paths like a word of which some parts are unknown (None).

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
