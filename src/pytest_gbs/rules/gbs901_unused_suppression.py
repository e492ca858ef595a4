"""A comment `# gbs: ignore[...]` that silences nothing.

The finding it was written for is gone, its rule does not exist, or it has no brackets: `# gbs: ignore` alone silences nothing,
since a comment that silences every rule hides the next mistake as well. If the settings ask for reasons, one without a
reason silences nothing either. Nor does one that is misspelt, `# gbs: ignroe[GBS101]`.

A suppression that outlives its reason waits to hide a real finding on the same line.

How to fix it: delete the comment, or the code that is not needed any more. If the brackets are missing,
name the rule: `# gbs: ignore[GBS101] why this is right`.

It stays silent while the comment hides a finding, and for rules that this run does not select.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import listing
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Edit, Finding, Fix, Outcome, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.suppression import Suppression


def check(unused: tuple[Suppression, ...]) -> Iterator[Outcome]:
    """Yield a finding for each of the suppressions that silenced nothing."""
    for suppression in unused:
        label = "misspelt" if suppression.misspelt else "unused"
        yield Finding(ITS_RULE, _message(suppression), Severity.WARNING, suppression.at, label, fixes=_fixes(suppression))


def _message(suppression: Suppression) -> str:
    if suppression.misspelt:
        return f"gbs: {suppression.misspelt} is not a gbs comment and has no effect; did you mean gbs: {suppression.meant}?"
    if not suppression.codes:
        return "a suppression without a rule in brackets ignores nothing"
    if suppression.refused:
        return "a suppression without a reason ignores nothing here: the settings ask for one"
    where = "in this file" if suppression.whole_file else "here"
    return f"no finding of {listing(suppression.codes)} {where} to ignore"


def _fixes(suppression: Suppression) -> tuple[Fix, ...]:
    """The fix that takes the comment away; one that only lacks its brackets or its reason is left to its author."""
    if suppression.misspelt:
        edit = Edit(suppression.at, suppression.misspelt, suppression.meant)
        return (Fix(f"write gbs: {suppression.meant}", Applicability.DISPLAY, (edit,)),)
    if suppression.removal is None or suppression.refused or not suppression.codes:
        return ()
    return (Fix("remove the unused suppression", Applicability.SAFE, (suppression.removal,)),)


_RECIPE = (
    "# global batch size: 128 on 8 GPUs\n"
    + SFT_RECIPE
    + "gradient_accumulation_steps: {accumulation}  # gbs: ignore[GBS101] the comment is the paper's\n"
)

RULE = Rule(
    *written_in(__name__),
    scope=Scope.SUPPRESSIONS,
    summary="a comment that silences a rule silences nothing",
    severity=Severity.WARNING,
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=4)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(accumulation=2)),)),),
    check=check,
)
