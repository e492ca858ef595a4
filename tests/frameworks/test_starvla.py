"""starVLA: a batch for each process in a nested key; the accumulation is accelerate's, and the key of that name has no effect."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, codes, launched

RECIPE = """\
run_id: acme
framework: {name: Acme}
datasets:
  vla_data:
    dataset_py: acme_datasets
    data_mix: acme
    per_device_batch_size: 16
trainer:
  max_train_steps: 1000
  gradient_accumulation_steps: 4
"""
RUN = "accelerate launch --config_file zero.yaml --num_processes 8 starVLA/training/train_starvla.py --config_yaml run.yaml"
ZERO = "distributed_type: DEEPSPEED\ndeepspeed_config: {{zero_stage: 2{}}}\nnum_machines: 1\nnum_processes: 4\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("vla_data", "data", id="other data"),
        pytest.param("per_device_batch_size", "batch_size", id="another key"),
    ],
)
def test_look_alikes_are_not_recipes(old: str, new: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.yaml": RECIPE.replace(old, new)})
    assert [each.framework for each in report.files] == [None] * len(report.files)


def test_the_accumulation_of_a_recipe_is_accelerates(tmp_path: Path) -> None:
    (file,) = checked(tmp_path, {"run.yaml": RECIPE}).files
    (run,) = file.runs
    sizes = [run.geometry.value(name) for name in (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)]
    assert (file.framework, sizes) == ("starvla", [16, None, None])


def test_a_comment_may_be_true_with_some_accumulation(tmp_path: Path) -> None:
    files = {"zero.yaml": ZERO.format(""), "run.yaml": RECIPE}
    assert codes(checked(tmp_path / "a", {**files, "run.sh": f"# global batch size 512\n{RUN}\n"})) == []
    assert codes(checked(tmp_path / "b", {**files, "run.sh": f"# global batch size 200\n{RUN}\n"})) == ["GBS301"]  # no multiple of 16 x 8


@pytest.mark.parametrize(
    ("flags", "micro"),
    [
        pytest.param("", 16, id="the file's"),
        pytest.param(" --datasets.vla_data.per_device_batch_size 4", 4, id="a flag"),
        pytest.param(" --trainer.gradient_accumulation_steps 8", 16, id="a flag without effect"),
    ],
)
def test_flags_change_the_file(flags: str, micro: int, tmp_path: Path) -> None:
    files = {"zero.yaml": ZERO.format(", gradient_accumulation_steps: 2"), "run.yaml": RECIPE, "run.sh": f"{RUN}{flags}\n"}
    (run,) = launched(checked(tmp_path, files))
    assert [run.geometry.value(name) for name in (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE)] == [micro, 8]


ENGINE = "deepspeed_config: {{deepspeed_config_file: {}}}\ndistributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 4\n"


@pytest.mark.parametrize(
    ("engine", "batch"),
    [
        pytest.param('{"gradient_accumulation_steps": 2}', 256, id="16 x 2 x 8"),
        pytest.param('{"gradient_accumulation_steps": "auto"}', None, id="accelerate's own"),
        pytest.param("{}", None, id="nothing is said"),
        pytest.param(None, None, id="no file"),
    ],
)
def test_the_launchers_file_names_one_with_the_accumulation(engine: str | None, batch: int | None, tmp_path: Path) -> None:
    files = {"zero.yaml": ENGINE.format("ds/engine.yaml"), "run.yaml": RECIPE, "run.sh": f"{RUN}\n"}
    (run,) = launched(checked(tmp_path, files if engine is None else {**files, "ds/engine.yaml": engine}))
    assert run.geometry.value(Name.GLOBAL_BATCH_SIZE) == batch


def test_the_program_for_language_takes_the_other_batch(tmp_path: Path) -> None:
    both = RECIPE.replace("  vla_data:", "  vlm_data: {dataset_use: acme, per_device_batch_size: 4}\n  vla_data:")
    files = {"zero.yaml": ENGINE.format("engine.json"), "engine.json": '{"gradient_accumulation_steps": 1}', "run.yaml": both}
    scripts = {"a.sh": f"{RUN}\n", "b.sh": RUN.replace("train_starvla.py", "train_starvlm.py") + "\n"}
    runs = launched(checked(tmp_path, {**files, **scripts}))
    assert sorted((run.launch.at.source if run.launch else "", run.geometry.value(Name.GLOBAL_BATCH_SIZE)) for run in runs) == [
        ("a.sh", 128),  # 16 x 8
        ("b.sh", 32),  # 4 x 8
    ]
