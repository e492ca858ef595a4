"""Fixing: what is fixed is fixed at once, only in the places of its edits, and stays as readable as it was."""

from __future__ import annotations

from fuzz.target import Empty, Target, files
from fuzz.targets.check import WORDS, seeds
from pytest_gbs import Given, Settings
from pytest_gbs.api import fix
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.model.outcome import Applicability

_KINDS = ((), (Applicability.SETTINGS,), (Applicability.DECLARATIONS,))


def _run(data: bytes) -> None:
    held = files(data[1:])
    kinds = _KINDS[data[0] % 3] if data else ()
    tree = OverlayTree(Empty(), held)
    found = fix(tree, (), Settings(), Given(), kinds)
    assert found.report.internal == (), found.report.internal[0].words
    assert set(found.files) <= set(held)
    again = fix(OverlayTree(tree, {path: after for path, (_, after) in found.files.items()}), (), Settings(), Given(), kinds)
    assert again.files == {}, "a second fix changes what the first one left"


TARGET = Target(_run, lambda: (bytes([48 + number % 3]) + seed for number, seed in enumerate(seeds())), WORDS)
