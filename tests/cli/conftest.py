from pathlib import Path

import pytest

from tests.cli.support import Gbs, runner


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the current folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def gbs(capsys: pytest.CaptureFixture[str]) -> Gbs:
    """Run `gbs`."""
    return runner(capsys)
