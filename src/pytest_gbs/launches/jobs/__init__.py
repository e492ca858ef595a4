"""Files that describe jobs: what runs, with which variables, on how many machines. Formats are found by listing this folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from pytest_gbs.files.plugins import module, modules, prebuilt
from pytest_gbs.launches.programs import command_words
from pytest_gbs.model.document import NOTEBOOK, PROGRAMS, SHELL_CELL, Document
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pytest_gbs.launches.jobs._format import JobFormat
    from pytest_gbs.model.command import OtherFiles, Script

_NAMES: Final = (".yaml", ".yml")
# Parts of the names of programs that start jobs elsewhere, whatever folder they are in. The texts of all programs would take too long.
_STARTS: Final = ("estimator", "job", "launch", "start", "submit")


class JobEntry(NamedTuple):
    """What is known of a format without loading it: its module, a pattern that each of its files has in its text, its Python package."""

    module: str
    hint: str
    package: str


def entries() -> tuple[JobEntry, ...]:
    """What is known of every format, read from the formats themselves."""
    found = ((each.__name__.rpartition(".")[2], each.FORMAT) for each in modules(__name__, __path__))
    return tuple(JobEntry(name, each.hint, each.package) for name, each in found)


@cache
def _known_formats() -> tuple[JobEntry, ...]:
    written = prebuilt("jobs", __path__)
    return entries() if written is None else tuple(map(JobEntry._make, written))


def may_describe_job(path: str) -> bool:
    """Whether the name of a file says that it may describe a job; a program, if its path names the package by which it does, or a start.

    Any notebook may start a program by a line for a shell.
    """
    if path.endswith(NOTEBOOK):
        return True
    if path.endswith(PROGRAMS):
        lower = path.lower()
        name = lower.rpartition("/")[2]
        return any(part in name for part in _STARTS) or any(entry.package in lower for entry in _known_formats() if entry.package)
    return path.endswith(_NAMES)


def is_job(source: Source) -> bool:
    """Whether the text of a file that may describe a job says so too."""
    if source.path.endswith(NOTEBOOK) and any(each().search(source.text) is not None for each in (_shell_cell, _launching_line)):
        return True
    return _hint(source.path.endswith(PROGRAMS)).search(f"\n{source.text}") is not None


@cache
def _launching_line() -> re.Pattern[str]:
    """A line of a notebook behind `!` that has a launcher. That it starts with a sign makes it fast in a megabyte of outputs."""
    words = "|".join(map(re.escape, command_words()))
    return re.compile(rf"!(?:(?<=[\"\s!]!)|(?<=\\n!))(?![!\[])(?:[^\"\\\n!]|\\[^n]){{0,300}}?(?:{words})")


_shell_cell = lazy_pattern(SHELL_CELL)


@cache
def _hint(programs: bool) -> re.Pattern[str]:
    # Each starts a line. A line break in front of all of them is found three times as fast as `^`.
    hints = (entry.hint.removeprefix("^") for entry in _known_formats() if bool(entry.package) == programs)
    return re.compile(f"\n(?:{'|'.join(hints)})", re.MULTILINE)


def read_job_file(source: Source, others: OtherFiles) -> Script | None:
    """What the jobs that `source` describes run; None if it describes none."""
    is_program = source.path.endswith(PROGRAMS)
    named = [each for each in _known_formats() if bool(each.package) == is_program and re.search(each.hint, source.text, re.MULTILINE)]
    documents = tuple(document for package in {each.package for each in named} for document in _documents(source, package))
    formats: list[JobFormat] = [module(f"{__name__}.{entry.module}").FORMAT for entry in named]
    jobs = (job for document in documents for each in formats for job in each.read(document, documents))
    from pytest_gbs.shell.job import read_jobs

    script = read_jobs(source, jobs, (comment for document in documents for comment in document.comments), others)
    if source.path.endswith(NOTEBOOK):
        from pytest_gbs.shell.notebook import read_notebook

        lines = read_notebook(source, others)
        script = lines._replace(commands=(*lines.commands, *script.commands), stopped=lines.stopped or script.stopped)
    return script if script.commands or script.stopped else None


def _documents(source: Source, package: str) -> Iterable[Document]:
    """The documents of a file of jobs, or the calls of a `package` in it."""
    if package:
        from pytest_gbs.readers.python import read_calls_of

        return read_calls_of(source, package)
    from pytest_gbs.readers import read

    return [each for each in read(source) if isinstance(each, Document)]
