"""Two comments of one recipe state different global batch sizes for the same hardware.

At most one of them can be true. The rule reports it if the settings can't show which (the hardware is unknown); if they can,
the false one is reported as GBS101 and nothing is said twice.

How to fix it: delete or correct the comment that is out of date.

Claims of another quantity, another unit, or under other conditions ("128 with 4 nodes", "256 with 8 nodes") are never
compared with each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, TypeAlias

from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Claim, Run

# With so many different earlier claims each later one is compared.
_COMPARED: Final = 100
# What a claim is about, and under which conditions: claims that differ in it are not compared.
_Subject: TypeAlias = "tuple[str, str, tuple[tuple[str, int], ...]]"


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each claim of `run` that an earlier claim contradicts, where the settings decide neither."""
    alike: defaultdict[_Subject, dict[tuple[Interval, ...], Claim]] = defaultdict(dict)
    for later in run.open_claims:
        before = alike[_subject(later)]
        earlier = next((claim for claim in before.values() if _contradict(claim, later)), None)
        if earlier is not None:
            yield _finding(earlier, later)
        if len(before) < _COMPARED:
            before.setdefault(later.declaration.holds, later)


def _subject(claim: Claim) -> _Subject:
    declaration = claim.declaration
    return declaration.name, declaration.unit, tuple(sorted(declaration.conditions))


def _contradict(one: Claim, other: Claim) -> bool:
    return not any(x.low <= y.high and y.low <= x.high for x in one.declaration.holds for y in other.declaration.holds)


def _finding(earlier: Claim, later: Claim) -> Finding:
    a, b = earlier.declaration, later.declaration
    message = f"comments say {a.value:,} and {b.value:,} for the same batch"
    return Finding(
        ITS_RULE, message, Severity.ERROR, b.at, f"{b.value:,}", (Related(a.at, f"{a.value:,}"),), holds="change one of the two comments"
    )


_RECIPE = "# global batch size: 128\n" + SFT_RECIPE + "gradient_accumulation_steps: 2  # effective batch size {other}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.OPEN_CLAIMS,
    summary="two comments state different batch sizes for the same hardware",
    bad=(Example((("sft.yaml", _RECIPE.format(other=256)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(other=128)),)),),
    check=check,
    explained_by=("unsatisfiable-batch",),
)
