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


# 16 samples, 4 times, on each process.
OF_FAIRSEQ = """\
# @package _group_
dataset: {batch_size: 16}
optimization: {max_update: 1000, update_freq: [4]}
task: {_name: masked_lm, data: d}
model: {_name: roberta}
"""


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        pytest.param("fairseq-hydra-train --config-dir exp/conf --config-name b", [], id="a file that is not here"),
        pytest.param("fairseq-hydra-train --config-dir other --config-name a", [], id="a folder that is not here"),
        pytest.param("fairseq-hydra-train --config-dir $DIR --config-name a", [], id="a folder that is not known"),
        pytest.param("fairseq-hydra-train --config-dir exp/conf", [], id="no name"),
        pytest.param("fairseq-hydra-train --config-dir exp/conf --config-name a", [None], id="any number of GPUs"),
        pytest.param("fairseq-hydra-train --config-dir exp/conf --config-name a {world}=8", [16 * 4 * 8], id="as many as it asks for"),
        pytest.param(
            "fairseq-hydra-train -m --config-dir /path/of/exp/conf --config-name a {world}=8", [512], id="where its author has it"
        ),
        pytest.param("fairseq-hydra-train --config-dir exp/conf --config-name a {world}=8 dataset.batch_size=2", [64], id="another batch"),
    ],
)
def test_a_folder_may_be_added_to_those_of_the_library(tmp_path: Path, command: str, wanted: list[int | None]) -> None:
    script = command.format(world="distributed_training.distributed_world_size") + " task.data=d\n"
    assert batches(checked(tmp_path, {"exp/conf/a.yaml": OF_FAIRSEQ, "run.sh": script}, "run.sh")) == wanted


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
