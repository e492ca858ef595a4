"""Whether a recipe on other hardware is what it was: read and judged again, with everything that could have suffered."""

from __future__ import annotations

from collections import Counter

from pytest_gbs.arithmetic.wording import count
from pytest_gbs.fixes.current_batch import CurrentBatch, current_batch
from pytest_gbs.fixes.scale_task import Task
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import HARDWARE, Name, Quantity
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run


def worse(task: Task, before: Report, after: Report) -> str:
    """In words what is worse after the change, or nothing: the batch is the same, its claims hold, no new error came up."""
    if len(after.internal) > len(before.internal):
        return after.internal[-1].words
    run, old = same(task.run, after), same(task.run, before)
    if run is None or run.framework.title != task.run.framework.title:
        return "the recipe would no longer be recognised as the same kind"
    for claim in run.claims:
        if claim.judgement.finding is not None:
            return f"{claim.judgement.finding.message} then"
    if old is not None and _verified(run) < _verified(old):
        return "a claim could no longer be decided"
    found = current_batch(run)
    if not isinstance(found, CurrentBatch) or found.target != task.current.target:
        return f"the batch would be {found.target if isinstance(found, CurrentBatch) else 'unknown'}"
    if found.geometry.value(Name.WORLD_SIZE) not in (None, task.to.world_size):
        return f"a comment or a key would still say {count(found.geometry.value(Name.WORLD_SIZE) or 0, Name.WORLD_SIZE)}"
    nodes = found.geometry.value(Name.NUM_NODES)
    if run.launch is not None and nodes != (task.to.num_nodes or nodes):
        return f"its launch would start all processes on {count(nodes or 0, Name.NUM_NODES)}: give it the number of nodes first"
    own = read_sizes(run.document, run.framework)
    for each in task.hardware:
        if each.name in HARDWARE and run.launch is None and not isinstance(own.get(each.name), Quantity):
            return f"{each.key} would count as a placeholder"
    files = {each.at.source for each in task.hardware} | {task.run.path}
    return _new_error(before, after, files)


def _verified(run: Run) -> int:
    return sum(claim.judgement.verified for claim in run.claims)


def _new_error(before: Report, after: Report, files: set[str]) -> str:
    """The first error that was not there before; what a scale changes on purpose is not a reason to refuse."""
    known = Counter((f.code, f.at.source) for f in before.findings(Severity.ERROR))
    number = Counter[tuple[str, str]]()
    for finding in after.findings(Severity.ERROR):
        key = (finding.code, finding.at.source)
        number[key] += 1
        if finding.at.source in files and not after.rules[finding.code].meant_by_scaling and number[key] > known[key]:
            return f"{finding.code} would be reported: {finding.message}"
    return ""


def same(run: Run, report: Report) -> Run | None:
    """The run of `report` that is `run`: the same document, the same launch."""
    where = _launch(run)
    for file in report.files:
        for each in file.runs:
            if (each.path, each.document.number, _launch(each)) == (run.path, run.document.number, where):
                return each
    return None


def _launch(run: Run) -> tuple[str, str]:
    return (run.launch.at.source, run.launch.command) if run.launch is not None else ("", "")
