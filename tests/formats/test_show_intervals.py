"""How often a run saves and evaluates, as `gbs show` prints it."""

from pathlib import Path

import pytest

from pytest_gbs.cli import main

RECIPE = "model_name_or_path: my/model\nmax_length: 8\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2  # on 8 GPUs\n"


@pytest.mark.parametrize("hardware", [[], ["--world-size", "8"]], ids=["GPUs unknown", "8 GPUs"])
def test_a_pair_is_two_sequences(hardware: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dpo.yaml"
    path.write_text(RECIPE.replace("  # on 8 GPUs", "") + "beta: 0.1\n", encoding="utf-8")
    assert main(["show", str(path), *hardware]) == 0
    (tokens,) = (text for text in capsys.readouterr().out.splitlines() if "tokens per step" in text)
    assert tokens.endswith("2 sequences in each pair")
    # 4 x 2 x 8 pairs of 2 sequences of 8 tokens
    assert ("1,024" in tokens or "1024" in tokens) == bool(hardware)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        pytest.param("save_strategy: steps\nsave_steps: 0.05\n", "save_steps: 0.05, a share of the run", id="a ratio"),
        pytest.param("save_steps: 0.05\n", "save_steps: 0.05, a share of the run", id="a ratio, steps by default"),
        pytest.param("save_strategy: steps\nsave_steps: 100\n", "every 100 steps = 6,400 samples", id="steps"),
        pytest.param("save_strategy: epoch\nsave_steps: 100\n", "every epoch", id="epochs"),
        pytest.param("save_strategy: 'no'\n", "never, save_strategy: 'no'", id="never"),
        pytest.param("save_strategy: best\n", "save_strategy: best", id="when it is better than before"),
    ],
)
def test_saves_are_shown_as_they_happen(more: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sft.yaml"
    path.write_text(RECIPE + more, encoding="utf-8")
    assert main(["show", str(path)]) == 0
    saves = [text for text in capsys.readouterr().out.splitlines() if text.strip().startswith("saves")]
    assert [text.split("saves", 1)[1].strip() for text in saves] == [line]


def test_what_a_command_line_turns_off_is_shown_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scripts of hkust-nlp/deita end with flags like these."""
    (tmp_path / "sft.py").write_text(
        "from transformers import HfArgumentParser, TrainingArguments\n"
        "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n",
        encoding="utf-8",
    )
    words = '--output_dir o --per_device_train_batch_size 4 --save_strategy "no" --eval_strategy no'
    (tmp_path / "run.sh").write_text(f"torchrun --nproc_per_node 8 sft.py {words}\n", encoding="utf-8")
    assert main(["show", str(tmp_path / "run.sh")]) == 0
    lines = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if "_strategy" in line]
    assert lines == ["-   eval_strategy: no", "never, save_strategy: no"]


def test_an_interval_that_a_program_computes_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "from trl import SFTConfig, SFTTrainer\n\ndef main(config):\n"
        "    SFTTrainer(args=SFTConfig(output_dir='o', per_device_train_batch_size=4, save_steps=config.save)).train()\n",
        encoding="utf-8",
    )
    assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "micro batch size           4" in shown
    assert "a share of the run" not in shown


NOTEBOOK = """\
{{"cells": [{{"cell_type": "code", "metadata": {{}}, "outputs": [], "execution_count": null, "source": [
"from trl import SFTConfig\\n", "steps = read()\\n",
"args = SFTConfig(per_device_train_batch_size=4, {more})\\n"]}}],
"metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}
"""


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        pytest.param('save_strategy=\\"no\\"', ["never, save_strategy: 'no'"], id="never"),
        pytest.param('save_strategy=\\"steps\\", save_steps=steps', [], id="steps that are computed"),
        pytest.param('save_strategy=\\"steps\\" if steps else \\"no\\"', [], id="computed"),
    ],
)
def test_saves_of_a_notebook(more: str, lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(NOTEBOOK.format(more=more), encoding="utf-8")
    assert main(["show", str(path)]) == 0
    saves = [text for text in capsys.readouterr().out.splitlines() if text.strip().startswith("saves")]
    assert [text.split("saves", 1)[1].strip() for text in saves] == lines
