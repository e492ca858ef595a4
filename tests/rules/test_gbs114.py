"""Factors of the batch that comments state on lines of their own."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.settings import Settings
from tests.launches.building import checked
from tests.support import check

RECIPE = "model_name_or_path: my/model\ndataset_name: my/data\nmax_length: 4096\n"
SETTINGS = RECIPE + "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
PROGRAM = (
    "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
    "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\nTrainer(args=args).train()\n"
)


def reported(folder: Path, files: dict[str, str]) -> list[str]:
    return [f.message for file in checked(folder, files).files for f in file.findings if f.code == "GBS114"]


def launch(micro: str, accumulation: str) -> str:
    sizes = f"--per_device_train_batch_size {micro} --gradient_accumulation_steps {accumulation}"
    return f"torchrun --nproc_per_node 2 train.py --output_dir x {sizes}\n"


HEAD = "# number of gpus: 2\n# batch size per gpu: 4\n# gradient accumulation steps: 2\n"

SILENT = {
    "what is set": {"sft.yaml": "# batch size per GPU: 4\n# gradient accumulation steps: 2\n" + SETTINGS},
    "with the accumulation": {"sft.yaml": "# batch size per GPU: 8\n" + SETTINGS},
    "a setting that is commented out": {"sft.yaml": "# gradient_accumulation_steps: 16\n" + SETTINGS},
    "a setting of another program": {"sft.yaml": "# gradient-accumulation-steps: 16\n" + SETTINGS},
    "two numbers": {"sft.yaml": "# gradient accumulation steps: 2\n# on the small cluster\n# gradient accumulation steps: 4\n" + SETTINGS},
    "advice": {"sft.yaml": "# if you run out of memory, use gradient accumulation steps: 8\n" + SETTINGS},
    "evaluation": {"sft.yaml": "# eval batch size per GPU: 16\n" + SETTINGS},
    "no setting": {"sft.yaml": "# batch size per GPU: 4\n" + RECIPE + "per_device_train_batch_size: auto\n"},
    "a sentence": {"sft.yaml": "# gradient accumulation steps: 8 would be better\n" + SETTINGS},
    "a launch": {"train.py": PROGRAM, "run.sh": HEAD + launch("4", "2")},
    "two launches": {"train.py": PROGRAM, "run.sh": HEAD + "set -e\n" + launch("4", "2") + launch("8", "1")},
    "what the user chooses": {"train.py": PROGRAM, "run.sh": HEAD + "MICRO=${MICRO:-8}\n" + launch("$MICRO", "2")},
    "what is not known": {"train.py": PROGRAM, "run.sh": HEAD + launch("$1", "2")},
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_it_stays_silent(tmp_path: Path, files: dict[str, str]) -> None:
    assert reported(tmp_path, files) == []


FIRING = {
    "the micro batch": (
        {"sft.yaml": "# batch size per GPU: 16\n" + SETTINGS},
        ["comment says micro batch size 16, but per_device_train_batch_size is 4"],
    ),
    "the accumulation": (
        {"sft.yaml": "# - gradient accumulation steps: 4\n" + SETTINGS},
        ["comment says accumulation 4, but gradient_accumulation_steps is 2"],
    ),
    "a launch": (
        {"train.py": PROGRAM, "run.sh": HEAD + launch("8", "1")},
        [
            "comment says micro batch size 4, but per_device_train_batch_size is 8",
            "comment says accumulation 2, but gradient_accumulation_steps is 1",
        ],
    ),
    "right above one of two": (
        {"train.py": PROGRAM, "run.sh": launch("4", "2") + "\n# gradient accumulation steps: 2\n" + launch("4", "4")},
        ["comment says accumulation 2, but gradient_accumulation_steps is 4"],
    ),
    "defaults that give the batch that is stated": (
        {
            "train.py": PROGRAM,
            "run.sh": HEAD + "# total batch size: 16\nMICRO=${MICRO:-8}\n" + launch("$MICRO", "$((16 / MICRO / 2))"),
        },
        [
            "comment says micro batch size 4, but per_device_train_batch_size is 8",
            "comment says accumulation 2, but gradient_accumulation_steps is 1",
        ],
    ),
}


@pytest.mark.parametrize(("files", "messages"), FIRING.values(), ids=FIRING)
def test_it_names_the_setting(tmp_path: Path, files: dict[str, str], messages: list[str]) -> None:
    assert reported(tmp_path, files) == messages


def test_where_the_batch_is_wrong_that_finding_names_the_factors(tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": PROGRAM, "run.sh": HEAD + "# total batch size: 16\n" + launch("8", "2")})
    assert [f.code for file in report.files for f in file.findings] == ["GBS301"]


def test_a_true_factor_is_no_claim_of_a_batch(tmp_path: Path) -> None:
    (tmp_path / "sft.yaml").write_text("# batch size per GPU: 4\n" + SETTINGS, encoding="utf-8")
    (file,) = check(WorkTree(tmp_path), (), Settings(), Given()).files
    assert file.verdict == "unclaimed"
