"""Workflows of GitHub: what the steps of a job run, with the variables of workflow, job and step; a matrix is left open.

docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax (env, defaults.run, jobs.<id>.steps[*].run).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, entries, items, parts, text, variables
from pytest_gbs.model.command import Assignment, Folder, Job, Machines
from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.limits import MOST_JOBS, Exhausted
from pytest_gbs.shell.state import unknown
from pytest_gbs.shell.text import Parts, replaced

_SHELLS: Final = ("bash", "sh", "")


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield a job for each step that runs commands, of a workflow or of an action that is made of steps."""
    left = MOST_JOBS
    runs = child(document.root, "runs")
    for name, job in (*entries(child(document.root, "jobs")), *((("", runs),) if runs is not None else ())):
        steps = items(child(job, "steps"))
        if not steps or (child(job, "runs-on") is None and runs is None):
            continue
        for step in steps:
            run = child(step, "run")
            left -= 1
            if left < 0:
                raise Exhausted(f"more than {MOST_JOBS} steps")
            if isinstance(run, Scalar) and _setting(document, job, step, "shell").partition(" ")[0] in _SHELLS:
                environment = tuple(_environment(document, job, step))
                folder = Folder(_setting(document, job, step, "working-directory"))
                yield Job(_opened(parts(document, run)), (), environment, Machines(), folder, text(child(step, "name")) or name)


def _setting(document: Document, job: Node, step: Node, key: str) -> str:
    """What a step sets, or else its job or the workflow for all of their steps."""
    for holder in (step, child(job, "defaults", "run"), child(document.root, "defaults", "run")):
        found = text(child(holder, key))
        if found is not None:
            return found
    return ""


def _environment(document: Document, job: Node, step: Node) -> Iterator[Assignment]:
    for each in variables(document, *(child(holder, "env") for holder in (document.root, job, step))):
        yield each._replace(value=each.value._replace(text=None, pieces=opened) if (opened := _opened(each.value.parts)) else each.value)


def _opened(found: Parts) -> Parts:
    """`found` with what GitHub fills in (`${{ matrix.gpus }}`) as unknown."""
    return replaced(found, _expression(), lambda part, match: (unknown(match[0][:40], part.cut(*match.span()).at),))


_expression = lazy_pattern(r"\$\{\{[^}\n]{0,400}\}\}")

FORMAT = JobFormat("GitHub", "workflows and composite actions of GitHub: jobs, steps, run, env", r"^(?:jobs|runs)[ \t]*:", read)
