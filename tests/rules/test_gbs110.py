"""Model cards against themselves."""

from pathlib import Path

import pytest

from tests.launches.building import checked


def _messages(folder: Path, text: str) -> list[str]:
    return [f.message for file in checked(folder, {"README.md": text}).files for f in file.findings]


@pytest.mark.parametrize(
    "card",
    [
        pytest.param("- train_batch_size: 8\n- eval_batch_size: 4\n- num_devices: 4\n- total_train_batch_size: 32\n", id="no accumulation"),
        pytest.param("- train_batch_size: 8\n- gradient_accumulation_steps: 2\n- total_train_batch_size: 16\n", id="one device"),
        pytest.param("- train_batch_size: 8\n- num_devices: 4\n- total_eval_batch_size: 16\n", id="no total"),
        pytest.param(
            "- train_batch_size: 1\n- distributed_type: IPU\n- gradient_accumulation_steps: 16\n- total_train_batch_size: 64\n", id="IPUs"
        ),
        pytest.param("- train_batch_size: 8\n- distributed_type: tpu\n- total_train_batch_size: 64\n", id="TPUs"),
        pytest.param("- num_devices: 4\n- total_train_batch_size: 16\n", id="no batch of a device"),
        pytest.param("- train_batch_size: 8\n\nText.\n\n- total_train_batch_size: 16\n", id="two lists"),
        pytest.param("```\n- train_batch_size: 8\n- total_train_batch_size: 16\n```\n", id="a block of code"),
    ],
)
def test_it_stays_silent(card: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, card) == []


def test_it_fires_once_for_each_card(tmp_path: Path) -> None:
    card = "- train_batch_size: 8\n- distributed_type: multi-GPU\n- num_devices: 4\n- total_train_batch_size: 64\n"
    assert _messages(tmp_path, card) == ["model card says total_train_batch_size 64, but 8 train_batch_size x 4 num_devices = 32"]
