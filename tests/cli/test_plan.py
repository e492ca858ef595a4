"""`gbs plan`, end to end."""

import json
from pathlib import Path

import pytest

from tests.cli.support import GOOD, UNCLAIMED, Gbs, write


def test_the_table_of_what_fits(gbs: Gbs) -> None:
    said = gbs("plan", "--global-batch-size", "64", "--world-size", "2", "--max-micro-batch-size", "4")
    assert said == (
        0,
        "64 = micro x accumulation x 2 GPUs\n"
        "  micro  accumulation\n"
        "      4             8   <- fewest passes for each update, if it fits in memory\n"
        "      2            16\n"
        "      1            32\n",
        "",
    )


@pytest.mark.parametrize(
    ("flags", "row"),
    [
        pytest.param("--global-batch-size 32 --world-size 1 --max-micro-batch-size 1", "      1            32", id="7B on 24 GB"),
        pytest.param("--global-batch-size 32 --world-size 2 --max-micro-batch-size 2", "      2             8", id="7B on two"),
        pytest.param("--global-batch-size 32 --world-size 1 --max-micro-batch-size 4", "      4             8", id="13B on 80 GB"),
        pytest.param("--global-batch-size 64 --nodes 1 --gpus-per-node 8 --max-micro-batch-size 1", "      1             8", id="70B on 8"),
    ],
)
def test_the_seeds_of_people_who_start(flags: str, row: str, gbs: Gbs) -> None:
    assert gbs("plan", *flags.split()).out.splitlines()[2].startswith(row)


def test_parallel_sizes_and_tokens(gbs: Gbs) -> None:
    flags = "--global-batch-size 96 --world-size 16 --tensor-parallel-size 2 --pipeline-parallel-size 2 --sequence-length 4096"
    lines = gbs("plan", *flags.split()).out.splitlines()
    assert lines[0] == "96 = micro x accumulation x 4 data-parallel (16 GPUs / (tensor 2 x pipeline 2))"
    assert lines[-1] == "  tokens per step  393,216 = 96 x 4,096, at most"
    assert "      8             3   <- a power of two" in lines


def test_what_is_near_where_nothing_fits(gbs: Gbs) -> None:
    said = gbs("plan", "--global-batch-size", "64", "--world-size", "12")
    assert said.code == 1
    assert said.out.splitlines()[1:] == [
        "  no integer accumulation keeps the batch: 64 is not a multiple of 12",
        "  nearest global batch sizes on 12 GPUs: 60 and 72",
        "  nearest numbers of GPUs that keep it: 4, 8, 16 and 32",
    ]


def test_it_starts_from_a_recipe(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": GOOD})
    lines = gbs("plan", "--from", "sft.yaml", "--max-micro-batch-size", "8").out.splitlines()
    assert lines[0] == "128 = micro x accumulation x 16 GPUs"
    assert "      4             2   <- now" in lines
    assert lines[-1] == "  tokens per step  524,288 = 128 x 4,096, at most"
    # What the comment claims is what is meant, on other hardware too.
    assert gbs("plan", "--from", "sft.yaml", "--world-size", "8").out.startswith("128 = micro x accumulation x 8 GPUs\n")


def test_json_and_markdown(gbs: Gbs) -> None:
    flags = ("plan", "--global-batch-size", "4", "--world-size", "2")
    found = json.loads(gbs(*flags, "--format", "json").out)
    assert found["pairs"] == [
        {"micro_batch_size": 2, "gradient_accumulation_steps": 1, "power_of_two": True, "now": False},
        {"micro_batch_size": 1, "gradient_accumulation_steps": 2, "power_of_two": True, "now": False},
    ]
    assert gbs(*flags, "--format", "markdown").out.splitlines()[2:] == [
        "| micro | accumulation | remarks |",
        "| ---: | ---: | --- |",
        "| 2 | 1 | fewest passes for each update, if it fits in memory |",
        "| 1 | 2 |  |",
    ]


def test_what_is_near_as_json(gbs: Gbs) -> None:
    said = gbs("plan", "--global-batch-size", "8", "--world-size", "16", "--format", "json")
    assert (said.code, json.loads(said.out)["near"]) == (1, {"below": None, "above": 16, "world_sizes": [4, 8]})


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param("--world-size 2", "gbs plan needs --global-batch-size N", id="no batch"),
        pytest.param("--global-batch-size 2", "gbs plan needs --world-size N", id="no hardware"),
        pytest.param("--global-batch-size 8 --nodes 3 --world-size 8", "--world-size 8 is not a multiple of --nodes 3", id="contradiction"),
        pytest.param("--global-batch-size 0 --world-size 8", "'0' is not a positive whole number", id="nothing"),
        pytest.param("--global-batch-size 8 --world-size 8e", "'8e' is not a positive whole number", id="no number"),
        pytest.param("--from nowhere.yaml", "no such file or folder: nowhere.yaml", id="no file"),
        pytest.param("--from notes.yaml --world-size 2", "notes.yaml is not a recipe that gbs knows", id="no recipe"),
        pytest.param("--from sft.yaml", "gbs plan needs --world-size N, or --nodes N", id="a recipe without hardware"),
    ],
)
def test_a_wrong_call_is_one_clear_line(flags: str, words: str, repo: Path, gbs: Gbs) -> None:
    write(repo, {"notes.yaml": "a: 1\n", "sft.yaml": UNCLAIMED})
    said = gbs("plan", *flags.split())
    assert said.code == 2
    assert words in said.err
    assert len(said.err.splitlines()) == 1


RUN = "torchrun --nnodes 2 --nproc_per_node 8 train.py --config sft.yaml\n"


@pytest.mark.parametrize(
    ("flags", "gpus"),
    [("", 16), ("--nodes 8", 64), ("--gpus-per-node 4", 8), ("--nodes 8 --gpus-per-node 4", 32), ("--world-size 24", 24)],
)
def test_flags_come_before_the_hardware_of_a_launch(flags: str, gpus: int, repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED, "run.sh": RUN})
    said = gbs("plan", "--from", "run.sh", "--global-batch-size", "192", *flags.split())
    assert said.out.splitlines()[0] == f"192 = micro x accumulation x {gpus} GPUs"


def test_nodes_of_unknown_size_are_asked_for(gbs: Gbs) -> None:
    assert gbs("plan", "--global-batch-size", "64", "--nodes", "8").err == "gbs: gbs plan needs --gpus-per-node N too\n"


GRPO = """\
model_name_or_path: my/model
dataset_name: my/data
num_generations: 8
per_device_train_batch_size: 8
gradient_accumulation_steps: 4  # 32 prompts per step: GBS 256 on 8 GPUs
"""


def test_a_claim_of_prompts_is_not_the_batch_of_completions(repo: Path, gbs: Gbs) -> None:
    write(repo, {"grpo.yaml": GRPO})
    assert gbs("plan", "--from", "grpo.yaml", "--world-size", "4").out.startswith("256 = micro x accumulation x 4 GPUs\n")
    gbs("lock")
    assert "claim = 256 }" in (repo / "gbs.lock").read_text()


def test_an_epoch_that_fills_no_last_step(gbs: Gbs) -> None:
    flags = ("plan", "--global-batch-size", "128", "--world-size", "8", "--dataset-size", "10050")  # 78 x 128 = 9,984
    assert gbs(*flags).out.splitlines()[-1] == "  one epoch  78 full steps of 10,050 samples; 66 are left for a smaller one, or dropped"
    assert json.loads(gbs(*flags, "--format", "json").out)["epoch"] == {"dataset_size": 10_050, "full_steps": 78, "left": 66}


def test_an_epoch_of_whole_steps(gbs: Gbs) -> None:
    said = gbs("plan", "--global-batch-size", "128", "--world-size", "8", "--dataset-size", "12800")
    assert said.out.splitlines()[-1] == "  one epoch  100 steps of 128 take all 12,800 samples"


def test_without_a_data_set_there_is_no_epoch(gbs: Gbs) -> None:
    flags = ("plan", "--global-batch-size", "128", "--world-size", "8")
    assert "epoch" not in gbs(*flags).out
    assert "epoch" not in json.loads(gbs(*flags, "--format", "json").out)
