"""OpenVLA's pre-training and CogACT: flags over a class that is not seen, a global batch that is rounded down."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

FLAGS = "--vla.type acme --vla.expected_world_size 8 --vla.global_batch_size 256 --vla.per_device_batch_size 32"
LAUNCH = "torchrun --standalone --nnodes 1 --nproc-per-node 8 vla-scripts/train.py "


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(LAUNCH + "--vla.type acme --vla.data_mix acme", id="all is in the class"),
        pytest.param(LAUNCH.replace("train.py", "evaluate.py") + FLAGS, id="another program"),
        pytest.param(LAUNCH + FLAGS.replace("--vla.type acme", ""), id="no class"),
    ],
)
def test_launches_of_which_nothing_is_known(command: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.sh": command + "\n"})) == []


def test_no_file_has_such_keys(tmp_path: Path) -> None:
    report = checked(
        tmp_path, {"run.yaml": "vla: {type: acme, expected_world_size: 8, global_batch_size: 256, per_device_batch_size: 32}\n"}
    )
    assert [each.framework for each in report.files] == [None] * len(report.files)


@pytest.mark.parametrize("program", ["vla-scripts/train.py", "scripts/train.py"])
def test_the_global_batch_is_given(program: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.sh": LAUNCH.replace("vla-scripts/train.py", program) + FLAGS + "\n"})
    assert (batches(report), codes(report)) == ([256], [])  # 32 x 8


def test_a_comment_is_compared_with_it(tmp_path: Path) -> None:
    files = {"a.sh": f"# global batch size 256\n{LAUNCH}{FLAGS}\n", "b.sh": f"# global batch size 512\n{LAUNCH}{FLAGS}\n"}
    assert [(each.at.source, each.code) for each in checked(tmp_path, files).findings()] == [("b.sh", "GBS301")]


def test_what_is_left_of_the_global_batch_is_dropped(tmp_path: Path) -> None:
    # 256 // 32 // 6 = 1, and 32 x 6 = 192
    report = checked(tmp_path, {"run.sh": LAUNCH.replace("node 8", "node 6") + FLAGS.replace("size 8", "size 6") + "\n"})
    assert codes(report) == ["GBS451"]


def test_less_than_one_batch_for_each_gpu_stops_it(tmp_path: Path) -> None:
    few = FLAGS.replace("global_batch_size 256", "global_batch_size 128")
    assert codes(checked(tmp_path, {"run.sh": LAUNCH + few + "\n"})) == ["GBS202"]
