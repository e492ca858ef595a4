"""Trainers with few keys: mistral-finetune, EasyLM, nanochat, and the Trainer's arguments in a section of somebody's file."""

from __future__ import annotations

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Name

from .building import document, sizes, title

MISTRAL = "data: {instruct_data: a.jsonl}\nmodel_id_or_path: my/model\nrun_dir: out\nseq_len: 8192\n"
EASY = "train_dataset: {type: %s, json_dataset: {batch_size: 2048, seq_length: 2048}}\n"
SECTION = "%s: {per_device_train_batch_size: 4, gradient_accumulation_steps: 2, learning_rate: 1.0e-5}\n"
NANO = "depth: 24\ndevice_batch_size: %s\ntotal_batch_size: %s\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("model_id_or_path: my/model\nbatch_size: 8\n", id="somebody's inference"),
        pytest.param("data: a\nmodel_id_or_path: my/model\nbatch_size: 8\nmax_tokens: 64\n", id="no place for a run"),
        pytest.param("lm_server: {batch_size: 4}\nload_llama_config: 7b\n", id="EasyLM serves"),
        pytest.param("test_dataset: {type: json, json_dataset: {batch_size: 4}}\n", id="EasyLM evaluates"),
        pytest.param("eval_args: {per_device_train_batch_size: 4, learning_rate: 1.0}\n", id="a section that does not train"),
        pytest.param("training_args: {per_device_eval_batch_size: 4, output_dir: out}\n", id="a section that evaluates"),
        pytest.param("training_args: {per_device_train_batch_size: 4}\n", id="nothing else that trains"),
        pytest.param(NANO % (32, 524288), id="nanochat's flags without its program"),
    ],
)
def test_look_alikes_are_no_recipes(text: str) -> None:
    found = title(text) or ""
    assert not any(name in found for name in ("mistral", "EasyLM", "nanochat", "("))


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(MISTRAL, 8, 8, id="one row for each GPU"),
        pytest.param(MISTRAL + "batch_size: 2\nnum_microbatches: 4\n", 8, 64, id="2 x 4 x 8 rows"),
        pytest.param(EASY % "json", 512, 2048, id="the same batch on any mesh"),
        pytest.param(EASY % "json" + "optimizer: {accumulate_gradient_steps: 2}\n", 512, 4096, id="two batches for a step"),
        pytest.param(EASY % "huggingface", 512, 8, id="the default of the other dataset"),
        pytest.param(SECTION % "training_args", 8, 64, id="training_args"),
        pytest.param(SECTION % "train", 8, 64, id="train"),
        pytest.param("training_args: {per_device_train_batch_size: 4, learning_rate: 1.0}\n", 8, None, id="no accumulation said"),
    ],
)
def test_batches_follow_from_few_keys(text: str, world: int, expected: int | None) -> None:
    assert sizes(text, world_size=world).value(Name.GLOBAL_BATCH_SIZE) == expected


# scripts/base_train.py: 32 rows x 2,048 tokens x 8 GPUs = 524,288 tokens.
@pytest.mark.parametrize(
    ("device", "total", "expected"),
    [(32, 524288, [Verified]), (16, 524288, [Verified]), (32, -1, []), (32, 500000, [Finding]), (48, 524288, [Finding])],
)
def test_nanochat_holds_whole_micro_batches(device: int, total: int, expected: list[type]) -> None:
    found = recognise(document(NANO % (device, total)), Program("scripts/base_train", alone=True))
    assert found is not None
    assert (found.title, found.unit) == ("nanochat (pretraining)", "tokens")
