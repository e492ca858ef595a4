"""A recipe without a key that its framework cannot do without.

Some frameworks have no default for a part of the batch: they compute it from what is there, and stop if that is not enough.

What the framework does: DeepSpeed stops with `Either train_batch_size or train_micro_batch_size_per_gpu needs to be
provided`. Its table says what each of the others does.

How to fix it: add the key. The message names the candidates.

It stays silent about a file that others complete: a fragment, a parent, a launch that gives the key, a blank that a person is to fill in.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import listing
from pytest_gbs.frameworks.conditions import certain
from pytest_gbs.frameworks.constraints import in_versions
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.framework import Arguments, KeyChoice
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.location import KeyPath, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import is_set


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each requirement of the framework of `run` of which no key is there."""
    for requirement in run.framework.requirements:
        if _is_open(run, requirement) or any(_is_there(run, key) for key in requirement.keys):
            continue
        if all(certain(condition, run.document, run.framework.loader) for condition in requirement.when):
            names = listing(map(dotted, requirement.keys), last="or")
            message = f"{names} is missing; {requirement.label}{in_versions(requirement, run.framework)}"
            yield Finding(ITS_RULE, message, Severity.WARNING if requirement.doubt else Severity.ERROR, run.start, holds=f"set {names}")


def _is_there(run: Run, key: KeyPath) -> bool:
    """Whether a key has a value, or a blank that someone is to fill in: `micro_batch_size: # what fits your machine`."""
    node = run.document.get(*key)
    is_blank = isinstance(node, Scalar) and node.plain and not node.text
    return is_blank or is_set(run.document, key, run.framework.loader)


def _is_open(run: Run, requirement: KeyChoice) -> bool:
    """Whether others may give what is missing: the programs that compose a file, the reader of a document."""
    if run.launch is None:
        return run.framework.arguments == Arguments.HYDRA and not requirement.whole
    return run.launch.kind != Kind.SCRIPT


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 4\ndeepspeed: ds_config.json\n"
_CONFIG = '{{"zero_optimization": {{"stage": 2}}, "gradient_clipping": 1.0, "gradient_accumulation_steps": 4{batch}}}\n'


def _example(batch: str) -> Example:
    return Example((("sft.yaml", _RECIPE), ("ds_config.json", _CONFIG.format(batch=batch))))


RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.REQUIREMENTS,
    summary="a key that the framework needs for the batch is missing",
    bad=(_example(""),),
    good=(_example(', "train_micro_batch_size_per_gpu": 4'),),
    check=check,
    in_any_part=True,
    certain_in_launch=True,
    meant_by_scaling=True,  # the only key that it ever takes out is one that it had put in
)
