"""The saved outputs of a notebook, compared with the recipes in its source."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.checking.judging import judge_file
from pytest_gbs.checking.reporting import FileResult
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.model.rule import Scope
from pytest_gbs.model.saved_output import SavedOutput
from pytest_gbs.readers.python.outputs import count_trainers, read_training_records


def with_outputs(found: Sequence[FileResult], rules: Rulebook) -> tuple[FileResult, ...]:
    """The recipes of a notebook, each with what is wrong with the outputs below it; as they are if a trainer may have another recipe."""
    recipes = [number for number, each in enumerate(found) if each.runs and "." in each.runs[0].document.called]
    source = found[recipes[0]].source if recipes and rules.of(Scope.OUTPUT) else None
    records = read_training_records(source) if source is not None else ()
    judged = list(found)
    if source is None or not records or count_trainers(source) > len(recipes):
        return tuple(judged)
    runs = tuple(found[number].runs[0] for number in recipes)
    for record in {(each.micro_batch_size, each.accumulation): each for each in reversed(records)}.values():
        said = judge_file(SavedOutput(source.path, record, runs), rules, Scope.OUTPUT)
        above = [number for number in recipes if _start(found[number]) < record.at.start]
        nearest = above[-1] if above else recipes[0]
        judged[nearest] = judged[nearest]._replace(judgement=judged[nearest].judgement.along_with(said))
    return tuple(judged)


def _start(recipe: FileResult) -> int:
    root = recipe.runs[0].document.root
    return root.start if root is not None else 0
