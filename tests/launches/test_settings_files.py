"""Files of settings beside the script that runs with them, containers whose Dockerfile copies the tree, and the ranks of a step."""

from pathlib import Path
from typing import Any

import pytest

from tests.launches.building import KEYS, batches, checked, codes, launched

# 2 x 4 x GPUs: each launch below gives 8 for each GPU.
RECIPE = f"{KEYS}per_device_train_batch_size: ${{oc.env:MBS,2}}\n".replace("${oc.env:MBS,2}", "2") + "gradient_accumulation_steps: 4\n"
SETTINGS = "export DGXNGPU=8\nexport DGXNNODES={nodes}\nexport MINIBS=2\nexport TP=4\nexport PP=1\nexport CP={cp}\n"
RUN = """\
#!/bin/bash
#SBATCH --exclusive
: "${DGXSYSTEM:?DGXSYSTEM not set}"
srun --ntasks="$((SLURM_JOB_NUM_NODES * DGXNGPU))" --ntasks-per-node="$DGXNGPU" --container-image="$CONT" slurm2pytorch ./run_and_time.sh
"""
TIMED = """\
: "${LOCAL_WORLD_SIZE:?LOCAL_WORLD_SIZE not set}"
if [[ $LOCAL_WORLD_SIZE -gt 1 ]]; then
  CMD=('bindpcie' '--' ${NSYSCMD} 'python' '-u')
else
  CMD=('torchrun' "--nproc_per_node=$DGXNGPU")
fi
${LOGGER:-} ${CMD[@]} /workspace/llm/train.py --config sft.yaml
"""
TRAIN = "from trl import SFTTrainer, TrlParser\nimport os\nrank = os.environ['LOCAL_RANK']\n"
DOCKERFILE = "FROM base\nWORKDIR /workspace/deps\nCOPY requirements.txt .\nWORKDIR /workspace/llm\nCOPY . .\n"


def files(name: str = "config_DGXH100_2x8x2xtp4pp1cp2.sh", nodes: int = 2, cp: int = 2, **changed: str) -> dict[str, str]:
    """A benchmark of MLPerf: settings, the job, what each rank runs, the program."""
    found = {
        name: SETTINGS.format(nodes=nodes, cp=cp),
        "run.sub": RUN,
        "run_and_time.sh": TIMED,
        "train.py": TRAIN,
        "sft.yaml": RECIPE,
        "Dockerfile": DOCKERFILE,
    }
    return found | {key.replace("__", "."): value for key, value in changed.items()}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(files("settings_2x8.sh"), id="another name"),
        pytest.param(files(run__sub=RUN.replace("DGXSYSTEM", "SYSTEM")), id="a job that asks for no settings"),
        pytest.param({k: v for k, v in files().items() if k != "run.sub"}, id="no job beside it"),
        pytest.param(files() | {"config_DGXH100_2x8x2xtp4pp1cp2.sh": "export MINIBS=2\n"}, id="a part of settings"),
        pytest.param(files("old/gpu_2x8/config_DGXH100_2x8x2xtp4pp1cp2.sh"), id="two folders down"),
        pytest.param(files() | {"config_DGXH100_2x8x2xtp4pp1cp2.sh": "export DGXNNODES=$1\nexport DGXNGPU=8\n"}, id="unknown nodes"),
    ],
)
def test_files_that_start_nothing(tmp_path: Path, given: dict[str, str]) -> None:
    found = checked(tmp_path, given)
    assert [run.launch.at.source for run in launched(found) if run.launch and run.launch.at.source.startswith(("config", "settings"))] == []
    assert "GBS313" not in codes(found)


def test_each_file_of_settings_is_a_launch_of_the_job_beside_it(tmp_path: Path) -> None:
    given = files() | {"config_DGXH100_4x8x2xtp4pp1cp2.sh": SETTINGS.format(nodes=4, cp=2)}
    runs = {run.launch.at.source: run for run in launched(checked(tmp_path, given)) if run.launch}
    assert runs["config_DGXH100_2x8x2xtp4pp1cp2.sh"].geometry.global_batch_size == 2 * 4 * 16
    assert runs["config_DGXH100_4x8x2xtp4pp1cp2.sh"].geometry.global_batch_size == 2 * 4 * 32


@pytest.mark.parametrize("folder", ["configs", "configs/gpu_2x8"])
@pytest.mark.parametrize("root", ["", "bench/llm/"])
def test_settings_in_a_folder_of_their_own(tmp_path: Path, root: str, folder: str) -> None:
    given = files(f"{folder}/config_DGXH100_2x8x2xtp4pp1cp2.sh")
    found = checked(tmp_path, {f"{root}{path}": text for path, text in given.items()})
    assert [run.geometry.global_batch_size for run in launched(found) if run.launch and "configs/" in run.launch.at.source] == [128]


def in_docker(**changed: Any) -> dict[str, str]:
    """A benchmark that a container runs, which hands over an array of unknown options."""
    docker = (
        ': "${DGXSYSTEM:?not set}"\nmapfile -t ENVIRONMENT < <(env -i bash -c "compgen -e")\n'
        "docker exec ${ENVIRONMENT[@]} $CONTAINER ./run_and_time.sh\n"
    )
    given = files(run_and_time__sh="torchrun --nproc_per_node=$DGXNGPU /workspace/llm/train.py --config sft.yaml\n", **changed)
    del given["run.sub"]
    return given | {"run_with_docker.sh": docker}


def test_docker_hands_over_an_array_of_unknown_options(tmp_path: Path) -> None:
    found = checked(tmp_path, in_docker(nodes=1))
    assert batches(found)[0] == 64


def test_docker_has_one_node(tmp_path: Path) -> None:
    found = launched(checked(tmp_path, in_docker(nodes=2)))
    assert {run.launch.at.source for run in found if run.launch} == {"run_and_time.sh"}


NAMED = {
    "as it says": ("config_DGXH100_2x8x2xtp4pp1cp2.sh", 2, 2, None),
    "without context parallelism": ("config_DGXH100_2x8x2xtp4pp1.sh", 2, 2, None),
    "another notation": ("config_DGXH100_3x8x32x4x8_mbs2.sh", 2, 2, None),
    "nodes": ("config_DGXH100_4x8x2xtp4pp1cp2.sh", 2, 2, "file name says nodes 4, but DGXNNODES is 2"),
    "context": ("config_DGXH100_2x8x2xtp4pp1cp1_fp8.sh", 2, 2, "file name says context parallel size 1, but CP is 2"),
}


@pytest.mark.parametrize(("name", "nodes", "cp", "wanted"), NAMED.values(), ids=NAMED)
def test_names_of_settings(tmp_path: Path, name: str, nodes: int, cp: int, wanted: str | None) -> None:
    found = [each for each in checked(tmp_path, files(name, nodes, cp)).findings() if each.code == "GBS313"]
    assert [each.message for each in found] == ([wanted] if wanted else [])


def test_what_another_file_sets_is_not_checked_against_a_name(tmp_path: Path) -> None:
    given = files() | {
        "config_common.sh": "export TP=8\n",
        "config_DGXH100_2x8x2xtp4pp1cp2.sh": "source config_common.sh\nexport DGXNNODES=2\nexport DGXNGPU=${GPUS:-4}\n",
    }
    assert "GBS313" not in codes(checked(tmp_path, given))


PLACES = {
    "workdir of an image": ("docker run image python /workspace/llm/train.py --config sft.yaml\n", True),
    "folder of an image": (
        "docker run image bash -c 'cd /workspace/llm && torchrun --nproc_per_node 8 train.py --config sft.yaml'\n",
        True,
    ),
    "mounted": ("docker run -v $PWD:/code image bash -c 'cd /code && torchrun --nproc_per_node 8 train.py --config sft.yaml'\n", True),
    "mounted by slurm": (
        "srun --container-mounts=$(pwd):/code,/data:/data torchrun --nproc_per_node 8 /code/train.py --config sft.yaml\n",
        True,
    ),
    "somewhere else": ("docker run -v /data:/code image torchrun --nproc_per_node 8 train.py --config /code/sft.yaml\n", False),
    "no such folder": ("docker run image torchrun --nproc_per_node 8 train.py --config /other/sft.yaml\n", False),
}


@pytest.mark.parametrize(("script", "found"), PLACES.values(), ids=PLACES)
def test_paths_inside_containers(tmp_path: Path, script: str, found: bool) -> None:
    given = {"train.py": TRAIN, "sft.yaml": RECIPE, "Dockerfile": DOCKERFILE, "run.sh": script}
    assert bool(launched(checked(tmp_path, given))) == found
