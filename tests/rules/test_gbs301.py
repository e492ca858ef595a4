"""A launch that gives another batch than its recipe claims: certain, unless its own command line gives every factor of it."""

from pathlib import Path

import pytest

from tests.launches.building import checked, recipe

LAUNCH = "accelerate launch --num_processes 4 train.py --config sft.yaml"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param("--per_device_train_batch_size 8 --gradient_accumulation_steps 4", [], id="8 x 4 x 4: all that is claimed"),
        pytest.param("", ["error"], id="4 x 4 x 4, of the recipe's own settings"),
        pytest.param("--gradient_accumulation_steps 2", ["error"], id="4 x 2 x 4, of the recipe's micro batch"),
        # Like the experiments of a fork of nanoGPT whose config file explains the batch that it has by itself.
        pytest.param("--per_device_train_batch_size 2 --gradient_accumulation_steps 2", ["warning"], id="2 x 2 x 4, nothing of the recipe"),
    ],
)
def test_a_launch_with_factors_of_its_own_is_a_warning(flags: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": f"{LAUNCH} {flags}\n"})
    assert [each.severity for each in report.findings() if each.code == "GBS301"] == expected


def test_what_a_script_says_of_its_own_factors_is_certain(tmp_path: Path) -> None:
    said = f"# effective batch size 128\n{LAUNCH} --per_device_train_batch_size 2 --gradient_accumulation_steps 2\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": said})
    assert [each.severity for each in report.findings() if each.code == "GBS301"] == ["error"]


@pytest.mark.parametrize("other", ["python watch_inference.py --out o &", "python eval.py --batch_size 4", "python main.py mode=test"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("16", [], id="as the script says, not the recipe"),
        pytest.param("32", ["error", "warning"], id="neither as the script nor as the recipe says"),
    ],
)
def test_a_program_that_scores_takes_no_statement_from_the_one_that_trains(
    other: str, said: str, expected: list[str], tmp_path: Path
) -> None:
    flags = "--per_device_train_batch_size 2 --gradient_accumulation_steps 2"
    script = f"# 4 GPUs x 2 x accumulation 2: effective batch size {said}\nexport OUT=o\n\n{other}\n\n{LAUNCH} {flags}\nwait\n"
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script})
    assert sorted(each.severity for each in report.findings() if each.code == "GBS301") == expected


def test_a_statement_of_a_script_that_trains_twice_is_about_neither(tmp_path: Path) -> None:
    flags = "--per_device_train_batch_size 2 --gradient_accumulation_steps 2"
    script = f"# effective batch size 16\nexport OUT=o\n\n{LAUNCH}\n\n{LAUNCH} {flags}\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script})
    assert [each.code for each in report.findings() if each.code != "GBS309"] == []


def test_a_comment_is_shown_where_it_is_although_the_launch_overrides_the_key_below_it(tmp_path: Path) -> None:
    said = recipe(comment="").replace("gradient_accumulation_steps", "# GBS 128 on 8 GPUs\ngradient_accumulation_steps")
    report = checked(tmp_path, {"sft.yaml": said, "run.sh": f"{LAUNCH} --gradient_accumulation_steps 2\n"})
    (finding,) = (each for each in report.findings() if each.code == "GBS301")
    claimed = next(each.at for each in finding.related if each.label == "claimed")
    assert (claimed.source, said[claimed.start : claimed.stop]) == ("sft.yaml", "128")


def test_completions_and_the_prompts_that_they_answer_are_one_finding(tmp_path: Path) -> None:
    said = "# completions: 8 GPUs * 4 * 16 = 512\n# prompts per step: 512 / 16 = 32\n"
    grpo = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 16\nnum_generations: 16\n"
    recipe = f"model_name_or_path: tiny\nlearning_rate: 1.0e-6\n{said}{grpo}"
    launch = "accelerate launch --num_processes {} train.py --config grpo.yaml\n"
    (finding,) = checked(tmp_path, {"grpo.yaml": recipe, "run.sh": launch.format(16)}).findings()
    assert (finding.code, finding.message) == ("GBS301", "this launch gives 1,024, but grpo.yaml claims 512")
    assert finding.details == ("1,024 = 4 micro x 16 accumulation x 16 data-parallel (16 GPUs)",)
    assert checked(tmp_path, {"run.sh": launch.format(8)}).findings() == ()


def test_a_quotient_is_shown_as_one(tmp_path: Path) -> None:
    grpo = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 16\nnum_generations: 16\n"
    recipe = f"model_name_or_path: tiny\nlearning_rate: 1.0e-6\n# 32 prompts per step\n{grpo}"
    launch = "accelerate launch --num_processes 16 train.py --config grpo.yaml\n"
    (finding,) = checked(tmp_path, {"grpo.yaml": recipe, "run.sh": launch}).findings()
    assert finding.details == ("64 = 1,024 global batch / 16 generations",)


STARTED = "torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py --model_name_or_path m --output_dir o --learning_rate 2e-5"


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        pytest.param("We use 16 GPUs, the total batch size is 128.", None, id="8 x 16"),
        pytest.param("global batch size 256 on 4 nodes", None, id="8 x 4 x 8"),
        pytest.param("The total batch size is 256.", None, id="nothing said of the hardware: 4 nodes"),
        pytest.param("global batch size 128 on 8 GPUs", None, id="8 GPUs may be those of each of 2 nodes"),
        pytest.param("global batch size 64 on 12 GPUs", None, id="no whole number of nodes"),
        pytest.param("global batch size 64 on 2 nodes with 4 GPUs each", None, id="other nodes"),
        pytest.param(
            "We use 16 GPUs, the total batch size is 256.", "this launch gives 128 on 16 GPUs, but its comment claims 256", id="GPUs"
        ),
        pytest.param("global batch size 128 on 4 nodes", "this launch gives 256 on 4 nodes, but its comment claims 128", id="nodes"),
    ],
)
def test_a_batch_for_some_nodes_is_compared_on_them_if_the_launch_leaves_them_open(
    comment: str, expected: str | None, tmp_path: Path
) -> None:
    """NVlabs/Eagle: `We use 128 GPU to pretrain the model, the total batch size is 1024.` above a launch on the nodes of Slurm."""
    program = "import transformers\nparser = transformers.HfArgumentParser((transformers.TrainingArguments,))\n"
    script = f"# {comment}\n{STARTED} --per_device_train_batch_size 8\n"
    found = checked(tmp_path, {"train.py": program, "run.sh": script}).findings()
    assert [each.message for each in found] == ([expected] if expected else [])
