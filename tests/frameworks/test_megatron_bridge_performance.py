"""The performance scripts of Megatron Bridge: flags over a recipe that is not seen."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, codes, launched

SCRIPT = "python scripts/performance/setup_experiment.py --model_recipe_name llama3_8b {}\n"


def sizes(folder: Path, flags: str) -> list[int | None]:
    """Global batch, accumulation and data-parallel size of the one launch."""
    (run,) = launched(checked(folder, {"run.sh": SCRIPT.format(flags)}))
    wanted = (Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)
    return [run.geometry.value(name) for name in wanted]


DEGREES = " --tensor_model_parallel_size 2 --pipeline_model_parallel_size 4 --context_parallel_size 1"


@pytest.mark.parametrize("flags", ["--num_gpus 64", f"--num_gpus 64 {DEGREES}", "--global_batch_size 128", "-ng 64 -gb 128"])
def test_scripts_that_leave_the_batch_or_the_gpus_to_the_recipe(tmp_path: Path, flags: str) -> None:
    assert launched(checked(tmp_path, {"run.sh": SCRIPT.format(flags)})) == []


@pytest.mark.parametrize("key", ["micro_batch_size: 2", "global_batch_size: 64"])
def test_a_file_with_such_keys_is_of_another_trainer(key: str, tmp_path: Path) -> None:
    run = f"model_path: acme/small\nnum_gpus: 4\n{key}\ngradient_accumulation_steps: 8\nlearning_rate: 1.0e-5\n"
    report = checked(tmp_path, {"runs/small.yaml": run})
    assert [each.framework for each in report.files] == [None] * len(report.files)


def test_what_flags_leave_out_is_the_recipes(tmp_path: Path) -> None:
    assert sizes(tmp_path, "--num_gpus 64 --global_batch_size 128 --micro_batch_size 1") == [128, None, None]


def test_flags_that_say_all(tmp_path: Path) -> None:
    flags = f"--num_gpus 64 --global_batch_size 128 --micro_batch_size 1 {DEGREES}"
    assert sizes(tmp_path, flags) == [128, 16, 8]  # 64 / (2 x 4) = 8 ranks, 128 / 8 = 16


def test_a_batch_that_the_ranks_do_not_divide(tmp_path: Path) -> None:
    flags = f"--num_gpus 64 --global_batch_size 100 --micro_batch_size 1 {DEGREES}"
    assert codes(checked(tmp_path, {"run.sh": SCRIPT.format(flags)})) == ["GBS202"]
