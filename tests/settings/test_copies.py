"""Copies of frameworks in a repository: which one a recipe runs with, and that its source decides what it checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example
from tools.examples import check_example

# One rank has 64 prompts x 1 completion, and micro batches of 24 do not fill it.
RECIPE = """\
data: {train_batch_size: 512, max_prompt_length: 512}
actor_rollout_ref:
  actor: {ppo_mini_batch_size: 512, ppo_micro_batch_size_per_gpu: 24}
  rollout: {n: 1}
trainer: {n_gpus_per_node: 8, nnodes: 1}
"""
WORKERS = "verl/workers/fsdp_workers.py"
CHECKS = """\
            if self.config.actor.ppo_micro_batch_size_per_gpu is not None:
                assert self.config.actor.ppo_mini_batch_size % self.config.actor.ppo_micro_batch_size_per_gpu == 0
"""
# Before, the assertion was one of those about the micro batch of all ranks.
OLDER = """\
            if self.config.actor.ppo_micro_batch_size is not None:
                assert self.config.actor.ppo_mini_batch_size % self.config.actor.ppo_micro_batch_size_per_gpu == 0
"""
NANOTRON = """\
general: {project: p, run: r}
parallelism: {dp: 1, tp: 2, pp: 1, expert_parallel_size: 2}
tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 1, sequence_length: 64, train_steps: 10}
"""
NANOTRON_LAUNCH = "torchrun --nproc_per_node=4 run_train.py --config-file moe.yaml\n"
EXPERTS = "num_gpus_per_model = tensor_parallel_size * pipeline_parallel_size * expert_parallel_size\n"
NO_EXPERTS = "assert (tensor_parallel_size * pipeline_parallel_size * context_parallel_size * data_parallel_size) == world_size\n"


def found(folder: Path, recipe: str, *files: tuple[str, str]) -> list[tuple[str, str, str]]:
    """The code, the severity and the end of the message of each error and warning."""
    report = check_example(Example((("run/moe.yaml", recipe), *files)), folder)
    told = [each for file in report.files for each in file.findings if each.severity in ("error", "warning")]
    return [(each.code, each.severity, each.message.rpartition("; ")[2]) for each in told]


@pytest.mark.parametrize(
    "copies",
    [
        pytest.param([("verl/version/version", "0.2.0.dev"), (WORKERS, OLDER)], id="an older source"),
        pytest.param(
            [("third_party/verl/version/version", "0.7.0"), ("verl/version/version", "0.3"), (WORKERS, OLDER)], id="the higher of two"
        ),
        pytest.param(
            [("run/verl/version/version", "0.2"), (f"run/{WORKERS}", OLDER), ("verl/version/version", "0.7.0"), (WORKERS, CHECKS)],
            id="the nearer",
        ),
        pytest.param([("requirements.txt", "verl==0.7.0\n"), ("verl/version/version", "0.2"), (WORKERS, OLDER)], id="a pin beside it"),
    ],
)
def test_a_check_that_the_copy_does_not_make_is_no_finding(copies: list[tuple[str, str]], tmp_path: Path) -> None:
    assert not [each for each in found(tmp_path, RECIPE, *copies) if each[1] == "error"]


def test_a_check_that_the_source_of_the_copy_makes_is_an_error_whatever_its_version(tmp_path: Path) -> None:
    files = (("verl/version/version", "0.2.0.dev"), (WORKERS, CHECKS))
    assert found(tmp_path, RECIPE, *files) == [("GBS202", "error", "verl stops at start")]


def test_white_space_does_not_count(tmp_path: Path) -> None:
    spread = CHECKS.replace("is not None", "is\n not None")
    assert len(found(tmp_path, RECIPE, ("verl/version/version", "0.2.0.dev"), (WORKERS, spread))) == 1


def test_a_copy_without_the_file_that_checks_leaves_doubt(tmp_path: Path) -> None:
    expected = [("GBS202", "warning", "verl stops at start (the copy in this repository may not check this)")]
    assert found(tmp_path, RECIPE, ("verl/version/version", "0.7.0")) == expected


def test_what_only_some_versions_check_is_a_warning_that_says_so(tmp_path: Path) -> None:
    expected = [("GBS202", "warning", "verl stops at start (before 0.4 it does not check this)")]
    assert found(tmp_path, RECIPE, ("requirements.txt", "verl>=0.2\n")) == expected


def test_the_newest_version_is_meant_if_nothing_names_one(tmp_path: Path) -> None:
    assert found(tmp_path, RECIPE) == [("GBS202", "error", "verl stops at start")]


@pytest.mark.parametrize(("pin", "expected"), [("==0.3", []), (">=0.2", ["warning"]), (">=0.4", ["error"]), ("==0.7.0", ["error"])])
def test_a_pin_decides_if_there_is_no_copy(pin: str, expected: list[str], tmp_path: Path) -> None:
    assert [severity for _, severity, _ in found(tmp_path, RECIPE, ("requirements.txt", f"verl{pin}\n"))] == expected


def test_the_settings_say_more_than_a_copy(tmp_path: Path) -> None:
    files = (("gbs.toml", '[versions]\nverl = "0.7.0"\n'), ("verl/version/version", "0.2"), (WORKERS, OLDER))
    assert [severity for _, severity, _ in found(tmp_path, RECIPE, *files)] == ["error"]


@pytest.mark.parametrize(
    ("source", "gpus", "expected"),
    [(EXPERTS, 4, []), (NO_EXPERTS, 2, []), (EXPERTS, 2, ["error"]), (NO_EXPERTS, 4, ["error"]), (None, 4, [])],
    ids=str,
)
def test_experts_are_counted_as_the_copy_does(source: str | None, gpus: int, expected: list[str], tmp_path: Path) -> None:
    launch = ("run/launch.sh", NANOTRON_LAUNCH.replace("=4", f"={gpus}"))
    version = ("src/nanotron/__init__.py", '__version__ = "0.4"\n')
    copy = [version] if source is None else [version, ("src/nanotron/parallel/context.py", source)]
    assert [severity for code, severity, _ in found(tmp_path, NANOTRON, launch, *copy) if code == "GBS203"] == expected
