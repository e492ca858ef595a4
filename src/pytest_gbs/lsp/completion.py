"""What may be typed next: the batch keys of the framework's table, and the comments that gbs reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from pytest_gbs.arithmetic.wording import called
from pytest_gbs.lsp.project import Project
from pytest_gbs.lsp.subjects import RunBlock, blocks_in
from pytest_gbs.model.document import CONFIGURATIONS, SCRIPTS, Document
from pytest_gbs.model.framework import Arguments, Framework, Row
from pytest_gbs.model.location import KeyPath, Lines, Source, dotted
from pytest_gbs.model.quantity import RANK_FACTORS, Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run
from pytest_gbs.readers.outline import outline

_COMMENT: Final = re.compile(r"(?:^|.*\s)(#[ \t]*g?b?s?:?[ \t]*[\w-]*)$")
_YAML: Final = re.compile(r"([ \t]*)(?:- )?([A-Za-z_][\w.-]*|)$")
_JSON: Final = re.compile(r'[ \t]*"?([\w-]*)$')
_FLAG: Final = re.compile(r".*?(?:^|\s)(--?[\w.-]*|\+{0,2}[A-Za-z][\w.]*)$")
_ARGUMENT: Final = re.compile(r"[ \t]*(?:.*[(,][ \t]*)?([A-Za-z_]\w*|)$")


class Typed(NamedTuple):
    """A line up to the cursor: its start in the file, its text, and which line it is, from 1."""

    start: int
    text: str
    number: int


def completions(project: Project, path: str, offset: int, part: Lines) -> Iterator[types.CompletionItem]:
    """Yield the keys and comments that fit behind what is before `offset` of `part`, a text that the client shows."""
    number = part.line_of(offset)
    typed = Typed(part.starts[number - 1], part.text[part.starts[number - 1] : offset], number)
    comment = _COMMENT.match(typed.text)
    if comment is not None and not path.endswith(".json"):
        yield from _comments(project, path, len(comment[1]))
    elif "#" not in typed.text or path.endswith(".json"):
        yield from _keys(project, path, typed)


def _comments(project: Project, path: str, typed: int) -> Iterator[types.CompletionItem]:
    """Yield the comments that gbs reads, the one that states the batch as it is first."""
    for block in blocks_in(project.answer.report, path)[:1]:
        text = _statement(block.run)
        if text:
            yield _comment(text, "states the global batch size as it is now: gbs checks it from now on", typed, "1")
    for code in dict.fromkeys(each.code for each in project.answer.report.findings() if each.at.source == path):
        yield _comment(f"gbs: ignore[{code}]", "silences this finding on its line, or on the line below; a reason may follow", typed, "2")
    yield _comment("gbs: not-a-claim", "the number in this comment is not a statement about the batch", typed, "3")
    yield _comment("gbs: file-ignore[CODE]", "silences a rule in the whole file", typed, "4")


def _statement(run: Run) -> str:
    """The exact annotation of the batch of `run` and its hardware: `gbs: 128 on 8 nodes x 8 gpus`; "" if it is not known."""
    batch = run.geometry.global_batch_size
    if batch is None:
        return ""
    nodes, each, world = (run.geometry.value(name) for name in (Name.NUM_NODES, Name.GPUS_PER_NODE, Name.WORLD_SIZE))
    unit = f" {run.framework.unit}" if run.framework.unit in ("tokens", "prompts", "completions") else ""
    if nodes and each and nodes * each == world:
        return f"gbs: {batch}{unit} on {nodes} node{'s' if nodes > 1 else ''} x {each} gpus"
    return f"gbs: {batch}{unit} on {world} gpus" if world else f"gbs: {batch}{unit}"


def _comment(text: str, why: str, typed: int, order: str) -> types.CompletionItem:
    return types.CompletionItem(
        f"# {text}", kind=types.CompletionItemKind.Snippet, detail=why, sort_text=order, data={"back": typed}, filter_text=f"# {text}"
    )


def _keys(project: Project, path: str, typed: Typed) -> Iterator[types.CompletionItem]:
    """Yield the keys of the table that this file's recipe belongs to, at the place where the cursor is."""
    if path.endswith(SCRIPTS):
        yield from _flags(project, path, typed)
        return
    source = project.source(path)
    framework = _framework(project, path)
    if source is None or framework is None:
        return
    if path.endswith(CONFIGURATIONS):
        yield from _of_configuration(source, framework, typed)
    elif (match := _ARGUMENT.fullmatch(typed.text)) is not None and _in_call(project, path, typed):
        yield from (_key(row, str(row.key[-1]), "=", len(match[1])) for row in _rows(framework, ()) if len(row.key) == 1)


def _framework(project: Project, path: str) -> Framework | None:
    """The table of the file's recipe as it is, or as it was when it could last be read."""
    found = next((block.run.framework for block in _blocks(project, path)), None)
    if found is not None:
        return found
    known = project.known.get(path)
    if known is not None:
        return known.runs[0].framework
    source = project.source(path)
    return project.recognise(outline(source)) if source is not None and path.endswith(CONFIGURATIONS) else None


def _blocks(project: Project, path: str) -> tuple[RunBlock, ...]:
    return tuple(block for block in blocks_in(project.answer.report, path) if block.run.path == path)


def _of_configuration(source: Source, framework: Framework, typed: Typed) -> Iterator[types.CompletionItem]:
    shown = outline(source)
    pattern, sign = (_JSON, ": ") if source.path.endswith(".json") else (_YAML, " = " if source.path.endswith(".toml") else ": ")
    match = pattern.fullmatch(typed.text)
    if match is None:
        return
    above = _above(shown, source, typed)
    there = {key for key, (name, _) in shown.keyed.items() if not typed.start <= name.start < typed.start + len(typed.text)}
    offered: dict[str, Row] = {}
    for row in _rows(framework, above):
        if row.key not in there and len(row.key) > len(above):
            offered.setdefault(str(row.key[len(above)]), row)
    quote = '"' if source.path.endswith(".json") else ""
    word = match.groups()[-1]
    back = len(typed.text) - len(typed.text.rstrip(word)) if word else 0
    back = len(word) + (1 if quote and typed.text.rstrip().endswith(f'"{word}') else 0) if word or quote else back
    for name, row in offered.items():
        inner = len(row.key) > len(above) + 1
        yield _key(row, f"{quote}{name}{quote}", ":" if inner and sign == ": " else sign, back, section=inner)


def _above(shown: Document, source: Source, typed: Typed) -> KeyPath:
    """The key path of the mapping in which the line of the cursor is, by its indentation, or of the section of a TOML file."""
    indent = len(typed.text) - len(typed.text.lstrip(" \t"))
    before = [(key, name.start) for key, (name, _) in shown.keyed.items() if name.start < typed.start]
    if source.path.endswith(".toml"):
        section = re.findall(r"(?m)^\[\[?([\w.-]+)\]", source.text[: typed.start])
        return tuple(section[-1].split(".")) if section else ()
    lines = Lines(source.text)
    for key, start in sorted(before, key=lambda each: -each[1]):
        line = lines.line(lines.line_of(start))
        if len(line) - len(line.lstrip(" \t")) < indent:
            return key
    return ()


def _rows(framework: Framework, above: KeyPath) -> Iterator[Row]:
    """Yield the rows of the batch below key path `above`, the factors of the batch first."""
    inside = [row for row in framework.rows if row.key[: len(above)] == above]
    first = (Name.GLOBAL_BATCH_SIZE, *RANK_FACTORS)
    yield from sorted(inside, key=lambda row: first.index(row.name) if row.name in first else len(first))


def _in_call(project: Project, path: str, typed: Typed) -> bool:
    """Whether the cursor is in a call that a recipe was read from."""
    known = project.known.get(path)
    return known is not None and any(
        root.start <= typed.start <= root.stop + len(typed.text) for run in known.runs if (root := run.document.root) is not None
    )


def _flags(project: Project, path: str, typed: Typed) -> Iterator[types.CompletionItem]:
    """Yield the options of the program that a command of the script starts, as its framework takes them."""
    match = _FLAG.fullmatch(typed.text)
    runs = [run for run in (block.run for block in blocks_in(project.answer.report, path)) if run.launch is not None]
    near = [run for run in runs if run.launch is not None and run.launch.at.start <= typed.start + len(typed.text)]
    if match is None or not near:
        return
    framework = near[-1].framework
    flags = framework.arguments == Arguments.FLAGS or framework.flags
    if flags != match[1].startswith("-"):
        return
    for row in _rows(framework, ()):
        name = dotted(row.key)
        yield _key(row, f"--{name}" if flags else name, " " if flags else "=", len(match[1]))


def _key(row: Row, name: str, sign: str, back: int, *, section: bool = False) -> types.CompletionItem:
    """A key with what it sets; `back` is how many characters of it are there already."""
    default = f", default {row.default}" if isinstance(row.default, int) else ""
    what = "section with batch keys" if section else f"{called(row.name)}{default}"
    return types.CompletionItem(
        name,
        kind=types.CompletionItemKind.Module if section else types.CompletionItemKind.Property,
        detail=what,
        insert_text=f"{name}{sign}",
        data={"back": back},
    )
