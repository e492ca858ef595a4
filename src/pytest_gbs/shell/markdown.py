"""The code blocks of Markdown that a shell would run: each a script of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_gbs.model.command import Part, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_CHARACTERS, MOST_PIECES, Exhausted
from pytest_gbs.shell.script import masked
from pytest_gbs.shell.text import Parts, ShellText, lazy_pattern, parse

_SHELLS: Final = frozenset(
    ["bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "sh-session", "shellscript", "terminal"]
)
_PROMPTS: Final = frozenset(("", "console", "shell-session", "shellsession", "sh-session", "terminal", "text", "txt"))


class _Block(NamedTuple):
    """A code block: what it says it holds, its lines as spans, and the heading above it."""

    language: str
    lines: tuple[tuple[int, int], ...]
    heading: str


def read_markdown(source: Source, read: Callable[[str], Source | None] | None) -> Script:
    """What the shell blocks of a document run; variables do not reach from one block to the next."""
    interpreter = Interpreter(source, read)
    comments: list[CommentBlock] = []
    left = MOST_CHARACTERS
    for block in _blocks(source.text):
        spans = _commands(source.text, block)
        if not spans:
            continue
        left -= sum(stop - start for start, stop in spans)
        if left < 0:
            interpreter.stop(f"more than {MOST_CHARACTERS:,} characters in its code blocks", Location(source.path, *spans[0]))
            break
        interpreter.context = block.heading
        try:
            text = ShellText(_parts(source, spans))
            root = parse(text, interpreter.budget)
        except Exhausted as exhausted:
            interpreter.stop(str(exhausted), Location(source.path, *spans[0]))
            break
        comments += read_comments(text, root)
        if not interpreter.read_text(text, root):
            break
    return interpreter.script(source.path, comments)


def _parts(source: Source, spans: tuple[tuple[int, int], ...]) -> Parts:
    found: list[Part] = []
    for start, stop in spans:
        found += masked(source.path, source.text, start, stop, placeholders=True)
        if len(found) > MOST_PIECES:
            raise Exhausted(f"more than {MOST_PIECES:,} lines and placeholders in a code block")
    return tuple(found)


_fence = lazy_pattern(r"([ \t>]*)(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(`{3,}|~{3,})[ \t]*(.*)")


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the fenced blocks of a document."""
    heading, opened = "", None
    lines: list[tuple[int, int]] = []
    language = ""
    for start, stop in _lines(text):
        line = text[start:stop].rstrip("\r\n")
        match = _fence().match(line) if "```" in line or "~~~" in line else None
        if opened is None:
            if match and not (match.group(2)[0] == "`" and "`" in match.group(3)):
                opened, lines, language = match, [], _language(match.group(3))
            elif line.startswith("#") and line.lstrip("#")[:1] == " ":
                heading = line.strip("# ")
        elif match and match.group(2).startswith(opened.group(2)) and not match.group(3).strip():
            yield _Block(language, tuple(lines), heading)
            opened = None
        else:
            lines.append((start + _indent(line, opened.group(1)), stop))


def _language(info: str) -> str:
    """The first word behind a fence: `bash`, `{.bash}`, `{code-block} bash`."""
    words = info.replace("{", " ").replace("}", " ").replace(",", " ").split()
    words = [word.lstrip(".").lower() for word in words if word not in ("code-block", "code", "eval-rst", ":class:")]
    return words[0] if words else ""


def _indent(line: str, margin: str) -> int:
    """How much of `line` is the margin of its block."""
    count = 0
    while count < len(line) and count < len(margin) and (line[count] in " \t" or line[count] == margin[count]):
        count += 1
    return count


def _lines(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    while place < len(text):
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop + 1
        yield place, stop
        place = stop


def _commands(text: str, block: _Block) -> tuple[tuple[int, int], ...]:
    """The spans that a shell would be given: behind `$ ` if there are prompts, else all lines of a shell block."""
    prompts = [bool(re.match(r"\s*(?:\([\w.-]+\)\s*)?[$%] ", text[start:stop])) for start, stop in block.lines]
    if not any(prompts):
        return block.lines if block.language in _SHELLS else ()
    if block.language not in _SHELLS and block.language not in _PROMPTS:
        return ()
    found: list[tuple[int, int]] = []
    going_on = False
    for (start, stop), prompt in zip(block.lines, prompts, strict=True):
        line = text[start:stop]
        if prompt:
            found.append((start + re.search(r"[$%] ", line).end(), stop))  # type: ignore[union-attr] # it is a prompt
        elif going_on:
            found.append((start + (2 if line.startswith("> ") else 0), stop))
        going_on = (prompt or going_on) and line.rstrip("\r\n").endswith("\\")
    return tuple(found)
