"""PPOTrainer of trl before 0.12: a batch of completions for each process, learnt from in mini batches that accumulate."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.building import batches, checked, codes, launched

PROGRAM = """\
from trl import {}, PPOTrainer

config = PPOConfig({})
trainer = PPOTrainer(config, model, dataset=dataset)
for batch in trainer.dataloader:
    trainer.step(batch["query"], generate(batch), rewards)
"""
OLD = "PPOConfig"


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        pytest.param("output_dir='o', per_device_train_batch_size=4, batch_size=8", OLD, id="the arguments of the Trainer, since 0.12"),
        pytest.param("num_mini_batches=2, batch_size=8", OLD, id="parts of a batch, since 0.12"),
        pytest.param("batch_size=8, mini_batch_size=2", "Something as PPOConfig", id="another class"),
    ],
)
def test_others_are_not_read(tmp_path: Path, arguments: str, imported: str) -> None:
    program = PROGRAM.format(imported, arguments)
    assert launched(checked(tmp_path, {"ppo.py": program, "run.sh": "accelerate launch --num_processes 4 ppo.py\n"})) == []


@pytest.mark.parametrize(
    ("arguments", "batch", "rollout"),
    [
        pytest.param("batch_size=32", None, 128, id="mini batches have 128 completions now, and once had one"),
        pytest.param("mini_batch_size=2", 8, None, id="a batch has 128 completions now, and once had 256"),
        pytest.param("batch_size=32, mini_batch_size=2, gradient_accumulation_steps=4", 32, 128, id="2 x 4 x 4 of 32 x 4"),
        pytest.param("batch_size=32, mini_batch_size=8", 32, 128, id="8 x 4: it does not accumulate"),
        pytest.param("batch_size=16, forward_batch_size=2, mini_batch_size=8", 8, 64, id="the old name of mini batches wins"),
    ],
)
def test_a_step_takes_mini_batches(tmp_path: Path, arguments: str, batch: int | None, rollout: int | None) -> None:
    report = checked(tmp_path, {"ppo.py": PROGRAM.format(OLD, arguments), "run.sh": "accelerate launch --num_processes 4 ppo.py\n"})
    generated = launched(report)[0].geometry.get(Name.GENERATION_BATCH_SIZE)
    assert batches(report) == [batch]
    assert (generated.value if isinstance(generated, Quantity) else None) == rollout


@pytest.mark.parametrize(("version", "expected"), [("0.11.4", ["GBS204"]), ("0.5.0", [])])
def test_it_needs_whole_mini_batches(tmp_path: Path, version: str, expected: list[str]) -> None:
    files = {"ppo.py": PROGRAM.format(OLD, "batch_size=24, mini_batch_size=16"), "requirements.txt": f"trl=={version}\n"}
    assert codes(checked(tmp_path, files)) == expected
