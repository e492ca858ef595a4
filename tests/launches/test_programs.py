"""A launch without a recipe has a framework's name only if its program is the framework's, or a file that imports it."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched

FLAGS = "--model_name_or_path m --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --learning_rate 1e-5"
RUN = f"torchrun --nproc_per_node 8 train.py {FLAGS}"
PARSER = "import argparse\nparser = argparse.ArgumentParser()\n"


@pytest.mark.parametrize(
    ("command", "program"),
    [
        pytest.param(RUN, None, id="no such file"),
        pytest.param(RUN, "import torch\nfrom accelerate import Accelerator\n", id="a loop of its own"),
        pytest.param(RUN, "from transformers import HfArgumentParser\n", id="the parser alone"),
        pytest.param(RUN, "print 'transformers.Trainer'\n", id="not Python any more"),
        pytest.param(RUN, "# from trl import SFTTrainer\nX = 'import trl'\n", id="words in comments and texts"),
        pytest.param(
            "python train.py --base_model m --batch_size 128 --micro_batch_size 4 --num_epochs 3 --learning_rate 1e-4",
            "import fire\nimport transformers\ntransformers.Trainer()\n",
            id="the flags of axolotl",
        ),
        pytest.param(
            "python train.py --micro-batch-size 2 --global-batch-size 64",
            "from megatron import get_args\n",
            id="what evaluates imports it too",
        ),
        pytest.param(
            "python train.py --model_name_or_path m --learning_rate 1e-5 --output_dir out",
            "from transformers import HfArgumentParser, TrainingArguments\n",
            id="the program may set the batch itself",
        ),
    ],
)
def test_it_is_unknown(command: str, program: str | None, tmp_path: Path) -> None:
    files = {"run.sh": f"{command}\n", **({"train.py": program} if program is not None else {})}
    report = checked(tmp_path, files)
    assert (batches(report), codes(report)) == ([], [])


@pytest.mark.parametrize(
    ("program", "title"),
    [
        pytest.param("import transformers\ntransformers.TrainingArguments()\n", "transformers Trainer", id="by a module"),
        pytest.param("from transformers import (\n    Trainer,\n)\n", "transformers Trainer", id="in several lines"),
        pytest.param("from transformers import TrainingArguments\nfrom trl import SFTTrainer\n", "TRL (SFT)", id="TRL comes first"),
        pytest.param("from trl.trainer.dpo_trainer import DPOTrainer\n", "TRL (DPO)", id="from within TRL"),
        pytest.param("import trl\ntrl.RewardTrainer()\n", "TRL (Reward)", id="another trainer"),
        pytest.param("from src.run import main\nmain()\n", "TRL (SFT)", id="a file that only starts another"),
    ],
)
def test_a_file_says_by_its_imports(program: str, title: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.sh": f"{RUN}\n", "train.py": program, "src/run.py": "from trl import SFTTrainer\n"})
    (run,) = launched(report)
    assert (run.framework.title, run.geometry.global_batch_size) == (title, 64)  # 4 x 2 x 8


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(f"{PARSER}from transformers import TrainingArguments\n", id="a parser of its own"),
        pytest.param(
            "import transformers\nclass Mine(transformers.TrainingArguments):\n    gradient_accumulation_steps: int = 16\n",
            id="its own field",
        ),
    ],
)
def test_what_a_program_may_set_itself_is_unknown(program: str, tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 train.py --per_device_train_batch_size 4 --learning_rate 1e-5\n"
    assert batches(checked(tmp_path, {"run.sh": command, "train.py": program})) == [None]


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        pytest.param(f"torchrun --nproc_per_node 8 -m trl.scripts.sft {FLAGS} --dataset_name d", 64, id="a module"),
        pytest.param(f"torchrun --nproc_per_node 8 $TRL/trl/scripts/sft.py {FLAGS} --dataset_name d", 64, id="a file elsewhere"),
        pytest.param("litgpt finetune_lora my/model --train.global_batch_size 32 --train.micro_batch_size 2 --devices 4", 32, id="litgpt"),
        pytest.param(
            f"FORCE_TORCHRUN=1 NPROC_PER_NODE=8 llamafactory-cli train --stage sft --do_train --finetuning_type lora {FLAGS}",
            64,
            id="LLaMA-Factory",
        ),
        pytest.param(f"trl grpo --num_processes 8 {FLAGS} --num_generations 8 --dataset_name d", 64, id="GRPO"),
        pytest.param(
            "torchrun --nproc_per_node 8 $M/pretrain_gpt.py --num-layers 2 --micro-batch-size 2 --global-batch-size 64 --train-iters 9",
            64,
            id="Megatron-LM",
        ),
    ],
)
def test_a_program_of_the_framework(command: str, batch: int, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.sh": f"{command}\n"})) == [batch]


def test_a_program_that_imports_grpo(tmp_path: Path) -> None:
    program = "from trl import GRPOConfig, GRPOTrainer, TrlParser\n"
    report = checked(tmp_path, {"run.sh": f"{RUN} --num_generations 8\n", "train.py": program})
    (run,) = launched(report)
    assert (run.framework.unit, run.geometry.global_batch_size) == ("completions", 64)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param("--batch_size 16", [None], id="a batch that its framework does not take"),
        pytest.param("--bsz 16", [None], id="in short"),
        pytest.param("--batch_size 16 --per_device_train_batch_size 4", [4 * 2 * 8], id="beside the one that it takes"),
        pytest.param("--eval_batch_size 16", [8 * 2 * 8], id="of evaluation"),
        pytest.param("--per-device-train-batch-size 4", [4 * 2 * 8], id="with dashes"),
        pytest.param("", [8 * 2 * 8], id="none"),
    ],
)
def test_a_program_that_is_called_like_an_example_may_have_a_batch_of_its_own(
    tmp_path: Path, flags: str, expected: list[int | None]
) -> None:
    usual = "--model_name_or_path m --dataset_name d --output_dir o --gradient_accumulation_steps 2"
    run = f"torchrun --nproc_per_node 8 run_clm.py {usual} {flags}\n"
    assert batches(checked(tmp_path, {"run.sh": run})) == expected
