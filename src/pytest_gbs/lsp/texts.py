"""What hints, lenses and hovers say of a run, in the words of `gbs show`."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pytest_gbs.arithmetic.wording import called, count, counted, listing
from pytest_gbs.formats._arithmetic import number
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_recipe import lines, title
from pytest_gbs.formats._show_steps import batch_text
from pytest_gbs.formats._show_text import aligned
from pytest_gbs.lsp.subjects import CursorSubject, RunBlock
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.quantity import Name, Quantity, Unknown
from pytest_gbs.model.run import Run

_LISTED: Final = 6  # launches whose batches are listed in a line
_FROM: Final = {Kind.SCRIPT: "script", Kind.DOCUMENT: "document", Kind.TEST: "test", Kind.TEMPLATE: "template"}


def batch_of(run: Run) -> str:
    """The global batch size, with its unit if that is not samples: `128`, `16 x GPUs`, `256 completions`; "" if nothing is known of it."""
    text = batch_text(run)
    if run.geometry.global_batch_size is not None:
        return text if run.framework.unit == "samples" else f"{text} {run.framework.unit}"
    return "" if text == "unknown" else text if text[:1].isdigit() else f"1 x {text}"


def hardware_of(run: Run) -> str:
    """On what it trains, with a space in front: ` on 8 nodes x 8 GPUs`; "" if that is not known."""
    nodes, each = run.geometry.value(Name.NUM_NODES), run.geometry.value(Name.GPUS_PER_NODE)
    world = run.geometry.value(Name.WORLD_SIZE)
    if nodes and each and nodes > 1 and nodes * each == world:
        return f" on {count(nodes, Name.NUM_NODES)} x {count(each, Name.WORLD_SIZE)}"
    return f" on {count(world, Name.WORLD_SIZE)}" if world else ""


def result(run: Run) -> str:
    """The global batch size as the end of its arithmetic: `= 128 on 8 nodes x 8 GPUs`; "" if nothing is known of it."""
    batch = batch_of(run)
    return f"= {batch}{hardware_of(run)}" if batch else ""


def launched_by(launched: tuple[Run, ...]) -> str:
    """Who launches a recipe, with which batches: `launched by 3 scripts: 128, 128, 256`."""
    files = {(run.launch.at.source, run.launch.kind) for run in launched if run.launch is not None}
    kinds = Counter(_FROM.get(kind, kind) for _, kind in sorted(files))
    who = listing((counted(many, word) for word, many in kinds.items()), last="and")
    often = f"launched {len(launched)} times by {who}" if len(launched) > len(files) else f"launched by {who}"
    batches = [batch_text(run) for run in launched]
    more = ", ..." if len(batches) > _LISTED else ""
    return f"{often}: {', '.join(batches[:_LISTED])}{more}"


def hover_text(block: RunBlock, places: Places) -> str:
    """All that `gbs show` says of a recipe or launch, as a block of Markdown."""
    shown = "\n".join(aligned(lines(block.run, block.launched, places)))
    return f"```text\n{plain(title(block.run))}\n{shown.replace('`', chr(39))}\n```"


def plain(text: str) -> str:
    """`text`, which may come from a stranger, as it may be in a piece of code in Markdown."""
    return escape(text).replace("`", "'")


def heading(subject: CursorSubject) -> str:
    """What a size, a claim or a key is, in a line of Markdown."""
    if subject.claim is not None:
        return f"The comment states **{called(subject.claim.name)} {number(subject.claim.value)}**"
    if subject.size is not None and isinstance(subject.size, Quantity):
        unit = f" {subject.size.unit}" if subject.size.unit not in ("", "samples") else ""
        key = f", `{plain(subject.size.key)}`" if subject.size.key else ""
        return f"**{called(subject.size.name)} {number(subject.size.value)}**{unit}{key}"
    if subject.size is not None and isinstance(subject.size, Unknown):
        return f"**{called(subject.size.name)}**, not known here"
    return f"**{called(subject.row.name)}**" if subject.row is not None else ""
