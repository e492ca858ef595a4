"""`gbs check --against-run FILE`: a recipe held against what a job of it trained on, as `pytest_gbs.runtime` wrote it down."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from pytest_gbs.cli._input import Job, existing_target
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.settings import Expectation

_NUMBERS: Final = ("global_batch_size", "world_size")
_WILD: Final = "*?[{"


def against(asked: Job, file: str, paths: list[str]) -> Job:
    """`asked` of the recipe that the record in `file` names, on the ranks of that job, unless paths or hardware are given.

    Raises:
        UsageError: it is no such record, or names no recipe.
    """
    record = _read(file)
    recipe = record.get("recipe")
    if not isinstance(recipe, str) or not recipe:
        raise UsageError(f"{file} names no recipe; expect_recipe in the job makes it do so")
    target = existing_target(recipe, asked.root)
    rows, ranks = record["global_batch_size"], record["world_size"]
    glob = "".join(f"[{sign}]" if sign in _WILD else sign for sign in target)
    name = os.path.basename(file)  # noqa: PTH119 - no pathlib on the way of a check
    ran = Expectation((glob,), Name.GLOBAL_BATCH_SIZE, (rows,), origin=name, text=f"{rows:,} rows on {ranks:,} ranks", ran=True)
    settings = asked.settings._replace(expect=(*asked.settings.expect, ran))
    given = asked.given if asked.given else asked.given._replace(world_size=ranks)
    targets, names_file = (asked.targets, asked.names_file) if paths else ((target,), True)
    return asked._replace(settings=settings, given=given, targets=targets, names_file=names_file)


def _read(file: str) -> dict[str, Any]:
    """What stands in the record.

    Raises:
        UsageError: it can't be read, or is no record.
    """
    data = read_bytes(file, MOST_FILE_BYTES)
    if isinstance(data, str):
        raise UsageError(f"--against-run {file}: {data}")
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        record = None
    numbers = [record.get(name) for name in _NUMBERS] if isinstance(record, dict) else []
    if not numbers or not all(type(number) is int and 0 < number < 10**9 for number in numbers):
        raise UsageError(f"--against-run {file}: not a record of a running job")
    assert isinstance(record, dict)
    return record
