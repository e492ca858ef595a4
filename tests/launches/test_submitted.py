"""A script that submits another one with arguments: the batch is that of what the other one starts with them, on the nodes asked for."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, launched

TRAIN = """\
import hydra
from trl import SFTConfig, SFTTrainer

@hydra.main(version_base=None, config_path="configs", config_name="train")
def main(config):
    SFTTrainer(args=SFTConfig(**config.training_args)).train()
"""
CONFIG = """\
model: acme/model
training_args:
  output_dir: out
  learning_rate: 1.0e-5
  per_device_train_batch_size: 1
  gradient_accumulation_steps: 1
"""
# What a container's entry point runs; the file of accelerate is picked from among the arguments.
JOB = """\
#!/bin/bash
#SBATCH --nodes 1
#SBATCH --ntasks-per-node 1
for arg in "$@"; do
  if [[ $arg == launcher=* ]]; then
    LAUNCHER="${arg#launcher=}"
    break
  fi
done
srun \\
  --container-mounts=\\
$STORE,\\
$SCRATCH \\
  --container-writable \\
  /opt/entry.sh \\
  bash -c "\\
    exec accelerate launch \\
    --config-file $LAUNCHER \\
    --num_machines $SLURM_NNODES \\
    --num_processes $((4*$SLURM_NNODES)) \\
    --machine_rank \\$SLURM_NODEID \\
    $*"
"""
DDP = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 4\n"
FILES = {"src/acme/train.py": TRAIN, "src/acme/configs/train.yaml": CONFIG, "cluster/jobs/run.sh": JOB, "ddp.yaml": DDP}
# 2 x 4 a node: 64 x 4 x 2 = 512, and 16 x 4 x 2 x 3 = 384.
SUBMIT = """\
sbatch -N 64 -t 12:00:00 -o out/a.out ./jobs/run.sh -m acme.train launcher=ddp.yaml training_args.per_device_train_batch_size=2
sbatch -N 16 jobs/run.sh -m acme.train launcher=ddp.yaml training_args.per_device_train_batch_size=2 \
training_args.gradient_accumulation_steps=3
"""


def submitted(folder: Path, submit: str) -> list[int | None]:
    """The batch of each launch of `submit`, where `jobs` is a link to the folder of the job's script."""
    (folder / "jobs").symlink_to("cluster/jobs")
    report = checked(folder, {**FILES, "runs/submit.sh": submit}, "runs/submit.sh")
    assert {run.launch.at.source for run in launched(report) if run.launch is not None} <= {"runs/submit.sh"}
    return batches(report)


def test_each_line_is_a_launch_on_its_own_nodes(tmp_path: Path) -> None:
    assert submitted(tmp_path, SUBMIT) == [512, 384]


@pytest.mark.parametrize(
    "submit",
    [
        pytest.param(SUBMIT.replace("jobs/", "elsewhere/"), id="a script that is not there"),
        pytest.param(SUBMIT.replace("acme.train", "acme.evaluate"), id="a program that is not there"),
        pytest.param("".join(f"# {line}\n" for line in SUBMIT.splitlines()), id="comments"),
    ],
)
def test_what_is_not_known_to_train_is_not_a_launch(tmp_path: Path, submit: str) -> None:
    assert submitted(tmp_path, submit) == []


def test_a_link_that_leads_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(JOB, encoding="utf-8")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "jobs").symlink_to(tmp_path)
    others = {name: text for name, text in FILES.items() if name != "cluster/jobs/run.sh"}
    assert batches(checked(tree, {**others, "submit.sh": SUBMIT}, "submit.sh")) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/acme/src/acme/configs", [6]),  # 2 x 3 x 1
        ("/home/me/acme/configs", []),
        ("configs", [6]),
        ("../configs", []),
    ],
)
def test_a_folder_of_configurations_is_found_where_the_author_has_the_tree(tmp_path: Path, path: str, expected: list[int | None]) -> None:
    program = "/home/me/acme/src/acme/train.py"
    flags = "training_args.per_device_train_batch_size=2 training_args.gradient_accumulation_steps=3"
    run = f"CUDA_VISIBLE_DEVICES=0 python {program} --config-path {path} --config-name train.yaml {flags}\n"
    assert batches(checked(tmp_path, {**FILES, "run.sh": run}, "run.sh")) == expected


def test_an_entry_point_of_the_tree_is_read(tmp_path: Path) -> None:
    """It starts 8 processes for the program that it is given: 2 x 8."""
    files = {**FILES, "scripts/entry.sh": 'torchrun --nproc_per_node 8 "${@:2}"\n'}
    flags = "training_args.per_device_train_batch_size=2"
    run = f"docker run -v $(pwd):/w image /w/scripts/entry.sh python src/acme/train.py {flags}\n"
    assert batches(checked(tmp_path, {**files, "run.sh": run}, "run.sh")) == [16]
