"""A comment states the batch of one GPU or the accumulation, and the settings have another.

`# batch size per GPU: 4` and `# gradient accumulation steps: 2` at the head of a script tell how its batch comes about. Who changes the
command below and leaves them makes the next reader compute with numbers that nobody trains with.

The rule compares lines that say nothing else with the recipe, or with what the script launches if it trains once or the lines are right
above the command. A batch per GPU that is the micro batch times the accumulation is true as well.

How to fix it: write the number that the settings have into the comment, or change the setting back.

It stays silent if comments state two numbers for the same size, if the setting is a default that whoever starts the script may change
(unless a batch that the comments state is that of the defaults), and if a batch that they state is wrong: that finding
names the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import beside, called, leaves
from pytest_gbs.frameworks.repairs import in_comment
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for each factor that comments state and the settings give."""
    if any(claim.judgement.finding is not None for claim in run.claims):
        return
    stated = run.stated_factors
    for declaration in stated:
        size = run.geometry.get(declaration.name)
        others = {each.value for each in stated if each.name == declaration.name} - {declaration.value}
        if isinstance(size, Quantity) and not others and not _is_open(run, size) and _is_about(run, declaration, size):
            yield _judged(run, declaration, size)


def _is_open(run: Run, size: Quantity) -> bool:
    """Whether the size is of a comment itself, or who starts the script may choose another and no batch is claimed of this one."""
    chosen = any(each.by_default for each in run.assumptions) and not any(claim.judgement.verified for claim in run.claims)
    return chosen or any(leaf.origin == Origin.COMMENT for leaf in leaves(size))


def _is_about(run: Run, declaration: Declaration, size: Quantity) -> bool:
    """Whether a comment of a recipe is the head of its file, or is in the same part as the key that gives the size."""
    if run.launch is not None:
        return True
    part = (declaration.at.path or ())[:-1]
    places = [leaf.at.path or () for leaf in leaves(size) if leaf.at is not None]
    return declaration.at.source == run.path and all(place[: len(part)] == part for place in places)


def _judged(run: Run, declaration: Declaration, size: Quantity) -> Outcome:
    accumulation = run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS) or 1
    if declaration.value in (size.value, size.value * accumulation if size.name == Name.MICRO_BATCH_SIZE else size.value):
        return Verified(ITS_RULE, declaration.at)
    key = size.key or called(size.name)
    related = tuple(beside(leaves(size), declaration.at))
    fixes = (in_comment(run, [(declaration.at, size.value)]),) if run.launch is None else ()
    message = f"{declaration.stands_in} says {called(declaration.name)} {declaration.value:,}, but {key} is {size.value:,}"
    holds = f"change the {declaration.stands_in} to {size.value:,}, or set {key} to {declaration.value:,}"
    return Finding(ITS_RULE, message, Severity.WARNING, declaration.at, "stated", related, fixes=fixes, holds=holds)


_RECIPE = "# batch size per GPU: {micro}\n" + SFT_RECIPE

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.STATED_FACTORS,
    summary="a comment states another micro batch or accumulation than the settings have",
    bad=(Example((("sft.yaml", _RECIPE.format(micro=8)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(micro=4)),)),),
    check=check,
    severity=Severity.WARNING,
)
