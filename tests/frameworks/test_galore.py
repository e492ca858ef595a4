"""ReLoRA's torchrun_main.py and its descendants: a total batch, and the accumulation that follows from it."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched

RUN = "torchrun --nproc_per_node {gpus} torchrun_main.py --model_config configs/llama_60m.json --lr 0.01 {flags}\n"
PROGRAM = "import argparse\nimport torch.nn as nn\nfrom peft_pretraining import args_utils\n"


@pytest.mark.parametrize(
    ("script", "program"),
    [
        pytest.param("torchrun --nproc_per_node 8 torchrun_main.py --lr 0.01 --batch_size 8\n", "", id="no model of its own"),
        pytest.param(RUN.format(gpus=8, flags="--total_batch_size 512"), "", id="no micro batch"),
        pytest.param(RUN.format(gpus=8, flags="--batch_size 8").replace("torchrun_main", "run_eval"), PROGRAM, id="it evaluates"),
        pytest.param(RUN.format(gpus=8, flags="--batch_size 8 --total_batch_size 512").replace("torchrun_main", "other"), "", id="another"),
    ],
)
def test_look_alikes_have_no_batch(script: str, program: str, tmp_path: Path) -> None:
    name = next(word for word in script.split() if word.endswith(".py"))
    report = checked(tmp_path, {"run.sh": script, name: program})
    assert [run.geometry.global_batch_size for run in launched(report)] in ([], [None])


@pytest.mark.parametrize(
    ("gpus", "flags", "expected"),
    [
        pytest.param(8, "--batch_size 16 --total_batch_size 512", (512, 16, 4), id="512 = 16 x 4 x 8"),
        pytest.param(1, "--batch_size 256 --total_batch_size 512", (512, 256, 2), id="512 = 256 x 2"),
        pytest.param(4, "--batch_size 32 --total_batch_size 512 --gradient_accumulation 4", (512, 32, 4), id="all of them"),
        pytest.param(1, "--batch_size 32 --gradient_accumulation 4", (128, 32, 4), id="no total"),
    ],
)
@pytest.mark.parametrize("program", ["torchrun_main.py", "main_pretrain.py"])
def test_the_total_is_the_batch(gpus: int, flags: str, expected: tuple[int, int, int], program: str, tmp_path: Path) -> None:
    script = RUN.format(gpus=gpus, flags=flags).replace("torchrun_main.py", program)
    (run,) = launched(checked(tmp_path, {"run.sh": script, program: PROGRAM}))
    sizes = (run.geometry.value(name) for name in ("micro_batch_size", "gradient_accumulation_steps"))
    assert (run.geometry.global_batch_size, *sizes) == expected


@pytest.mark.parametrize(("program", "expected"), [("torchrun_main.py", 32), ("main_pretrain.py", None)])
def test_one_micro_batch_is_the_default_of_its_own_program(program: str, expected: int | None, tmp_path: Path) -> None:
    script = RUN.format(gpus=1, flags="--batch_size 32 --num_training_steps 100").replace("torchrun_main.py", program)
    (run,) = launched(checked(tmp_path, {"run.sh": script, program: PROGRAM}))
    assert run.geometry.global_batch_size == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param("--batch_size 16 --total_batch_size 512", [], id="it divides"),
        pytest.param("--batch_size 32 --total_batch_size 128", ["GBS202"], id="128 is less than 32 x 8"),
        pytest.param("--batch_size 48 --total_batch_size 512", ["GBS204"], id="512 is no multiple of 48"),
    ],
)
def test_the_total_must_be_whole_micro_batches(flags: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.sh": RUN.format(gpus=8, flags=flags), "torchrun_main.py": PROGRAM})
    assert codes(report) == expected
