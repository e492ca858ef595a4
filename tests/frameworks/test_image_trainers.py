"""Trainers of models that draw: diffusers' scripts, kohya's sd-scripts, SimpleTuner and diffusion-pipe."""

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
def test_look_alikes_are_not_recipes_of_theirs(text: str) -> None:
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


AI_TOOLKIT = "job: extension\nconfig:\n  process:\n"
PROCESS = "    - type: sd_trainer\n      train: {{steps: 100{train}}}\n      datasets: [{{folder_path: a{data}}}]\n"


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        pytest.param(PROCESS.format(train=", batch_size: 4", data=""), 8, id="4 on 2"),
        pytest.param(PROCESS.format(train="", data=""), 2, id="one by default"),
        pytest.param(PROCESS.format(train=", batch_size: 4, gradient_accumulation_steps: 3", data=""), 24, id="accumulation"),
        pytest.param(PROCESS.format(train=", batch_size: 4, gradient_accumulation: 2", data=""), 16, id="batches loaded at once"),
        pytest.param(PROCESS.format(train=", gradient_accumulation_steps: -1", data=""), None, id="a step after each epoch"),
        pytest.param(PROCESS.format(train=", batch_size: 4", data=", batch_size: 2"), None, id="a data set with its own"),
        pytest.param(2 * PROCESS.format(train=", batch_size: 4", data=""), 8, id="two processes alike"),
        pytest.param(
            PROCESS.format(train=", batch_size: 4", data="") + PROCESS.format(train=", batch_size: 2", data=""), None, id="two that differ"
        ),
    ],
)
def test_ai_toolkit_has_its_batch_in_a_list(processes: str, expected: int | None) -> None:
    assert title(AI_TOOLKIT + processes) == "ai-toolkit"
    assert sizes(AI_TOOLKIT + processes, world_size=2).value(Name.GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(AI_TOOLKIT + "    - type: rescale_lora\n      train: {batch_size: 4}\n", id="a process that does not train"),
        pytest.param("job: train\nconfig: {process: fast, batch_size: 4}\n", id="a job of anyone's"),
        pytest.param("job: a\nconfig: {process: []}\n", id="no process"),
    ],
)
def test_other_jobs_are_not_recipes(text: str) -> None:
    assert title(text) is None


MUSUBI = "dit: a.safetensors\ndataset_config: data.toml\nnetwork_module: networks.lora\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("dataset_config: data.toml\nnetwork_module: networks.lora\n", id="no transformer"),
        pytest.param("dit: a\nbatch_size: 4\nnetwork_module: networks.lora\n", id="no data sets"),
        pytest.param(MUSUBI + "train_batch_size: 2\npretrained_model_name_or_path: m\noutput_name: a\n", id="sd-scripts"),
    ],
)
def test_look_alikes_are_not_recipes_of_musubi_tuner(text: str) -> None:
    assert title(text) != "musubi-tuner"


def test_musubi_tuner_accumulates() -> None:
    stated = sizes(MUSUBI + "gradient_accumulation_steps: 2\n", world_size=2)
    assert (title(MUSUBI), stated.value(Name.GRADIENT_ACCUMULATION_STEPS), stated.value(Name.GLOBAL_BATCH_SIZE)) == (
        "musubi-tuner",
        2,
        None,
    )


ONE = '{{"model_type": "FLUX_DEV_1", "training_method": "LORA", "base_model_name": "my/model", "batch_size": 4{more}}}'


@pytest.mark.parametrize(("more", "expected"), [("", 8), (', "gradient_accumulation_steps": 3', 24), (', "multi_gpu": true', 8)])
def test_onetrainer_has_the_batch_of_each_gpu(more: str, expected: int) -> None:
    text = ONE.format(more=more)
    assert (title(text, "a.json"), sizes(text, "a.json", world_size=2).value(Name.GLOBAL_BATCH_SIZE)) == ("OneTrainer", expected)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"model_type": "llama", "batch_size": 4, "base_model_name": "a"}', id="a model's own file"),
        pytest.param('{"training_method": "lora", "batch_size": 4, "lr": 1}', id="a trainer of anyone's"),
    ],
)
def test_other_json_is_not_a_recipe_of_onetrainer(text: str) -> None:
    assert title(text, "a.json") is None
