"""Python programs and notebooks as recipes: recognised by the class that is called, judged and fixed like any other."""

import json
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import Noted, check

SFT = "from trl import SFTConfig\n"
ARGUMENTS = "from transformers import Trainer, TrainingArguments\n"
TRAINS = "trainer = Trainer(model, args)\ntrainer.train()\n"
GRPO = "from trl import GRPOConfig\nGRPOConfig(per_device_train_batch_size={}, gradient_accumulation_steps={}, num_generations={})\n"


def report(folder: Path, files: dict[str, str], targets: tuple[str, ...] = ()) -> Report:
    return check(WorkTree(write(folder, files)), targets, Settings(), CommandLineHardware(), keep_runs=True)


def run(folder: Path, text: str, name: str = "train.py") -> Run:
    (file,) = report(folder, {name: text}).files
    return file.runs[0]


def sizes(found: Run) -> dict[str, int]:
    names = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
    return {name: size.value for name in names if isinstance(size := found.geometry.get(name), Quantity)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("accelerator_config=found()", None, id="settings of accelerate that are not known"),
        pytest.param("deepspeed=dict(tensor_parallel=found())", None, id="a configuration that is written out in part"),
        pytest.param("deepspeed=dict(tensor_parallel=dict(autotp_size=2))", 32, id="tensor parallelism: 4 x 2 x 8 / 2"),
        pytest.param("deepspeed=found()", 64, id="a configuration that is not known: 4 x 2 x 8"),
        pytest.param("deepspeed='ds.json' if found() else None", 64, id="a file or none"),
    ],
)
def test_a_configuration_of_deepspeed_that_is_not_known_is_taken_as_a_file_is(tmp_path: Path, given: str, expected: int | None) -> None:
    arguments = f"TrainingArguments('out', per_device_train_batch_size=4, gradient_accumulation_steps=2, {given})\n"
    (tmp_path / "train.py").write_text(ARGUMENTS + arguments)
    found = check(WorkTree(tmp_path), (), Settings(), CommandLineHardware(world_size=8), keep_runs=True)
    assert found.files[0].runs[0].geometry.value(Name.GLOBAL_BATCH_SIZE) == expected


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"train.py": "SFTConfig(per_device_train_batch_size=4)\n"}, id="a name that is not imported"),
        pytest.param({"train.py": "from own import SFTConfig\nSFTConfig(per_device_train_batch_size=4)\n"}, id="a class of one's own"),
        pytest.param({"train.py": SFT + "print(f'{SFTConfig(per_device_train_batch_size=4)!r:'\n"}, id="not Python"),
        pytest.param({"train.py": ARGUMENTS + 'args = TrainingArguments("out")\n'}, id="arguments that nothing trains with"),
        pytest.param(
            {"train.py": ARGUMENTS + 'trainer = Trainer(model, TrainingArguments("out"))\nmodel.train()\n'}, id="a model's own train"
        ),
        pytest.param({"data.py": "from torch.utils.data import DataLoader\nDataLoader(x, batch_size=4)\n"}, id="a loader alone"),
        pytest.param({"tests/test_it.py": SFT + "SFTConfig(per_device_train_batch_size=4)  # GBS 64 on 1 GPU\n"}, id="test code"),
    ],
)
def test_programs_that_are_not_recipes_say_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    assert not any(file.framework or file.findings for file in report(tmp_path, files).files)


def test_test_code_that_was_pointed_at_is_read(tmp_path: Path) -> None:
    files = {"tests/test_it.py": SFT + "SFTConfig(per_device_train_batch_size=4)\n"}
    assert [file.framework for file in report(tmp_path, files, ("tests",)).files] == ["trl"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("import trl\ntrl.SFTConfig(per_device_train_batch_size=4)\n", "TRL (SFT)"),
        ("from trl.trainer.dpo_config import DPOConfig\nDPOConfig(per_device_train_batch_size=4, loss_type='kto_pair')\n", "TRL (DPO)"),
        ("from trl import *\nKTOConfig(per_device_train_batch_size=4, loss_type='bco')\n", "TRL (KTO)"),
        ("from transformers import Seq2SeqTrainingArguments as A\nA(per_device_train_batch_size=4)\n", "transformers Trainer"),
        ("import unsloth\n" + GRPO.format(4, 1, 4), "unsloth (GRPO)"),
        (GRPO.format(4, 1, 4), "TRL (GRPO)"),
    ],
)
def test_the_class_says_which_table(tmp_path: Path, text: str, title: str) -> None:
    assert run(tmp_path, text).framework.title == title


def test_what_options_may_set_is_unknown_instead_of_a_default(tmp_path: Path) -> None:
    assert sizes(run(tmp_path, SFT + "SFTConfig(per_device_train_batch_size=4)\n"))[Name.GRADIENT_ACCUMULATION_STEPS] == 1
    assert sizes(run(tmp_path, SFT + "SFTConfig(per_device_train_batch_size=4, **more)\n")) == {Name.MICRO_BATCH_SIZE: 4}


@pytest.mark.parametrize(
    ("micro", "accumulation", "group", "real"),
    [
        (4, 1, 4, 4),  # whole groups: as written
        (1, 1, 4, 4),  # 1 x 1 is not a multiple of 4, for any version
        (6, 2, 8, 8),  # 12 is not a multiple of 8
        (1, 4, 4, None),  # earlier versions ask it of the micro batch, later ones of 1 x 4
    ],
)
def test_unsloth_raises_a_micro_batch_to_a_whole_group(tmp_path: Path, micro: int, accumulation: int, group: int, real: int | None) -> None:
    found = run(tmp_path, notebook("import unsloth", GRPO.format(micro, accumulation, group)), "a.ipynb")
    assert sizes(found).get(Name.MICRO_BATCH_SIZE) == real


# The Trainer of transformers has a default of 8 samples per device and no accumulation.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'args = TrainingArguments("out")\n' + TRAINS, {"micro_batch_size": 8, "gradient_accumulation_steps": 1}, id="by its name"
        ),
        pytest.param(
            'Trainer(args=TrainingArguments("out")).train()\n', {"micro_batch_size": 8, "gradient_accumulation_steps": 1}, id="at once"
        ),
        pytest.param('args = TrainingArguments("out")\nargs.set_dataloader(train_batch_size=16)\n' + TRAINS, {}, id="a method sets it"),
        pytest.param("args = TrainingArguments(**options)\n" + TRAINS, {}, id="options that are not known"),
    ],
)
def test_arguments_of_a_trainer_that_trains_have_its_defaults(tmp_path: Path, text: str, expected: dict[str, int]) -> None:
    assert sizes(run(tmp_path, ARGUMENTS + text)) == expected


BOTH = {Name.MICRO_BATCH_SIZE: 4, Name.GRADIENT_ACCUMULATION_STEPS: 2}
STEPS = {Name.GRADIENT_ACCUMULATION_STEPS: 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("args.set_dataloader(train_batch_size=16)", {}, id="a method sets it"),
        pytest.param("for key in more:\n    setattr(args, key, more[key])", {}, id="setattr"),
        pytest.param("vars(args).update(more)", {}, id="its dictionary"),
        pytest.param("grow(args)", STEPS, id="a function"),
        pytest.param("grown = both(args)", STEPS, id="a function by another"),
        pytest.param("tune(args)", STEPS, id="a function of another file"),
        pytest.param("trainer = Trainer(model, args)\ntrainer.args.per_device_train_batch_size = best()", STEPS, id="through the trainer"),
        pytest.param("trainer = Trainer(model, args=args)\ntrainer.args.per_device_train_batch_size = 4", STEPS, id="through it, by name"),
        pytest.param("args = replace(args, per_device_train_batch_size=16)", STEPS, id="a copy with another batch"),
        pytest.param("args = replace(args, seed=7)", BOTH, id="a copy with another seed"),
        pytest.param("show(args)", BOTH, id="a function that reads"),
        pytest.param("setattr(args, 'seed', 7)", BOTH, id="another argument"),
        pytest.param("judge = Trainer(model, other)\njudge.args.per_device_train_batch_size = 8", BOTH, id="another trainer's"),
        pytest.param("for key in more:\n    setattr(model, key, more[key])", BOTH, id="another object"),
    ],
)
def test_arguments_that_change_otherwise_than_by_their_name(tmp_path: Path, text: str, expected: dict[str, int]) -> None:
    functions = (
        "from dataclasses import replace\nfrom tuning import tune\n"
        "def grow(given):\n    given.per_device_train_batch_size *= 2\n"
        "def both(each):\n    grow(each)\n    return each\n"
        "def show(given):\n    print(given.per_device_train_batch_size)\n"
    )
    made = 'args = TrainingArguments("out", per_device_train_batch_size=4, gradient_accumulation_steps=2)\n'
    (tmp_path / "tuning.py").write_text("def tune(given):\n    given.per_device_train_batch_size = fit(given)\n", encoding="utf-8")
    assert sizes(run(tmp_path, f"{ARGUMENTS}{functions}{made}{text}\n{TRAINS}")) == expected


@pytest.mark.parametrize(
    ("text", "title", "micro"),
    [
        pytest.param("from setfit import SetFitTrainer\nSetFitTrainer(model, batch_size=32)\n", "SetFit", 32, id="SetFit before 1.0"),
        pytest.param("from setfit import TrainingArguments\nTrainingArguments(batch_size=32)\n", "SetFit", 32, id="SetFit"),
        pytest.param(
            "from setfit import TrainingArguments\nTrainingArguments(batch_size=(32, 2))\n", "SetFit", None, id="SetFit, two phases"
        ),
        pytest.param(
            "from optimum.onnxruntime import ORTTrainingArguments\nORTTrainingArguments(per_device_train_batch_size=4)\n",
            "transformers Trainer",
            4,
            id="optimum",
        ),
    ],
)
def test_arguments_of_other_packages(tmp_path: Path, text: str, title: str, micro: int | None) -> None:
    found = run(tmp_path, text)
    assert (found.framework.title, sizes(found).get(Name.MICRO_BATCH_SIZE)) == (title, micro)


OWN_CLASS = """\
from transformers import TrainingArguments

class RLOOConfig(TrainingArguments):
    per_device_train_batch_size: int = 4
    generation_batch_size: int = None
    steps_per_generation: int = None

    def __post_init__(self):
        self.generation_batch_size = self.generation_batch_size or self.per_device_train_batch_size * self.world_size
        self.per_device_train_batch_size = min(self.per_device_train_batch_size, 8)
"""


@pytest.mark.parametrize(("package", "micro"), [("mine", None), ("trl", 4)])
def test_a_class_in_the_repository_of_its_library_is_as_its_table_says(tmp_path: Path, package: str, micro: int | None) -> None:
    text = f"from {package} import RLOOConfig, RLOOTrainer\nRLOOTrainer(args=RLOOConfig(steps_per_generation=8)).train()\n"
    inner = {f"{package}/__init__.py": "from .configs import RLOOConfig\n", f"{package}/configs.py": OWN_CLASS}
    found = report(tmp_path, {"train.py": text, **inner})
    assert [finding.code for finding in found.findings()] == []
    assert [sizes(each.runs[0]).get(Name.MICRO_BATCH_SIZE) for each in found.files if each.path == "train.py"] == [micro]


def test_json_names_the_cell_of_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nb.ipynb").write_text(notebook("import os", SFT + "SFTConfig(per_device_train_batch_size=4)"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command, key in (("show", "recipes"), ("check", "files")):
        main([command, "nb.ipynb", "--format", "json"])
        assert [each["part"] for each in json.loads(capsys.readouterr().out)[key]] == ["cell 2"]


def test_what_a_program_imports_from_elsewhere_is_not_looked_for_on_the_disk(tmp_path: Path) -> None:
    imports = "import torch\nfrom numpy import random\nfrom datasets import BATCH\nfrom own.sizes import ACCUMULATION\n"
    call = "SFTConfig(per_device_train_batch_size=BATCH, gradient_accumulation_steps=ACCUMULATION)\n"
    (tmp_path / "deep/own").mkdir(parents=True)
    (tmp_path / "deep/own/sizes.py").write_text("ACCUMULATION = 3\nbatch = 1\n")
    (tmp_path / "deep/train.py").write_text(SFT + imports + call)
    tree = Noted(tmp_path)
    (file,) = check(tree, (), Settings(), CommandLineHardware(), keep_runs=True).files
    assert sizes(file.runs[0]) == {Name.GRADIENT_ACCUMULATION_STEPS: 3}
    assert not [path for path in tree.asked if path.endswith(".py") and path not in tree.paths()]


def test_each_call_is_a_recipe_with_its_place(tmp_path: Path) -> None:
    call = "SFTConfig(per_device_train_batch_size={})\n"
    files = {"a.py": SFT + call.format(2) + call.format(4), "b.ipynb": notebook(SFT, "x = 1", call.format(8))}
    found = report(tmp_path, files).files
    assert [(file.path, file.document, file.which) for file in found] == [
        ("a.py", 1, " (line 2)"),
        ("a.py", 2, " (line 3)"),
        ("b.ipynb", 1, " (cell 3)"),
    ]
    assert [sizes(file.runs[0])[Name.MICRO_BATCH_SIZE] for file in found] == [2, 4, 8]


PROGRAM = (
    SFT
    + "MICRO = 4\nargs = SFTConfig(\n    per_device_train_batch_size=MICRO,\n    gradient_accumulation_steps=2,  # GBS {} on 8 GPUs\n)\n"
)


@pytest.mark.parametrize(("name", "wrap", "place"), [("train.py", str, ""), ("train.ipynb", notebook, " (cell 1, line 5)")])
def test_comments_are_checked_against_the_call(tmp_path: Path, name: str, wrap: object, place: str) -> None:
    assert callable(wrap)
    (right,) = report(tmp_path, {name: wrap(PROGRAM.format(64))}).files  # 4 x 2 x 8
    assert (right.verdict, right.findings) == ("verified", ())
    (wrong,) = report(tmp_path, {name: wrap(PROGRAM.format(128))}).files
    assert [finding.message for finding in wrong.findings] == [f"comment says 128, but the settings give 64{place}"]


@pytest.mark.parametrize(("name", "wrap"), [("train.py", str), ("train.ipynb", notebook)])
def test_a_fix_changes_the_literal_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wrap: object) -> None:
    assert callable(wrap)
    path = tmp_path / name
    path.write_text(wrap(PROGRAM.format(128)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["fix", "--fix-settings", name])
    assert path.read_text(encoding="utf-8") == wrap(PROGRAM.format(128)).replace("accumulation_steps=2", "accumulation_steps=4")


def test_a_launch_gives_options_that_another_file_parses(tmp_path: Path) -> None:
    parser = "import argparse\ndef parse():\n    p = argparse.ArgumentParser()\n    p.add_argument('--batch-size', type=int, default=8)\n"
    program = "from options import parse\nargs = parse()\nTrainingArguments('o', per_device_train_batch_size=args.batch_size)\n"
    files = {
        "options.py": parser + "    p.add_argument('--seed', type=int, default=1)\n    return p.parse_args()\n",
        "train.py": ARGUMENTS + program,
        "run.sh": "torchrun --nproc_per_node 8 train.py --batch-size 16\n",
    }
    runs = [each for file in report(tmp_path, files).files for each in file.runs]
    assert [each.geometry.value(Name.MICRO_BATCH_SIZE) for each in runs] == [16, 8]
