"""A comment block cut into statements: sentences of prose, without settings that are commented out and without commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.location import Location
from pytest_gbs.declarations._candidate import counts, has_digit
from pytest_gbs.declarations._tokens import Token, tokenise

# A line as long as this was broken because it was full, not because the statement ended.
_FULL: Final = 60
# Longer comments are data or licences; what they say of a batch stands at their beginning.
_MOST_CHARACTERS: Final = 20_000
_HARDWARE: Final = ("gpu", "node", "device")


class Statement(NamedTuple):
    """One sentence of a block: characters `start` to `stop` of its text, in lower case, with the paragraph it belongs to."""

    text: str
    start: int
    stop: int
    paragraph: int
    lower: str

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The statement's tokens."""
        return _tokens(self.text, self.start, self.stop)

    def before(self, offset: int) -> str:
        """Return what stands in front of `offset`, in lower case."""
        return self.lower[: max(0, offset - self.start)]

    def after(self, offset: int) -> str:
        """Return what stands behind `offset`, in lower case."""
        return self.lower[max(0, offset - self.start) :]


@lru_cache(maxsize=32)
def _tokens(text: str, start: int, stop: int) -> tuple[Token, ...]:
    return tokenise(text, start, stop)


@lru_cache(maxsize=8)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a block's text that hold a number (as digits, or as a word in front of GPUs or nodes), in order."""
    found: list[Statement] = []
    for start, stop, paragraph in _passages(text[:_MOST_CHARACTERS]):
        begin = start
        for end in (*(match.end() for match in _sentence_end().finditer(text, start, stop)), stop):
            lower = text[begin:end].lower()
            if has_digit(lower) or counts(lower, _HARDWARE):
                found.append(Statement(text, begin, end, paragraph, lower))
            begin = end
    return tuple(found)


def _passages(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield lines that belong together, as start, stop, and number of the paragraph."""
    start = stop = paragraph = offset = 0
    last = ""
    command = False
    for line in text.split("\n"):
        body = line.strip(" \t#\r")
        if "gbs:" in body:
            body = _own().split(body, maxsplit=1)[0].rstrip(" \t#")
        begin = offset + line.find(body)
        offset += len(line) + 1
        command = bool(body) and (command or is_command(body))
        if not body or command or is_setting(body):
            if last:
                yield start, stop, paragraph
            paragraph += not body
            command = command and body.endswith("\\")
            last = ""
            continue
        if last and not _continues(last, body):
            yield start, stop, paragraph
            last = ""
        if not last:
            start = begin
        last, stop = body, begin + len(body)
    if last:
        yield start, stop, paragraph


def _continues(last: str, line: str) -> bool:
    """Return whether `line` goes on with the statement of the line before it."""
    if last[-1] == ":" and _formula().fullmatch(line):
        return True
    if last[-1] in ".!?:;。" or _fresh().match(line):
        return False
    return len(last) >= _FULL or last[-1] in ",(+*/=-" or not (line[0].isupper() or line[0].isdigit())


@cache
def _own() -> re.Pattern[str]:
    """Return what starts a comment to this tool that states nothing."""
    return re.compile(r"(?:^|#\s*)gbs:\s*(?:ignore|not-a-claim)")


@cache
def _formula() -> re.Pattern[str]:
    return re.compile(r"\(?\d[\d\s,_.*x×/()]*")


@cache
def _fresh() -> re.Pattern[str]:
    """Return what a line starts with that begins anew: a bullet, a label, a formula."""
    return re.compile(r"[-*•+>|]\s|\d+[.)]\s|[A-Za-z#][\w ()/-]{0,50}(?:[:=：]\s?[~\d]|\s=\s)|[A-Za-z][\w-]{0,30}:\s|===|---")


@cache
def _sentence_end() -> re.Pattern[str]:
    # "e.g. 8 GPUs", "(w. parallel)" and "approx. 128" go on.
    going_on = "".join(rf"(?<!{short}\.)" for short in (r"\b[a-zA-Z]", "vs", "ca", "prox", "etc", "cf", "incl"))
    return re.compile(rf"[.!?;；。](?:(?<=[;；。])\s*|{going_on}\s+(?=[^\W\d_]|[\"'(`]))")


def is_setting(line: str) -> bool:
    """Return whether a comment's line is a setting that was commented out: `gradient_accumulation_steps: 16  # 8 GPUs`."""
    match = _setting().match(line)
    if match is None:
        return False
    key, value = match["key"], match["value"].strip()
    if key.lower() == "gbs" or key.lower().startswith("effective"):
        return False
    scalar = _scalar().match(value) is not None
    if match["sign"] == "=":
        return scalar and ("_" in key or key.islower())
    if "_" in key:
        return scalar or not value[:1].isdigit()
    return scalar and key.islower()


@cache
def _setting() -> re.Pattern[str]:
    return re.compile(
        r"(?:- |export )?[\"']?(?P<key>--?[\w-]+|[A-Za-z_][\w./]*)[\"']?\s*(?P<sign>:(?=\s|$)|=(?!=))(?P<value>.*)", re.DOTALL
    )


@cache
def _scalar() -> re.Pattern[str]:
    return re.compile(r"(?:[\"'\[{$&*!|>].*|[^\s#]*,?)(?:\s+#.*)?$", re.DOTALL)


@cache
def _command() -> re.Pattern[str]:
    programs = (
        "torchrun|accelerate launch|deepspeed|sbatch|srun|salloc|mpirun|python3?|bash|sh|uv|pip|cd|export|tune|ray|llamafactory-cli|axolotl"
        "|litgpt|automodel|oumi|swift|composer"
    )
    arguments = r"(?:--?\w|[\w./$-]*(?:\s--?\w|\.(?:py|sh|ya?ml|slurm)\b|\s+run\b|=))"
    return re.compile(rf"\$ |SBATCH|CUDA_VISIBLE_DEVICES=|(?:[A-Z_\d]+=\S+ +)*(?:{programs})\s+{arguments}")


def is_command(line: str) -> bool:
    """Return whether a comment's line is a command, or part of one: `accelerate launch --num_processes 8 train.py`."""
    if line.endswith("\\") or line.startswith("--"):
        return True
    return (" --" in line and _flag().search(line) is not None) or _command().match(line) is not None


@cache
def _flag() -> re.Pattern[str]:
    return re.compile(r"\s--[a-zA-Z]")


_SHOWN: Final = 80


class Passage(NamedTuple):
    """One statement where it stands: in `block` of file `source`."""

    block: CommentBlock
    source: str
    statement: Statement

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The statement's tokens."""
        return self.statement.tokens

    def place(self, i: int) -> Location:
        """Return where token `i` stands in the file."""
        token = self.tokens[i]
        return self.block.locate(self.source, token.start, token.stop)

    def span(self, first: int, stop: int) -> Location:
        """Return the place from token `first` to token `stop`, excluded."""
        begin, end = self.place(first), self.place(stop - 1)
        return begin._replace(stop=end.stop)

    def shown(self, i: int) -> str:
        """Return the statement on one line for people, cut to what stands around token `i` where it is long."""
        start, stop = self.statement.start, self.statement.stop
        if stop - start > _SHOWN:
            start = max(start, min(self.tokens[i].start - _SHOWN // 2, stop - _SHOWN))
            stop = start + _SHOWN
        return " ".join(self.statement.text[start:stop].split()).strip(" #")


def passages(block: CommentBlock, source: str, is_candidate: Callable[[str], bool]) -> Iterator[Passage]:
    """Yield the statements of `block` that may state something, which `is_candidate` tells of a text in lower case."""
    if is_candidate(block.text.lower()):
        for statement in statements(block.text):
            if is_candidate(statement.lower):
                yield Passage(block, source, statement)
