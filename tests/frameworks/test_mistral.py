"""Mistral of Stanford CRFM: the batch is given, the accumulation fills it up, and files take in others; worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, launched

from .building import outcomes, sizes, title

# stanford-crfm/mistral bf9eff0, conf/mistral-small.yaml and conf/trainers/gpt2-small.yaml, reduced.
RUN = "inherit:\n    - trainers/small.yaml\neffective_bsz: {batch}\nnproc_per_node: -1\nnnodes: -1\n"
TRAINER = "training_arguments:\n    per_device_train_batch_size: 8\n    gradient_accumulation_steps: null\n    max_steps: 400000\n"
ALONE = "effective_bsz: {batch}\n" + TRAINER


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("effective_bsz: 512\nlr: 1.0e-4\n", id="a batch of anyone's"),
        pytest.param("inherit: true\nbatch_size: 8\n", id="another inheritance"),
        pytest.param("inherit:\n    - base.yaml\nlearning_rate: 1.0e-4\n", id="no batch"),
        pytest.param(TRAINER, id="a part"),
    ],
)
def test_others_are_left_alone(text: str) -> None:
    assert title(text) != "Mistral (CRFM)"


# 512 / (8 x 16) = 4, 512 / (8 x 64) = 1, 512 / (8 x 8) = 8.
@pytest.mark.parametrize(("world", "steps"), [(16, 4), (64, 1), (8, 8)])
def test_the_accumulation_fills_the_batch_up(world: int, steps: int) -> None:
    text = ALONE.format(batch=512)
    assert title(text) == "Mistral (CRFM)"
    found = sizes(text, world_size=world)
    assert found.value(Name.GRADIENT_ACCUMULATION_STEPS) == steps
    assert found.global_batch_size == 512


@pytest.mark.parametrize(
    ("batch", "world", "stops"),
    [
        (512, 16, False),
        (500, 20, False),  # 500 // 160 = 3 batches of 160
        (512, 128, True),  # 512 // 1024 = 0
    ],
)
def test_the_program_stops_if_a_process_has_no_batch(batch: int, world: int, stops: bool) -> None:
    found = outcomes("GBS202", ALONE.format(batch=batch), world_size=world)
    assert any(isinstance(each, Finding) for each in found) == stops


@pytest.mark.parametrize(
    ("trainer", "flags", "expected"),
    [
        pytest.param(TRAINER, "", (512, 8, 4), id="as the files say"),
        pytest.param(TRAINER, "--training_arguments.per_device_train_batch_size 16", (512, 16, 2), id="another micro batch"),
        pytest.param(TRAINER, "--effective_bsz 1024", (1024, 8, 8), id="another batch"),
        pytest.param("training_arguments: {do_train: true}\n", "", (512, 2, 16), id="the default of the schema"),
    ],
)
def test_a_launch_has_what_its_file_includes(tmp_path: Path, trainer: str, flags: str, expected: tuple[int, int, int]) -> None:
    script = f"deepspeed --num_nodes 2 --num_gpus 8 train.py --config conf/run.yaml --nnodes 2 --nproc_per_node 8 {flags}\n"
    files = {"conf/run.yaml": RUN.format(batch=512), "conf/trainers/small.yaml": trainer, "run.sh": script}
    (run,) = launched(checked(tmp_path, files))
    names = (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
    assert tuple(run.geometry.value(name) for name in names) == expected


def test_without_its_parent_nothing_but_the_batch_is_known(tmp_path: Path) -> None:
    files = {"conf/run.yaml": RUN.format(batch=512), "run.sh": "deepspeed --num_nodes 2 --num_gpus 8 train.py --config conf/run.yaml\n"}
    (run,) = launched(checked(tmp_path, files))
    assert (run.geometry.global_batch_size, run.geometry.value(Name.MICRO_BATCH_SIZE)) == (512, None)
