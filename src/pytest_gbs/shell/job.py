"""What the jobs of a file run: each a shell of its own, with the variables that the job sets."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.model.command import Job, OtherFiles, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Source
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_JOBS, Exhausted
from pytest_gbs.shell.state import ShellState, Variable
from pytest_gbs.shell.text import ShellText, parse


def read_jobs(source: Source, jobs: Iterable[Job], comments: Iterable[CommentBlock], others: OtherFiles | None) -> Script:
    """What `jobs`, which are in `source`, run; `comments` are those of the file itself."""
    interpreter = Interpreter(source, others)
    found = list(comments)
    try:
        for number, job in enumerate(jobs):
            if number == MOST_JOBS:
                raise Exhausted(f"more than {MOST_JOBS} jobs")
            first = len(interpreter.commands)
            found += _run(interpreter, job)
            interpreter.commands[first:] = [command._replace(machines=job.machines) for command in interpreter.commands[first:]]
            if interpreter.stopped is not None:
                break
    except Exhausted as exhausted:
        interpreter.stop(str(exhausted), exhausted.at or interpreter.at_start)
    return interpreter.script(source.path, sorted(found, key=lambda block: block.stop))


def _run(interpreter: Interpreter, job: Job) -> tuple[CommentBlock, ...]:
    """Read what a job runs in a shell of its own, and return the comments in it."""
    interpreter.context = job.context
    interpreter.written += job.written
    state = ShellState(interpreter.budget)
    state.folder, state.arguments = job.folder, ()
    for name, value in job.environment:
        state.variables[name] = Variable(value.parts, exported=True)
    text = ShellText(job.text)
    root = parse(text, interpreter.budget)
    interpreter.read_text(text, root, state=state)
    if job.words:
        interpreter.command = None  # that of an earlier job
        interpreter.launch(job.words, {}, None, job.words[0].at)
    return read_comments(text, root)
