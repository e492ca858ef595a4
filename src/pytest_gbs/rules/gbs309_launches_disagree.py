"""Two scripts launch one recipe with different global batch sizes, and the repository does not say which one is meant.

The recipe claims no batch, so neither launch is wrong. Still its learning rate was tuned for one of them.

What the framework does: each launch trains with its own batch.

How to fix it: write down which batch the recipe is for (`# gbs: 128`); from then on the launch that gives another one is found.

It stays silent if the recipe claims a batch, if a policy gives one, for commands in documents and tests, and if a launch leaves
the number of GPUs open. It is advice and never fails a check.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.framework import Arguments
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(runs: tuple[Run, ...]) -> Iterator[Outcome]:
    """Yield one finding where launches of a recipe give different batches and nothing claims one."""
    # A file that only its launches make a recipe has none of its own batch.
    # One that programs compose with settings of every kind, as Hydra's do, has as many batches as launches.
    if runs[0].launch is not None or runs[0].framework.arguments == Arguments.HYDRA or any(run.claims or run.policies for run in runs):
        return
    launched = [run for run in runs if run.launch is not None and run.launch.start is not None and run.launch.kind == Kind.SCRIPT]
    known = [(run, size) for run in launched if (size := run.geometry.global_batch_size) is not None]
    other = next(((run, size) for run, size in known[1:] if size != known[0][1]), None)
    if other is None:
        return
    first, (second, size) = known[0][0], other
    assert first.launch is not None
    assert second.launch is not None
    recipe = second.path.rpartition("/")[2]
    message = f"this launch of {recipe} gives {size:,}, another one gives {known[0][1]:,}, and nothing says which one is intended"
    related, holds = (Related(first.launch.at, f"{known[0][1]:,}"),), f"state the intended batch in a comment of {recipe}"
    yield Finding(ITS_RULE, message, Severity.INFO, second.launch.at, f"{size:,}", related, holds=holds)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 4\n"
_ONE = "torchrun --nproc_per_node 8 train.py --config sft.yaml\n"
_TWO = "torchrun --nproc_per_node 4 train.py --config sft.yaml --gradient_accumulation_steps {steps}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RECIPE,
    summary="launches of one recipe give different batches, and no comment says why",
    bad=(Example((("sft.yaml", _RECIPE), ("a.sh", _ONE), ("b.sh", _TWO.format(steps=4)))),),
    good=(Example((("sft.yaml", _RECIPE), ("a.sh", _ONE), ("b.sh", _TWO.format(steps=8)))),),
    check=check,
    meant_by_scaling=True,
    severity=Severity.INFO,
)
