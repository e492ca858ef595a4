"""oumi: one process for `oumi train`, and what the cluster has for `oumi distributed`."""

import pytest

from tests.launches.programs.starting import start_of, starts, world


@pytest.mark.parametrize("text", ["oumi infer -c a.yaml", "oumi evaluate -c a.yaml", "oumi launch up -c job.yaml", "oumi distributed"])
def test_what_does_not_train_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "oumi train -c sft.yaml",
        "CUDA_VISIBLE_DEVICES=0,1 oumi train -c sft.yaml",
        "oumi distributed torchrun -m oumi train -c sft.yaml",
        "oumi distributed accelerate launch -m oumi train -c sft.yaml",
    ],
)
def test_processes_that_the_machine_decides_are_unknown(text: str) -> None:
    assert world(start_of(text)) == "missing"


@pytest.mark.parametrize("program", ["oumi", "python -m oumi"])
def test_one_visible_device_is_one_process(program: str) -> None:
    start = start_of(f"CUDA_VISIBLE_DEVICES=0 {program} train --config sft.yaml --training.max_steps 5")
    assert world(start) == 1
    assert [word.text for word in start.recipes] == ["sft.yaml"]
