"""Changes as JSON."""

from __future__ import annotations

from typing import Any

from pytest_gbs.formats._diff import _words as words
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._json import dump, taken
from pytest_gbs.formats._places import Places
from pytest_gbs.model.difference import Batch, BatchChange, Differences, Operand


def render(found: Differences, options: FormatOptions) -> str:
    """The changes as a JSON object, with a line break at the end."""
    where = words.places(options)
    changes = [_change(change, where) for change in found.changes]
    return dump({"version": 1, **taken(found, "base head recipes"), "changes": changes, "notes": found.notes})


def _change(change: BatchChange, where: Places) -> dict[str, Any]:
    return {
        "path": where.path(change.path),
        "renamed_from": where.path(change.renamed_from) if change.renamed_from else None,
        "launch": _launch(change.launch, where) if change.launch else None,
        "status": change.status,
        "before": _batch(change.before),
        "after": _batch(change.after),
        "operands": [_operand(each, where) for each in change.operands],
        "settings": [dict(each._asdict()) for each in change.settings],
        "notes": list(change.notes),
    }


def _launch(launch: str, where: Places) -> str:
    return launch if launch.startswith("[") else where.path(launch)


def _batch(side: Batch | None) -> dict[str, Any] | None:
    if side is None:
        return None
    tokens = {"tokens_per_step": side.tokens, "tokens_law": side.tokens_text or None}
    return {"global_batch_size": side.value, "law": side.text, "unit": side.unit, **tokens}


def _operand(each: Operand, where: Places) -> dict[str, Any]:
    location = {"path": where.path(each.path), "line": each.line} if each.path else None
    return {"name": each.name, "key": each.key or None, "before": each.before, "after": each.after, "location": location}
