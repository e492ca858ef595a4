"""The code blocks of documents that a shell would run: each a script of its own."""

from __future__ import annotations

import re
from typing import Final

from pytest_gbs.model.command import OtherFiles, Part, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.shell.blocks import Block, blocks
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_CHARACTERS, MOST_PIECES, Exhausted
from pytest_gbs.shell.script import masked
from pytest_gbs.shell.text import Parts, ShellText, parse

_SHELLS: Final = frozenset(
    ["bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "sh-session", "shellscript", "terminal"]
)
_PYTHON: Final = ">>> "  # its prompt, below which nothing is for a shell
_PROMPTS: Final = frozenset(("", "console", "shell-session", "shellsession", "sh-session", "terminal", "text", "txt"))


def read_document(source: Source, others: OtherFiles | None) -> Script:
    """What the shell blocks of a document run; variables do not reach from one block to the next."""
    interpreter = Interpreter(source, others)
    comments: list[CommentBlock] = []
    left = MOST_CHARACTERS
    for block in blocks(source.path, source.text):
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


def _commands(text: str, block: Block) -> tuple[tuple[int, int], ...]:
    """The spans that a shell would be given: behind `$ ` if there are prompts, else all lines of a shell block."""
    prompts = [bool(re.match(r"\s*(?:\([\w.-]+\)\s*)?[$%] ", text[start:stop])) for start, stop in block.lines]
    if any(text.startswith(_PYTHON, start + len(text[start:stop]) - len(text[start:stop].lstrip())) for start, stop in block.lines):
        return ()
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
