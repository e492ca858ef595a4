"""Training loops of a program's own under a launcher: the batch of one process times accumulation times processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launches.building import TYPED, batches, checked, codes
from tests.readers.python.test_loops import ACCELERATE, DISTRIBUTED

# The same program with options of argparse: 8 and 1 by default.
OPTIONS = (
    ACCELERATE.replace("main(batch_size=2)", "main(args)")
    .replace("main(batch_size=8)", "main(args)")
    .replace("batch_size=batch_size", "batch_size=args.train_batch_size")
    .replace("steps=4", "steps=args.steps")
    .replace(
        "def main",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--train_batch_size', type=int, default=8)\n"
        "p.add_argument('--steps', type=int, default=1)\nargs = p.parse_args()\n\ndef main",
    )
)


def settings(given: str) -> str:
    """The program with settings for all its loaders: 2 x 4 if each process has batches of its own."""
    return "from accelerate.utils import DataLoaderConfiguration\n" + ACCELERATE.replace(
        "(gradient", f"(dataloader_config=DataLoaderConfiguration({given}), gradient"
    )


@pytest.mark.parametrize(
    ("program", "command", "batch"),
    [
        pytest.param(ACCELERATE, "accelerate launch --num_processes 8 train.py", 64, id="2 x 4 x 8"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py", 16, id="defaults: 8 x 1 x 2"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py --train_batch_size=3 --steps 5", 30, id="flags: 3 x 5 x 2"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py --train_batch_size $N", None, id="a variable"),
        pytest.param(settings("split_batches=flag"), "accelerate launch --num_processes 2 train.py", None, id="may be shared"),
        pytest.param(settings("split_batches=False"), "accelerate launch --num_processes 2 train.py", 16, id="not shared"),
        pytest.param(settings("dispatch_batches=True"), "accelerate launch --num_processes 2 train.py", 16, id="sent by one process"),
        pytest.param(settings("split_batches=True"), "accelerate launch --num_processes 2 train.py", 8, id="shared: 2 x 4"),
        pytest.param(DISTRIBUTED, "torchrun --nnodes 2 --nproc_per_node 4 train.py", 512, id="16 x 4 x 8"),
    ],
)
def test_a_launch_of_the_program(program: str, command: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.py": program, "run.sh": f"{command}\n"})) == [batch]


def test_a_batch_that_the_processes_cannot_share_stops(tmp_path: Path) -> None:
    def found(processes: int) -> list[str]:
        launch = f"accelerate launch --num_processes {processes} train.py\n"
        return codes(checked(tmp_path, {"train.py": settings("split_batches=True"), "run.sh": launch}))

    assert (found(2), found(3)) == ([], ["GBS202"])


def test_a_launcher_file_of_deepspeed_wins(tmp_path: Path) -> None:
    launcher = TYPED.replace("MULTI_GPU", "DEEPSPEED") + "num_machines: 1\nnum_processes: 2\n"
    launcher += "deepspeed_config:\n  gradient_accumulation_steps: 1\n  zero_stage: 2\n"
    files = {"train.py": OPTIONS, "ds.yaml": launcher, "run.sh": "accelerate launch --config_file ds.yaml train.py --steps 4\n"}
    assert codes(checked(tmp_path, files)) == ["GBS306"]
