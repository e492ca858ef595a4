"""A recipe's global batch size changed since the base revision, and neither its comment nor a commit says so.

The learning rate is tuned for a global batch, so that a change of it belongs into the description of a change: "GBS 128 -> 256". This
rule asks for that. It compares the recipe with the revision that `--changed-since` names, the same launch with the same launch, and
fires where the batch is another one and nothing declares the new number: no comment claims it, no line of `gbs.lock` has it, and no message
of the commits since then names it beside the word "batch" or "GBS".

It is off unless selected (`extend-select = ["GBS502"]`), and compares nothing without `--changed-since`.

How to fix it: undo the change; or declare it, by a comment (`# gbs: 256 on 8 nodes x 8 gpus`), by `gbs lock`, or in the commit message.

It stays silent on recipes that are new, on changes that cancel out, and if either batch is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import beside, listing
from pytest_gbs.claims.locked import change, compare, moved, words
from pytest_gbs.model.locked import LockedBatch, Record
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run

_DECLARE: Final = "declare it in a comment of the recipe, in a commit message, or with gbs lock"


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the batch of `run` at the base is known; nothing without a base."""
    if run.base is None:
        return
    found = compare(run.base, run)
    if found.holds is not False or found.now is None:
        return
    if _declared(run, found.now) or _said(run.base.said, found.now):
        yield Verified(ITS_RULE, run.start, run.assumptions, decides=True)
    else:
        yield _finding(run, run.base, found.now)


def _declared(run: Run, now: Record) -> bool:
    """Whether a comment claims the new batch, or the lock file has it."""
    if run.locked is not None:
        locked = run.locked.record
        if (locked.global_batch_size, locked.share) == (now.global_batch_size, now.share):
            return True
    return run.launch is None and any(claim.judgement.verified for claim in run.claims)


def _said(messages: str, now: Record) -> bool:
    """Whether the messages of the commits name the new batch."""
    number = str(now.global_batch_size) if now.global_batch_size is not None else now.share
    plain = messages.replace(",", "")
    named = re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", plain) is not None
    return named and re.search(r"(?i)batch|gbs", plain) is not None


def _finding(run: Run, base: LockedBatch, now: Record) -> Finding:
    changed = moved(base.record, now)
    sizes = [size for each in changed if isinstance(size := run.geometry.get(each.name), Quantity) and size.at]
    at = next((size.at for size in sizes if size.at and size.at.source == run.path), run.start)
    related = beside(sizes, at)
    because = listing(map(change, changed), last="and")
    message = f"global batch size went from {words(base.record)} at {base.where} to {words(now)}, but the change is not declared"
    return Finding(ITS_RULE, message, Severity.WARNING, at, "", related, (because,) if because else (), _DECLARE)


_RECIPE = "{comment}" + SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\n"
_FLAGS = ("--select", "GBS502,GBS101", "--world-size", "8")
_BASE = (("sft.yaml", _RECIPE.format(comment="", accumulation=2)),)

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.BASE,
    summary="the batch changed since the base, and neither comment nor commit says so",
    severity=Severity.WARNING,
    default=False,
    bad=(Example((("sft.yaml", _RECIPE.format(comment="", accumulation=4)),), _FLAGS, base=_BASE),),
    good=(
        Example((("sft.yaml", _RECIPE.format(comment="", accumulation=2)),), _FLAGS, base=_BASE),
        Example((("sft.yaml", _RECIPE.format(comment="# gbs: 128 on 8 gpus\n", accumulation=4)),), _FLAGS, base=_BASE),
    ),
    check=check,
    meant_by_scaling=True,
)
