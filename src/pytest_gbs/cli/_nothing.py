"""What to say where no recipe was found: where was looked, and for what."""

from __future__ import annotations

from pytest_gbs.cli._input import Job
from pytest_gbs.formats._summary import count, files
from pytest_gbs.model.report import Report


def nothing_found(report: Report, asked: Job) -> str:
    """Return one line: how many files were looked at, and which frameworks' recipes would have been seen."""
    from pytest_gbs.frameworks import titles

    names = sorted({title.split(" (")[0] for title in titles()})
    where = ", ".join(target or "." for target in asked.targets)
    return f"no recipe in {count(files(report), 'file')} below {where}; looked for recipes of {', '.join(names)} (gbs frameworks)"
