"""One epoch in optimizer steps; each number worked out by hand."""

import json
from pathlib import Path

import pytest

from pytest_gbs.arithmetic.epoch import Epoch
from tests.cli.support import Gbs, write

SFT = "model_name_or_path: m\nmax_length: 8\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 4\n"  # 128 on 8 GPUs


@pytest.mark.parametrize(
    ("epoch", "full", "left", "dropped"),
    [
        pytest.param(Epoch(12_800, 128, 32), 100, 0, 0, id="whole steps"),
        pytest.param(Epoch(10_000, 128, 32), 78, 16, 16, id="less than one pass is left"),
        pytest.param(Epoch(10_050, 128, 32), 78, 66, 2, id="two passes and two samples are left"),
        pytest.param(Epoch(10_048, 128, 32), 78, 64, 0, id="two whole passes are left"),
        pytest.param(Epoch(100, 128, 32), 0, 100, 4, id="not one whole step"),
        pytest.param(Epoch(100, 128), 0, 100, None, id="the micro batch is not known"),
        pytest.param(Epoch(1, 1, 1), 1, 0, 0, id="one sample"),
        # 15 for each of 2 processes are 3 batches of 4, and so are 3 pairs of batches.
        pytest.param(Epoch(30, 8, 8, 2), 3, 6, 6, id="however they are shared out"),
        # 16 for each of 2 processes, one of them repeated, are 4 batches of 4; of 7 whole batches, 3 pairs.
        pytest.param(Epoch(31, 8, 8, 2), 3, 7, None, id="by examples or by batches"),
        pytest.param(Epoch(100, 4, 4, 16), 25, 0, None, id="less than one for each process"),
    ],
)
def test_what_an_epoch_comes_to(epoch: Epoch, full: int, left: int, dropped: int | None) -> None:
    assert (epoch.full_steps, epoch.left, epoch.dropped) == (full, left, dropped)


@pytest.mark.parametrize(("steps", "unreached"), [(1, 9_872), (78, 16), (79, 0), (500, 0)])
def test_what_is_never_reached(steps: int, unreached: int) -> None:
    assert Epoch(10_000, 128).unreached(steps) == unreached


@pytest.mark.parametrize(
    ("flags", "recipe", "epoch"),
    [
        pytest.param(("--world-size", "8"), SFT, (78, 66, 2, None), id="epochs"),
        pytest.param(("--world-size", "8"), f"{SFT}max_steps: 50\n", (78, 66, 2, 3_650), id="steps that end within the first"),
        pytest.param((), SFT, None, id="the hardware is not known"),
        pytest.param(("--world-size", "8"), f"{SFT}num_generations: 4\nmax_prompt_length: 8\n", None, id="batches of completions"),
        pytest.param(("--world-size", "8"), f"{SFT}packing: true\n", None, id="several rows in one"),
    ],
)
def test_it_is_reported_for_a_recipe(
    flags: tuple[str, ...], recipe: str, epoch: tuple[int | None, ...] | None, gbs: Gbs, repo: Path
) -> None:
    write(repo, {"sft.yaml": recipe})
    (reported,) = json.loads(gbs("show", *flags, "--dataset-size", "10050", "--format", "json", "sft.yaml").out)["recipes"]
    names = ("full_steps", "left", "dropped", "unreached")
    assert reported["epoch"] == (None if epoch is None else {"dataset_size": 10_050, **dict(zip(names, epoch, strict=True))})


def test_it_is_reported_in_words(gbs: Gbs, repo: Path) -> None:
    write(repo, {"sft.yaml": f"{SFT}max_steps: 50\n"})
    lines = gbs("show", "--world-size", "8", "--dataset-size", "10050", "sft.yaml").out.splitlines()
    (one,) = (line for line in lines if "one epoch" in line)
    (end,) = (line for line in lines if "ends after" in line)
    left = "66 are left for a smaller one, or dropped (2 of them, where only the loader drops its last batch)"
    assert one.split(None, 2)[2] == f"78   full steps of 10,050 samples; {left}"
    assert end.split(None, 2)[2] == "50   steps: 3,650 samples are never reached"


def test_what_is_not_known_is_said(gbs: Gbs, repo: Path) -> None:
    write(repo, {"sft.yaml": SFT})
    (line,) = (line for line in gbs("show", "--dataset-size", "10050", "sft.yaml").out.splitlines() if "one epoch" in line)
    assert line.split(None, 2)[2] == "steps are not known: the batch is 16 x GPUs samples"


def test_without_a_data_set_there_is_none(gbs: Gbs, repo: Path) -> None:
    write(repo, {"sft.yaml": SFT})
    assert "epoch" not in gbs("show", "--world-size", "8", "sft.yaml").out
    assert "epoch" not in json.loads(gbs("show", "--format", "json", "sft.yaml").out)["recipes"][0]
