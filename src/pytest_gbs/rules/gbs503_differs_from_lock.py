"""A recipe no longer has the batch that `gbs.lock` records for it.

Most recipes claim nothing: no comment says what their batch should be. `gbs lock` records it, a line for each recipe and
each launch of it. From then on a batch cannot change by accident: to change it on purpose, run `gbs lock` again, and the reviewer
sees that line in the change. No history is needed, so it works in shallow clones and forks.

The finding names the factor that changed the batch. Changes that cancel out (twice the nodes, half the accumulation) are not
reported. If the hardware is not known, the part of one GPU is compared; where the lock has the hardware and the recipe no
longer does, the rule says on how many GPUs the batch would be the same.

How to fix it: undo the change of the operand, or, if it is intended, run `gbs lock` and commit the line that it changes.

It stays silent on recipes and launches that the lock file does not have; `gbs lock --check` lists those that are new or gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import amounts, called, listing, short
from pytest_gbs.claims.locked import Comparison, Moved, compare, moved, words
from pytest_gbs.model.location import Location
from pytest_gbs.model.locked import LockedBatch
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Edit, Finding, Fix, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Conflict, Name, Quantity
from pytest_gbs.model.rule import Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run

_ADJUSTED: Final = (Name.GRADIENT_ACCUMULATION_STEPS, Name.MICRO_BATCH_SIZE)


def check(run: Run) -> Iterator[Outcome]:
    """Yield the outcome of holding `run` to its line in the lock file; nothing if it has none."""
    if run.locked is None:
        return
    found = compare(run.locked, run)
    if found.holds:
        yield Verified(ITS_RULE, run.locked.at, run.assumptions, decides=True)
    elif found.holds is None:
        yield _open(run, run.locked, found)
    else:
        yield _finding(run, run.locked, found)


def _open(run: Run, locked: LockedBatch, found: Comparison) -> Undetermined:
    """The outcome for a batch that is unknown."""
    said = f"{locked.where} has {words(locked.record)}"
    if isinstance(run.geometry.get(Name.GLOBAL_BATCH_SIZE), Conflict):
        said += ", but the settings of the recipe contradict each other"
    values, name = found.values, found.free[0] if found.free else ""
    implies = f"true with {amounts(values, name)}" if values else ""
    return Undetermined(ITS_RULE, run.start, said, found.free, implies, values=values)


def _finding(run: Run, locked: LockedBatch, found: Comparison) -> Finding:
    """The finding for a batch that moved, at the operand that moved it."""
    now = found.now
    changed = moved(locked.record, now) if now is not None else ()
    places = _places(run, changed)
    at = next((place for place, _ in places if place.source == run.start.source), run.start)
    label = next((label for place, label in places if place == at), "")
    related = [Related(place, label) for place, label in places if place != at]
    related += [Related(locked.at, "locked")] if locked.at else []
    because = listing((_change(each) for each in changed), last="and")
    batch = words(now) if now is not None else "unknown"
    message = f"global batch size is {batch}, but {locked.where} has {words(locked.record)}{f': {because}' if because else ''}"
    advice, fixes = _ways_out(run, changed)
    intended = "run gbs lock if the change is intended"
    holds = f"{advice}, or {intended}" if advice else intended
    return Finding(ITS_RULE, message, Severity.ERROR, at, label, tuple(related), (), holds, run.assumptions, fixes)


def _change(each: Moved) -> str:
    was = "" if each.before is None else f", was {each.before:,}"
    return f"no {called(each.name)}{was}" if each.after is None else f"{called(each.name)} {each.after:,}{was}"


def _places(run: Run, changed: tuple[Moved, ...]) -> list[tuple[Location, str]]:
    """Where the operands stand that moved, or the batch itself where the recipe states it; the settings first."""
    names = [each.name for each in changed] or [Name.GLOBAL_BATCH_SIZE]
    names.sort(key=lambda name: name not in _ADJUSTED)
    sizes = (run.geometry.get(name) for name in names)
    found = {size.at: short(size.name) for size in sizes if isinstance(size, Quantity) and size.at}
    return list(found.items())


def _ways_out(run: Run, changed: tuple[Moved, ...]) -> tuple[str, tuple[Fix, ...]]:
    """The change that takes the one operand back that moved, in words and as a fix; nothing if several did."""
    only = changed[0] if len(changed) == 1 else None
    size = run.geometry.get(only.name) if only is not None else None
    if only is None or only.before is None or not isinstance(size, Quantity) or size.at is None or not size.key:
        return "", ()
    words = f"set {size.key} to {only.before}"
    text = run.document.source.text if size.at.source == run.path else ""
    if text[size.at.start : size.at.stop] != str(size.value):
        return words, ()
    edit = Edit(size.at, str(size.value), str(only.before))
    return words, (Fix(f"change {size.key} to {only.before}", Applicability.SETTINGS, (edit,)),)


_LOCK = """\
# The global batch size of each recipe and launch. Written by gbs lock; gbs check fails if one changes (GBS503).
version = 1
"sft.yaml" = { unit = "samples", per_gpu = 8, micro_batch_size = 4, gradient_accumulation_steps = 2 }
"""

_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/dialogues
per_device_train_batch_size: {micro}
gradient_accumulation_steps: {accumulation}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.LOCKED,
    summary="a recipe has another batch than gbs.lock has for it",
    bad=(Example((("gbs.lock", _LOCK), ("sft.yaml", _RECIPE.format(micro=4, accumulation=4)))),),
    good=(
        Example((("gbs.lock", _LOCK), ("sft.yaml", _RECIPE.format(micro=4, accumulation=2)))),
        Example((("gbs.lock", _LOCK), ("sft.yaml", _RECIPE.format(micro=2, accumulation=4)))),
    ),
    check=check,
    meant_by_scaling=True,
)
