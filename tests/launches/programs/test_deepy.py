"""GPT-NeoX's `deepy.py train.py`: its files are one configuration, its hostfile says the GPUs. Sizes worked out by hand.

After commit ea7aefd8 of EleutherAI/gpt-neox, megatron/neox_arguments/arguments.py (consume_deepy_args, calculate_derived).
"""

from pathlib import Path

import pytest

from tests.launches.building import checked, launched
from tests.launches.programs.starting import Files, sizes, start_of, starts

MODEL = """\
{"pipe-parallel-size": 2, "model-parallel-size": 2, "num-layers": 12, "optimizer": {"type": "Adam"}, "lr-decay-style": "cosine",
 "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 3}
"""
HOSTS = "node-1 slots=8\nnode-2 slots=8  # the second\n"


def files(setup: str = '{"hostfile": "hosts"}\n', hosts: str = HOSTS) -> Files:
    return {"configs/125M.yml": MODEL, "configs/setup.yml": setup, "hosts": hosts}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("python deepy.py generate.py configs/125M.yml", id="no training"),
        pytest.param("python deepy.py", id="no program"),
        pytest.param("python prepare.py train.py configs/125M.yml", id="another starter"),
        pytest.param(f"python deepy.py train.py {' '.join(f'{n}.yml' for n in range(51))}", id="too many files"),
    ],
)
def test_what_trains_nothing_starts_nothing(command: str) -> None:
    assert [start for _, start in starts(f"{command}\n", files()) if start.name == "deepy.py"] == []


@pytest.mark.parametrize(
    ("setup", "hosts"),
    [
        pytest.param("{}\n", HOSTS, id="no hostfile"),
        pytest.param('{"hostfile": "/job/hostfile"}\n', HOSTS, id="a hostfile of the machine"),
        pytest.param('{"hostfile": "hosts", "num_gpus": 4}\n', HOSTS, id="some of the GPUs"),
        pytest.param('{"hostfile": "hosts", "include": "node-1"}\n', HOSTS, id="some of the hosts"),
        pytest.param('{"hostfile": "hosts"}\n', "node-1 slots=8\nnode-2\n", id="a host without slots"),
        pytest.param('{"hostfile": "hosts"}\n', "# none yet\n", id="no host"),
    ],
)
def test_hardware_that_is_not_stated_is_unknown(setup: str, hosts: str) -> None:
    assert sizes(start_of("python ./deepy.py train.py -d configs 125M setup\n", files(setup, hosts))) == {"world_size": "missing"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("-d configs 125M.yml setup.yml", id="a folder"),
        pytest.param("-d configs 125M setup", id="without endings"),
        pytest.param("--conf_dir=configs 125M setup", id="a folder behind an equals sign"),
        pytest.param("configs/125M.yml configs/setup.yml", id="paths"),
        pytest.param("--conf_dir configs --hostfile hosts 125M setup", id="a hostfile as an option"),
    ],
)
def test_its_files_and_the_slots_of_its_hosts(words: str) -> None:
    start = start_of(f"python ./deepy.py train.py {words}\n", files())
    assert [word.text for word in start.recipes] == ["configs/125M.yml", "configs/setup.yml"]
    assert sizes(start) == {"world_size": 16, "num_nodes": 2, "gpus_per_node": 8}


def test_hosts_with_different_slots_have_no_number_of_each() -> None:
    start = start_of("python deepy.py train.py -d configs 125M setup\n", files(hosts="a slots=8\nb slots=4\n"))
    assert sizes(start) == {"world_size": 12, "num_nodes": 2}


# 16 GPUs / (2 pipeline x 2 tensor) = 4 replicas; 4 x 3 x 4 = 48. A key that two files have stops it (from_ymls).
@pytest.mark.parametrize(("setup", "batches"), [("", [48]), (', "train_batch_size": 48', [48]), (', "gradient_accumulation_steps": 5', [])])
def test_the_files_are_one_configuration(setup: str, batches: list[int], tmp_path: Path) -> None:
    repository = files(f'{{"hostfile": "hosts"{setup}}}\n') | {"run.sh": "python deepy.py train.py -d configs 125M setup\n"}
    assert [run.geometry.global_batch_size for run in launched(checked(tmp_path, repository))] == batches


@pytest.mark.parametrize("words", ["-d configs 125M setup local", "-d configs 125M $MORE"])
def test_a_file_that_is_missing_or_unknown_leaves_the_batch_open(words: str, tmp_path: Path) -> None:
    repository = files() | {"run.sh": f"python deepy.py train.py {words}\n"}
    assert [run.geometry.global_batch_size for run in launched(checked(tmp_path, repository))] in ([], [None])
