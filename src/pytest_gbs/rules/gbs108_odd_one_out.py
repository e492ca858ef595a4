"""One claim in a folder needs another number of GPUs per node than all the others.

A comment such as `# Config for 8 nodes with GBS 128` leaves open how many GPUs a node has. If five or more recipes of a folder say such
things and all but one imply the same number, that one is off by a factor: how a doubled accumulation shows without any evidence
from outside. It is a warning, since a recipe may be meant for other machines.

How to fix it: correct the comment or the setting, or say how many GPUs a node has (`8 nodes of 4 GPUs`), which settles it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import count
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import NodeClaim

_ENOUGH = 5


def check(judged: tuple[NodeClaim, ...]) -> Iterator[Outcome]:
    """Yield a finding for the one claim of a folder that implies other GPUs per node than four or more others."""
    folders: defaultdict[str, list[NodeClaim]] = defaultdict(list)
    for claim in judged:
        folders[claim.path.rpartition("/")[0]].append(claim)
    for claims in folders.values():
        usual, number = Counter(claim.gpus_per_node for claim in claims).most_common(1)[0]
        odd = [claim for claim in claims if claim.gpus_per_node != usual]
        if len(claims) >= _ENOUGH and usual is not None and len(odd) == 1 and number == len(claims) - 1:
            yield _finding(odd[0], usual, number)


def _finding(claim: NodeClaim, usual: int, others: int) -> Finding:
    needed = "is wrong for every number of" if claim.gpus_per_node is None else f"needs {count(claim.gpus_per_node, Name.GPUS_PER_NODE)}"
    message = f"comment {needed}, but the {others} other recipes of this folder need {usual}"
    return Finding(ITS_RULE, message, Severity.WARNING, claim.declaration.at, "declared", details=(claim.needed,))


_RECIPE = "# Config for {nodes} nodes with GBS {batch}\n" + SFT_RECIPE + "gradient_accumulation_steps: 2\n"


def _folder(last: int) -> Example:
    batches = [(1, 64), (2, 128), (4, 256), (8, 512), (2, last)]
    return Example(tuple((f"sft-{n}.yaml", _RECIPE.format(nodes=nodes, batch=batch)) for n, (nodes, batch) in enumerate(batches)))


RULE = Rule(
    *written_in(__name__),
    scope=Scope.REPOSITORY,
    summary="one claim in a folder needs another number of GPUs per node than all the others",
    bad=(_folder(64),),
    good=(_folder(128),),
    check=check,
    severity=Severity.WARNING,
)
