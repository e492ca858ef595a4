"""A comment's claim was checked once, and can no longer be decided.

A claim such as `# Config for 8 nodes with GBS 128` is checked with what a repository knows: its settings, its launcher files, its
launches. A launcher file with another number of GPUs, a batch size that becomes `auto` or a variable, and the claim is open: no
check fails, and the comment protects nothing any more. This is easy to miss, since an undecided claim is not an error.

The rule compares with the last state that is known to have checked it: the line of the recipe in `gbs.lock`, or the revision that
`--changed-since` names. It fires if the claim was verified there and is undetermined now.

How to fix it: give what is missing, as the finding says: hardware in the settings (`gpus-per-node = 8` in `[tool.gbs]`) or in the comment
itself. If the claim can't be checked any more on purpose, run `gbs lock`.

It stays silent on claims that are violated, which other rules report, and on claims that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import called, listing
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Undetermined
from pytest_gbs.model.quantity import HARDWARE
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each open claim of `run` that was decided by the lock file or at the base."""
    locks = [locked for locked in (run.locked, run.base) if locked is not None and locked.record.claim is not None and not locked.what_if]
    for claim in run.open_claims if locks and run.launch is None else ():
        locked = next((each for each in locks if each.record.claim == claim.declaration.value), None)
        if locked is not None and claim.judgement.open is not None:
            yield _finding(claim.judgement.open, locked.where)


def _finding(outcome: Undetermined, where: str) -> Finding:
    missing = listing(map(called, outcome.missing), last="and")
    why = f": {missing} unknown" if missing else ""
    place = f"in {where}" if where == "gbs.lock" else f"at {where}"
    message = f"{outcome.message}, which was verified {place} and can't be decided now{why}"
    details = (f"it is {outcome.implies}",) if outcome.implies else ()
    hardware = bool(outcome.missing) and all(name in HARDWARE for name in outcome.missing)
    fix = f"state the {missing} in the comment or in [tool.gbs]" if hardware else ""
    return Finding(ITS_RULE, message, Severity.WARNING, outcome.at, "declared", details=details, holds=fix)


_LOCK = """\
version = 1
"sft.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 8, num_nodes = 2, gpus_per_node = 8, claim = 128 }
"""

_RECIPE = "# Config for 2 nodes with GBS 128\n" + SFT_RECIPE + "gradient_accumulation_steps: 2\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.OPEN_CLAIMS,
    summary="a claim that was checked once can no longer be decided",
    severity=Severity.WARNING,
    bad=(Example((("gbs.lock", _LOCK), ("sft.yaml", _RECIPE))),),
    good=(Example((("gbs.toml", "gpus-per-node = 8\n"), ("gbs.lock", _LOCK), ("sft.yaml", _RECIPE))),),
    check=check,
    explained_by=("unsatisfiable-batch",),
    meant_by_scaling=True,
)
