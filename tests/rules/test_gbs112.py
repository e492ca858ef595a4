"""Saved outputs of a notebook, held against what its source gives now."""

import json
from pathlib import Path

import pytest

from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.rule import Example
from tools.examples import check_example

IMPORTS = "from trl import SFTConfig, SFTTrainer\n"
CONFIG = "args = SFTConfig(per_device_train_batch_size=4, gradient_accumulation_steps=2)\n"
TRAINS = "trainer = SFTTrainer(model, args=args)\ntrainer.train()"
GRPO = """\
import unsloth
from trl import GRPOConfig, GRPOTrainer
args = GRPOConfig(per_device_train_batch_size=1, gradient_accumulation_steps=1, num_generations=6)
trainer = GRPOTrainer(model, args=args)
trainer.train()
"""


def _unsloth(micro: int, steps: int, gpus: int = 1, used: str = " used") -> str:
    return (
        f"==((====))==  Unsloth - 2x faster free finetuning | Num GPUs{used} = {gpus}\n"
        f"O^O/ \\_/ \\    Batch size per device = {micro:,} | Gradient accumulation steps = {steps}\n"
    )


def _transformers(micro: int, steps: int) -> str:
    return (
        "***** Running training *****\n"
        f"  Instantaneous batch size per device = {micro:,}\n"
        f"  Total train batch size (w. parallel, distributed & accumulation) = {micro * steps:,}\n"
        f"  Gradient Accumulation steps = {steps}\n"
    )


def _notebook(*cells: tuple[str, str], kind: str = "code") -> str:
    made = [
        {
            "cell_type": kind,
            "metadata": {},
            "outputs": [{"name": "stderr", "output_type": "stream", "text": printed.splitlines(keepends=True)}] if printed else [],
            "source": code.splitlines(keepends=True),
        }
        for code, printed in cells
    ]
    return json.dumps({"cells": made, "nbformat": 4}, indent=1)


def _reported(folder: Path, text: str) -> list[str]:
    report = check_example(Example((("train.ipynb", text),), ("--select", "GBS112")), folder)
    assert all(finding.severity == Severity.INFO for finding in report.findings())
    assert not report.internal
    return [finding.message for finding in report.findings()]


ALL = IMPORTS + CONFIG + TRAINS


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_notebook((ALL, "")), id="no output"),
        pytest.param(_notebook((ALL, _unsloth(4, 2))), id="the same"),
        pytest.param(_notebook((ALL, _transformers(4, 2))), id="the same, in the words of transformers"),
        pytest.param(_notebook((IMPORTS + CONFIG, ""), (TRAINS, _unsloth(4, 2))), id="trains in another cell"),
        pytest.param(_notebook((ALL, _transformers(8, 2))), id="may be of two GPUs together"),
        pytest.param(_notebook((ALL, _unsloth(8, 2, used=""))), id="a count of processes, not of GPUs"),
        pytest.param(_notebook((ALL, _unsloth(8, 2, gpus=2))), id="two GPUs together"),
        pytest.param(_notebook((ALL, _unsloth(4, 2).partition(" | Grad")[0])), id="cut off behind the micro batch"),
        pytest.param(_notebook((ALL, "O^O    Batch size per device = ")), id="cut off before it"),
        pytest.param(_notebook((ALL, "Batch size per device = 9999999999999999")), id="no size of a batch"),
        pytest.param(_notebook((GRPO, _unsloth(6, 1))), id="rewritten to a group"),
        pytest.param(_notebook((GRPO, _unsloth(1, 1))), id="by a version that does not"),
        pytest.param(_notebook((IMPORTS + CONFIG.replace("2)", "x)") + TRAINS, _unsloth(4, 16))), id="accumulation is not known"),
        pytest.param(_notebook((IMPORTS + CONFIG.replace("=4", "=size()") + TRAINS, _unsloth(8, 2))), id="micro batch is not known"),
        pytest.param(
            _notebook((IMPORTS + CONFIG.replace("2)", "2, auto_find_batch_size=True)") + TRAINS, _unsloth(1, 2))), id="finds its own"
        ),
        pytest.param(
            _notebook((ALL, _unsloth(8, 1)), (CONFIG.replace("=4", "=8").replace("=2", "=1") + TRAINS, "")), id="that of another recipe"
        ),
        pytest.param(_notebook((ALL, ""), ("other = SFTTrainer(model)\nother.train()", _unsloth(8, 1))), id="a trainer without a recipe"),
        pytest.param(_notebook((ALL, ""), ("!python train.py", _transformers(8, 1))), id="what a command printed"),
        pytest.param(_notebook((ALL, ""), ("%%bash\npython train.py", _transformers(8, 1))), id="what a cell of commands printed"),
        pytest.param(_notebook((ALL, ""), ("trainer.hyperparameter_search()", _transformers(8, 1))), id="what a search printed"),
        pytest.param(_notebook((ALL + "\ntrainer.args.per_device_train_batch_size = 1", _unsloth(1, 2))), id="set later"),
        pytest.param(
            _notebook((ALL, ""), ("print(f'Instantaneous batch size per device = {n}')", _transformers(1, 1))),
            id="a loop of its own prints it",
        ),
        pytest.param(_notebook((ALL, ""), ("batch = = 1", _unsloth(8, 1))), id="a cell that does not parse"),
        pytest.param(
            _notebook((ALL, "")).replace("4,", "4, # Batch size per device = 8 | Gradient accumulation steps = 1"), id="a comment"
        ),
        pytest.param(_notebook((ALL, ""), (_unsloth(8, 1), ""), kind="markdown"), id="a text"),
    ],
)
def test_outputs_that_some_run_of_the_source_prints_are_in_order(text: str, tmp_path: Path) -> None:
    assert _reported(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(_notebook((ALL, _unsloth(8, 1))), "printed 8 x 1 = 8 per device, but the source gives 4 x 2 = 8", id="both"),
        pytest.param(_notebook((ALL, _unsloth(4, 4))), "printed 4 x 4 = 16 per device, but the source gives 4 x 2 = 8", id="accumulation"),
        pytest.param(_notebook((ALL, _unsloth(8, 2))), "printed 8 x 2 = 16 per device, but the source gives 4 x 2 = 8", id="one GPU"),
        pytest.param(
            _notebook((ALL, _transformers(2, 2))), "printed 2 x 2 = 4 per device, but the source gives 4 x 2 = 8", id="transformers"
        ),
        pytest.param(
            _notebook((ALL.replace("=4", "=2048"), _transformers(1024, 2))),
            "printed 1,024 x 2 = 2,048 per device, but the source gives 2,048 x 2 = 4,096",
            id="thousands",
        ),
        pytest.param(
            _notebook((ALL, _unsloth(2, 2).partition(" | Grad")[0])),
            "printed micro batch 2 per device, but the source gives 4 x 2 = 8",
            id="cut off",
        ),
        pytest.param(
            _notebook((GRPO, _unsloth(6, 4))), "printed 6 x 4 = 24 per device, but the source gives accumulation 1", id="not rewritten"
        ),
        pytest.param(
            _notebook((ALL, ""), (CONFIG.replace("=4", "=8") + TRAINS, _unsloth(1, 1))),
            "printed 1 x 1 = 1 per device, but the source gives no such batch",
            id="two recipes",
        ),
        pytest.param(
            _notebook(("%%time\n" + ALL, _unsloth(8, 1))), "printed 8 x 1 = 8 per device, but the source gives 4 x 2 = 8", id="timed"
        ),
    ],
)
def test_an_output_of_another_run_is_reported(text: str, expected: str, tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, text)
    assert expected in message
    assert message.endswith(("(output of cell 1)", "(output of cell 2)"))


def test_a_run_that_was_repeated_is_reported_once(tmp_path: Path) -> None:
    assert len(_reported(tmp_path, _notebook((ALL, _unsloth(8, 1)), ("trainer.train()", _unsloth(8, 1))))) == 1


def test_many_outputs_are_reported_up_to_a_limit(tmp_path: Path) -> None:
    printed = "".join(_transformers(1, number) for number in range(3, 400))
    assert 0 < len(_reported(tmp_path, _notebook((ALL, printed)))) <= 50
