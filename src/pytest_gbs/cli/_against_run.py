"""`--against-run FILE`: a recipe compared with what a job of it trained on, as `pytest_gbs.runtime` recorded it."""

from __future__ import annotations

import json
import os
from typing import Any, Final, TypeGuard

from pytest_gbs.cli._input import CheckRequest, existing_target
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.model.difference import Ran
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.settings import Expectation

_NUMBERS: Final = ("global_batch_size", "world_size")
_WILD: Final = "*?[{"


def against(request: CheckRequest, file: str, paths: list[str]) -> CheckRequest:
    """`request` of the recipe that the record in `file` names, on the ranks of that job, unless paths or hardware are given.

    Raises:
        UsageError: it is not such a record, or names no recipe.
    """
    ran = read_ran(file, request.root)
    rows, ranks = ran.global_batch_size, ran.world_size
    glob = "".join(f"[{sign}]" if sign in _WILD else sign for sign in ran.recipe)
    expectation = Expectation((glob,), Name.GLOBAL_BATCH_SIZE, (rows,), origin=ran.name, text=f"{rows:,} rows on {ranks:,} ranks", ran=True)
    settings = request.settings._replace(expect=(*request.settings.expect, expectation))
    return (request if paths else request._replace(targets=(ran.recipe,), names_file=True))._replace(
        settings=settings, given=on_ranks(request, ran)
    )


def on_ranks(request: CheckRequest, ran: Ran) -> CommandLineHardware:
    """The hardware that was asked for, else the ranks of the job."""
    return request.given if request.given else request.given._replace(world_size=ran.world_size)


def read_ran(file: str, root: str) -> Ran:
    """What the record in `file` says of a job; its recipe as the tree below `root` names it.

    Raises:
        UsageError: it is not such a record, or names no recipe, or one that is not there.
    """
    record = _read(file)
    recipe, rows, ranks = record.get("recipe"), record["global_batch_size"], record["world_size"]
    if not isinstance(recipe, str) or not recipe:
        raise UsageError(f"{file} names no recipe; expect_recipe in the job makes it do so")
    name = os.path.basename(file)  # noqa: PTH119 - no pathlib on the way of a check
    return Ran(name, existing_target(recipe, root), rows, ranks, *_factors(record))


def _factors(record: dict[str, Any]) -> tuple[int | None, int | None, int | None]:
    """The rows of a micro batch, micro batches of a step and data-parallel ranks, if all ranks had the same."""
    shared = record.get("ranks_per_replica")
    ranks = record["world_size"] // shared if _is_number(shared) and record["world_size"] % shared == 0 else None
    rows, micro_batches = (_the_same(record.get(name)) for name in ("rows", "micro_batches"))
    if rows is None or micro_batches is None or rows % micro_batches:
        return None, None, ranks
    return rows // micro_batches, micro_batches, ranks


def _the_same(numbers: object) -> int | None:
    """The number that all ranks have."""
    if not isinstance(numbers, list) or not all(map(_is_number, numbers)) or len(set(numbers)) != 1:
        return None
    first: int = numbers[0]
    return first


def _is_number(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value < 10**9


def _read(file: str) -> dict[str, Any]:
    """What is in the record.

    Raises:
        UsageError: it can't be read, or is not a record.
    """
    data = read_bytes(file, MOST_FILE_BYTES)
    if isinstance(data, str):
        raise UsageError(f"--against-run {file}: {data}")
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not all(_is_number(record.get(name)) for name in _NUMBERS):
        raise UsageError(f"--against-run {file}: not a record of a running job")
    return record
