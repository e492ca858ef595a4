"""Changes as a table fit for a comment on a pull request, with notes below it."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.formats._diff import _words as words
from pytest_gbs.formats._format import Options
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._places import Places
from pytest_gbs.model.difference import Change, Differences, Topic

_HEAD = ("recipe", "GBS", "why", "tokens/step", "learning rate")


def render(found: Differences, options: Options) -> str:
    """The changes as Markdown, with a line break at the end."""
    where = words.places(options)
    parts = [f"**Global batch size: {cell(words.summary(found))}**"]
    if found.changes:
        parts.append(table(_HEAD, [[cell(text) for text in _row(change, where)] for change in found.changes]))
    notes = [f"- {cell(words.name(change, where))}: {cell(note)}" for change in found.changes for note in change.notes]
    notes += [f"- {cell(note)}" for note in found.notes]
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def _row(change: Change, where: Places) -> Iterator[str]:
    yield words.name(change, where) + (f" (was {where.path(change.renamed_from)})" if change.renamed_from else "")
    yield words.batch(change, words.ARROW)
    yield ", ".join(words.operand(each, change, where, words.ARROW) for each in change.operands)
    yield words.tokens(change, words.ARROW)
    rates = [each for each in change.settings if each.topic == Topic.LEARNING_RATE]
    others = [each for each in change.settings if each.topic != Topic.LEARNING_RATE and not each.same]
    shown = [words.setting(each, words.ARROW) for each in rates]
    yield ", ".join((*shown, *(f"{each.key} {words.setting(each, words.ARROW)}" for each in others)))
