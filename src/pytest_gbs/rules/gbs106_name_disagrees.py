"""A file or run name states a batch size or hardware that the recipe or its launches contradict.

People find recipes and runs by their names: `sft-2n8g.yaml`, `output_dir: data/llama-bs128`. A name is a weaker
witness than a comment, so this is a warning, one for each recipe. A batch size in a name may be the micro batch, the batch on one
GPU, or the global one: the rule fires only if it is none of them for any number of GPUs, or for none of the launches. Nodes and GPUs
in a name are compared with what a comment or the recipe's own keys state, or else with what all scripts that launch it start.

`bs=128` alone behind a batch key, or with hardware (`bs=128 on 8 gpus`), is as weak, and judged like a name.

A batch size in a name that the recipe or a launch gives verifies the recipe. The name that a command line without a recipe gives its run
only verifies.

How to fix it: rename the file or the run, or correct the recipe.

It stays silent on names that the command line of a launch replaces, and if a variable may change what a launch starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.arithmetic.wording import count, listing
from pytest_gbs.claims.named import NamedNumber, named
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(runs: tuple[Run, ...]) -> Iterator[Outcome]:
    """Yield one finding for what the names of a recipe state and its settings or launches contradict; else what became of each number."""
    recipe, *launched = runs
    if recipe.launch is not None:  # flags alone: a name that they give the run may distinguish what a loop varies
        yield from _judged(each for run in runs for each in named(run, ()))
        return
    found = tuple(named(recipe, launched))
    wrong = [each for each in found if each.holds is False]
    if wrong:
        yield _finding(recipe, wrong)
    yield from _judged(found)
    yield from (Undetermined(ITS_RULE, _place(recipe, each.places), _says(each), claim=False) for each in found if each.holds is None)


def _judged(found: Iterable[NamedNumber]) -> Iterator[Outcome]:
    """Yield the outcome of each number in a name that the settings or a launch give."""
    for each in found:
        if each.holds and each.run is not None:
            at = _place(each.run, each.places)
            yield Verified(ITS_RULE, at, each.run.assumptions, decides=each.declaration.name == Name.GLOBAL_BATCH_SIZE)


def _place(recipe: Run, places: tuple[Location, ...]) -> Location:
    """Where a name is: the file itself for its own name, before any run's."""
    return next((Location(recipe.path) for at in places if not at.stop), places[0])


def _says(each: NamedNumber) -> str:
    declaration = each.declaration
    number = (
        f"batch size {declaration.value:,}" if declaration.name == Name.GLOBAL_BATCH_SIZE else count(declaration.value, declaration.name)
    )
    return f"the {_witness(each)} says {number}"


def _witness(each: NamedNumber) -> str:
    return "comment" if each.declaration.grammar == "bare" else "name"


def _finding(recipe: Run, wrong: list[NamedNumber]) -> Finding:
    """The one finding about all that the names of a recipe have wrong."""
    message = "; ".join(f"{_says(each)}, but {each.has}" for each in wrong)
    fits = listing(dict.fromkeys(each.fits for each in wrong), last="and")
    at = _place(recipe, tuple(place for each in wrong for place in each.places))
    places = dict.fromkeys(place for each in wrong for place in (*each.places, each.at) if place is not None and place.path is not None)
    related = tuple(Related(recipe.real(place), "") for place in places if recipe.real(place) != at)
    launches = tuple(Related(each.at, each.fits) for each in wrong if each.at is not None and each.at.path is None)
    return Finding(ITS_RULE, message, Severity.WARNING, at, "", (*related, *launches), holds=f"change the {_witness(wrong[0])} to {fits}")


_RECIPE = "# {nodes} nodes of 8 GPUs\n" + SFT_RECIPE + "gradient_accumulation_steps: 2\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RECIPE,
    needs=Needs.DECLARATIONS,
    summary="a name states a batch size or hardware that its recipe or launches contradict",
    bad=(Example((("sft-2n8g.yaml", _RECIPE.format(nodes=4)),)),),
    good=(Example((("sft-2n8g.yaml", _RECIPE.format(nodes=2)),)),),
    check=check,
    explained_by=("unsatisfiable-batch",),
    severity=Severity.WARNING,
)
