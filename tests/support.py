"""What several tests share: where the corpus and the oracles are, and a skip where they are not."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_gbs import Given, api
from pytest_gbs.model.location import Tree
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings

PYTHON: Final = [sys.executable, *(["-P"] if sys.version_info >= (3, 11) else [])]
"""Python, in whose path the current folder is not; Python 3.10 knows no such flag."""


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
