"""A comment block cut into statements: sentences of prose, without settings that are commented out and without commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from pytest_gbs.claims.grammars._candidate import counts, has_digit
from pytest_gbs.claims.grammars._lines import is_command, is_setting, prose
from pytest_gbs.claims.grammars._tokens import Tokens, tokenise
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.limits import LONGEST_COMMENT
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final, NamedTuple

# A line as long as this was broken because it was full, not because the statement ended.
_FULL: Final = 60
_HARDWARE: Final = ("gpu", "node", "device")
_SHOWN: Final = 80


class Statement(NamedTuple):
    """One sentence of a block: characters `start` to `stop` of its `text`; `lower` is the sentence in lower case."""

    text: str
    start: int
    stop: int
    lower: str

    @property
    def tokens(self) -> Tokens:
        """The statement's tokens."""
        return _tokens(self.text, self.start, self.stop)

    def before(self, offset: int) -> str:
        """What is in front of `offset`, in lower case."""
        return self.lower[: max(0, offset - self.start)]

    def after(self, offset: int) -> str:
        """What is behind `offset`, in lower case."""
        return self.lower[max(0, offset - self.start) :]


@lru_cache(maxsize=32)
def _tokens(text: str, start: int, stop: int) -> Tokens:
    return tokenise(text, start, stop)


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the paragraphs of a block's text, which blank lines part, start and stop."""
    start, end = 0, min(len(text), LONGEST_COMMENT)
    while start < end:
        stop = text.find("\n\n", start, end)
        yield start, end if stop < 0 else stop
        start = end if stop < 0 else stop + 2


@lru_cache(maxsize=16)
def statements(text: str, start: int, stop: int) -> tuple[Statement, ...]:
    """The statements of a paragraph that hold a number (as digits, or as a word in front of GPUs or nodes), in order."""
    found: list[Statement] = []
    for first, last in _joined(text, start, stop):
        begin = first
        for end in (*_sentence_ends(text, first, last), last):
            lower = text[begin:end].lower()
            if has_digit(lower) or counts(lower, _HARDWARE):
                found.append(Statement(text, begin, end, lower))
            begin = end
    return tuple(found)


def _joined(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where lines that belong together start and stop."""
    offset, command, last = start, False, ""
    begin = end = start
    for line in text[start:stop].split("\n"):
        body = prose(line)
        at = offset + line.find(body)
        offset += len(line) + 1
        command = bool(body) and (command or is_command(body))
        skipped = not body or command or is_setting(body)
        command = command and body.endswith("\\")
        if last and (skipped or not _continues(last, body)):
            yield begin, end
            last = ""
        if not skipped:
            begin = begin if last else at
            last, end = body, at + len(body)
    if last:
        yield begin, end


def _continues(last: str, line: str) -> bool:
    """Whether `line` goes on with the statement of the line before it."""
    if last[-1] == ":" and _formula().fullmatch(line):
        return True
    if last[-1] in ".!?:;。" or _fresh().match(line) or (last[-1].isdigit() and _behind_a_number().match(line)):
        return False
    return len(last) >= _FULL or last[-1] in ",(+*/=-" or not (line[0].isupper() or line[0].isdigit())


_formula = lazy_pattern(r"\(?\d[\d\s,_.*x×/()]*")
# What a line starts with behind a number with which the line above ends: other arithmetic, a label.
_behind_a_number = lazy_pattern(r"\d[\d,_]*\s?[*x×]\s?\d|[A-Za-z][\w-]{0,30}(?: [\w-]{1,30}){1,2}:\s")

# What a line starts with that begins anew: a bullet, a label, a formula, a subject.
_fresh = lazy_pattern(
    r"[-*•+>|]\s|\d+[.)]\s|[A-Za-z#][\w ()/-]{0,50}(?:[:=：]\s?[~\d]|\s=\s)|[A-Za-z][\w-]{0,30}:\s|===|---"
    r"|this (?:script|config|recipe) (?:is|was|runs|uses|needs|assumes)\s"
)


def _sentence_ends(text: str, first: int, last: int) -> Iterator[int]:
    """Yield where the sentences of a paragraph end; the pattern is compiled only where one may."""
    if not _STOPS.isdisjoint(text[first:last]):
        yield from (match.end() for match in _sentence_end().finditer(text, first, last))


_STOPS: Final = frozenset(".!?;；。")


@cache
def _sentence_end() -> re.Pattern[str]:
    # "e.g. 8 GPUs", "(w. parallel)" and "approx. 128" go on.
    going_on = "".join(rf"(?<!{short}\.)" for short in (r"\b[a-zA-Z]", "vs", "ca", "prox", "etc", "cf", "incl", "[Ee]ff"))
    return re.compile(rf"[.!?;；。](?:(?<=[;；。])\s*|{going_on}\s+(?=[^\W\d_]|[\"'(`]))")


class Passage(NamedTuple):
    """One statement where it is: in `block` of file `source`."""

    block: CommentBlock
    source: str
    statement: Statement

    @property
    def tokens(self) -> Tokens:
        """The statement's tokens."""
        return self.statement.tokens

    def place(self, i: int) -> Location:
        """Where token `i` is in the file."""
        token = self.tokens[i]
        return self.block.locate(self.source, token.start, token.stop)

    def span(self, first: int, stop: int) -> Location:
        """The place from token `first` to token `stop`, excluded."""
        begin, end = self.place(first), self.place(stop - 1)
        return begin._replace(stop=end.stop)

    def shown(self, i: int) -> str:
        """The statement on one line for people, cut to what is around token `i` where it is long."""
        start, stop = self.statement.start, self.statement.stop
        if stop - start > _SHOWN:
            start = max(start, min(self.tokens[i].start - _SHOWN // 2, stop - _SHOWN))
            stop = start + _SHOWN
        return " ".join(self.statement.text[start:stop].split()).strip(" #")


def passages(block: CommentBlock, source: str, is_candidate: Callable[[str], bool]) -> Iterator[Passage]:
    """Yield the statements of `block` that may state something, which `is_candidate` decides for a text in lower case."""
    text = block.text
    for start, stop in paragraphs(text):
        if is_candidate(text[start:stop].lower()):
            for statement in statements(text, start, stop):
                if is_candidate(statement.lower):
                    yield Passage(block, source, statement)
