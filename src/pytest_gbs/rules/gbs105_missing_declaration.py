"""A recipe does not say which global batch size it was written for.

Four of five public recipes state no batch: it follows from a launch command that is not in the file, so it is unclear later which
one the learning rate was tuned for. This rule is off unless selected, since a team may keep the number elsewhere.

How to fix it: write `# gbs: 128 on 8 nodes x 8 gpus` behind the accumulation or at the top of the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding if nothing in the recipe or in the settings says what its batch should be."""
    if run.launch is not None:
        return
    place = run.at(Name.GRADIENT_ACCUMULATION_STEPS) or run.at(Name.MICRO_BATCH_SIZE) or Location(run.path)
    if run.claims or run.policies:
        yield Verified(ITS_RULE, place)
    else:
        yield Finding(
            ITS_RULE,
            "the recipe does not state its global batch size",
            Severity.WARNING,
            place,
            holds=f"state it in a comment: {_comment(run)}",
        )


def _comment(run: Run) -> str:
    batch, gpus = run.geometry.global_batch_size, run.geometry.value(Name.WORLD_SIZE)
    return f"# gbs: {batch} on {gpus} gpus" if batch is not None and gpus is not None else "# gbs: 128 on 16 gpus, for example"


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 2{comment}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="a recipe does not say which global batch size it was written for",
    bad=(Example((("sft.yaml", _RECIPE.format(comment="")),), ("--select", "GBS105")),),
    good=(Example((("sft.yaml", _RECIPE.format(comment="  # gbs: 64 on 8 gpus")),), ("--select", "GBS105")),),
    check=check,
    explained_by=("unsatisfiable-batch",),
    of_unclaimed=True,
    severity=Severity.WARNING,
    default=False,
)
