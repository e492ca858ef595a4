"""Slurm: the tasks of `srun` are processes where no launcher stands between, and the job's GPUs bound them all."""

import pytest

from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.programs.starting import problems, program, size_of, sizes, start_of, starts, world, written


def job(*options: str) -> str:
    return "#!/bin/bash\n" + "".join(f"#SBATCH {option}\n" for option in options)


UNKNOWN = {
    "no-job": ((), "srun python train.py", "missing"),
    "nodes-not-said": (("--ntasks-per-node=8",), "srun python train.py", "interpolated"),
    "range-of-nodes": (("--nodes=2-4", "--ntasks-per-node=8"), "srun python train.py", "interpolated"),
    "one-task": (("--ntasks=1", "--gres=gpu:8"), "srun python train.py", "missing"),
    "one-node-one-task": (("--nodes=1",), "srun python train.py", "missing"),
    "tasks-of-the-environment": (("--nodes=2",), "srun -n $N python train.py", "interpolated"),
    "step-on-fewer-nodes": (("--nodes=4", "--ntasks-per-node=8"), "srun --nodes=2 python train.py", "interpolated"),
    "template": (("--nodes={{ nodes }}", "--ntasks-per-node=8"), "srun python train.py", "interpolated"),
    "without-srun": (("--nodes=2", "--ntasks-per-node=8"), "python train.py", "missing"),
}


@pytest.mark.parametrize(("options", "text", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_unknown(options: tuple[str, ...], text: str, reason: str) -> None:
    assert world(start_of(job(*options) + text)) == reason


KNOWN = {
    "tasks": (("--ntasks=16",), "srun python train.py", 16),
    "tasks-per-node": (("--nodes=2", "--ntasks-per-node=8"), "srun python -u train.py", 16),
    "short": (("-N 2", "-n 8"), "srun python train.py", 8),
    "node-each": (("--nodes=4",), "srun python train.py", 4),
    "step": (("--nodes=2", "--ntasks-per-node=1"), "srun --ntasks=4 python train.py", 4),
    "step-per-node": (("--nodes=2", "--ntasks=2"), "srun --ntasks-per-node=8 python train.py", 16),
    "alone": ((), "srun --nodes=2 --ntasks-per-node=4 --gres=gpu:4 python train.py", 8),
    "in-a-container": (("--nodes=2", "--ntasks-per-node=8"), "srun apptainer exec --nv x.sif python train.py", 16),
    "in-a-shell": (("--nodes=2", "--ntasks-per-node=8"), 'srun bash -c "RANK=\\$SLURM_PROCID python train.py"', 16),
    "one-device": (("--ntasks=1",), "CUDA_VISIBLE_DEVICES=0 srun python train.py", 1),
    "module": (("--ntasks=8",), "srun python -m pkg.train", 8),
}


@pytest.mark.parametrize(("options", "text", "expected"), KNOWN.values(), ids=KNOWN)
def test_tasks_are_processes(options: tuple[str, ...], text: str, expected: int) -> None:
    assert world(start_of(job(*options) + text)) == expected


def test_the_size_is_located_in_the_directive() -> None:
    text = job("--nodes=2", "--ntasks-per-node=8") + "srun python train.py --config x.yaml\n"
    start = start_of(text)
    assert (start.name, program(start)) == ("srun python", ["train.py", "--config", "x.yaml"])
    assert sizes(start) == {Name.WORLD_SIZE: 16, Name.NUM_NODES: 2, Name.GPUS_PER_NODE: 8}
    assert (written(text, start), written(text, start, Name.NUM_NODES)) == ("8", "2")
    size = size_of(start)
    assert isinstance(size, Quantity)
    assert (size.key, size.note.words) == ("--ntasks-per-node", "2 nodes x 8")


def test_a_launcher_behind_srun_counts_itself() -> None:
    text = job("--nodes=2", "--ntasks-per-node=1", "--gres=gpu:8")
    start = start_of(text + "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE train.py")
    assert (start.name, world(start), problems(start)) == ("torchrun", 16, [])
    size = size_of(start)
    assert isinstance(size, Quantity)
    assert size.note.words == "2 nodes x 8, sbatch --nodes, sbatch --gres"


def test_other_programs_of_srun_are_not_a_launch() -> None:
    assert list(starts(job("--nodes=2", "--ntasks=16") + "srun hostname\nsrun nvidia-smi -L\nsrun python -c 'print(1)'")) == []


ALLOCATED = {
    "gpus-per-node": (("--nodes=2", "--gpus-per-node=8"), 16),
    "of-a-kind": (("--nodes=2", "--gpus-per-node=h100:8"), 16),
    "gres": (("-N 4", "--gres=gpu:a100:4"), 16),
    "gres-one": (("-N 4", "--gres=gpu"), 4),
    "total": (("--gpus=16",), 16),
    "per-task": (("--ntasks=4", "--gpus-per-task=2"), 8),
    "nodes-not-said": (("--gpus-per-node=8",), None),
    "other-resources": (("--nodes=2", "--gres=tmpfs:8"), None),
    "several-resources": (("--nodes=2", "--gres=gpu:8,ssd:1"), None),
    "no-gpus": (("--nodes=2", "--exclusive"), None),
}


@pytest.mark.parametrize(("options", "expected"), ALLOCATED.values(), ids=ALLOCATED)
def test_the_gpus_of_the_job_are_counted(options: tuple[str, ...], expected: int | None) -> None:
    found = start_of(job(*options) + "torchrun --nproc_per_node 1 train.py").allocated
    assert (found.value if found is not None else None) == expected


def test_more_processes_than_gpus_are_a_problem() -> None:
    text = job("--nodes=2", "--gres=gpu:8")
    start = start_of(text + "accelerate launch --num_processes 32 --num_machines 2 train.py")
    assert problems(start) == [("32 processes are started, but the job has 2 nodes x 8 = 16 GPUs", True)]
    ((place, label),) = start.problems[0].related
    assert (text[place.start : place.stop], label) == ("gpu:8", "GPUs of the job")


@pytest.mark.parametrize("count", [16, 8, 1], ids=["all", "half", "one"])
def test_no_more_processes_than_gpus_are_in_order(count: int) -> None:
    assert problems(start_of(job("--nodes=2", "--gres=gpu:8") + f"accelerate launch --num_processes {count} train.py")) == []


def test_a_default_may_be_set_to_what_the_job_has() -> None:
    start = start_of(job("--nodes=1", "--gres=gpu:4") + "torchrun --nproc_per_node ${GPUS:-8} train.py")
    assert problems(start) == [("8 processes are started, but the job has 1 node x 4 = 4 GPUs", False)]


TRAINER = "import os\nfrom transformers import Trainer\n"


@pytest.mark.parametrize("command", ["srun --ntasks=8 python train.py", "mpirun -np 8 python train.py"])
def test_tasks_that_get_no_rank_may_train_alone(command: str) -> None:
    assert world(start_of(command, {"train.py": TRAINER})) == "missing"


@pytest.mark.parametrize("command", ["srun --ntasks=8 python train.py", "mpirun --bind-to none -np 8 python train.py"])
@pytest.mark.parametrize(
    ("before", "program"),
    [
        pytest.param("", f"{TRAINER}os.environ['LOCAL_RANK'] = os.environ['SLURM_LOCALID']\n", id="variables of Slurm"),
        pytest.param("", f"{TRAINER}torch.distributed.init_process_group('nccl')\n", id="a group of its own"),
        pytest.param(
            "", f"{TRAINER}from utils.ranks import init_dist\ninit_dist('pytorch')\n", id="a group that a module of its own makes"
        ),
        pytest.param("", f"{TRAINER}join(os.environ.get('LAUNCHER', 'slurm'))\n", id="a launcher from the environment"),
        pytest.param("", "import torch\n", id="another library"),
        pytest.param("export LOCAL_RANK=$SLURM_LOCALID\n", TRAINER, id="the script gives them"),
    ],
)
def test_tasks_that_may_get_a_rank_are_processes(before: str, program: str, command: str) -> None:
    assert world(start_of(before + command, {"train.py": program})) == 8


@pytest.mark.parametrize(
    "text", ["mpirun hostname", "mpirun -np 2 ./train", "mpirun -np 2 torchrun x.py", "mpirun -n 2 python -c 'print(1)'"]
)
def test_what_mpirun_starts_besides_python_is_left_alone(text: str) -> None:
    assert list(starts(text)) == []


def test_mpirun_without_a_number_starts_as_many_as_there_are_slots() -> None:
    assert world(start_of("mpirun -H a:8,b:8 python train.py")) == "missing"


UNSEEN = {
    "several-nodes": (("--nodes=2", "--gres=gpu:4"), "deepspeed train.py"),
    "gpus-of-unknown-nodes": (("--gpus=8",), "deepspeed train.py"),
    "no-gpus": (("--nodes=1", "--cpus-per-task=8"), "deepspeed train.py"),
    "other-resources": (("--gres=tmpfs:8",), "deepspeed train.py"),
    "a-step-with-its-own": (("--gres=gpu:4",), "srun --gres=gpu:2 deepspeed train.py"),
    "a-step-with-some-for-each-task": (("--gres=gpu:4",), "srun --ntasks=2 --gpus-per-task=1 deepspeed train.py"),
    "a-step-of-several-tasks": (("--gres=gpu:4",), "srun --ntasks=2 --gres=gpu:2 deepspeed train.py"),
    "a-step-that-asks-twice": (("--gres=gpu:4",), "srun --ntasks=1 --gres=gpu:2 --gpus=1 deepspeed train.py"),
    "a-hostfile": (("--gres=gpu:4",), "deepspeed --hostfile hosts train.py"),
    "what-one-process-does-with-them": (("--gres=gpu:4",), "python train.py"),
    "an-unknown-list": (("--gres=gpu:4",), "CUDA_VISIBLE_DEVICES=$GPUS deepspeed train.py"),
    "a-default-file-of-the-user": (("--gres=gpu:4",), "accelerate launch train.py"),
    "none-asked-for": (("--gres=gpu:0",), "deepspeed train.py"),
}


@pytest.mark.parametrize(("options", "text"), UNSEEN.values(), ids=UNSEEN)
def test_gpus_that_a_job_may_not_see_leave_the_world_unknown(options: tuple[str, ...], text: str) -> None:
    assert isinstance(world(start_of(job(*options) + text)), str)


SEEN = {
    "deepspeed": (("--gres=gpu:a100:2",), "deepspeed train.py", 2),
    "deepspeed-on-the-one-node": (("--nodes=1", "--gpus-per-node=4"), "deepspeed --master_port 29500 train.py", 4),
    "as-many-as-it-asks-for": (("--gres=gpu:4",), "deepspeed --num_gpus 2 train.py", 2),
    "of-the-whole-job": (("--nodes=1", "--gpus=4"), "deepspeed train.py", 4),
    "one": (("--gpus=1",), "python train.py", 1),
    "one-for-a-process": (("--gres=gpu:1",), "python train.py", 1),
    "one-for-accelerate": (("--gres=gpu:1",), "accelerate launch train.py", 1),
    "counted-by-torchrun": (("--gres=gpu:4",), "torchrun --nproc_per_node=gpu train.py", 4),
    "counted-by-llama-factory": (("--gres=gpu:4",), "llamafactory-cli train a.yaml", 4),
    "in-a-step": (("--gres=gpu:4",), "srun --ntasks=1 deepspeed train.py", 4),
    "of-a-step": ((), "srun -p part --gres=gpu:8 -n1 --ntasks-per-node=1 deepspeed --master_port 5000 train.py", 8),
    "of-a-step-on-a-node": (("--nodes=4", "--gres=gpu:4"), "srun -N 1 --gres=gpu:h100:2 torchrun --nproc_per_node=gpu train.py", 2),
    "for-the-task-of-a-step": (("--gres=gpu:4",), "srun --ntasks=1 --gpus-per-task=1 deepspeed train.py", 1),
    "fewer-visible-in-a-step": ((), "CUDA_VISIBLE_DEVICES=0,1 srun --gres=gpu:8 -n1 deepspeed train.py", 2),
    "fewer-visible": (("--gres=gpu:4",), "CUDA_VISIBLE_DEVICES=0,1 deepspeed train.py", 2),
}


@pytest.mark.parametrize(("options", "text", "expected"), SEEN.values(), ids=SEEN)
def test_the_gpus_that_a_job_sees_are_counted(options: tuple[str, ...], text: str, expected: int) -> None:
    assert world(start_of(job(*options) + text)) == expected
