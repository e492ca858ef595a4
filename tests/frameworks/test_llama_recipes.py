"""llama-recipes: options of a dataclass that fire reads; numbers worked out by hand: batch of a rank x accumulation x ranks."""

from pathlib import Path

import pytest

from tests.launches.building import checked, titled_batches

RUN = "torchrun --nnodes 2 --nproc_per_node 4"
USUAL = "--model_name meta/8B --use_peft --peft_method lora"


def trained(folder: Path, command: str) -> list[tuple[str, int | None]]:
    return titled_batches(checked(folder, {"run.sh": f"{command}\n"}))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"{RUN} finetuning.py --model_name a --batch_size 4 --lr 1e-4", id="another finetuning.py"),
        pytest.param(f"{RUN} train.py {USUAL} --enable_fsdp --batch_size_training 4", id="another program"),
        pytest.param(f"{RUN} finetuning.py {USUAL} --enable_fsdp --batch_size_training 64 --micro_batch_size 4", id="the first versions"),
        pytest.param("python inference.py --model_name a --use_peft --batch_size_training 4", id="inference"),
    ],
)
def test_programs_of_others_say_nothing(tmp_path: Path, command: str) -> None:
    assert trained(tmp_path, command) == []


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        # Reduced from krishnateja95/LangVision-NAS, finetuning/finetune_vision_model.md: 2 x 1 x 8.
        (f"{RUN} recipes/finetuning.py --enable_fsdp --batch_size_training 2 {USUAL}", 16),
        (f"{RUN} -m llama_recipes.finetuning --enable_fsdp --batch_size_training=2 --gradient_accumulation_steps 4 {USUAL}", 64),
        (f"{RUN} finetuning.py --enable_fsdp True --batch_size_training 2 {USUAL}", 16),
        (f"python finetuning.py --batch_size_training 2 --gradient_accumulation_steps 4 {USUAL}", 8),
        (f"{RUN} finetuning.py --batch_size_training 2 {USUAL}", 2),  # without FSDP each process trains by itself
        (f"{RUN} finetuning.py --enable_fsdp --batch_size_training $N {USUAL}", None),
    ],
)
def test_a_rank_takes_the_batch_with_fsdp(tmp_path: Path, command: str, batch: int | None) -> None:
    assert trained(tmp_path, command) == [("llama-recipes", batch)]
