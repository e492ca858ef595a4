"""Real repositories locked: nothing moves by itself, and a doubled operand moves what it belongs to."""

import re
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.history.lock import records
from pytest_gbs.history.lockfile import NAME, read_lock, write_lock
from pytest_gbs.model.location import Source
from pytest_gbs.model.report import Report, Role
from pytest_gbs.model.settings import Settings
from tests.support import check, corpus

# One of each kind of framework, with an operand of its batch; the whole corpus takes longer than a test may.
REPOSITORIES = (
    ("huggingface__alignment-handbook", "gradient_accumulation_steps"),
    ("NVIDIA__NeMo-Framework-Launcher", "global_batch_size"),
    ("EleutherAI__gpt-neox", "train_micro_batch_size_per_gpu"),
)


def report(folder: Path, files: dict[str, str]) -> Report:
    return check(OverlayTree(WorkTree(folder), files), (), Settings(), Given(), keep_runs=True)


def moved(found: Report) -> set[str]:
    return {finding.at.source for finding in found.findings() if finding.code == "GBS503"}


@pytest.mark.parametrize(("name", "key"), REPOSITORIES)
def test_a_repository_holds_what_it_was_locked_at_and_not_what_was_doubled(name: str, key: str) -> None:
    folder = corpus() / "files" / name
    if not folder.is_dir():
        pytest.skip(f"no {name} in the corpus")
    known = {entry: found for entry, (_, found) in records(report(folder, {})).items()}
    lock = write_lock(known, "GBS503")
    assert {entry: line.record for entry, line in read_lock(Source(NAME, lock)).items()} == known
    again = report(folder, {NAME: lock})
    assert moved(again) == set()
    held = {file.path for file in again.files if dict(file.rules).get("GBS503") == "verified"}
    assert held >= {file.path for file in again.files if file.role == Role.RECIPE and file.path in known}
    doubled = {path: text for path in sorted(held) if (text := _doubled(folder / path, key))}
    after = report(folder, {NAME: lock, **doubled})
    now = {entry: found for entry, (_, found) in records(after).items()}
    # A key that is none of the framework's, or that a later one replaces, moves nothing.
    expected = {path for path in doubled if path in known and path in now and known[path][:4] != now[path][:4]}
    assert expected
    assert expected <= moved(after)


def _doubled(path: Path, key: str) -> str:
    """The text with its operand doubled; "" where it has none."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    operand = rf"""(?m)^(\s*["']?{key}["']?:\s*)([1-9][0-9]*)(\s*,?)"""
    changed = re.sub(operand, lambda match: f"{match[1]}{int(match[2]) * 2}{match[3]}", text, count=1)
    return changed if changed != text else ""
