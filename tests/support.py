"""What several tests share: where the corpus and the oracles are, and a skip where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest


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
