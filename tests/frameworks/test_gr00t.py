"""Isaac GR00T: the batch that the flags state is shared by the GPUs that they count, and accumulated besides."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

RUN = "torchrun --nproc_per_node {} gr00t/experiment/launch_finetune.py --base_model_path acme --dataset_path data {}\n"


@pytest.mark.parametrize(
    ("processes", "flags", "batch", "found"),
    [
        pytest.param(8, "--num_gpus 8 --global_batch_size 64", [64], [], id="64 / 8 x 8"),
        pytest.param(8, "--num-gpus 8 --global-batch-size 64 --gradient-accumulation-steps 4", [256], [], id="64 / 8 x 4 x 8"),
        pytest.param(8, "--num_gpus 8", [64], [], id="the default"),
        pytest.param(4, "--global_batch_size 32", [128], [], id="each of 4 processes takes all: 32 / 1 x 4"),
        pytest.param(8, "--num_gpus 8 --global_batch_size $BATCH", [None], [], id="a variable"),
        pytest.param(6, "--num_gpus 6 --global_batch_size 64", [60], ["GBS204"], id="no equal shares"),
    ],
)
def test_the_batch_of_a_launch(processes: int, flags: str, batch: list[int | None], found: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"gr00t/experiment/launch_finetune.py": "import tyro\n", "run.sh": RUN.format(processes, flags)})
    assert (batches(report), codes(report)) == (batch, found)


def test_another_program_is_not_read(tmp_path: Path) -> None:
    run = RUN.format(8, "--num_gpus 8 --global_batch_size 64").replace("gr00t/experiment/", "tools/")
    assert batches(checked(tmp_path, {"tools/launch_finetune.py": "import tyro\n", "run.sh": run})) == []
