"""The code blocks of documents that a shell would run: each a script of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.command import OtherFiles, Part, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.shell.blocks import Block, blocks
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_CHARACTERS, MOST_PIECES, Exhausted
from pytest_gbs.shell.script import masked
from pytest_gbs.shell.text import Parts, ShellText, parse, whole

_SHELLS: Final = frozenset(
    ["bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "sh-session", "shellscript", "terminal"]
)
_PYTHON: Final = ">>> "  # its prompt, below which nothing is for a shell
_NOTEBOOKS: Final = frozenset(("python", "python3", "py", "ipython", "ipython3", "jupyter"))
_PROMPTS: Final = frozenset(("", "console", "shell-session", "shellsession", "sh-session", "terminal", "text", "txt"))


def read_document(source: Source, others: OtherFiles | None) -> Script:
    """What the shell blocks of a document run; variables do not reach from one block to the next."""
    interpreter = Interpreter(source, others)
    comments: list[CommentBlock] = []
    left, start = MOST_CHARACTERS, 0
    for block in blocks(source.path, source.text):
        spans = tuple(_continued(source.text, _commands(source.text, block)))
        if not spans:
            continue
        start = spans[0][0] if interpreter.stopped is None else start
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
    unread = source.text[start:] if interpreter.stopped is not None else None
    return interpreter.script(source.path, comments)._replace(unread=unread)


def _parts(source: Source, spans: tuple[tuple[int, int], ...]) -> Parts:
    found: list[Part] = []
    for start, stop in spans:
        found += masked(source.path, source.text, start, stop, placeholders=True)
        if len(found) > MOST_PIECES:
            raise Exhausted(f"more than {MOST_PIECES:,} lines and placeholders in a code block")
    known = found[-1].text.rstrip() if found and found[-1].text is not None else ""
    if not known.endswith("\\") or not _launch().match(known, known.rfind("\n") + 1):
        return tuple(found)
    start, stop = found[-1].at.start, spans[-1][1]  # a first line alone: the reader is to go on with options
    at = Location(source.path, stop, stop)
    return (*found[:-1], whole(source.path, source.text, start, start + len(known) - 1), Part(None, at, at, "...", many=True))


# How a command line that launches training begins, so that the block around it can be nothing but lines for a shell.
_launch = lazy_pattern(
    r"\s*(?:[A-Z][A-Z0-9_]{0,60}=[^\s'\"]{0,200}[ \t]+){0,20}"
    r"(?:(?:torchrun|deepspeed|composer)[ \t]+[-./\w\\]|srun[ \t]+-|accelerate[ \t]+launch[ \t]|llamafactory-cli[ \t]+train[ \t]"
    r"|(?:tune|fabric|lightning)[ \t]+run[ \t]|axolotl[ \t]+train[ \t]|fairseq-(?:hydra-)?train[ \t]"
    r"|(?:litgpt|xtuner|swift|oumi)[ \t]+[a-z_]+[ \t]+[-./\w$<{]"
    r"|python3?[ \t]+(?:-u[ \t]+)?(?:-m[ \t]+[\w.]|[-./\w]{1,200}\.py(?:\s|$))"
    r"|(?:cd|export|source|conda[ \t]+activate|pip3?[ \t]+install)[ \t]+[-./\w$]"
    r"|(?:bash|sh|sbatch)[ \t]+[-./\w]{1,200}\.(?:sh|slurm|sbatch)(?:\s|$)"
    r"|[-./\w]{1,200}\.sh[ \t]+(?:-|[a-z_]{0,60}[./$<0-9]))"  # not a file with a word on what it is for
)


_assigned = lazy_pattern(r"[ \t]*[A-Za-z_]\w{0,60}=(?:[^\s'\"()]{1,200}|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')[ \t]*$", re.MULTILINE)


def _launched(text: str, block: Block) -> tuple[tuple[int, int], ...]:
    """The lines of a block that set variables or launch programs, if it begins with them; what they print may follow.

    It has no language, or that of the programs (`python -m torch.distributed.launch ...`), in which none of these lines is a statement.
    """
    sets = {start for start, _ in block.lines if _assigned().match(text, start)}
    lines = ((start, text[start:stop].strip()) for start, stop in block.lines if start not in sets)
    first = next((start for start, line in lines if line and not line.startswith("#")), None)
    if first is None or not _launch().match(text, first):
        return ()
    found: list[tuple[int, int]] = []
    going_on = False
    for start, stop in block.lines:
        if going_on or start in sets or _launch().match(text, start):
            found.append((start, stop))
            going_on = _goes_on().search(text, start, stop) is not None
    return tuple(found)


# A backslash that ends its line; behind it are only blanks and a comment, which a shell would not allow.
_goes_on = lazy_pattern(r"\\[ \t]*(?:(?<=[ \t])#[^\n\\\"]*)?(?=\r?\n|\Z)")


def _continued(text: str, spans: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Yield `spans` without blanks or a comment between a backslash and the end of its line: the author means the line to go on."""
    for start, stop in spans:
        match = _goes_on().search(text, start, stop) if "\\" in text[start:stop] else None
        if match is None or match.end() == match.start() + 1 or match.end() == stop:
            yield start, stop
        else:
            yield start, match.start() + 1
            yield stop - 1, stop


def _commands(text: str, block: Block) -> tuple[tuple[int, int], ...]:
    """The spans that a shell would be given: behind `$ `, or `!` of a notebook, if there are prompts, else all lines of a shell block."""
    prompts = [_prompt().match(text, start, stop) for start, stop in block.lines]
    if any(text.startswith(_PYTHON, start + len(text[start:stop]) - len(text[start:stop].lstrip())) for start, stop in block.lines):
        return ()
    if not any(prompts):
        if block.fenced and (not block.language or block.language in _NOTEBOOKS):
            return _launched(text, block)
        return block.lines if block.language in _SHELLS else ()
    if not (
        block.language in _SHELLS
        or block.language in _PROMPTS
        or (block.language in _NOTEBOOKS and any(each and each[1] for each in prompts))
    ):
        return ()
    found: list[tuple[int, int]] = []
    going_on = False
    for (start, stop), prompt in zip(block.lines, prompts, strict=True):
        line = text[start:stop]
        if prompt is not None:
            found.append((prompt.end(), stop))
        elif going_on:
            found.append((start + (2 if line.startswith("> ") else 0), stop))
        going_on = (prompt is not None or going_on) and _goes_on().search(line) is not None
    return tuple(found)


_prompt = lazy_pattern(r"\s*(?:(?:\([\w.-]+\)\s*)?[$%] |(!)(?=[A-Za-z]))")
