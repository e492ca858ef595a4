"""Scripts that several processes read give what one process finds."""

from pathlib import Path

import pytest

from pytest_gbs import Given, Settings
from pytest_gbs.checking.repository import WORTH_SHARING
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.report import Report
from pytest_gbs.shell.limits import MOST_SHARED
from tests.cli.support import write
from tests.launches.building import recipe
from tests.support import check

LAUNCH = "accelerate launch --num_processes {} train.py --config {}.yaml\n"
MANY = 2 * WORTH_SHARING


def _report(root: Path, jobs: int) -> Report:
    return check(WorkTree(str(root)), (), Settings(), Given(), jobs=jobs)


def _codes(report: Report) -> list[tuple[str, str]]:
    return [(finding.at.source, finding.code) for finding in report.findings()]


def test_several_processes_find_no_more_than_one(tmp_path: Path) -> None:
    scripts = {f"run{n:03}.sh": LAUNCH.format(8, "ab"[n % 2]) for n in range(MANY)}
    write(tmp_path, {"a.yaml": recipe(), "b.yaml": recipe(), "train.py": "", **scripts})
    alone, shared = _report(tmp_path, 1), _report(tmp_path, 3)
    assert _codes(alone) == _codes(shared) == []
    assert sum(file.launches for file in shared.files) == MANY
    assert shared == alone


def test_what_each_process_found_is_reported_in_the_order_of_the_scripts(tmp_path: Path) -> None:
    scripts = {f"run{n:03}.sh": LAUNCH.format(8, "sft") for n in range(MANY)}
    scripts["run007.sh"] = LAUNCH.format(8, "sft").replace("train.py", "trian.py")  # nothing has that name
    scripts["run300.sh"] = "a | b\n" * 3_000 + LAUNCH.format(8, "sft")  # too many commands
    write(tmp_path, {"sft.yaml": recipe(), "train.py": "", "other.py": "", **scripts})
    alone, shared = _report(tmp_path, 1), _report(tmp_path, 3)
    assert {code for _, code in _codes(alone)} >= {"GBS007", "GBS311"}
    assert shared == alone


def test_what_scripts_take_in_is_shared_by_all_processes(tmp_path: Path) -> None:
    common = ": $N\n" * (MOST_SHARED // WORTH_SHARING // 3)
    scripts = {f"run{n:03}.sh": "source common.sh\n" + LAUNCH.format(8, "sft") for n in range(MANY)}
    write(tmp_path, {"sft.yaml": recipe(), "train.py": "", "common.sh": common, **scripts})
    alone, shared = _report(tmp_path, 1), _report(tmp_path, 3)
    assert "GBS007" in {code for _, code in _codes(alone)}
    assert shared == alone


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_script_that_is_not_text_launches_nothing(tmp_path: Path, jobs: int) -> None:
    scripts: dict[str, str] = {f"run{n:03}.sh": LAUNCH.format(8, "sft") for n in range(MANY)}
    write(tmp_path, {"sft.yaml": recipe(), "train.py": "", **scripts})
    (tmp_path / "run000.sh").write_bytes(b"\0\0echo nothing\n")
    assert _codes(_report(tmp_path, jobs)) == []
