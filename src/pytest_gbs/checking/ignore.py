"""Silencing findings: `# gbs: ignore[CODE] reason` on a line, `# gbs: file-ignore[...]`, and per-file ignores of the settings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from pytest_gbs.arithmetic.near_miss import nearest
from pytest_gbs.files.globs import matches
from pytest_gbs.model.document import Document
from pytest_gbs.model.limits import MOST_SUPPRESSIONS, MOST_SUPPRESSIONS_ON_A_LINE
from pytest_gbs.model.location import Lines, Location, Source
from pytest_gbs.model.outcome import Edit, Finding
from pytest_gbs.model.settings import Settings
from pytest_gbs.model.suppression import Suppression

_SIGN: Final = "gbs:"
# The reason ends where another comment starts within the comment: `# gbs: ignore[CODE] why  # yamllint`.
_ANNOTATION: Final = (
    r"(?<![\w-])gbs:[ \t]*(?P<file>file-)?ignore(?![\w-])[ \t]*(?:\[(?P<words>[^\]\r\n]*)\])?(?P<reason>[^\r\n]*?)(?=\s#|[\r\n]|\Z)"
)
_ANNOTATION_STARTS: Final = r"gbs:[ \t]*[A-Za-z]"
_WORDS: Final = ("ignore", "file-ignore", "not-a-claim")
# "GBS: ignored by the launcher" is prose.
_PROSE: Final = ("ignored", "ignores")
_WORD: Final = r"(?<![\w-])gbs:[ \t]*(?P<word>[A-Za-z][\w-]*)(?P<brackets>[ \t]*\[(?P<words>[^\]\r\n]*)\])?"
_PREFIX: Final = r"[A-Z]+[0-9]+"
# Comment lines between an annotation and the key below it that it applies to as well.
_MOST_LINES: Final = 20


def read_suppressions(document: Document, rules: Mapping[str, str] | None = None) -> tuple[Suppression, ...]:
    """The suppressions in the comments of `document`; `rules` are the names of all rules by code.

    One behind a key applies to its line. One on a line of its own applies to the comment lines below it and the next line that
    is not a comment.
    """
    source = document.source
    if _SIGN not in source.text:
        return ()
    last = _last_place(source.text)
    places = [place for block in document.comments if _SIGN in block.text for _, place in block.pieces if place <= last]
    return tuple(_read(source, _lines(source.text), places, {name: code for code, name in (rules or {}).items()})) if places else ()


@lru_cache(maxsize=1)
def _last_place(text: str) -> int:
    """Where the last annotation starts that counts: no file has so many that a person wrote."""
    every = islice(_compiled(_ANNOTATION_STARTS).finditer(text), MOST_SUPPRESSIONS)
    return max((match.start() for match in every), default=-1)


@lru_cache(maxsize=2)
def _lines(text: str) -> Lines:
    return Lines(text)


def _read(source: Source, lines: Lines, places: Iterable[int], codes: Mapping[str, str]) -> Iterator[Suppression]:
    for place in places:
        line = lines.line_of(place)
        start = lines.starts[line - 1]
        stop = start + len(lines.line(line))
        for match in islice(_compiled(_ANNOTATION).finditer(source.text, place, stop), MOST_SUPPRESSIONS_ON_A_LINE):
            yield _suppression(source, lines, line, match, codes)
        for match in islice(_compiled(_WORD).finditer(source.text, place, stop), MOST_SUPPRESSIONS_ON_A_LINE):
            meant = _meant(match, codes)
            if meant:
                yield Suppression(Location(source.path, *match.span("word")), misspelt=match["word"], meant=meant)


def _meant(match: re.Match[str], codes: Mapping[str, str]) -> str:
    """The word for which that of an annotation was probably written: a slip away, or with rules in brackets; "" for none."""
    word = match["word"].lower()
    if word in _WORDS or (word in _PROSE and match["brackets"] is None):
        return ""
    rules = [_code(name) for name in _words(match["words"])]
    if near := nearest(word, _WORDS):
        return near
    if any(code in codes.values() or code in codes for code in rules):
        return "file-ignore" if "file" in word else "ignore"
    return ""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _suppression(source: Source, lines: Lines, line: int, match: re.Match[str], codes: Mapping[str, str]) -> Suppression:
    text, line_start = source.text, lines.starts[line - 1]
    before = text[line_start : match.start()].rstrip(" \t")
    start = line_start + len(before.rstrip("#")) if before.endswith("#") else match.start()
    at = Location(source.path, start, match.start() + len(match[0].rstrip()))
    alone = not text[line_start:start].strip()
    whole_file = match["file"] is not None
    covered = () if whole_file else _lines_below(lines, line) if alone else (line,)
    words = _words(match["words"])
    found = tuple(codes.get(word.lower().replace("_", "-")) or _code(word) for word in words)
    return Suppression(at, found, match["reason"].strip(" \t:–—-"), covered, _removal(text, lines, line, at), whole_file)


def _words(inside: str | None) -> list[str]:
    return [word.strip() for word in (inside or "").split(",") if word.strip()]


def _code(word: str) -> str:
    """A code or the start of one in capitals; anything else as written."""
    return word.upper() if _compiled(_PREFIX).fullmatch(word.upper()) else word


def _lines_below(lines: Lines, line: int) -> tuple[int, ...]:
    """`line`, the comment lines below it, and the line that they are above."""
    last = line + 1
    while last - line < _MOST_LINES and last < len(lines.starts) and _holds_nothing(lines.line(last)):
        last += 1
    return tuple(range(line, last + 1))


def _holds_nothing(text: str) -> bool:
    return text.lstrip()[:1] in ("", "#") or text.startswith(("---", "%"))


def _removal(text: str, lines: Lines, line: int, at: Location) -> Edit:
    """The edit that takes an annotation away: with its line if nothing else is on it, else with the blanks before it."""
    line_start = lines.starts[line - 1]
    after = lines.starts[line] if line < len(lines.starts) else len(text)
    if not text[line_start : at.start].strip() and not text[at.stop : after].strip():
        return Edit(Location(at.source, line_start, after), text[line_start:after], "")
    before = text[line_start : at.start]
    start = line_start + len(before.rstrip(" \t")) if before.strip() else at.start
    stop = at.stop if before.strip() else after - len(text[at.stop : after].lstrip(" \t"))
    return Edit(Location(at.source, start, stop), text[start:stop], "")


def apply(
    findings: Iterable[Finding],
    suppressions: Sequence[Suppression],
    source: Source,
    inactive: Collection[str] = (),
    require_reason: bool = False,
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Suppression, ...]]:
    """The findings that stay, those that are silenced, and the suppressions that silenced nothing, wholly or in part.

    A finding is silenced where it, or any place in `source` that it is about, is on a line that a suppression of its rule
    covers. A suppression of a rule in `inactive`, which could not have found anything, is not called unused. Where
    `require_reason` is true one without a reason silences nothing.
    """
    lines = _lines(source.text)
    effective = [number for number, s in enumerate(suppressions) if s.reason or not require_reason]
    everywhere = [number for number in effective if suppressions[number].whole_file]
    on_line: defaultdict[int, list[int]] = defaultdict(list)
    for number in effective:
        for line in suppressions[number].lines:
            on_line[line].append(number)
    used: defaultdict[int, set[str]] = defaultdict(set)
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        numbers = [*everywhere, *(number for line in _lines_of(finding, source.path, lines) for number in on_line.get(line, ()))]
        hits = [(number, code) for number in numbers for code in suppressions[number].codes if _covers(code, finding.code)]
        for number, code in hits:
            used[number].add(code)
        (silenced if hits else kept).append(finding)
    marked = [s._replace(refused=require_reason and not s.reason) for s in suppressions]
    unused = (_unused(source.text, s, used[number], inactive) for number, s in enumerate(marked))
    return tuple(kept), tuple(silenced), tuple(s for s in unused if s is not None)


def is_silenced(finding: Finding, suppressions: Iterable[Suppression], source: Source, require_reason: bool = False) -> bool:
    """Whether one of `suppressions` silences `finding`, as in `apply`."""
    covered = _lines_of(finding, source.path, _lines(source.text))
    return any(
        (each.whole_file or not covered.isdisjoint(each.lines)) and any(_covers(code, finding.code) for code in each.codes)
        for each in suppressions
        if each.reason or not require_reason
    )


def _lines_of(finding: Finding, path: str, lines: Lines) -> set[int]:
    """The first and the last line of every place in the file at `path` that `finding` is about."""
    places = [at for at in (finding.at, *(related.at for related in finding.related)) if at.source == path]
    return {lines.line_of(offset) for at in places for offset in (at.start, max(at.start, at.stop - 1))}


def _covers(word: str, code: str) -> bool:
    """Whether `word` is the code of a rule or the start of it, with a digit at least: `GBS` alone would silence all."""
    return code == word or (code.startswith(word) and _compiled(_PREFIX).fullmatch(word) is not None)


def _unused(text: str, suppression: Suppression, used: Collection[str], inactive: Collection[str]) -> Suppression | None:
    """The part of `suppression` that silenced nothing, with the edit that takes that part away; None if all did."""
    useless = [c for c in suppression.codes if c not in used and not any(_covers(c, code) for code in inactive)]
    if len(useless) == len(suppression.codes):
        return suppression
    if not useless:
        return None
    start = text.index("[", suppression.at.start) + 1
    stop = text.index("]", start)
    words = zip(_words(text[start:stop]), suppression.codes, strict=True)
    gone = set(useless)
    remaining = ", ".join(word for word, code in words if code not in gone)
    edit = Edit(Location(suppression.at.source, start, stop), text[start:stop], remaining)
    return suppression._replace(codes=tuple(useless), removal=edit)


def per_file_ignored(settings: Settings, path: str) -> frozenset[str]:
    """The codes of the rules that the settings switch off for the file at `path`."""
    if not settings.per_file_ignores:
        return frozenset()
    return frozenset(code for pattern, codes in settings.per_file_ignores if matches(path, pattern) for code in codes)
