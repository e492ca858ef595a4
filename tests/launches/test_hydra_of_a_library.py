"""Launches of a library's Hydra program, which is not in the tree, with a configuration that is: `--config-path=$PWD/conf`."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

# The keys of a run of verl by itself: 64 prompts per step, 8 completions of each.
CONFIG = """\
defaults: [ppo_trainer, _self_]
data:
  train_batch_size: 256
actor_rollout_ref:
  actor:
    ppo_mini_batch_size: {mini}
  rollout:
    n: 8
trainer:
  nnodes: 1
  n_gpus_per_node: 8
"""
RUN = 'ROOT="$(pwd)"\n{before}python3 -m verl.trainer.main_ppo {named} trainer.nnodes=1 {more}\n'


def launched(folder: Path, named: str, more: str = "", mini: str = "64", before: str = "") -> list[int | None]:
    """The batches of what a script starts."""
    files = {"conf/a.yaml": CONFIG.format(mini=mini), "run/start.sh": RUN.format(named=named, more=more, before=before)}
    report = checked(folder, files, "run/start.sh")
    assert codes(report) == []
    return batches(report)


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("--config-path ../conf --config-name a", id="beside a module of the library"),
        pytest.param("--config-path $ROOT/conf --config-name b", id="a file that is not here"),
        pytest.param("--config-path $ROOT/conf --config-name $NAME", id="a name that is not known"),
        pytest.param("--config-path $ROOT/conf", id="no name"),
        pytest.param("--config-path $DIR --config-name a", id="a folder that is not known"),
        pytest.param("--config-path /conf --config-name a", id="a folder at the root of the machine"),
    ],
)
def test_it_is_silent_where_the_configuration_is_not_known(tmp_path: Path, named: str) -> None:
    assert launched(tmp_path, named) == []


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("--config-path $PWD/conf --config-name a", id="PWD"),
        pytest.param('--config-path="$(pwd)/conf" --config-name=a.yaml', id="pwd"),
        pytest.param("--config-path=$ROOT/conf --config-name a", id="a variable"),
        pytest.param("--config-path=$HERE/conf --config-name a", id="a variable that is not known"),
    ],
)
def test_it_runs_the_configuration_that_it_names(tmp_path: Path, named: str) -> None:
    assert launched(tmp_path, named) == [64 * 8]


def test_its_command_line_wins(tmp_path: Path) -> None:
    assert launched(tmp_path, "--config-path $PWD/conf --config-name a", "actor_rollout_ref.actor.ppo_mini_batch_size=32") == [32 * 8]


@pytest.mark.parametrize(("before", "batch"), [("MINI=128 ", 128 * 8), ("", 64 * 8)])
def test_it_gets_the_variables_that_the_script_sets(tmp_path: Path, before: str, batch: int) -> None:
    mini = "${oc.decode:${oc.env:MINI,64}}"
    assert launched(tmp_path, "--config-path $PWD/conf --config-name a", mini=mini, before=before) == [batch]
