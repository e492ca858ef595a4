"""Programs of frameworks whose own parser, in the same repository, says what the command line does not: nanochat's, worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched

PARSER = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=20)
parser.add_argument("--window-pattern", type=str, default="SSSL")
parser.add_argument("--max-seq-len", type=int, default=2048)
parser.add_argument("--device-batch-size", type=int, default=32)
parser.add_argument("--total-batch-size", type=int, default={total})
args = parser.parse_args()
"""
# The names that nanochat's configurator.py overrides, before it had a parser.
NAMES = """\
import os
depth = 20
max_seq_len = 2048
device_batch_size = 32
total_batch_size = 2 * 262144
window_pattern = "L"
exec(open(os.path.join('nanochat', 'configurator.py')).read())
total_batch_size = 7
"""
LAUNCH = "torchrun --nproc_per_node={gpus} -m scripts.base_train -- --window-pattern=L {flags}\n"


def batch(folder: Path, program: str, flags: str, gpus: int = 8) -> list[int | None]:
    return batches(checked(folder, {"scripts/base_train.py": program, "run.sh": LAUNCH.format(gpus=gpus, flags=flags)}))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(PARSER.format(total="None"), id="no default"),
        pytest.param(PARSER.format(total="choose()"), id="computed"),
        pytest.param(PARSER.format(total=524288) + "args.total_batch_size = other()\n", id="set later"),
        pytest.param(PARSER.format(total=524288) + "parser.set_defaults(total_batch_size=65536)\n", id="two defaults"),
        pytest.param("if fast:\n    total_batch_size = 524288\n" + NAMES.replace("total_batch_size = 2 * 262144\n", ""), id="a condition"),
    ],
)
def test_a_default_that_is_not_plain_is_unknown(tmp_path: Path, program: str) -> None:
    assert batch(tmp_path, program, "--depth=20") == [None]


# 12 layers are what the sizes were measured on: 2^19. With 24 of them a model has 12 x 24 x 1,536^2 + 1,536 V parameters, V being the
# vocabulary, where the other has 12 x 12 x 768^2 + 768 V: 7.98 times as many for V = 256 and 5.77 times for V = 65,536. To the
# 0.383 that is 2.2 and 2.0, which both round to 2^1.
@pytest.mark.parametrize(
    ("program", "flags", "expected"),
    [
        pytest.param(PARSER.format(total=524288), "--depth=24", 524288, id="as its parser has it"),
        pytest.param(PARSER.format(total="2**18"), "--depth=24", 262144, id="computed from numbers"),
        pytest.param(PARSER.format(total=524288), "--total-batch-size=65536 --device-batch-size=4", 65536, id="as the command line has it"),
        pytest.param(NAMES, "--depth=32 --device_batch_size=8", 524288, id="as its names have it"),
        pytest.param(PARSER.format(total=-1), "--depth=12", 524288, id="the model that it was measured on"),
        pytest.param(PARSER.format(total=-1), "--depth=24", 1048576, id="twice as many layers"),
        pytest.param(PARSER.format(total=-1), "", 1048576, id="as many layers as its parser has"),
        pytest.param(PARSER.format(total=-1), "--depth=$DEPTH", None, id="unknown layers"),
        pytest.param(PARSER.format(total=-1).replace("--depth", "--size"), "--size=12", None, id="a program that names them otherwise"),
        pytest.param(PARSER.format(total=-1), "--depth=0", None, id="no layers"),
        pytest.param(PARSER.format(total=-1), "--depth=24 --head-dim=0", None, id="heads of no width"),
    ],
)
def test_the_total_is_the_one_that_is_worked_out_by_hand(tmp_path: Path, program: str, flags: str, expected: int | None) -> None:
    assert batch(tmp_path, program, flags) == [expected]


@pytest.mark.parametrize("other", ["-t", "--tokens"])
def test_an_option_has_two_spellings(tmp_path: Path, other: str) -> None:
    program = PARSER.format(total=524288).replace('"--total-batch-size"', f'"{other}", "--total-batch-size"')
    assert batch(tmp_path / "a", program, f"--depth=20 {other} 65536") == [65536]
    assert batch(tmp_path / "b", program, "--depth=20 --total-batch-size=65536") == [65536]
    assert batch(tmp_path / "c", program, "--depth=20") == [524288]


def test_a_program_that_is_not_in_the_tree_has_no_total_of_its_own(tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.sh": LAUNCH.format(gpus=8, flags="--device-batch-size=16")})) == [None]


def test_rows_that_do_not_divide_the_default_total_are_found(tmp_path: Path) -> None:
    report = checked(tmp_path, {"scripts/base_train.py": NAMES, "run.sh": LAUNCH.format(gpus=8, flags="--device_batch_size=48")})
    assert [finding.code for file in report.files for finding in file.findings] == ["GBS204"]


# 65,536 = 8 rows x 2,048 tokens x 4 on one device, since nanochat starts no processes of its own.
@pytest.mark.parametrize(
    ("command", "accumulation"),
    [("python", 4), ("torchrun --nproc_per_node=2", 2), ("WORLD_SIZE=2 python", None)],
)
def test_nanochat_takes_one_device_if_no_launcher_starts_it(tmp_path: Path, command: str, accumulation: int | None) -> None:
    program = "import nanochat.common\n" + PARSER.format(total=-1)
    launch = f"{command} -m scripts.base_train --window-pattern=L --device-batch-size=8 --total-batch-size=65536\n"
    [run] = launched(checked(tmp_path, {"scripts/base_train.py": program, "run.sh": launch}))
    assert run.geometry.value("gradient_accumulation_steps") == accumulation


# 48 questions x 32 answers; on 16 ranks 3 x 32 each, 6 passes of 16. 32 ranks do not share the questions, and 20 no answers.
@pytest.mark.parametrize(("gpus", "device", "passes", "reported"), [(16, 16, 6, []), (32, 16, 3, ["GBS202"]), (16, 20, None, ["GBS204"])])
def test_nanochat_learns_from_answers_to_whole_questions(
    tmp_path: Path, gpus: int, device: int, passes: int | None, reported: list[str]
) -> None:
    flags = f"--examples-per-step=48 --num-samples=32 --device-batch-size={device}"
    report = checked(tmp_path, {"run.sh": f"torchrun --nproc_per_node={gpus} -m scripts.chat_rl {flags}\n"})
    [run] = launched(report)
    assert (run.framework.title, run.geometry.global_batch_size) == ("nanochat (RL)", 1536)
    assert run.geometry.value("gradient_accumulation_steps") == passes
    assert codes(report) == reported
