"""finetrainers and FastVideo: flags in arrays of a script; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

FINE = "train.py --model_name wan --training_type lora --parallel_backend ptd"
FAST = "fastvideo/training/wan_training_pipeline.py --data_path data --num_latent_t 20"


def trained(folder: Path, text: str) -> list[tuple[str, int | None]]:
    """The framework and the global batch of each launch of a script."""
    report = checked(folder, {"run.sh": f"{text}\n"})
    assert codes(report) == []
    return titled_batches(report)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("torchrun --nproc_per_node=2 train.py --model_name wan --batch_size 1", id="another train.py"),
        pytest.param("torchrun --nproc_per_node=2 prepare.py --model_name wan --training_type lora --batch_size 1", id="another program"),
        pytest.param("torchrun --nproc_per_node=2 fastvideo/training/x.py --train_batch_size 1", id="no sequences of FastVideo"),
        pytest.param("torchrun --nproc_per_node=2 fastvideo/pipelines/preprocess.py --preprocess_video_batch_size 8", id="preprocessing"),
    ],
)
def test_programs_of_others_say_nothing(tmp_path: Path, command: str) -> None:
    assert trained(tmp_path, command) == []


@pytest.mark.parametrize(
    ("text", "title", "batch"),
    [
        pytest.param(f"torchrun --nproc_per_node=2 {FINE} --dp_degree 2 --batch_size 4", "finetrainers", 8, id="4 x 2 replicas"),
        pytest.param(f"torchrun --nproc_per_node=4 {FINE} --dp_shards 4 --batch_size 4", "finetrainers", 4, id="shards read the same"),
        pytest.param(f"torchrun --nproc_per_node=8 {FINE} --dp_degree 2 --dp_shards 4 --batch_size 3", "finetrainers", 6, id="3 x 2"),
        pytest.param(
            f"torchrun --nproc_per_node=2 {FINE} --dp_degree 2 --gradient_accumulation_steps 4", "finetrainers", 8, id="1 by default"
        ),
        pytest.param(
            f'P="--dp_degree 2 --dp_shards 1"\nparallel=(\n  $P\n)\ntorchrun --nproc_per_node=2 {FINE} "${{parallel[@]}}" --batch_size 4',
            "finetrainers",
            8,
            id="flags in an array",
        ),
        pytest.param(
            f"torchrun --nproc_per_node 8 {FAST} --sp_size 4 --train_batch_size 2 --gradient_accumulation_steps 3",
            "FastVideo",
            12,
            id="2 x 3 x 2 groups",
        ),
        pytest.param(
            f"torchrun --nproc_per_node 8 {FAST} --sp-size 1 --train-batch-size 1 --gradient-accumulation-steps 1",
            "FastVideo",
            8,
            id="a group each",
        ),
        pytest.param(f"torchrun --nproc_per_node 8 {FAST} --train_batch_size 1 --sp_size $SP", "FastVideo", None, id="an unknown group"),
    ],
)
def test_the_batch_of_a_script(tmp_path: Path, text: str, title: str, batch: int | None) -> None:
    assert trained(tmp_path, text) == [(title, batch)]
