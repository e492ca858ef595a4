"""The corpus as repositories: each folder of it is one tree, checked as its maintainers would."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from tests.support import check, corpus


def repositories(part: str) -> Iterator[Path]:
    """Yield the folders of one part of the corpus: `files` or `negatives`."""
    yield from sorted(path for path in (corpus() / part).iterdir() if path.is_dir())


@cache
def report_on(folder: Path) -> Report:
    """The report on one repository of the corpus, without any settings, runs kept."""
    return check(WorkTree(folder), (), Settings(), Given(), keep_runs=True)
