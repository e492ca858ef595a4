"""What all formats of changes say alike: paths from the current folder, operands with their places, numbers with both sides."""

from __future__ import annotations

from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.difference import BatchChange, Differences, Operand, Setting, Status
from pytest_gbs.model.report import Report

ARROW: Final = "→"
_UNKNOWN: Final = "unknown"


def places(options: FormatOptions) -> Places:
    """What makes paths of the tree those of the current folder."""
    return Places(Report((), {}, {}), options)


def arrow(options: FormatOptions) -> str:
    """The sign between before and after."""
    return "->" if options.ascii else ARROW


def batch(change: BatchChange, sign: str, unit: str = "") -> str:
    """The batch on both sides: `64 → 32`, `128 (same)`, `new: 128`, `gone: 128`; with `unit` behind the number."""
    unit = f" {unit}" if unit else ""
    if change.before is None:
        return f"new: {change.after.text}{unit}" if change.after else "new"
    if change.after is None:
        return f"gone: {change.before.text}{unit}"
    before, after = change.before.text, change.after.text
    if change.before.unit != change.after.unit:
        return f"{before} {change.before.unit} {sign} {after} {change.after.unit}"
    return f"{after}{unit} (same)" if before == after else f"{before} {sign} {after}{unit}"


def tokens(change: BatchChange, sign: str) -> str:
    """The tokens per step on both sides; "" if neither is known."""
    texts = [side.tokens_text if side else "" for side in (change.before, change.after)]
    if change.before is None or change.after is None or texts[0] == texts[1]:
        return "same" if change.before and change.after and texts[1] else texts[1] or texts[0]
    return f"{texts[0] or _UNKNOWN} {sign} {texts[1] or _UNKNOWN}"


def operand(each: Operand, change: BatchChange, where: Places, sign: str) -> str:
    """An operand with its place: `accumulation 8 → 2 (line 31)`."""
    place = ""
    if each.path:
        line = f"line {each.line}" if each.path == change.path else f"{where.path(each.path)}:{each.line}"
        place = f" ({line})"
    before = "none" if each.before is None else f"{each.before:,}"
    after = "none" if each.after is None else f"{each.after:,}"
    return f"{each.called} {before} {sign} {after}{place}"


def setting(each: Setting, sign: str) -> str:
    """A setting on both sides: `2e-5 (same)`, `2e-5 → 1e-5`."""
    return f"{each.after} (same)" if each.same else f"{each.before or 'none'} {sign} {each.after or 'none'}"


def name(change: BatchChange, where: Places) -> str:
    """What a change is about: the recipe, with its launch; a script that is its own recipe once."""
    if not change.launch:
        return where.path(change.path)
    launch = change.launch if change.launch.startswith("[") else where.path(change.launch)
    return launch if change.launch.startswith(f"{change.path}:") else f"{where.path(change.path)} @ {launch}"


def summary(found: Differences) -> str:
    """One line that counts: `2 batches changed, 1 the same of other operands, 1 new, 21 recipes compared`."""
    words = (
        (Status.CHANGED, "changed"),
        (Status.UNKNOWN, "not known on one side"),
        (Status.SAME, "the same of other operands"),
        (Status.RENAMED, "renamed"),
        (Status.ADDED, "new"),
        (Status.REMOVED, "gone"),
    )
    numbers = [(sum(change.status == status for change in found.changes), text) for status, text in words]
    parts = [f"{number} {text}" for number, text in numbers if number]
    return f"{', '.join(parts) or 'no batch changed'}; {counted(found.recipes, 'recipe')} compared, {found.base} with {found.head}"
