"""DeepSpeed's own file as the recipe of a program that starts the engine with it."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, titled_batches

PROGRAM = """\
import argparse

import deepspeed

parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
args = parser.parse_args()
{lines}
engine, *_ = deepspeed.initialize({arguments})
"""
GIVEN = "args=args, model=net, model_parameters=net.parameters()"
SIZES = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 2}}'
LAUNCH = "deepspeed --num_gpus 8 train.py --deepspeed --deepspeed_config ds.json\n"


def files(launch: str = LAUNCH, arguments: str = GIVEN, lines: str = "net = Net()", sizes: str = SIZES) -> dict[str, str]:
    """A repository of a program, its launch and a file of DeepSpeed."""
    return {"train.py": PROGRAM.format(lines=lines, arguments=arguments), "run.sh": launch, "ds.json": sizes}


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        pytest.param("model=net", "net = Net()", id="no arguments"),
        pytest.param(f"{GIVEN}, config=changed(args)", "net = Net()", id="a configuration of the program"),
        pytest.param(f"{GIVEN}, config_params=changed(args)", "net = Net()", id="by its old name"),
        pytest.param(f"{GIVEN}, mpu=groups", "net = Net()", id="groups that share the model"),
        pytest.param(f"{GIVEN}, **options", "net = Net()", id="arguments that are not seen"),
        pytest.param(GIVEN, "net = deepspeed.pipe.PipelineModule(layers, num_stages=2)", id="a pipeline"),
    ],
)
def test_a_file_that_may_not_be_the_whole_batch_is_not_a_recipe(arguments: str, lines: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, files(arguments=arguments, lines=lines))) == []


@pytest.mark.parametrize(
    "launch",
    [
        pytest.param("deepspeed --num_gpus 8 train.py --ds_config ds.json\n", id="another option"),
        pytest.param("deepspeed --num_gpus 8 other.py --deepspeed_config ds.json\n", id="a program that is not there"),
        pytest.param("deepspeed --num_gpus 8 train.py --deepspeed_config gone.json\n", id="a file that is not there"),
    ],
)
def test_what_the_engine_does_not_get_is_not_a_recipe(launch: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, files(launch))) == []


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("--deepspeed --deepspeed_config ds.json", id="the next word"),
        pytest.param("--deepspeed --deepspeed_config=ds.json", id="behind an equals sign and a switch"),
        pytest.param("--deepspeed_config $CONFIG --epochs 2", id="a variable"),
    ],
)
def test_the_file_is_what_the_program_trains_with(words: str, tmp_path: Path) -> None:
    report = checked(tmp_path, files(f"CONFIG=ds.json\ndeepspeed --num_gpus 8 train.py {words}\n"))
    assert titled_batches(report) == [("DeepSpeed", 64)]
    assert codes(report) == []


def test_its_contradiction_is_found_with_the_gpus_of_the_launch(tmp_path: Path) -> None:
    sizes = (
        '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 3, "zero_optimization": {"stage": 2}}'
    )
    assert codes(checked(tmp_path, files(sizes=sizes))) == ["GBS203"]


def test_a_claim_beside_the_launch_is_checked_against_it(tmp_path: Path) -> None:
    assert codes(checked(tmp_path, files(f"# global batch size 64\n{LAUNCH}"))) == []
    assert codes(checked(tmp_path, files(f"# global batch size 128\n{LAUNCH}"))) == ["GBS301"]
