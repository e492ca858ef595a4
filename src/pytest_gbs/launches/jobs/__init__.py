"""Files that describe jobs: what runs, with which variables, on how many machines. Formats are found by listing this folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.files.plugins import module, modules, prebuilt
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source
from pytest_gbs.model.record import NamedTuple

if TYPE_CHECKING:
    from pytest_gbs.launches.jobs._format import JobFormat
    from pytest_gbs.model.command import Script

NAMES: Final = (".yaml", ".yml")
"""What the name of a file that may describe a job ends with."""


class JobEntry(NamedTuple):
    """What is known of a format without loading it: its module, and a pattern that each of its files has in its text."""

    module: str
    hint: str


def entries() -> tuple[JobEntry, ...]:
    """What is known of every format, read from the formats themselves."""
    return tuple(JobEntry(each.__name__.rpartition(".")[2], each.FORMAT.hint) for each in modules(__name__, __path__))


@cache
def _told() -> tuple[JobEntry, ...]:
    written = prebuilt("jobs", __path__)
    return entries() if written is None else tuple(map(JobEntry._make, written))


def may_be_job(text: str) -> bool:
    """Whether the text of a file may describe a job."""
    return _hint().search(text) is not None


@cache
def _hint() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{entry.hint})" for entry in _told()), re.MULTILINE)


def read_job_file(source: Source, read_file: Callable[[str], Source | None]) -> Script | None:
    """What the jobs that `source` describes run; None if it describes none."""
    from pytest_gbs.readers import read

    documents = [each for each in read(source) if isinstance(each, Document)]
    told = (entry for entry in _told() if re.search(entry.hint, source.text, re.MULTILINE))
    formats: list[JobFormat] = [module(f"{__name__}.{entry.module}").FORMAT for entry in told]
    jobs = (job for document in documents for each in formats for job in each.read(document))
    from pytest_gbs.shell.job import read_jobs

    script = read_jobs(source, jobs, (comment for document in documents for comment in document.comments), read_file)
    return script if script.commands or script.stopped else None
