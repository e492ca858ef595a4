"""MaxText: batches worked out by hand, accumulation in its two readings, and what it stumbles over."""

from pathlib import Path

import pytest

from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.building import batches, checked

from .building import outcomes, sizes, stumbles, title, value

BASE = "base_config: base.yml\n"
RUN = BASE + "per_device_batch_size: 6\n"
ACCUMULATES = "gradient_accumulation_steps: 4\n"
DPO = RUN + "use_dpo: true\n"
DISTILLS = RUN + "student_overrides: {model_name: llama3.1-8b}\nteacher_overrides: {model_name: llama3.1-8b}\n"
SFT = RUN + "use_sft: true\n"
CUT_UP = "use_tunix_gradient_accumulation: true\ndataset_type: hf\n"
RL = "trainer_devices_fraction: 0.5\nrl: {num_generations: 8, num_iterations: 2}\nbatch_size: 4\n"


def _kinds(code: str, text: str, /, **hardware: int) -> list[type]:
    return [type(outcome) for outcome in outcomes(code, text, "recipe.yaml", **hardware)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("per_device_batch_size: 6\nlearning_rate: 1.0e-5\n", id="a key of one's own"),
        pytest.param(BASE + "logical_axis_rules: [[embed, [fsdp]]]\n", id="rules of a mesh"),
        pytest.param(RUN + "dataset_type: synthetic\nsteps: 10\n", id="a smoke test"),
    ],
)
def test_what_trains_on_nothing_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RUN, "MaxText"),
        (RUN + "use_dpo: false\n", "MaxText"),
        (SFT, "MaxText"),
        (DPO, "MaxText (DPO)"),
        ("base_config: dpo.yml\nper_device_batch_size: 1\n", "MaxText (DPO)"),
        (DISTILLS, "MaxText (distillation)"),
        (RL, "MaxText (RL)"),
    ],
)
def test_what_is_trained_makes_the_table(text: str, expected: str) -> None:
    assert title(text) == expected


# Batch = batch of one device x accumulation x all devices, whatever the mesh.
@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(RUN, 128, 768, id="6 x 128"),
        pytest.param(RUN + "dataset_type: synthetic\ndcn_data_parallelism: 16\n", 128, 768, id="the speed of 16 machines"),
        pytest.param(BASE + "use_sft: true\n", 8, 96, id="12 by default x 8"),
        pytest.param(RUN.replace("6", "2.0"), 8, 16, id="a whole float x 8"),
        pytest.param(RUN + ACCUMULATES, 8, 192, id="6 x 4 x 8"),
        pytest.param(RUN + "ici_tensor_parallelism: 4\nici_pipeline_parallelism: 2\n", 8, 48, id="model parallelism divides nothing"),
        pytest.param(SFT + CUT_UP + ACCUMULATES, 8, 192, id="Tunix gets batches that are cut up: 6 x 4 x 8"),
        pytest.param(DPO, 8, 48, id="pairs"),
        pytest.param(DPO + CUT_UP + ACCUMULATES, 8, 192, id="pairs, cut up"),
        pytest.param(DISTILLS + "gradient_accumulation_steps: 1\n", 8, 48, id="distillation"),
        pytest.param(DISTILLS + "gradient_accumulation_steps: 1.0\n", 8, 48, id="distillation, with a point"),
        pytest.param("base_config: mine.yml\nper_device_batch_size: 6\ngradient_accumulation_steps: 1\n", 8, 48, id="all is stated"),
    ],
)
def test_the_batch_is_that_of_a_device_times_devices(text: str, world: int, expected: int) -> None:
    assert value(sizes(text, world_size=world).get(Name.GLOBAL_BATCH_SIZE)) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DPO + ACCUMULATES, id="Tunix counts whole batches: 4 or 16 of them"),
        pytest.param(DISTILLS + ACCUMULATES, id="distillation does as well"),
        pytest.param(SFT + ACCUMULATES, id="by either trainer"),
        pytest.param(SFT + ACCUMULATES + CUT_UP.replace("hf", "grain"), id="only the Hugging Face pipeline cuts up"),
        pytest.param("base_config: mine.yml\nper_device_batch_size: 6\n", id="the default is another file's"),
        pytest.param("base_config: mine.yml\nper_device_batch_size: 6\n" + ACCUMULATES, id="so is the trainer"),
        pytest.param(RUN.replace("6", "0.5"), id="a part of a sample"),
    ],
)
def test_what_the_file_does_not_decide_is_unknown(text: str) -> None:
    assert sizes(text, world_size=8).value(Name.GLOBAL_BATCH_SIZE) is None
    assert stumbles(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(RUN + "eval_per_device_batch_size: 2\n", None, id="never"),
        pytest.param(RUN + "eval_interval: -1\neval_steps: 5\n", None, id="never, said aloud"),
        pytest.param(RUN + "eval_interval: 100\n", 48, id="as in training"),
        pytest.param(RUN + "eval_interval: 100\neval_per_device_batch_size: 0.0\n", 48, id="0 is as in training"),
        pytest.param(RUN + "eval_interval: 100\neval_per_device_batch_size: 2\n" + ACCUMULATES, 16, id="2 x 8, never accumulated"),
    ],
)
def test_the_evaluation_batch(text: str, expected: int | None) -> None:
    assert sizes(text, world_size=8).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


def test_a_pair_is_two_sequences() -> None:
    batch = sizes(DPO, world_size=8).get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(batch, Quantity)
    assert batch.unit == "pairs"


def test_intervals_are_steps_and_eval_steps_is_none() -> None:
    stated = sizes(RUN + "steps: 1_000\ncheckpoint_period: 50\neval_interval: 100\neval_steps: 7\n").stated
    assert [value(stated[name]) for name in (Name.MAX_STEPS, Name.SAVE_STEPS, Name.EVAL_STEPS)] == [1000, 50, 100]


# The axes of one slice multiply to its devices.
@pytest.mark.parametrize(
    ("text", "world", "kinds"),
    [
        pytest.param(RUN, 100, [], id="none is set"),
        pytest.param(RUN + "ici_fsdp_parallelism: -1\nici_data_parallelism: 1\n", 100, [], id="the rest of nothing"),
        pytest.param(RUN + "ici_fsdp_parallelism: 64\nici_data_parallelism: 2\n", 256, [Verified], id="two slices of 64 x 2"),
        pytest.param(RUN + "ici_fsdp_parallelism: 64\nici_data_parallelism: 2\n", 64, [Finding], id="half a slice of 64 x 2"),
        pytest.param(RUN + "ici_data_parallelism: 4\n", 8, [Verified], id="4, and 2 left for the rest"),
        pytest.param(RUN + "ici_data_parallelism: 4\n", 6, [Finding], id="6 / 4"),
        pytest.param(RUN + "ici_expert_parallelism: 16\n", 8, [Finding], id="8 / 16"),
        pytest.param(RUN + "ici_fsdp_parallelism: 8\nici_data_parallelism: -1\n", 8, [Undetermined], id="the other one is the rest"),
    ],
)
def test_the_mesh_fits_the_devices(text: str, world: int, kinds: list[type]) -> None:
    assert _kinds("GBS201", text, world_size=world) == kinds


def test_reinforcement_learning_counts_completions() -> None:
    geometry = sizes(RL)
    assert value(geometry.get(Name.PROMPTS_PER_STEP)) == 4
    assert value(geometry.get(Name.GLOBAL_BATCH_SIZE)) == 32  # 4 prompts x 8 completions, on any number of devices
    assert value(sizes(RL + "num_generations: 2\n").get(Name.GLOBAL_BATCH_SIZE)) == 8  # the flat key wins


@pytest.mark.parametrize(
    ("micro", "kinds"), [("-1", []), ("2", [Verified]), ("4", [Verified]), ("3", [Finding])], ids=["all at once", "2", "4", "3"]
)
def test_a_batch_of_prompts_holds_whole_micro_batches(micro: str, kinds: list[type]) -> None:
    assert _kinds("GBS202", f"{RL}train_micro_batch_size: {micro}\n") == kinds


def test_an_advantage_needs_two_completions() -> None:
    assert _kinds("GBS205", RL) == [Verified]
    assert _kinds("GBS205", RL.replace("num_generations: 8", "num_generations: 1")) == [Finding]


def test_agents_are_another_matter() -> None:
    text = RL.replace("num_iterations: 2", "num_iterations: 2, use_agentic_rollout: true") + "train_micro_batch_size: 3\n"
    assert sizes(text).value(Name.GLOBAL_BATCH_SIZE) is None
    assert _kinds("GBS202", text) == []


@pytest.mark.parametrize("written", ["8", "'8'", "8.0", "true", "${oc.env:STEPS}"])
def test_what_pydantic_converts_is_not_a_mistake(written: str) -> None:
    assert stumbles(f"{RUN}gradient_accumulation_steps: {written}\n") == {}


@pytest.mark.parametrize("written", ["0", "-1", "1.5", "null", "auto"])
def test_accumulation_is_a_positive_whole_number(written: str) -> None:
    assert stumbles(f"{RUN}gradient_accumulation_steps: {written}\n") == {"gradient_accumulation_steps": "stops"}


LAUNCH = "mpirun -np 4 python3 -m MaxText.train {file} model_name=mixtral-8x7b steps=9 max_target_length=4096 {more}\n"


@pytest.mark.parametrize(
    ("file", "more"),
    [
        pytest.param("MaxText/configs/mine.yml", "per_device_batch_size=6", id="another file"),
        pytest.param("MaxText/configs/base.yml more.yml", "per_device_batch_size=6", id="two files"),
        pytest.param("$CONFIG", "per_device_batch_size=6", id="a file that is not known"),
        pytest.param("MaxText/configs/base.yml", "per_device_batch_size=6 dataset_type=synthetic", id="trains on nothing"),
        pytest.param("MaxText/configs/base.yml", "", id="no batch"),
        pytest.param("MaxText/configs/base.yml", "per_device_batch_size=$BATCH", id="a batch that is not known"),
    ],
)
def test_a_launch_that_names_another_file_than_the_base_is_not_known(tmp_path: Path, file: str, more: str) -> None:
    assert set(batches(checked(tmp_path, {"run.sh": LAUNCH.format(file=file, more=more)}))) <= {None}


@pytest.mark.parametrize("file", ["MaxText/configs/base.yml", "src/maxtext/configs/base.yml", "configs/base.yml"])
def test_the_base_of_the_package_has_its_defaults(tmp_path: Path, file: str) -> None:
    more = "per_device_batch_size=6 gradient_accumulation_steps=2"
    assert batches(checked(tmp_path, {"run.sh": LAUNCH.format(file=file, more=more)})) == [48]  # 6 x 2 x 4
