"""The session that docs/editors.md shows: `python -m tests.lsp.transcript` writes it there."""

import asyncio
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from lsprotocol import types

from tests.lsp.editor import Editor, editor

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "editors.md"
RECIPE, SCRIPT = "recipes/tiny-llm/sft/mid-training.yaml", "scripts/mid-training.slurm"
MARK = "<!-- transcript -->"
_BLOCK = re.compile(rf"(?s){MARK}\n(?:\n```text\n.*?\n```\n)?")


async def record() -> str:
    """What the server says in the session."""
    with TemporaryDirectory() as folder:
        there = Path(folder).resolve()
        for part in ("recipes", "scripts"):
            shutil.copytree(ROOT / "examples" / part, there / part)
        (there / "gbs.toml").touch()
        async with editor(there) as person:
            return "\n".join([each async for each in _session(person)])


async def _session(person: Editor):  # type: ignore[no-untyped-def]
    for path in (RECIPE, SCRIPT):
        person.open(path)
        yield f"> open {path}"
        for line in await _shown(person, path):
            yield line
    yield "> hover over gradient_accumulation_steps in the recipe"
    for line in (await person.hover(RECIPE, "gradient_acc|umulation")).splitlines():
        if not line.startswith("```"):
            yield f"  {line}".rstrip()
    yield "> go to the definition of accelerate launch in the script"
    for each in await person.definition(SCRIPT, "accelerate lau|nch"):
        yield f"  {_name(person, each.uri)}:{each.range.start.line + 1}"
    yield "> in the recipe, type 4 as gradient_accumulation_steps"
    person.replace(RECIPE, "steps: 8", "steps: 4")
    for line in await _shown(person, RECIPE):
        yield line
    yield "> fixes at 256"
    found = await person.actions(RECIPE, "|256", "quickfix")
    for action in found:
        yield f"  {action.title}"
    yield f"> {found[0].title}"
    person.type(RECIPE, person.edited(RECIPE, found[0].edit))
    for line in await _shown(person, RECIPE):
        yield line


async def _shown(person: Editor, path: str) -> list[str]:
    """Findings, hints and lenses of a file."""
    said = [line for each in await person.findings(path) for line in _finding(each)]
    lines = person.texts[path].split("\n")
    said += [f"  {number + 1}: {title}" for number, title in await person.lenses(path)]
    return [*said, *(f"  {number + 1}: {lines[number]}  {text}" for number, text in await person.hints(path))]


def _finding(each: types.Diagnostic) -> Iterator[str]:
    first, *rest = each.message.split("\n")
    severity = types.DiagnosticSeverity(each.severity or 1).name.lower()
    yield f"  {each.range.start.line + 1}:{each.range.start.character + 1} {severity} {each.code} {first}"
    yield from (f"    {line}" for line in rest)


def _name(person: Editor, uri: str) -> str:
    return uri.removeprefix(person.folder.as_uri() + "/")


def in_page(page: str, said: str) -> str:
    """`page` with the session in it."""
    return _BLOCK.sub(lambda _: f"{MARK}\n\n```text\n{said}\n```\n", page, count=1)


if __name__ == "__main__":
    new = in_page(PAGE.read_text(encoding="utf-8"), asyncio.run(record()))
    PAGE.write_text(new, encoding="utf-8", newline="\n")
    sys.exit(0)
