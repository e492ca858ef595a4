"""Temporary files that a killed run left behind: removed, with a line, by the next run that writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pytest_gbs.cli._output import complain
from pytest_gbs.files.writing import remove_temporary_files

_SHOWN: Final = 5


def clean_up(root: str, folders: Iterable[str]) -> None:
    """Remove what an earlier run left in `folders` below `root`, and say so."""
    left = remove_temporary_files(root, folders)
    if left:
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        complain(f"an earlier run was interrupted while it wrote its files; removed what it left behind: {', '.join(left[:_SHOWN])}{more}")
