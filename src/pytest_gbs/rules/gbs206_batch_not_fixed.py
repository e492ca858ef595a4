"""A batch is claimed, and a setting lets it change while training runs.

With `auto_find_batch_size: true` the trainer makes the micro batch smaller each time the GPU runs out of memory. The claim is true only
until then, which depends on the machine; the logs of the recipe's author do not show which batch the next run will have.

What the framework does: transformers starts over with a smaller micro batch and leaves the accumulation as it is, so that
the global batch shrinks as well. TRL's trainers that generate (GRPO, RLOO) refuse to start, which is an error with or without
a claim.

How to fix it: switch it off and write the micro batch that fits; raise `gradient_accumulation_steps` by the same factor to
keep the global batch.

It stays silent in recipes without a stated batch: in a comment, a name or the settings of the team, and about the one step of
each pass over streamed data (`streaming: true`) to which the micro batches are added that the pass before left over.
Statements about hardware alone are not a claim about the batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.frameworks.conditions import certain
from pytest_gbs.frameworks.constraints import in_versions
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.equation import Enforcement
from pytest_gbs.model.framework import Switch
from pytest_gbs.model.location import Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import RANKS
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each setting that lets the claimed batch of `run` change, or with which nothing runs."""
    claimed = tuple(claim.declaration.at for claim in run.claims if claim.declaration.name not in RANKS)
    expected = any(policy.name not in RANKS for policy in run.policies)
    for switch in run.framework.switches:
        stops = switch.enforcement in (Enforcement.STOPS, Enforcement.STOPS_LATE)
        conditions = (switch.condition, *switch.when)
        if (claimed or expected or stops) and all(certain(each, run.document, run.framework.loader) for each in conditions):
            yield _finding(run, switch, claimed, stops)


def _finding(run: Run, switch: Switch, claimed: tuple[Location, ...], stops: bool) -> Finding:
    place = run.document.locate(switch.condition.key)
    at = place or (claimed[0] if claimed else Location(run.path))
    if stops:
        severity = Severity.WARNING if switch.doubt else Severity.ERROR
        return Finding(ITS_RULE, f"{switch.label}{in_versions(switch, run.framework)}", severity, at)
    related = tuple(Related(claim, "claimed") for claim in claimed if claim != at)
    return Finding(ITS_RULE, f"a batch is claimed, but {switch.label}", Severity.WARNING, at, related=related, holds=_off(run, switch))


def _off(run: Run, switch: Switch) -> str:
    node = run.document.get(*switch.condition.key)
    is_on = isinstance(node, Scalar) and node.text.lower() == "true"
    return f"set {dotted(switch.condition.key)} to false, or remove the claim" if is_on else ""


_RECIPE = "# global batch size: 64 on 8 GPUs\n" + SFT_RECIPE + "gradient_accumulation_steps: 2\nauto_find_batch_size: {switch}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.SWITCHES,
    summary="a claimed batch may change while training runs",
    severity=Severity.WARNING,
    bad=(Example((("sft.yaml", _RECIPE.format(switch="true")),)),),
    good=(Example((("sft.yaml", _RECIPE.format(switch="false")),)),),
    check=check,
)
