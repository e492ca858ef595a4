"""A command names a recipe where its program does not look for one.

TRL's parser loads a file behind `--config` alone. A recipe without the flag (`accelerate launch sft.py recipes/sft.yaml`, as
the alignment-handbook had it for years) is an argument that the parser ignores.

What the program does: `TrlParser` stops with a `ValueError` on arguments that it does not know.

How to fix it: put `--config` in front of the recipe.

It stays silent if the program's own file is not in the repository, or reads a recipe by position as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.launch import Kind
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Edit, Finding, Fix, Outcome, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding where the program of a launch does not read the recipe that its command line names."""
    launch = run.launch
    if launch is None or not launch.unread or launch.named is None:
        return
    severity = Severity.ERROR if launch.kind == Kind.SCRIPT else Severity.WARNING
    message = f"the program reads recipes only after --config, and stops at {run.path.rpartition('/')[2]}"
    here = Location(launch.named.source, launch.named.start, launch.named.start)
    fix = Fix("put --config in front of it", Applicability.SETTINGS, (Edit(here, "", "--config "),))
    yield Finding(ITS_RULE, message, severity, launch.named, "not loaded", holds="put --config in front of it", fixes=(fix,))


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 4\n"
_PROGRAM = "from trl import TrlParser\n\nparser = TrlParser((SFTConfig,))\n"
_SCRIPT = "accelerate launch --num_processes 8 train.py {flag}sft.yaml\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCH,
    summary="a command names a recipe where its program does not look for one",
    bad=(Example((("sft.yaml", _RECIPE), ("train.py", _PROGRAM), ("run.sh", _SCRIPT.format(flag="")))),),
    good=(Example((("sft.yaml", _RECIPE), ("train.py", _PROGRAM), ("run.sh", _SCRIPT.format(flag="--config ")))),),
    check=check,
)
