"""GBS471 fires where verl trains on another batch than the one stated, GBS472 where a micro batch must be one row."""

from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example
from tools.examples import check_example

VERL = """\
data: {{train_batch_size: {train}}}
actor_rollout_ref:
  actor: {{ppo_mini_batch_size: {mini}, ppo_micro_batch_size_per_gpu: 1{more}}}
  rollout: {{n: {n}}}
trainer: {{n_gpus_per_node: 8, nnodes: {nodes}}}
"""
MEGATRON = ", megatron: {tensor_model_parallel_size: 2}"


def verl(train: int, mini: int, n: int = 1, nodes: object = 1, more: str = "") -> str:
    return VERL.format(train=train, mini=mini, n=n, nodes=nodes, more=more)


def found(name: str, text: str, folder: Path, *codes: str, pins: str = "") -> list[tuple[str, str, str]]:
    report = check_example(Example(((name, text), ("requirements.txt", pins))), folder)
    return [(each.code, each.severity, each.message) for each in report.findings() if each.code in codes]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(verl(1024, 256), id="whole"),
        pytest.param(verl(1024, 256, n=5), id="whole groups"),
        pytest.param(verl(1024, 260, nodes="${NODES}"), id="GPUs not known"),
        pytest.param(verl(1024, 260, more=MEGATRON), id="Megatron checks it itself"),
        pytest.param(verl(128, 256), id="verl stops anyway"),
        pytest.param(verl(64, 4), id="no completion for a rank"),
    ],
)
def test_a_batch_that_trains_as_stated_is_in_order(text: str, tmp_path: Path) -> None:
    assert found("ppo.yaml", text, tmp_path, "GBS471") == []


# 1,024 completions = 2 x 384 + 256, which 64 ranks share: a smaller step, asserted against, then filled up to 1,152. 260 = 64 x 4 + 4.
@pytest.mark.parametrize(
    ("pins", "mini", "expected"),
    [
        pytest.param("verl==0.9.0", 384, [], id="filled up"),
        pytest.param("", 384, [], id="filled up, or not"),
        pytest.param("verl>=0.7", 384, [], id="a range with both"),
        pytest.param("verl==0.8.0", 384, ["GBS202 error"], id="refused"),
        pytest.param("verl==0.7.1", 384, ["GBS471 warning"], id="a smaller step"),
        pytest.param("verl==0.9.0", 260, ["GBS471 error"], id="refused by the engine"),
        pytest.param("verl==0.7.1", 260, ["GBS471 warning"], id="rounded down"),
        pytest.param("verl>=0.7", 260, ["GBS471 warning"], id="one of the two"),
    ],
)
def test_each_version_has_its_own_way_with_a_remainder(pins: str, mini: int, expected: list[str], tmp_path: Path) -> None:
    findings = found("ppo.yaml", verl(1024, mini, nodes=8), tmp_path, "GBS202", "GBS471", pins=f"{pins}\n")
    assert [f"{code} {severity}" for code, severity, _ in findings] == expected


def test_what_each_rank_loses_is_reported(tmp_path: Path) -> None:
    message = "each optimizer step trains on 256 completions, not 260: 4 on each of 64 ranks"
    late = [("GBS471", "error", "260 completions can't be split evenly over 64 ranks; verl stops during training")]
    open_ = [("GBS471", "warning", f"{message}; since 0.8 verl stops instead")]
    assert found("ppo.yaml", verl(1024, 260, nodes=8), tmp_path, "GBS471", pins="verl==0.7.0\n") == [("GBS471", "warning", message)]
    assert found("ppo.yaml", verl(1024, 260, nodes=8), tmp_path, "GBS471", pins="verl==0.8.0\n") == late
    assert found("ppo.yaml", verl(1024, 260, nodes=8), tmp_path, "GBS471") == open_


def test_what_a_newer_verl_fills_up_is_not_certain(tmp_path: Path) -> None:
    report = check_example(Example((("ppo.yaml", verl(1024, 384)), ("requirements.txt", ""))), tmp_path)
    open_ = [each for file in report.files for each in file.undetermined if each.code == "GBS471"]
    assert [each.implies for each in open_] == ["false with verl 0.9 and later, which fills it up"]


def test_the_smaller_last_step_is_reported(tmp_path: Path) -> None:
    message = "the last optimizer step of each rollout trains on 256 completions, not 384: 1,024 = 2 x 384 + 256"
    assert found("ppo.yaml", verl(1024, 384), tmp_path, "GBS471", pins="verl==0.7.0\n") == [("GBS471", "warning", message)]


SFT = """\
max_steps = 10
[model]
name = "my/model"
{model}
[deployment]
num_train_gpus = 4
[data]
batch_size = 64
{data}
"""


@pytest.mark.parametrize(
    ("model", "data"),
    [
        pytest.param("", "micro_batch_size = 4", id="neither"),
        pytest.param("cp = 1", "micro_batch_size = 4", id="context parallelism of 1"),
        pytest.param("cp = 2", "", id="one by default"),
        pytest.param("cp = 2", "micro_batch_size = 1", id="one"),
        pytest.param("[model.vlm]\nfreeze_vision_encoder = true", "micro_batch_size = 1", id="one row with images"),
    ],
)
def test_a_micro_batch_of_one_row_is_in_order(model: str, data: str, tmp_path: Path) -> None:
    assert found("sft.toml", SFT.format(model=model, data=data), tmp_path, "GBS472") == []


@pytest.mark.parametrize(
    ("model", "why"),
    [
        pytest.param("cp = 2", "model.cp 2", id="context parallelism"),
        pytest.param("[model.vlm]\nfreeze_vision_encoder = true", "a vision model (model.vlm)", id="images"),
    ],
)
def test_a_larger_micro_batch_stops(model: str, why: str, tmp_path: Path) -> None:
    message = f"data.micro_batch_size is 4, but must be 1 with {why}; prime-rl stops at start"
    text = SFT.format(model=model, data="micro_batch_size = 4")
    assert found("sft.toml", text, tmp_path, "GBS472") == [("GBS472", "error", message)]


def test_a_smaller_last_step_points_at_the_mini_batch_not_at_the_gpus(tmp_path: Path) -> None:
    text = VERL.format(train=1024, mini=384, n=1, nodes=8, more="")
    report = check_example(Example((("ppo.yaml", text), ("requirements.txt", "verl<0.8\n"))), tmp_path)
    (finding,) = (finding for finding in report.findings() if finding.code == "GBS471")
    assert text[finding.at.start : finding.at.stop] == "384"


MAIN = """\
import hydra
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
@hydra.main(config_path=".", config_name="ppo")
def main(config): ...
"""
RUN = "python3 main.py data.train_batch_size=1000\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("run.sh", RUN, ["run.sh"], id="a script"),
        pytest.param(".github/workflows/e2e.yml", f"jobs:\n  e2e:\n    runs-on: gpu\n    steps:\n    - run: {RUN}", [], id="a job of CI"),
        pytest.param("tests/e2e/run.sh", RUN, [], id="a test"),
    ],
)
def test_a_remainder_in_a_test_is_not_reported(path: str, text: str, expected: list[str], tmp_path: Path) -> None:
    files = (("ppo.yaml", verl(1024, 256)), ("main.py", MAIN), ("requirements.txt", "verl==0.7.1\n"), (path, text))
    report = check_example(Example(files), tmp_path)
    assert {file.verdict for file in report.files if file.path == "ppo.yaml"} != {"unclaimed"}  # it is launched
    assert [each.at.source for each in report.findings() if each.code == "GBS471"] == expected
