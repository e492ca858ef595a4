"""Safe RLHF: modules that deepspeed starts; numbers worked out by hand from their flags."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

RUN = "deepspeed --num_nodes=1 --num_gpus=8 --module"
SFT = "safe_rlhf.finetune --train_datasets alpaca --model_name_or_path llama --epochs 3"
PPO = "safe_rlhf.algorithms.ppo_lag --actor_model_name_or_path sft --reward_model_name_or_path rm"
SUPERVISED, LAGRANGE, TRAINER = "Safe RLHF (supervised)", "Safe RLHF (PPO)", "Safe RLHF (transformers Trainer)"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(f"{RUN} mine.finetune --train_datasets alpaca --epochs 3 --per_device_train_batch_size 4", [], id="another package"),
        pytest.param(f"{RUN} safe_rlhf.serve.cli --model_name_or_path sft", [], id="nothing is trained"),
        pytest.param(f"{RUN} safe_rlhf.evaluate.reward --model_name_or_path sft --train_datasets a", [], id="a model is evaluated"),
        pytest.param(f"{RUN} {SFT} --per_device_train_batch_size 4 --gradient_accumulation_steps 8", [(SUPERVISED, 256)], id="SFT"),
        pytest.param(f"{RUN} {SFT}", [(SUPERVISED, 128)], id="what the parser has by default"),
        pytest.param(
            f"{RUN} safe_rlhf.values.reward --train_datasets a --per_device_train_batch_size 2", [(SUPERVISED, 16)], id="a reward model"
        ),
        pytest.param(
            f"{RUN} {PPO} --per_device_prompt_batch_size 16 --num_return_sequences 2 --per_device_train_batch_size 8 --ptx_datasets alpaca",
            [(LAGRANGE, 64)],
            id="PPO, half of its micro batches are text",
        ),
        pytest.param(
            "torchrun --nproc_per_node 4 -m safe_rlhf.finetune.huggingface --datasets alpaca --num_train_epochs 3 --output_dir o",
            [(TRAINER, 32)],
            id="the Trainer takes 8 by default",
        ),
    ],
)
def test_batches(command: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.sh": f"{command}\n"})
    assert (titled_batches(report), codes(report)) == (expected, [])


@pytest.mark.parametrize(("micro", "found"), [(8, []), (32, []), (6, ["GBS204"]), (64, ["GBS204"])])
def test_completions_make_whole_micro_batches(micro: int, found: list[str], tmp_path: Path) -> None:
    # 16 prompts x 2 sequences of each
    command = f"{RUN} {PPO} --per_device_prompt_batch_size 16 --num_return_sequences 2 --per_device_train_batch_size {micro}"
    assert codes(checked(tmp_path, {"run.sh": f"{command}\n"})) == found
