"""detectron2, DINOv2, LAVIS and open_clip: images over all GPUs or for each, parents, and what only evaluates."""

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Name, Origin, Quantity

from .building import document, outcomes, sizes, title

D2 = "MODEL: {META_ARCHITECTURE: GeneralizedRCNN}\nSOLVER: {IMS_PER_BATCH: %s%s}\n"
DINO = "dino: {head_n_prototypes: 65536}\ncrops: {local_crops_size: 96}\n"
LAVIS = "model: {arch: blip2}\nrun: {task: captioning, batch_size_train: 16, init_lr: 1e-5%s}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("SOLVER: {IMS_PER_BATCH: 64}\nMODEL: {META_ARCHITECTURE: Baseline, HEADS: {N: 1}}\n", id="FastReID"),
        pytest.param("SOLVER: {IMS_PER_BATCH: 64}\nDATALOADER: {SAMPLER: softmax}\n", id="one of many on yacs"),
        pytest.param("SOLVER: {BASE_LR: 0.1}\nMODEL: {META_ARCHITECTURE: GeneralizedRCNN}\n", id="no batch"),
        pytest.param("train: {batch_size_per_gpu: 8}\noptim: {epochs: 3}\n", id="a batch for each GPU, of something else"),
        pytest.param(DINO + "student: {arch: vit_large}\n", id="DINOv2 without a batch"),
        pytest.param(LAVIS % ", evaluate: True", id="LAVIS evaluates"),
        pytest.param("run: {task: captioning, batch_size_train: 16}\n", id="no model"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


# Each GPU takes 16 / 8 = 2 images.
def test_detectron2_shares_a_batch_out() -> None:
    stated = sizes(D2 % (16, ""), world_size=8)
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.MICRO_BATCH_SIZE)) == (16, 2)


def test_its_ancestor_has_a_name_of_its_own() -> None:
    text = "MODEL: {META_ARCHITECTURE: GeneralizedRCNN, WEIGHT: a}\nSOLVER: {IMS_PER_BATCH: 16}\n"
    assert (title(text), sizes(text, world_size=8).value(Name.MICRO_BATCH_SIZE)) == ("maskrcnn-benchmark", 2)


# Made for 16 / 8 = 2 images on each of 8 GPUs, 4 GPUs have 8 together.
@pytest.mark.parametrize(("world", "expected"), [(8, 16), (4, 8), (16, 32)])
def test_detectron2_keeps_the_images_of_each_gpu_with_a_reference(world: int, expected: int) -> None:
    stated = sizes(D2 % (16, ", REFERENCE_WORLD_SIZE: 8"), world_size=world)
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.MICRO_BATCH_SIZE)) == (expected, 2)


@pytest.mark.parametrize(
    ("batch", "more", "world", "expected"),
    [
        (16, "", 8, [Verified]),
        (16, "", 16, [Verified]),
        (16, "", 3, [Finding]),
        (16, ", REFERENCE_WORLD_SIZE: 8", 3, [Verified]),
        (16, ", REFERENCE_WORLD_SIZE: 5", 3, [Finding]),
    ],
)
def test_each_gpu_takes_as_many_images(batch: int, more: str, world: int, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes("GBS202", D2 % (batch, more), world_size=world)] == expected


# 2,048 = 64 x 32 GPUs.
def test_dino_has_a_batch_for_each_gpu() -> None:
    text = DINO + "train: {batch_size_per_gpu: 64}\n"
    assert (title(text), sizes(text, world_size=32).value(Name.GLOBAL_BATCH_SIZE)) == ("DINOv2", 2048)


def test_several_students_share_a_batch() -> None:
    students = "multidistillation: {enabled: true, global_batch_size: 256, students: [{name: s}]}\ntrain: {batch_size_per_gpu: 3}\n"
    text = DINO + students
    assert title(text) == "DINOv3 (several students)"
    assert sizes(text, world_size=32).value(Name.GLOBAL_BATCH_SIZE) == 256


@pytest.mark.parametrize(("more", "expected"), [("", 128), (", accum_grad_iters: 4", 512), (", evaluate: False", 128)])
def test_lavis_has_a_batch_for_each_process(more: str, expected: int) -> None:
    assert (title(LAVIS % more), sizes(LAVIS % more, world_size=8).value(Name.GLOBAL_BATCH_SIZE)) == ("LAVIS", expected)


CLIP = "train_data: a.tar\nmodel: ViT-B-32\nimagenet_val: b\n"
CLAP = "datasetnames: sounds\namodel: HTSAT-tiny\ndataset_type: webdataset\n"


@pytest.mark.parametrize(
    ("program", "text", "expected"),
    [
        pytest.param("open_clip_train/main", CLIP + "batch_size: 256\n", 2048, id="for each GPU"),
        pytest.param("open_clip_train/main", CLIP + "batch_size: 256\naccum_freq: 4\n", 8192, id="accumulation"),
        pytest.param("open_clip_train/main", CLIP, 512, id="by default"),
        pytest.param("training/main", CLIP + "batch_size: 256\n", 2048, id="as it was called"),
        pytest.param("training/main", "train_data: a.tar\ntrain_num_samples: 9\nbatch_size: 320\n", 2560, id="with the model by default"),
        pytest.param("training/main", CLAP + "batch_size: 96\n", 768, id="CLAP"),
        pytest.param("main", CLIP + "batch_size: 16\naccum_freq: 4\ndo_train: true\n", 512, id="another main, which accumulates so"),
    ],
)
def test_open_clip_has_a_batch_for_each_gpu(program: str, text: str, expected: int) -> None:
    read_from = document(text)
    found = recognise(read_from, Program(program, alone=True))
    assert found is not None
    assert found.name == "open-clip"
    given = {"world_size": Quantity("world_size", 8, Origin.GIVEN)}
    assert geometry(read_sizes(read_from, found), given, applied_to(read_from, found), read_from).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_what_only_evaluates_with_flags_of_open_clip_is_not_it() -> None:
    text = "train_data: a.tar\nbatch_size: 16\naccum_freq: 4\ndo_eval: true\n"
    assert recognise(document(text), Program("main")) is None


@pytest.mark.parametrize("program", ["train", "main", "training/main"])
def test_other_programs_are_not_open_clip(program: str) -> None:
    found = recognise(document("batch_size: 256\nepochs: 3\ntrain_data: a\n"), Program(program, alone=True))
    assert found is None or found.name != "open-clip"
