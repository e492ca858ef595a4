"""Ultralytics: a batch over all GPUs, accumulated to about `nbs`; numbers worked out by hand."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title

CONFIG = "model: yolo11n.pt\ndata: coco8.yaml\nepochs: 100\nimgsz: 640\nbatch: {batch}\n{more}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("batch: 16\nepochs: 3\ndata: mine\n", id="no size of images"),
        pytest.param("imgsz: 640\nbatch: 16\nepochs: 3\n", id="nothing to train on"),
        pytest.param("imgsz: 640\nepochs: 3\ndata: mine\nbatch_size: 16\n", id="a batch_size, as yolov5 has it"),
        pytest.param("path: datasets/coco\ntrain: images\nval: images\nnames: {0: person}\n", id="a data set"),
        pytest.param("nc: 80\nscales: {n: [0.5, 0.25]}\nbackbone: [[-1, 1, Conv, [64, 3, 2]]]\n", id="a model"),
        pytest.param(CONFIG.format(batch=16, more="mode: val\n"), id="validation"),
        pytest.param(CONFIG.format(batch=1, more="mode: predict\nsource: bus.jpg\n"), id="prediction"),
        pytest.param("train: {imgsz: 640, batch: 16, epochs: 3, data: a}\n", id="a section of somebody's own"),
    ],
)
def test_what_is_not_training_of_ultralytics_says_nothing(text: str) -> None:
    assert title(text) is None


# max(round(nbs / batch), 1), where Python rounds a half to the even number.
@pytest.mark.parametrize(
    ("batch", "more", "accumulation", "expected"),
    [
        pytest.param(16, "", 4, 64, id="the nominal batch"),
        pytest.param(64, "mode: train\n", 1, 64, id="at once"),
        pytest.param(128, "", 1, 128, id="more than the nominal batch"),
        pytest.param(20, "", 3, 60, id="as near as it comes"),
        pytest.param(48, "", 1, 48, id="64 / 48 = 1.3"),
        pytest.param(40, "nbs: 100\n", 2, 80, id="100 / 40 = 2.5 is 2"),
        pytest.param(40, "nbs: 140\n", 4, 160, id="140 / 40 = 3.5 is 4"),
        pytest.param(-1, "", None, None, id="found out"),
        pytest.param(0.7, "", None, None, id="a part of the memory"),
        pytest.param("", "", None, None, id="nothing"),
        pytest.param(16, "nbs: many\n", None, None, id="no number"),
    ],
)
def test_it_accumulates_to_a_nominal_batch(batch: object, more: str, accumulation: int | None, expected: int | None) -> None:
    found = sizes(CONFIG.format(batch=batch, more=more), world_size=4)
    assert (found.value(Name.GRADIENT_ACCUMULATION_STEPS), found.value(Name.GLOBAL_BATCH_SIZE)) == (accumulation, expected)


def test_all_gpus_share_a_batch() -> None:
    text = CONFIG.format(batch=16, more="")
    assert [sizes(text, world_size=gpus).value(Name.MICRO_BATCH_SIZE) for gpus in (1, 2, 8)] == [16, 8, 2]
    assert [sizes(text, world_size=gpus).value(Name.GLOBAL_BATCH_SIZE) for gpus in (1, 2, 8)] == [64, 64, 64]
