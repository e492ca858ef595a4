"""GBS305 fires where a DeepSpeed configuration has other batch sizes than the recipe beside it, and GBS306 where a launcher file has."""

import json
from pathlib import Path

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.launches.deepspeed_files import Companions
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.launch import Kind, Launch, LauncherFile, Start
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Outcome, Undetermined, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules.gbs305_deepspeed_disagrees import check
from pytest_gbs.rules.gbs306_accelerate_accumulation import check as check_launcher
from tests.cli.support import write
from tests.rules.building import parsed
from tests.support import check as check_tree
from tests.support import in_memory

RECIPE = """\
model_name_or_path: my/model
dataset_name: my/dialogues
per_device_train_batch_size: 4
gradient_accumulation_steps: 8
"""
NAMES_IT = RECIPE + "deepspeed: ds_config.json\n"
ALONE = RECIPE + "use_slow_tokenizer: true\nwith_tracking: true\n"  # a script on accelerate itself
LAUNCHER = "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n  deepspeed_config_file: ds_config.json\n"


def config(train: object = None, micro: object = None, steps: object = None) -> str:
    given = {"train_batch_size": train, "train_micro_batch_size_per_gpu": micro, "gradient_accumulation_steps": steps}
    return json.dumps({**{key: size for key, size in given.items() if size is not None}, "zero_optimization": {"stage": 2}})


def run(recipe: str, world: int | None = None, launch: Launch | None = None) -> Run:
    document = parsed(recipe, "recipes/sft.yaml")
    framework = recognise(document)
    assert framework is not None
    given = {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, world, Origin.GIVEN)} if world else {}
    return Run(
        document, framework, launch, geometry(read_sizes(document, framework), given, applied_to(document, framework), document), (), ()
    )


def outcomes(recipe: str, text: str, world: int | None = None) -> list[Outcome]:
    return list(check(Companions(in_memory({"ds_config.json": text})).beside(run(recipe, world))))


def launched(*quantities: Quantity) -> Launch:
    file = LauncherFile("zero2.yaml", "accelerate", quantities, distributed=True)
    at = Location("run.sh", 0, 10)
    return Launch(at, Kind.SCRIPT, "accelerate launch", quantities, start=Start("accelerate launch", at, (), (), files=(file,)))


@pytest.mark.parametrize(
    ("sizes", "world"),
    [
        pytest.param(("auto", "auto", "auto"), 8, id="auto"),
        pytest.param((256, 4, 8), 8, id="the same"),
        pytest.param(("auto", 4, 8), None, id="without a world"),
        pytest.param(("auto", 4.0, "auto"), 8, id="a float"),
        pytest.param((None, "auto", 8), 8, id="no batch"),
    ],
)
def test_the_same_sizes_are_in_order(sizes: tuple[object, ...], world: int | None) -> None:
    assert {type(each) for each in outcomes(NAMES_IT, config(*sizes), world)} == {Verified}


def test_a_recipe_that_names_none_has_none() -> None:
    assert outcomes(RECIPE, config(7, 7, 7), 8) == []


def test_a_batch_that_some_number_of_gpus_would_give_waits_for_it() -> None:
    (found,) = outcomes(NAMES_IT, config(256, "auto", "auto"))
    assert isinstance(found, Undetermined)
    assert (found.missing, found.values, found.claim) == ((Name.WORLD_SIZE,), (8,), False)


@pytest.mark.parametrize(("gpus", "kind"), [(65_536, Undetermined), (65_537, Finding)])
def test_a_batch_waits_for_no_more_gpus_than_there_may_be(gpus: int, kind: type[Outcome]) -> None:
    (found,) = outcomes(NAMES_IT, config(4 * 8 * gpus, "auto", "auto"))
    assert isinstance(found, kind)


def test_elastic_training_finds_its_own_batch() -> None:
    elastic = config()[:-1] + ', "elasticity": {"enabled": true, "max_train_batch_size": 64, "micro_batch_sizes": [2, 4]}}'
    assert [type(each) for each in outcomes(NAMES_IT, elastic, 8)] == [Verified]


@pytest.mark.parametrize(("size", "expected"), [(1, [Finding]), (2, [])])
def test_a_file_that_shares_sequences_is_left_to_deepspeed(size: int, expected: list[type[Outcome]]) -> None:
    """DeepSpeed divides the processes by it (0.17, runtime/config.py:720-722): 1 = 1 x 1 x 2 / 2."""
    text = config(1, 1, 1)[:-1] + f', "sequence_parallel_size": {size}}}'
    recipe = NAMES_IT.replace("batch_size: 4", "batch_size: 1").replace("steps: 8", "steps: 1")
    assert [type(each) for each in outcomes(recipe, text, 2)] == expected


@pytest.mark.parametrize(
    ("sizes", "world", "message"),
    [
        pytest.param(
            ("auto", 2, "auto"),
            None,
            "train_micro_batch_size_per_gpu is 2 for DeepSpeed, but per_device_train_batch_size is 4 in the recipe; "
            "the Trainer stops at start",
            id="micro",
        ),
        pytest.param(
            ("auto", "auto", 1),
            8,
            "gradient_accumulation_steps is 1 for DeepSpeed, but 8 in the recipe; the Trainer stops at start",
            id="accumulation",
        ),
        pytest.param(
            (128, 4, 8),
            8,
            "train_batch_size is 128 for DeepSpeed, but 4 micro x 8 accumulation x 8 GPUs = 256; the Trainer stops at start",
            id="batch",
        ),
        pytest.param(
            (100, "auto", "auto"),
            None,
            "train_batch_size 100 is not 4 micro x 8 accumulation x any number of GPUs; the Trainer stops at start",
            id="batch on no world",
        ),
        pytest.param(
            ("auto", "auto", "8"),
            8,
            'gradient_accumulation_steps is "8" for DeepSpeed, but 8 in the recipe; the Trainer stops at start',
            id="text is not a number",
        ),
        pytest.param(
            ("auto", "auto", None),
            8,
            "the DeepSpeed configuration has no gradient_accumulation_steps, but gradient_accumulation_steps is 8 in the recipe; "
            "accelerate sets it to 1, and DeepSpeed stops at start",
            id="accumulation left out beside a batch",
        ),
    ],
)
def test_other_sizes_stop_the_trainer(sizes: tuple[object, ...], world: int | None, message: str) -> None:
    (found,) = outcomes(NAMES_IT, config(*sizes), world)
    assert isinstance(found, Finding)
    assert (found.severity, found.message) == ("error", message)
    assert found.at.source == "ds_config.json"
    assert (found.at == Location("ds_config.json", 0, 0)) == (sizes[2] is None), "what is left out stands nowhere in the file"
    assert "recipes/sft.yaml" in {related.at.source for related in found.related}


def test_the_trainer_accumulates_what_the_file_leaves_out() -> None:
    assert not any(isinstance(each, Finding) for each in outcomes(NAMES_IT, config(None, 4, None), 8))
    assert not any(isinstance(each, Finding) for each in outcomes(NAMES_IT.replace(": 8", ": 1"), config(None, 4, None), 8))


@pytest.mark.parametrize(
    ("inline", "codes"),
    [
        ("{train_batch_size: auto, train_micro_batch_size_per_gpu: auto, gradient_accumulation_steps: auto}", []),
        ("{train_micro_batch_size_per_gpu: 4, gradient_accumulation_steps: 2}", ["error"]),
        ("{gradient_accumulation_steps: 8, zero_optimization: {stage: 2}}", ["error"]),
        ("null", []),
    ],
    ids=["auto", "other", "neither", "null"],
)
def test_a_configuration_within_the_recipe_counts(inline: str, codes: list[str]) -> None:
    found = outcomes(RECIPE + f"deepspeed: {inline}\n", config(7, 7, 7), 8)
    assert [each.severity for each in found if isinstance(each, Finding)] == codes
    assert all(each.at.source == "recipes/sft.yaml" for each in found if isinstance(each, Finding))


@pytest.mark.parametrize(
    ("named", "files", "expected"),
    [
        ("ds.json", {"ds.json": "{}", "recipes/ds.json": "{}"}, "ds.json"),
        ("ds.json", {"recipes/ds.json": "{}", "recipes/a/ds.json": "{}"}, "recipes/a/ds.json"),
        ("../ds.json", {"recipes/ds.json": "{}"}, "recipes/ds.json"),
        ("ds.json", {"other/ds.json": "{}"}, None),
        ("../../../ds.json", {"ds.json": "{}"}, None),
        ("/ds.json", {"ds.json": "{}"}, None),
        ("ds.json", {"ds.json": "{"}, None),
        ("auto", {"auto": "{}"}, None),
        ("ds_${stage}.json", {"ds.json": "{}"}, None),
    ],
    ids=["root first", "own folder", "above", "elsewhere", "outside", "absolute", "unreadable", "no file", "interpolated"],
)
def test_a_path_is_looked_up_from_the_root_then_upwards(named: str, files: dict[str, str], expected: str | None) -> None:
    document = parsed(f"deepspeed: {named}\n", "recipes/a/sft.yaml")
    found = [each.document.source.path for each in Companions(in_memory(files)).named(document, ("deepspeed",))]
    assert found == ([expected] if expected else [])


def of_launcher(recipe: str, text: str) -> list[Outcome]:
    """The outcomes where the launcher file names the configuration."""
    files = in_memory({"zero2.yaml": LAUNCHER, "ds_config.json": text})
    return list(check(Companions(files).beside(run(recipe, 8, launched()))))


def test_a_launcher_file_names_one_where_the_recipe_does_not() -> None:
    (found,) = of_launcher(RECIPE, config("auto", 2, 8))
    assert isinstance(found, Finding)
    assert (found.severity, found.at.source) == ("error", "ds_config.json")
    (silent,) = of_launcher(RECIPE, config("auto", "auto", 8))
    assert isinstance(silent, Verified)


@pytest.mark.parametrize(
    ("sizes", "severities"),
    [
        pytest.param(("auto", "auto", 8), [], id="the same"),
        pytest.param(("auto", 2, 8), [], id="only bookkeeping"),
        pytest.param(("auto", "auto", 1), ["warning"], id="DeepSpeed's accumulation"),
        pytest.param(("auto", "auto", None), ["warning"], id="accelerate's 1"),
    ],
)
def test_a_script_on_accelerate_goes_on_with_deepspeeds(sizes: tuple[object, ...], severities: list[str]) -> None:
    found = of_launcher(ALONE, config(*sizes))
    assert [each.severity for each in found if isinstance(each, Finding)] == severities


def given(value: int) -> Quantity:
    at = Location("zero2.yaml", 20, 21, ("deepspeed_config", "gradient_accumulation_steps"))
    return Quantity(Name.GRADIENT_ACCUMULATION_STEPS, value, Origin.LAUNCHER, at=at, key="deepspeed_config.gradient_accumulation_steps")


@pytest.mark.parametrize(
    ("recipe", "launch", "severities"),
    [
        pytest.param(RECIPE, None, [], id="no launch"),
        pytest.param(RECIPE, launched(), [], id="nothing given"),
        pytest.param(RECIPE, launched(given(8)), [], id="the same"),
        pytest.param(RECIPE.replace(": 8", ": ${steps}"), launched(given(1)), [], id="not known"),
        pytest.param(RECIPE, launched(given(1)), ["error"], id="Trainer"),
        pytest.param(ALONE, launched(given(1)), ["warning"], id="accelerate alone"),
        pytest.param(NAMES_IT, launched(given(8)), ["error"], id="beside a configuration"),
    ],
)
def test_the_accumulation_of_a_launcher_file_is_compared(recipe: str, launch: Launch | None, severities: list[str]) -> None:
    launched_run = Companions(in_memory({"ds_config.json": config("auto", "auto", "auto")})).beside(run(recipe, 8, launch))
    found = [each for each in check_launcher(launched_run) if isinstance(each, Finding)]
    assert [each.severity for each in found] == severities
    assert all(each.at.source == "zero2.yaml" for each in found)


def test_an_accumulation_that_a_flag_gives_the_launcher_is_said_to_be_of_it(tmp_path: Path) -> None:
    script = "accelerate launch --use_deepspeed --gradient_accumulation_steps 2 train.py sft.yaml\n"
    report = check_tree(WorkTree(write(tmp_path, {"sft.yaml": RECIPE, "run.sh": script})), (), Settings(), CommandLineHardware())
    messages = [finding.message for file in report.files for finding in file.findings if finding.code == "GBS306"]
    assert [message.partition(";")[0] for message in messages] == [
        "--gradient_accumulation_steps is 2 for the launcher, but gradient_accumulation_steps is 8 in the recipe"
    ]


@pytest.mark.parametrize("size", [[1], {"a": 1}, 1e308, float("inf"), float("nan"), -1, 0, "9" * 50, 10**15], ids=repr)
def test_no_value_that_is_not_a_size_is_shown_in_full(size: object) -> None:
    (found,) = outcomes(NAMES_IT, config(size, "auto", "auto"))
    assert isinstance(found, Finding)
    assert len(found.message) < 150


def test_a_file_without_any_size_leaves_deepspeed_without_one() -> None:
    (found,) = outcomes(NAMES_IT, config())
    assert isinstance(found, Finding)
    message = "the DeepSpeed configuration has neither train_batch_size nor train_micro_batch_size_per_gpu; DeepSpeed stops at start"
    assert (found.severity, found.message, found.at.source) == ("error", message, "recipes/sft.yaml")


def test_true_is_one_to_python() -> None:
    assert not any(isinstance(each, Finding) for each in outcomes(NAMES_IT.replace(": 8", ": 1"), config("auto", "auto", True), 8))


def test_tensor_parallelism_of_a_deepspeed_file_divides_the_ranks(tmp_path: Path) -> None:
    text = config("auto", "auto", "auto")
    assert batch(tmp_path, NAMES_IT, text) == 4 * 8 * 2
    assert batch(tmp_path, NAMES_IT, text[:-1] + ', "tensor_parallel": {"autotp_size": 2}}') == 4 * 8
    assert batch(tmp_path, RECIPE, text[:-1] + ', "tensor_parallel": {"autotp_size": 2}}') == 4 * 8 * 2


def batch(folder: Path, recipe: str, text: str) -> int | None:
    """The global batch size of a recipe on two GPUs, beside a DeepSpeed configuration."""
    tree = WorkTree(write(folder, {"sft.yaml": recipe, "ds_config.json": text}))
    report = check_tree(tree, ("sft.yaml",), Settings(), CommandLineHardware(world_size=2), keep_runs=True)
    return report.files[0].runs[0].geometry.global_batch_size


def _pinned(folder: Path, pin: str, recipe: str, text: str) -> list[str]:
    """What is reported of a recipe and its DeepSpeed configuration in a repository that asks for these versions."""
    tree = WorkTree(write(folder, {"requirements.txt": pin, "sft.yaml": recipe, "ds_config.json": text}))
    report = check_tree(tree, (), Settings(), CommandLineHardware(world_size=8))
    return [finding.message for file in report.files for finding in file.findings if finding.code == "GBS305"]


@pytest.mark.parametrize(
    ("pin", "sizes"),
    [
        pytest.param("", (None, "auto", None), id="no version"),
        pytest.param("accelerate>=0.34\n", (None, "auto", None), id="a range that has newer ones"),
        pytest.param("accelerate==1.8.0\n", (None, "auto", None), id="since 1.8"),
        pytest.param("git+https://github.com/huggingface/accelerate@0a1b2c3\n", (None, "auto", None), id="a commit"),
        pytest.param("transformers==4.40.0\n", (None, "auto", None), id="another package"),
        pytest.param("accelerate==0.34.2\n", (None, "auto", "auto"), id="filled in by the Trainer"),
        pytest.param("transformers==4.28.0\n", ("auto", "auto", None), id="worked out by DeepSpeed, which an older Trainer starts"),
        pytest.param("accelerate\ntransformers>=4.27,<4.30\n", ("auto", "auto", None), id="older Trainers alone"),
    ],
)
def test_an_accumulation_that_the_trainer_sees_to_is_in_order(tmp_path: Path, pin: str, sizes: tuple[object, ...]) -> None:
    assert _pinned(tmp_path, pin, NAMES_IT, config(*sizes)) == []


@pytest.mark.parametrize("pin", ["", "transformers==4.30.0\n", "transformers>=4.28\n", "accelerate==0.19\n"])
def test_newer_trainers_leave_deepspeed_to_accelerate(tmp_path: Path, pin: str) -> None:
    assert len(_pinned(tmp_path, pin, NAMES_IT, config("auto", "auto", None))) == 1


@pytest.mark.parametrize(("pin", "named"), [("accelerate==0.34.2\n", "0.34.2"), ("accelerate>=0.30,<1.8\n", ">=0.30,<1.8")])
def test_accelerate_before_1_8_steps_after_each_micro_batch(tmp_path: Path, pin: str, named: str) -> None:
    expected = (
        "the DeepSpeed configuration has no gradient_accumulation_steps, but gradient_accumulation_steps is 8 in the recipe; "
        f"accelerate {named} sets it to 1, so DeepSpeed steps after every micro batch"
    )
    assert _pinned(tmp_path, pin, NAMES_IT, config(None, "auto", None)) == [expected]
