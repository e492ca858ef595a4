"""What several tests share: where the corpus and the oracles are, and a skip where they are not."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from pytest_gbs import Given, api
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.regular import MISSING
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Source, Tree, Unreadable
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings

PYTHON: Final = [sys.executable, *(["-P"] if sys.version_info >= (3, 11) else [])]
"""Python, in whose path the current folder is not; Python 3.10 knows no such flag."""


class NoFiles(NamedTuple):
    """A tree without files."""

    def paths(self) -> tuple[str, ...]:
        """No path."""
        return ()

    def read(self, path: str) -> Source | Unreadable:
        """No file."""
        return Unreadable(path, MISSING)


def in_memory(files: Mapping[str, Source | str]) -> OverlayTree:
    """A tree that has these files and no others."""
    return OverlayTree(NoFiles(), files)


class Noted:
    """A folder that notes which paths are asked for."""

    def __init__(self, folder: Path) -> None:
        self._tree = WorkTree(folder)
        self.asked: list[str] = []

    def paths(self) -> tuple[str, ...]:
        """All paths."""
        return self._tree.paths()

    def read(self, path: str) -> Source | Unreadable:
        """The file at `path`."""
        self.asked.append(path)
        return self._tree.read(path)


def check(tree: Tree, targets: Sequence[str], settings: Settings, given: Given, **options: Any) -> Report:
    """What `api.check` reports, no error inside of gbs among it: a rule that crashes is silent too."""
    report = api.check(tree, targets, settings, given, api.CheckOptions(**options))
    assert report.internal == ()
    return report


def shared(part: str) -> Path:
    """The folder `shared/<part>` that lies beside this checkout, or skip the test that asks for it."""
    for folder in Path(__file__).resolve().parents:
        candidate = folder / "shared" / part
        if candidate.is_dir():
            return candidate
    pytest.skip(f"no folder shared/{part} beside this checkout")


def corpus() -> Path:
    """The folder of real configurations, or skip."""
    return shared("corpus")


def oracles() -> Path:
    """The folder of tables that say what the frameworks' own code makes of generated configurations, or skip."""
    return shared("oracles")
