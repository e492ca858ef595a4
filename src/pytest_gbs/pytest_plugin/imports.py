"""Where gbs imports from while pytest runs: never from the repository that is checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from pytest_gbs.pytest_plugin import INSTALLED, WORKER_INPUT


def import_path(config: pytest.Config) -> tuple[str, ...]:
    """The folders that Python itself imports from.

    A worker of pytest-xdist starts with what its controller has by then, folders of the repository included, and gets the earlier ones.
    """
    of_controller: Sequence[str] | None = getattr(config, "workerinput", {}).get(WORKER_INPUT)
    return INSTALLED if of_controller is None else tuple(folder for folder in INSTALLED if folder in of_controller)


@contextmanager
def imports_from(folders: Sequence[str]) -> Iterator[None]:
    """Import from `folders` only, for as long as this lasts; none: from where Python does."""
    before = sys.path[:]
    sys.path[:] = folders or before
    try:
        yield
    finally:
        sys.path[:] = before
