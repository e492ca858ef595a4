"""Recipes that a program of the repository starts with settings of its own."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes

BOTH = """\
grpo: {num_prompts_per_step: 8, num_generations_per_prompt: 4, max_num_steps: 10}
policy:
  model_name: my/model
  train_global_batch_size: 32
  train_micro_batch_size: 1
  dtensor_cfg: {enabled: true, tensor_parallel_size: 1}
  megatron_cfg: {enabled: true, tensor_model_parallel_size: 1}
cluster: {gpus_per_node: 8, num_nodes: 1}
"""
STARTS = 'cmd = "python run.py"\nif megatron:\n    cmd += " ++policy.dtensor_cfg.enabled=false ++policy.megatron_cfg.enabled=true"\n'


@pytest.mark.parametrize("program", [STARTS, STARTS.replace(" ++policy.megatron_cfg.enabled=true", "")], ids=["both", "one of them"])
def test_a_contradiction_that_a_program_settles_is_none(tmp_path: Path, program: str) -> None:
    assert codes(checked(tmp_path, {"configs/grpo.yaml": BOTH, "pipeline/grpo.py": program})) == []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="no program"),
        pytest.param({"pipeline/grpo.py": 'cmd = "python run.py ++policy.lr=1e-6"\n'}, id="other keys"),
        pytest.param({"pipeline/grpo.py": "if config.policy.dtensor_cfg.enabled:\n    pass\n"}, id="a program that reads them"),
        pytest.param({"notes.txt": STARTS}, id="no Python"),
    ],
)
def test_a_contradiction_that_nothing_settles_is_reported(tmp_path: Path, files: dict[str, str]) -> None:
    assert codes(checked(tmp_path, {"configs/grpo.yaml": BOTH, **files})) == ["GBS203"]
