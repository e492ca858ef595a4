"""fairseq-train: batches of samples or of tokens, on the GPUs that are visible or asked for."""

from pathlib import Path

import pytest

from tests.launches.building import checked, launched
from tests.launches.programs.starting import start_of, starts, world

MODEL = "fairseq-train data-bin --arch transformer --task translation --criterion label_smoothed_cross_entropy"


@pytest.mark.parametrize(
    "text", ["fairseq-train", "fairseq-generate data-bin --batch-size 8", "fairseq-preprocess --workers 8", "which fairseq-train"]
)
def test_what_does_not_train_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MODEL, "missing"),
        (f"CUDA_VISIBLE_DEVICES=$GPUS {MODEL}", "interpolated"),
        (f"{MODEL} --distributed-world-size $GPUS", "interpolated"),
        (f"CUDA_VISIBLE_DEVICES=0 {MODEL}", 1),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3 {MODEL}", 4),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3 {MODEL} --distributed-world-size 2", 2),
        (f"{MODEL} --distributed-world-size 128", 128),
    ],
)
def test_each_visible_gpu_has_a_process(text: str, expected: int | str) -> None:
    assert world(start_of(text)) == expected


def batch(folder: Path, options: str) -> int | None:
    """The batch of a command with these options on 4 GPUs."""
    report = checked(folder, {"run.sh": f"CUDA_VISIBLE_DEVICES=0,1,2,3 {MODEL} {options}\n"})
    (run,) = launched(report)
    return run.geometry.global_batch_size


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("--update-freq 4", id="no batch"),
        pytest.param("--batch-size 8 --max-tokens 4096", id="two bounds"),
        pytest.param("--max-sentences 8 --max-tokens 4096", id="two bounds, by its older name"),
        pytest.param("--batch-size $BATCH", id="a batch that is not known"),
    ],
)
def test_a_batch_that_is_not_a_number_is_not_reported(tmp_path: Path, options: str) -> None:
    assert batch(tmp_path, options) is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param("--batch-size 16", 64, id="samples"),
        pytest.param("--max-sentences 8 --update-freq 4", 128, id="with accumulation"),
        pytest.param("--max-tokens 4096 --update-freq 2", 32768, id="tokens"),
        pytest.param("--batch-size 8 --model-parallel-size 2 --distributed-world-size 8", 32, id="a model on several GPUs"),
    ],
)
def test_a_step_has_the_batches_of_all_gpus(tmp_path: Path, options: str, expected: int) -> None:
    assert batch(tmp_path, options) == expected
