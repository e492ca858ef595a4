"""What a sub-command is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_gbs.model.record import NamedTuple

if TYPE_CHECKING:
    import argparse


class Command(NamedTuple):
    """One sub-command: what it does, its arguments, and its work, which returns the exit code; a short usage where there are many flags."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    usage: str | None = None
