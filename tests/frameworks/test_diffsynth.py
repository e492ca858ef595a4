"""DiffSynth-Studio: one sample in each process, and accumulation."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

PROGRAM = "import argparse\n\nimport accelerate\nfrom diffsynth.diffusion import *\n\nparser = argparse.ArgumentParser()\n"
FLAGS = "--dataset_base_path data --learning_rate 1e-4 --num_epochs 2"
RUN = "accelerate launch --num_processes 8 examples/acme/model_training/train.py"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param(f"{RUN} {FLAGS}", [8], id="1 x 8"),
        pytest.param(f"{RUN} {FLAGS} --gradient_accumulation_steps 4", [32], id="1 x 4 x 8"),
        pytest.param(f"{RUN} {FLAGS} --task sft:train", [8], id="by name"),
        pytest.param(f"{RUN} {FLAGS} --gradient_accumulation_steps $N", [None], id="a variable"),
        pytest.param(f"{RUN} {FLAGS} --task sft:data_process", [], id="data alone"),
        pytest.param(f"{RUN} --learning_rate 1e-4 --num_epochs 2", [], id="another program's flags"),
        pytest.param(RUN.replace("model_training/", ""), [], id="another program"),
    ],
)
def test_each_process_trains_one_sample(line: str, found: list[int | None], tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"examples/acme/model_training/train.py": PROGRAM, "run.sh": f"{line}\n"})) == found


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        pytest.param("8 GPUs", [], id="the same"),
        pytest.param("1*80G GPU cannot train this", [], id="what is too little"),
        pytest.param("runs on 1 GPU", ["GBS303"], id="other hardware"),
    ],
)
def test_a_comment_on_the_hardware(comment: str, found: list[str], tmp_path: Path) -> None:
    files = {"examples/acme/model_training/train.py": PROGRAM, "run.sh": f"# {comment}\n{RUN} {FLAGS}\n"}
    assert codes(checked(tmp_path, files)) == found
