"""Generated configurations with what the frameworks' own code made of them: every case must agree."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import oracles


@pytest.mark.parametrize("table", ["hf-trainer", "trl-grpo"])
def test_every_case_agrees_with_the_framework(table: str) -> None:
    folder = oracles()
    command = [sys.executable, str(folder / "compare"), "--gbs", f"{sys.executable} -m pytest_gbs", str(folder / f"{table}.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
