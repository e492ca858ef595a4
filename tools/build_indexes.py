"""Writes down what can be told of tables, launchers, job files and rules without loading them, and the tables ready to use.

The build hook (hatch_build.py) does it when a wheel is built or the checkout is installed; `python -m tools.build_indexes` does it by
hand. Nothing depends on it but the time a start takes: if a file has changed since, the tables and modules themselves are read.
"""

from __future__ import annotations

from pathlib import Path

import pytest_gbs
from pytest_gbs import frameworks, rules
from pytest_gbs.files.plugins import PREBUILT, to_index
from pytest_gbs.frameworks._files import PACKED, packed
from pytest_gbs.launches import jobs
from pytest_gbs.launches import programs as launchers

FOLDER = Path(pytest_gbs.__file__).parent / PREBUILT


def write(folder: Path, *, sealed: bool = False) -> list[Path]:
    """Write all indexes to `folder` and return their paths; `sealed` ones are for a wheel: nothing in it changes, and its tables are one"""
    made = {
        "frameworks.bin": to_index(frameworks.SEARCH, frameworks.to_write_down(), sealed=sealed),
        "jobs.bin": to_index(jobs.__path__, tuple(map(tuple, jobs.entries())), sealed=sealed),
        "launchers.bin": to_index(launchers.__path__, tuple(map(tuple, launchers.entries())), sealed=sealed),
        "rules.bin": to_index(rules.__path__, tuple(map(tuple, rules.entries())), sealed=sealed),
    }
    if sealed:
        made[PACKED] = packed().encode("utf-8")
    folder.mkdir(exist_ok=True)
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in made]


if __name__ == "__main__":
    write(FOLDER)
