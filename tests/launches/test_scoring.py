"""A command that only scores or generates with a recipe's model is not a launch of the recipe."""

from pathlib import Path

import pytest

from .building import batches, checked, codes, recipe


@pytest.mark.parametrize(
    "program",
    ["scripts/run_generate_logprobs.py", "eval.py", "-m my.evaluate", "run-inference.py", "main_generation.py", "score.py", "decode.py",
     "-m my.inference.main", "-m my.inference.mlperf.offline_mode", "-m my.checkpoint_conversion.to_hub", "tools/convert_to_hub.py",
     "merge_lora.py", "-m my.quantize_checkpoint", "export_model.py", "sample_imagenet.py", "-m my.image_sample"],
)  # fmt: skip
def test_a_program_that_scores_is_not_a_launch(program: str, tmp_path: Path) -> None:
    commands = f"torchrun --nproc_per_node 1 {program} --config sft.yaml\ntorchrun --nproc_per_node 8 train.py --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})
    assert (codes(report), batches(report)) == ([], [128])


def test_a_program_that_samples_to_train_is_a_launch(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 train_rejection_sampling.py --config sft.yaml\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": command})) == [128]


@pytest.mark.parametrize("command", ["test", "validate", "predict", "eval"])
def test_a_sub_command_that_scores_is_not_a_launch(command: str, tmp_path: Path) -> None:
    """As a program on Lightning's command line has them."""
    commands = f"python main.py {command} --config sft.yaml\ntorchrun --nproc_per_node 8 -m my.main fit --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})
    assert (codes(report), batches(report)) == ([], [128])


@pytest.mark.parametrize("word", ["mode=test", "mode=test_large", "task=eval", "action=predict"])
def test_a_setting_that_says_so_is_not_a_launch(word: str, tmp_path: Path) -> None:
    commands = f"python main.py {word} --config sft.yaml\ntorchrun --nproc_per_node 8 main.py mode=train --config sft.yaml\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})) == [128]


_COMPOSED = """\
import hydra
{imports}
@hydra.main(config_path="configs", config_name="run", version_base="1.3")
def main(config):
    {does}

main()
"""


@pytest.mark.parametrize(
    ("imports", "does", "expected"),
    [
        pytest.param("from transformers import AutoModel", "AutoModel.from_pretrained(config.model).push_to_hub()", [], id="uploads"),
        pytest.param("from inner import merge", "merge(config)", [], id="merges in another file"),
        pytest.param("from inner import run", "run(config)", [16], id="trains in another file"),
        pytest.param("from transformers import Trainer", "Trainer(args=config).train()", [16], id="trains"),
        pytest.param("from package import run", "run(config.trainer)", [16], id="asks for the trainer"),
        pytest.param("import os", "print(os.getcwd())", [16], id="an example"),
    ],
)
def test_a_composed_program_without_a_word_of_training_is_not_a_launch(
    imports: str, does: str, expected: list[int], tmp_path: Path
) -> None:
    inner = (
        "from transformers import Trainer\n\ndef run(config):\n    Trainer(args=config).train()\n"
        if "run" in imports
        else "def merge(config): ...\n"
    )
    files = {
        "main.py": _COMPOSED.format(imports=imports, does=does),
        "inner.py": inner,
        "configs/run.yaml": "trainer:\n  " + recipe(comment="").replace("\n", "\n  "),
        "run.sh": "torchrun --nproc_per_node 1 main.py seed=1\n",
    }
    assert batches(checked(tmp_path, files)) == expected


@pytest.mark.parametrize("word", ["fit", "train", "test-run", "--test", "test.yaml", "mode=train", "mode=tester", "model=test"])
def test_another_word_behind_the_program_may_train(word: str, tmp_path: Path) -> None:
    commands = f"torchrun --nproc_per_node 8 main.py {word} --config sft.yaml\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})) == [128]


@pytest.mark.parametrize(
    "program", ["train_and_eval.py", "scripts/evaluator.py", "generate/train.py", "sft.py", "run_finetune_eval.py", "-m my.inference.train"]
)
def test_a_program_that_trains_is(program: str, tmp_path: Path) -> None:
    commands = f"torchrun --nproc_per_node 1 {program} --config sft.yaml\ntorchrun --nproc_per_node 8 train.py --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})
    assert (codes(report), batches(report)) == (["GBS309"], [16, 128])


def test_a_composed_program_that_is_called_training_is_a_launch(tmp_path: Path) -> None:
    program = _COMPOSED.format(imports="import torch", does="start(config)")
    configuration = "trainer:\n  " + recipe(comment="").replace("\n", "\n  ")
    files = {"train.py": program, "merge.py": program, "configs/run.yaml": configuration}
    launch = "torchrun --nproc_per_node 1 {}.py seed=1\n"
    assert batches(checked(tmp_path, {**files, "run.sh": launch.format("train")})) == [16]
    assert batches(checked(tmp_path, {**files, "run.sh": launch.format("merge")})) == []
