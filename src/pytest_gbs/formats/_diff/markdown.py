"""Changes for a comment on a pull request: what changed most in a table, the rest folded away; never longer than a comment may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, log, sqrt
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.formats._diff import _words as words
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._width import shortened
from pytest_gbs.model.difference import BatchChange, Differences, Status, Topic
from pytest_gbs.model.limits import LONGEST_DIFF

_HEAD: Final = ("recipe", "global batch", "why", "tokens per step", "steps per epoch", "learning rate, warmup, length")
_ON_TOP: Final = 10  # rows that are not folded away
_CELL: Final = 240
_MARGIN: Final = 1_000  # for the words around tables and lists
_RANKS: Final = (Status.CHANGED, Status.UNKNOWN, Status.REMOVED, Status.ADDED, Status.SAME, Status.RENAMED)
_BATCH_IS_THE_SAME: Final = (Status.SAME, Status.RENAMED)


def render(found: Differences, options: FormatOptions) -> str:
    """The changes as Markdown, with a line break at the end."""
    where = words.places(options)
    changes = sorted(found.changes, key=_weight)
    of_recipes = {change.path: change for change in changes if not change.launch}
    to_review = [change for change in changes if _needs_review(change, of_recipes)]
    rest = [change for change in changes if not _needs_review(change, of_recipes)]
    room = _Room(LONGEST_DIFF - _MARGIN)
    parts = [f"**Global batch size: {_cell(words.summary(found))}**"]
    parts += room.table(to_review[:_ON_TOP], where)
    parts += _collapsed(counted(len(to_review) - _ON_TOP, "more change"), room.table(to_review[_ON_TOP:], where))
    parts += _collapsed(f"{len(rest)} with the same batch, or changed like their recipe", room.table(rest, where))
    notes = [f"- {_cell(words.name(change, where))}: {cell(note)}" for change in changes for note in change.notes]
    notes += [f"- {cell(note)}" for note in found.notes]
    parts += _collapsed(counted(len(notes), "note"), room.lines(notes))
    if room.left_out:
        parts.append(f"{counted(room.left_out, 'row')} left out, since a comment may not be longer: `gbs diff` has them all.")
    return "\n\n".join(parts) + "\n"


class _Room:
    """What is left of the longest comment; `left_out` counts the rows and lines for which there is none."""

    def __init__(self, characters: int) -> None:
        self.characters, self.left_out = characters, 0

    def table(self, changes: Iterable[BatchChange], where: Places) -> list[str]:
        """A table of as many `changes` as there is room for; nothing if there are none."""
        rows = ([_cell(text) for text in _row(change, where)] for change in changes)
        kept = [row for row in rows if self._takes(len(table((), [row])))]
        return [table(_HEAD, kept)] if kept else []

    def lines(self, lines: Iterable[str]) -> list[str]:
        """As many lines as there is room for, as one text."""
        kept = [line for line in lines if self._takes(len(line) + 1)]
        return ["\n".join(kept)] if kept else []

    def _takes(self, characters: int) -> bool:
        fits = characters <= self.characters
        self.characters = self.characters - characters if fits else 0  # nothing smaller comes after what was left out
        self.left_out += not fits
        return fits


def _weight(change: BatchChange) -> tuple[int, float, str, str]:
    """The order of changes: the batch that changed by the largest factor first, one whose factor is not known before all of them."""
    factor = inf if change.factor is None else abs(log(change.factor))
    return _RANKS.index(change.status), -factor, change.path, change.launch


def _needs_review(change: BatchChange, of_recipes: dict[str, BatchChange]) -> bool:
    """Whether a reviewer must see it: another batch, and not that of a launch that changed just as its recipe did."""
    if change.status in _BATCH_IS_THE_SAME:
        return False
    recipe = of_recipes.get(change.path) if change.launch else None
    return recipe is None or (recipe.status, recipe.operands) != (change.status, change.operands)


def _collapsed(title: str, inside: list[str]) -> list[str]:
    """`inside` below a title that opens it; nothing if there is nothing."""
    return [f"<details><summary>{title}</summary>", *inside, "</details>"] if inside else []


def _cell(text: str) -> str:
    return cell(shortened(text, _CELL))


def _row(change: BatchChange, where: Places) -> Iterator[str]:
    yield words.name(change, where) + (f" (was {where.path(change.renamed_from)})" if change.renamed_from else "")
    yield words.batch(change, words.ARROW) + (f" (x {change.factor:.3g})" if change.factor not in (None, 1) else "")
    yield ", ".join(words.operand(each, change, where, words.ARROW) for each in change.operands)
    yield words.tokens(change, words.ARROW)
    yield "" if change.factor is None or change.status == Status.RENAMED else "same" if change.factor == 1 else f"x {1 / change.factor:.3g}"
    yield "; ".join(_settings(change))


def _settings(change: BatchChange) -> Iterator[str]:
    """Yield what became of the settings that go with the batch; of those that stayed the learning rates alone, with rules of scaling."""
    for each in change.settings:
        if each.topic == Topic.LEARNING_RATE:
            yield words.setting(each, words.ARROW) + (_scaled(change) if each.same else "")
        elif not each.same:
            yield f"{each.key} {words.setting(each, words.ARROW)}"


def _scaled(change: BatchChange) -> str:
    """What the two rules of scaling would do to a learning rate; nothing if the batch is the same."""
    if change.factor is None or change.factor == 1:
        return ""
    return f", linear scaling x {change.factor:.3g}, square root x {sqrt(change.factor):.3g}"
