"""Trainers of models that draw: diffusers' scripts, kohya's sd-scripts, SimpleTuner and diffusion-pipe."""

from __future__ import annotations

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Name

from .building import document, sizes, stumbles, title

KOHYA = "pretrained_model_name_or_path: my/model\noutput_name: mine\ntrain_batch_size: {micro}\n{more}"
SECTIONS = (
    '[model_arguments]\npretrained_model_name_or_path = "my/model"\n[training_arguments]\ntrain_batch_size = 4\noutput_name = "mine"\n'
)
SIMPLE = '{{"{d}model_family": "sdxl", "{d}model_type": "lora", "{d}train_batch_size": {micro}{more}}}'
PIPE = "dataset: dataset.toml\nmodel: {{type: wan}}\nadapter: {{type: lora}}\nmicro_batch_size_per_gpu: {micro}\n{more}"
FLAGS = "pretrained_model_name_or_path: my/model\ntrain_batch_size: 2\ngradient_accumulation_steps: 4\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("pretrained_model_name_or_path: my/model\nbatch_size: 4\nprompt: a cat\n", id="it draws"),
        pytest.param(FLAGS, id="flags that many programs have"),
        pytest.param("model_family: sdxl\nbatch_size: 4\n", id="a family only"),
        pytest.param("model: {type: wan}\ndataset: a.toml\nbatch_size: 4\n", id="somebody's own"),
        pytest.param("train_batch_size: 32\ngradient_accumulation_steps: 1\nzero_optimization: {stage: 2}\n", id="DeepSpeed"),
    ],
)
def test_look_alikes_are_no_recipes_of_theirs(text: str) -> None:
    assert (title(text) or "DeepSpeed") == "DeepSpeed"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(KOHYA.format(micro=4, more=""), "a.yaml", 8, id="sd-scripts: 4 on 2"),
        pytest.param(KOHYA.format(micro=4, more="gradient_accumulation_steps: 2\n"), "a.yaml", 16, id="twice"),
        pytest.param(KOHYA.format(micro=4, more="gradient_accumulation_steps: 2.0\n"), "a.yaml", 16, id="as the GUI writes it"),
        pytest.param(KOHYA.format(micro=4, more="dataset_config: data.toml\n"), "a.yaml", None, id="the data have batches of their own"),
        pytest.param(KOHYA.format(micro=4, more="dataset_config: ''\n"), "a.yaml", 8, id="no such file"),
        pytest.param(SECTIONS, "a.toml", 8, id="sections do not matter"),
        pytest.param(SIMPLE.format(d="", micro=3, more=""), "config.json", 6, id="SimpleTuner: 3 on 2"),
        pytest.param(SIMPLE.format(d="--", micro=3, more=', "--gradient_accumulation_steps": 4'), "config.json", 24, id="with dashes"),
        pytest.param(PIPE.format(micro=2, more=""), "a.yaml", 4, id="diffusion-pipe: 2 on 2"),
        pytest.param(PIPE.format(micro=2, more="pipeline_stages: 2\ngradient_accumulation_steps: 4\n"), "a.yaml", 8, id="one pipeline"),
        pytest.param(PIPE.format(micro="[[512, 4], [1024, 1]]", more=""), "a.yaml", None, id="a batch for each resolution"),
    ],
)
def test_two_gpus_have_twice_the_batch(text: str, path: str, expected: int | None) -> None:
    assert sizes(text, path, world_size=2).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_loaders_refuse_text_and_zero() -> None:
    assert stumbles(KOHYA.format(micro=0, more="")) == {"train_batch_size": Treatment.STOPS}
    assert stumbles(SIMPLE.format(d="", micro='"two"', more=""), "config.json") == {"train_batch_size": Treatment.STOPS}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("train_text_to_image_lora", "diffusers"),
        ("examples/dreambooth/train_dreambooth_lora_sdxl", "diffusers"),
        ("train_lcm_distill_sd_wds", None),
        ("train_mine", None),
    ],
)
def test_a_command_is_known_by_its_script(program: str, expected: str | None) -> None:
    found = recognise(document(FLAGS), Program(program, alone=True))
    assert (found.title if found else None) == expected
