"""Groups of completions as public threads report them: the version named there gives that thread's verdict and numbers."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name, Reason
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.frameworks.building import value
from tests.support import check

NOT_WHOLE = "GBS205"
UNSLOTH = "from unsloth import FastLanguageModel\nfrom trl import GRPOConfig\nGRPOConfig({})\n"
RECIPE = "model_name_or_path: my/model\ndataset_name: my/data\nnum_generations: {}\nper_device_train_batch_size: {}\n"


def report(folder: Path, pins: str, processes: int, name: str, text: str) -> Report:
    """The check of one file beside a requirements file, on so many processes."""
    tree = WorkTree(write(folder, {"requirements.txt": pins.replace(" ", "\n"), name: text}))
    return check(tree, (), Settings(), CommandLineHardware(world_size=processes), keep_runs=True)


def judged(found: Report) -> tuple[Run, bool]:
    """The one run of a report, and whether its framework refuses the groups."""
    (file,) = (file for file in found.files if file.runs)
    return file.runs[-1], any(finding.code == NOT_WHOLE for finding in file.findings)


def shown(run: Run) -> tuple[int | str | None, ...]:
    """Completions and prompts of an optimizer step, and completions of a group."""
    return tuple(value(run.geometry.get(name)) for name in (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS))


@pytest.mark.parametrize(
    ("pin", "processes", "group", "micro", "accumulation", "refused", "numbers"),
    [
        # The groups are whole: nothing to report.
        pytest.param("trl==0.15.0", 7, 7, 1, 16, False, (112, 16, 7), id="open-r1 249: num_generations 7 on 7 processes"),
        pytest.param("trl==0.15.0", 4, 8, 2, 1, False, (8, 1, 8), id="trl 3061: the least micro batch on 4 GPUs"),
        pytest.param("trl==0.15.2", 1, 8, 16, 1, False, (16, 2, 8), id="trl 3020: more completions than a group"),
        pytest.param("trl==1.9.0", 1, 8, 16, 1, False, (16, 2, 8), id="trl 3020: as answered later"),
        pytest.param("trl==0.17.0", 1, 8, 1, 8, False, (8, 1, 8), id="trl 2858: a step may hold the group since 0.17"),
        pytest.param("trl==0.14.0", 1, 4, 1, 1, False, (4, 1, 4), id="trl 2876: before 0.15 the micro batch counts prompts"),
        pytest.param("trl==0.14.0", 7, 8, 1, 16, False, (896, 112, 8), id="open-r1 217: the code of the day before"),
        pytest.param("", 7, 8, 1, 16, False, (112, 14, 8), id="open-r1 249 without a version: as the newest"),
        # They are not.
        pytest.param("trl==0.15.0", 3, 8, 1, 4, True, (12, None, 8), id="open-r1 236: 3 of 4 GPUs train"),
        pytest.param("trl==0.15.0", 7, 8, 1, 16, True, (112, 14, 8), id="open-r1 249 and 217: 7 of 8 GPUs train"),
        pytest.param("trl==0.15.0", 1, 8, 1, 8, True, (8, 1, 8), id="trl 2858: accumulation does not count"),
        pytest.param("trl==0.15.0", 1, 4, 1, 1, True, (1, None, 4), id="trl 2876"),
        pytest.param("trl==0.15.2", 4, 8, 1, 1, True, (4, None, 8), id="trl 3061: 4 GPUs of one completion"),
        pytest.param("trl==0.15.2", 1, 3, 8, 2, True, (16, None, 3), id="unsloth 2583: TRL itself refuses"),
        pytest.param("", 3, 8, 1, 4, True, (12, None, 8), id="open-r1 236: all versions that count completions refuse"),
    ],
)
def test_groups_of_trl(
    tmp_path: Path, pin: str, processes: int, group: int, micro: int, accumulation: int, refused: bool, numbers: tuple[int | None, ...]
) -> None:
    text = RECIPE.format(group, micro) + f"gradient_accumulation_steps: {accumulation}\n"
    run, found = judged(report(tmp_path, pin, processes, "grpo.yaml", text))
    assert found == refused
    step, prompts, completions = shown(run)
    assert (step, completions) == (numbers[0], numbers[2])
    assert prompts == numbers[1] or numbers[1] is None  # a step without whole groups has no whole number of prompts


@pytest.mark.parametrize(
    ("pins", "group", "micro", "accumulation", "numbers"),
    [
        pytest.param("unsloth==2025.2.15 trl==0.15.1", 8, 8, 1, (8, 1, 8), id="1796: groups do not multiply the batch"),
        pytest.param("unsloth==2025.2.15 trl==0.15.1", 8, 16, 4, (64, 8, 8), id="1796: two groups of a micro batch"),
        pytest.param("unsloth==2025.2.15 trl==0.15.1", 8, 1, 8, (64, 8, 8), id="1796: a micro batch of 1 is raised"),
        pytest.param("unsloth==2025.2.15 trl==0.15.1", 8, 4, 2, (16, 2, 8), id="1878: 4 is raised to 8"),
        pytest.param("unsloth==2025.4.7 trl==0.15.2", 3, 8, 2, (6, 2, 3), id="2583: 8 is lowered to 3"),
        pytest.param("unsloth==2025.6.3 trl==0.18.2", 8, 1, 4, (32, 4, 8), id="2765: 8 x 4 x 1"),
        pytest.param("unsloth==2025.8.5 trl==0.19.1", 16, 8, 2, (32, 2, 16), id="3149: the step would have held the group"),
        pytest.param("unsloth==2025.11.2 trl==0.22.2", 32, 1, 1, (32, 1, 32), id="3572: 1 is raised to 32"),
        pytest.param("unsloth==2025.11.4 trl==0.22.2", 16, 8, 2, (16, 1, 16), id="3149 since a step must hold the group"),
        pytest.param("unsloth==2025.11.4 trl==0.22.2", 32, 1, 1, (32, 1, 32), id="3572: still raised"),
        pytest.param("unsloth==2026.1.1 trl==0.15.2", 16, 8, 2, (32, 2, 16), id="an earlier TRL asks it of the micro batch"),
        pytest.param("", 8, 4, 1, (8, 1, 8), id="all versions of unsloth agree"),
    ],
)
def test_groups_of_unsloth(tmp_path: Path, pins: str, group: int, micro: int, accumulation: int, numbers: tuple[int, ...]) -> None:
    settings = f"per_device_train_batch_size={micro}, gradient_accumulation_steps={accumulation}, num_generations={group}"
    run, refused = judged(report(tmp_path, pins, 1, "train.py", UNSLOTH.format(settings)))
    assert not refused
    assert shown(run) == numbers


def test_versions_of_unsloth_that_differ_leave_the_batch_open(tmp_path: Path) -> None:
    settings = "per_device_train_batch_size=8, gradient_accumulation_steps=2, num_generations=16"
    run, refused = judged(report(tmp_path, "", 1, "train.py", UNSLOTH.format(settings)))
    assert not refused
    assert value(run.geometry.get(Name.MICRO_BATCH_SIZE)) == Reason.VERSION


@pytest.mark.parametrize(
    ("pin", "group", "accumulation", "refused"),
    [
        pytest.param("ms-swift==3.4.0", 2, 2, False, id="a step holds the group since 3.4"),
        pytest.param("ms-swift==4.5.2", 2, 2, False, id="so it does later"),
        pytest.param("ms-swift==3.3.1", 2, 2, True, id="a micro batch must hold it before"),
        pytest.param("ms-swift==3.3.1", 1, 1, True, id="3980: a group of one"),
        pytest.param("", 1, 1, True, id="3980 in any version"),
    ],
)
def test_groups_of_ms_swift(tmp_path: Path, pin: str, group: int, accumulation: int, refused: bool) -> None:
    command = "NPROC_PER_NODE=1 swift rlhf --rlhf_type grpo --model my/model --dataset my/data --per_device_train_batch_size 1"
    text = f"{command} --gradient_accumulation_steps {accumulation} --num_generations {group}\n"
    assert judged(report(tmp_path, pin, 1, "grpo.sh", text))[1] == refused


def test_a_teacher_makes_advantages_of_groups_of_one(tmp_path: Path) -> None:
    command = "NPROC_PER_NODE=1 swift rlhf --rlhf_type grpo --model my/model --teacher_model my/teacher"
    text = f"{command} --num_generations 1 --per_device_train_batch_size 2 --gradient_accumulation_steps 1\n"
    assert not judged(report(tmp_path, "", 1, "grpo.sh", text))[1]


@pytest.mark.parametrize(
    ("version", "generations", "completions"),
    [
        pytest.param("verl==0.2.0", 10, 2560, id="180: twice the completions"),
        pytest.param("verl==0.3.0.post1", 5, 1280, id="1524"),
        pytest.param("", 5, 1280, id="any version"),
    ],
)
def test_batches_of_verl_count_prompts(tmp_path: Path, version: str, generations: int, completions: int) -> None:
    command = f"""
    python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=1024 trainer.n_gpus_per_node=8 trainer.nnodes=1 \\
      actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=80 \\
      actor_rollout_ref.rollout.n={generations}
    """
    run, _ = judged(report(tmp_path, version, 8, "train.sh", command))
    assert shown(run) == (completions, 256, generations)
    assert value(run.geometry.get(Name.GENERATION_BATCH_SIZE)) == 1024 * generations
    assert value(run.geometry.get(Name.STEPS_PER_ROLLOUT)) == 4
    # 256 prompts are 1280 completions, 160 on each of 8 GPUs: two micro batches of 80, though 80 does not divide 256.
    assert value(run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)) == completions // 8 // 80
