"""One process of transformers' Trainer that sees several GPUs feeds a micro batch to each; other programs leave the GPUs unknown."""

import json
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.building import batches, checked, codes, launched, only

PROGRAM = """\
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

parser = HfArgumentParser(TrainingArguments)
arguments = parser.parse_yaml_file("run.yaml")
model = AutoModelForCausalLM.from_pretrained("my/model")
Trainer(model=model, args=arguments).train()
"""
KEYS = "model_name_or_path: my/model\nblock_size: 512\nlearning_rate: 1.0e-5\n"
SIZES = "per_device_train_batch_size: 8\ngradient_accumulation_steps: 2\n"
RECIPE = KEYS + SIZES
SEES_FOUR = "CUDA_VISIBLE_DEVICES=0,1,2,3 python train.py run.yaml\n"
ONE_PROCESS = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nnum_machines: 1\nnum_processes: 1\n"


def batch(folder: Path, command: str = SEES_FOUR, program: str = PROGRAM, recipe: str = RECIPE, **more: str) -> int | None:
    """The batch of the one launch of a repository."""
    files = {
        "run.yaml": recipe,
        "run.sh": command,
        "train.py": program,
        **{name.replace("__", "/") + ".py": text for name, text in more.items()},
    }
    (found,) = batches(checked(folder, files))
    return found


PROGRAMS = {
    "a loop of its own": "import transformers\nfrom torch.utils.data import DataLoader\n",
    "a Trainer of somewhere else": "from acme import Trainer\nfrom transformers import TrainingArguments\n",
    "the arguments alone": "from transformers import TrainingArguments\n",
    "a map of devices": PROGRAM.replace('"my/model")', '"my/model", device_map="auto")'),
    "four bits": PROGRAM.replace('"my/model")', '"my/model", load_in_4bit=True)'),
    "a quantised model": PROGRAM + "from transformers import BitsAndBytesConfig\n",
    "the layers over the GPUs": PROGRAM + "model.is_parallelizable = model.model_parallel = True\n",
    "other GPUs": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" + PROGRAM,
    "a group of its own": PROGRAM + "torch.distributed.init_process_group('nccl')\n",
    "TRL": PROGRAM + "from trl import SFTTrainer\n",
    "unsloth": "import unsloth\n" + PROGRAM,
    "no Python": PROGRAM + "def (\n",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_program_does_otherwise_leaves_the_gpus_unknown(program: str, tmp_path: Path) -> None:
    assert batch(tmp_path, program=program) is None


SETTINGS = {
    "DeepSpeed": "deepspeed: ds.json\n",
    "FSDP": "fsdp: full_shard\n",
    "no GPU": "use_cpu: true\n",
    "no GPU, by its older name": "no_cuda: true\n",
    "a rank": "local_rank: 0\n",
    "four bits": "load_in_4bit: true\n",
    "a map of devices": "model_init_kwargs: {device_map: auto}\n",
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_what_a_recipe_says_otherwise_leaves_the_gpus_unknown(setting: str, tmp_path: Path) -> None:
    assert batch(tmp_path, recipe=RECIPE + setting) is None


COMMANDS = {
    "nothing says how many": "python train.py run.yaml\n",
    "the environment does": "CUDA_VISIBLE_DEVICES=$GPUS python train.py run.yaml\n",
    "none": "CUDA_VISIBLE_DEVICES=-1 python train.py run.yaml\n",
    "a rank is given": "export LOCAL_RANK=0\n" + SEES_FOUR,
    "DeepSpeed by a flag": SEES_FOUR.replace("run.yaml", "run.yaml --deepspeed ds.json"),
    "several tasks": "srun --ntasks=2 " + SEES_FOUR.replace("CUDA", "env CUDA"),
    "a processor": "CUDA_VISIBLE_DEVICES=0,1 accelerate launch --cpu --num_processes 1 train.py run.yaml\n",
    "accelerate sees what it sees": "accelerate launch --config_file one.yaml train.py run.yaml\n",
    "a file that the script writes": f"cat > two.yaml <<X\n{ONE_PROCESS}gpu_ids: '0'\nX\n"
    "CUDA_VISIBLE_DEVICES=0,1 accelerate launch --config_file two.yaml train.py run.yaml\n",
    "a job on several nodes": "#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\npython train.py run.yaml\n",
    "a step of several tasks": "srun --gres=gpu:4 -n 2 python train.py run.yaml\n",
    "a step of an unknown number of tasks": "srun --gres=gpu:4 python train.py run.yaml\n",
    "a step with other devices": "srun -n1 --gres=tmpfs:4 python train.py run.yaml\n",
    "a step with GPUs that a variable names": "srun -n1 --gres=gpu:$GPUS python train.py run.yaml\n",
    "a step asks twice": "srun -n1 --gres=gpu:4 --gpus=2 python train.py run.yaml\n",
    "the program is not there": SEES_FOUR.replace("train.py", "finetune.py"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_leaves_the_gpus_open(command: str, tmp_path: Path) -> None:
    files = {"run.yaml": RECIPE, "run.sh": command, "train.py": PROGRAM, "one.yaml": ONE_PROCESS}
    report = checked(tmp_path, files)
    assert set(batches(report)) <= {None, 16}  # 8 x 2 on the one GPU of a process
    assert "GBS301" not in codes(report)


def test_a_module_of_the_program_may_do_otherwise(tmp_path: Path) -> None:
    program = "from acme.models import load\n" + PROGRAM
    for number, inner in enumerate(("from .loading import load\n", "from acme.loading import load\n")):
        folder = tmp_path / str(number)
        assert batch(folder, program=program, src__acme__models=inner, src__acme__loading="def load():\n    pass\n") == 64
        assert batch(folder, program=program, src__acme__models=inner, src__acme__loading="def load(device_map):\n    pass\n") is None


FED = {
    "python": SEES_FOUR,
    "exported": "export CUDA_VISIBLE_DEVICES=4,5,6,7\npython -u train.py run.yaml\n",
    "a module": "CUDA_VISIBLE_DEVICES=0,1,2,3 python -m train run.yaml\n",
    "uv": "CUDA_VISIBLE_DEVICES=0,1,2,3 uv run train.py run.yaml\n",
    "one task": "CUDA_VISIBLE_DEVICES=0,1,2,3 srun --ntasks=1 python train.py run.yaml\n",
    "accelerate": "CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch --num_processes 1 train.py run.yaml\n",
    "its own list of GPUs": "accelerate launch --num_processes 1 --gpu_ids 0,1,2,3 train.py run.yaml\n",
    "its file": "CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch --config_file one.yaml train.py run.yaml\n",
    "the list of its file": "CUDA_VISIBLE_DEVICES=0 accelerate launch --config_file four.yaml train.py run.yaml\n",
    "a job of Slurm": "#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\npython train.py run.yaml\n",
    "a step of one task": "srun -p part -n1 --gres=gpu:a100:4 python train.py run.yaml\n",
    "a step on one node": "srun --nodes 1 --ntasks-per-node=1 --gpus-per-node 4 python train.py run.yaml\n",
    "a step with GPUs in all": "#SBATCH --gres=gpu:8\nsrun --ntasks=1 -G 4 python train.py run.yaml\n",
    "all": "CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch --gpu_ids all --num_processes 1 train.py run.yaml\n",
}


@pytest.mark.parametrize("command", FED.values(), ids=FED)
def test_each_visible_gpu_is_fed_a_micro_batch(command: str, tmp_path: Path) -> None:
    # 8 x 4 GPUs x 2 = 64
    files = {"run.yaml": RECIPE, "run.sh": command, "train.py": PROGRAM, "one.yaml": ONE_PROCESS}
    report = checked(tmp_path, {**files, "four.yaml": f"{ONE_PROCESS}gpu_ids: 0,1,2,3\n"})
    assert (batches(report), codes(report)) == ([64], [])


@pytest.mark.parametrize("command", ["python", "accelerate launch --num_processes 1"])
def test_one_visible_gpu_is_one_gpu(command: str, tmp_path: Path) -> None:
    assert batch(tmp_path, f"CUDA_VISIBLE_DEVICES=2 {command} train.py run.yaml\n") == 16


def test_the_gpus_stand_where_they_are_made_visible(tmp_path: Path) -> None:
    (run,) = launched(checked(tmp_path, {"run.yaml": RECIPE, "run.sh": SEES_FOUR, "train.py": PROGRAM}))
    world = run.geometry.get(Name.WORLD_SIZE)
    assert isinstance(world, Quantity)
    assert world.at is not None
    assert (SEES_FOUR[world.at.start : world.at.stop], world.key) == ("0,1,2,3", "CUDA_VISIBLE_DEVICES")
    assert world.note.words == "DataParallel: one process feeds all"


def test_flags_alone_are_fed_too(tmp_path: Path) -> None:
    flags = "CUDA_VISIBLE_DEVICES=0,1 python train.py --per_device_train_batch_size 8 --gradient_accumulation_steps 4\n"
    (found,) = batches(checked(tmp_path, {"run.sh": flags, "train.py": PROGRAM}))
    assert found == 64  # 8 x 2 GPUs x 4


def test_a_claim_is_judged_by_all_of_them(tmp_path: Path) -> None:
    claimed = f"# effective batch size 64\n{RECIPE}"
    assert codes(checked(tmp_path / "four", {"run.yaml": claimed, "run.sh": SEES_FOUR, "train.py": PROGRAM})) == []
    two = "CUDA_VISIBLE_DEVICES=0,1 python train.py run.yaml\n"
    finding = only(checked(tmp_path / "two", {"run.yaml": claimed, "run.sh": two, "train.py": PROGRAM}))
    assert (finding.code, finding.message) == ("GBS301", "this launch gives 32, but run.yaml claims 64")


def test_evaluation_is_fed_too(tmp_path: Path) -> None:
    recipe = f"{RECIPE}eval_strategy: epoch\nper_device_eval_batch_size: 16\n"
    (run,) = launched(checked(tmp_path, {"run.yaml": recipe, "run.sh": SEES_FOUR, "train.py": PROGRAM}))
    assert run.geometry.value(Name.EVAL_GLOBAL_BATCH_SIZE) == 64


@pytest.mark.parametrize("imported", ["from .....acme import x", "from . import x", "from .. import *", "import train", "import a.b.c.d"])
def test_imports_that_lead_nowhere_change_nothing(imported: str, tmp_path: Path) -> None:
    assert batch(tmp_path, program=f"{imported}\n{PROGRAM}") == 64


def test_a_program_of_too_many_files_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.launches.visible_gpus.MOST_PROGRAM_FILES", 2)
    program = "import one, two\n" + PROGRAM
    assert batch(tmp_path, program=program, one="", two="") is None


def test_the_launch_shows_why_there_are_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked(tmp_path, {"run.yaml": RECIPE, "run.sh": SEES_FOUR, "train.py": PROGRAM})
    assert main(["show", str(tmp_path / "run.sh")]) == 0
    reported = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "global batch size 64 = 8 x 2 x 4" in reported
    assert any(line.startswith("GPUs 4 CUDA_VISIBLE_DEVICES") and "DataParallel: one process feeds all" in line for line in reported)


# 2 x 4 = 8 on the one GPU that unsloth takes.
UNSLOTH = """\
from unsloth import FastLanguageModel
from trl import SFTConfig, SFTTrainer

args = SFTConfig(output_dir="o", per_device_train_batch_size=2, gradient_accumulation_steps=4)
SFTTrainer(args=args).train()
"""


@pytest.mark.parametrize(
    ("command", "program", "expected"),
    [
        pytest.param("python train.py", UNSLOTH, 8, id="one process"),
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 python train.py", UNSLOTH, 8, id="that sees two"),
        pytest.param("torchrun --nproc_per_node 2 train.py", UNSLOTH, 16, id="two processes"),
        pytest.param("RANK=0 WORLD_SIZE=2 python train.py", UNSLOTH, None, id="one of a group"),
        pytest.param("python train.py", UNSLOTH.replace("unsloth", "acme"), None, id="another library"),
        pytest.param("python train.py", UNSLOTH.replace("trl", "acme"), None, id="a trainer of something else"),
    ],
)
def test_unsloth_takes_one_gpu_if_no_launcher_starts_it(command: str, program: str, expected: int | None, tmp_path: Path) -> None:
    found = [each for each in batches(checked(tmp_path, {"run.sh": f"{command}\n", "train.py": program})) if each is not None]
    assert found == ([expected] if expected is not None else [])


@pytest.mark.parametrize(("claimed", "expected"), [(8, []), (16, ["GBS101"])])
def test_a_notebook_with_unsloth_trains_on_one_gpu(claimed: int, expected: list[str], tmp_path: Path) -> None:
    code = UNSLOTH.replace("steps=4)", f"steps=4)  # effective batch size {claimed}")
    cell: dict[str, object] = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert codes(checked(tmp_path, {"a.ipynb": notebook})) == expected
    assert codes(checked(tmp_path, {"a.ipynb": notebook.replace("unsloth", "acme")})) == []
