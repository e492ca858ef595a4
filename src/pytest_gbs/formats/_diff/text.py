"""Changes for a terminal: each recipe and launch with its batch, what moved it, and what to think of that."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.formats._diff import _words as words
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.difference import BatchChange, Differences, Status


def render(found: Differences, options: FormatOptions) -> str:
    """The changes as text, with a line break at the end."""
    where, sign = words.places(options), words.arrow(options)
    blocks = ["\n".join(escape(line) for line in _lines(change, where, sign)) for change in found.changes]
    end = [escape(words.summary(found)), *(f"  {escape(note)}" for note in found.notes)]
    return "\n\n".join([*blocks, "\n".join(end)]) + "\n"


def _lines(change: BatchChange, where: Places, sign: str) -> Iterator[str]:
    renamed = f"   (was {where.path(change.renamed_from)})" if change.renamed_from else ""
    yield f"{words.name(change, where)}{renamed}"
    unit = (change.after or change.before).unit if change.after or change.before else ""  # type: ignore[union-attr]
    yield f"  {'global batch size':<18}  {words.batch(change, sign, unit)}"
    for index, operand in enumerate(change.operands):
        yield f"  {'' if index else 'why':<18}  {words.operand(operand, change, where, sign)}"
    tokens = words.tokens(change, sign)
    if tokens and tokens != "same":
        yield f"  {'tokens per step':<18}  {tokens}"
    matters = change.status in (Status.CHANGED, Status.UNKNOWN)
    for setting in (each for each in change.settings if matters or not each.same):
        yield f"  {setting.topic:<18}  {setting.key} {words.setting(setting, sign)}"
    yield from (f"  note: {note}" for note in change.notes)
