"""A launcher file of accelerate with another accumulation than the recipe that it launches.

`deepspeed_config.gradient_accumulation_steps` in the file of `accelerate launch --config_file` is handed to every script that is
launched with it. `accelerate config` asks for it and writes 1. A configuration of DeepSpeed that this file names counts in its place.

What the framework does: accelerate makes it DeepSpeed's value. The Trainer of transformers compares it with its own and stops before the
first step: `ds gradient_accumulation_steps=1 vs hf gradient_accumulation_steps=8` (transformers 5.23.0,
integrations/deepspeed.py:704-718, 133-137; accelerate 1.15.0, utils/dataclasses.py:1229-1231, 1305). A script on accelerate alone gets
the launcher's value without a warning (accelerator.py:546-548), so that its batch is another one than its recipe says. If the recipe
names a DeepSpeed configuration of its own, accelerate stops at the mere presence of the key (dataclasses.py:1507-1532).

How to fix it: delete the line from the launcher file; DeepSpeed then takes the recipe's number.

It stays silent if no launch links the two files, if both say the same, if the file launches without DeepSpeed, and if a script on
accelerate alone leaves the accumulation to the launcher.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield what becomes of the accumulation that the launcher of `run` gives beside that of the recipe."""
    start = run.launch.start if run.launch else None
    given = _accumulation(start.sizes) or next((q for f in start.files if (q := _accumulation(f.quantities))), None) if start else None
    if given is None or given.at is None or (_is_trainer(run) and any(given.at.source == c.document.source.path for c in run.companions)):
        return  # the Trainer compares its arguments with a configuration of DeepSpeed, which is another rule's
    own = _of_recipe(run)
    if own is None:
        return
    if _names_its_own(run) and start is not None and any(given.at.source == file.path for file in start.files):
        named = next(each.named for each in run.companions)
        message = f"{given.key} is set in the launcher file, but the recipe names a DeepSpeed configuration; accelerate stops at start"
        yield Finding(
            ITS_RULE, message, Severity.ERROR, given.at, "accumulation", (Related(named, "named here"),), holds=f"remove {given.key}"
        )
    elif _names_its_own(run) or own.value == given.value or (own.origin == Origin.DEFAULT and not _is_trainer(run)):
        yield Verified(ITS_RULE, given.at)
    else:
        yield _disagrees(run, given, given.at, own)


def _accumulation(sizes: tuple[object, ...]) -> Quantity | None:
    return next((q for q in sizes if isinstance(q, Quantity) and q.name == Name.GRADIENT_ACCUMULATION_STEPS), None)


def _of_recipe(run: Run) -> Quantity | None:
    """The accumulation that recipe and command line state, with its place where the run knows it."""
    own = read_sizes(run.document, run.framework).get(Name.GRADIENT_ACCUMULATION_STEPS)
    if not isinstance(own, Quantity):
        return None
    shown = run.geometry.stated.get(own.name)
    if isinstance(shown, Quantity) and shown.value == own.value:
        return shown
    return own if run.places is None else own._replace(at=None)


def _is_trainer(run: Run) -> bool:
    """Whether the Trainer of transformers compares the numbers, rather than a script on accelerate that takes the launcher's."""
    return bool(run.framework.companions)


def _names_its_own(run: Run) -> bool:
    return any(not each.of_launcher for each in run.companions)


def _disagrees(run: Run, given: Quantity, at: Location, own: Quantity) -> Finding:
    trainer = _is_trainer(run)
    does = "the Trainer stops at start" if trainer else "accelerate uses the launcher's value"
    where = "on the command line" if own.origin == Origin.LAUNCH else "in the recipe"
    in_file = "in DeepSpeed's configuration" if given.key == Name.GRADIENT_ACCUMULATION_STEPS else "in the launcher file"
    at_launch = "for the launcher" if given.key.startswith("--") else in_file
    message = f"{given.key} is {given.value:,} {at_launch}, but {own.key} is {own.value:,} {where}; {does}"
    related = (Related(own.at, "accumulation"),) if own.at else ()
    return Finding(
        ITS_RULE,
        message,
        Severity.ERROR if trainer else Severity.WARNING,
        at,
        "accumulation",
        related,
        holds=f"set {given.key} to {own.value:,}",
    )


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 8\n"
_LAUNCHER = """\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
deepspeed_config:
  gradient_accumulation_steps: {accumulation}
  zero_stage: 2
num_machines: 1
num_processes: 8
"""
_SCRIPT = "accelerate launch --config_file zero2.yaml train.py --config sft.yaml\n"


def _example(accumulation: int) -> Example:
    return Example((("sft.yaml", _RECIPE), ("zero2.yaml", _LAUNCHER.format(accumulation=accumulation)), ("run.sh", _SCRIPT)))


RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCH,
    summary="the launcher file gives another accumulation than the recipe",
    bad=(_example(1),),
    good=(_example(8),),
    check=check,
)
