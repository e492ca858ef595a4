"""A program that reads a recipe of its own where its command line names none, as examples/run_sft.py of NVIDIA-NeMo/RL does."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

# policy.train_global_batch_size is the batch of NeMo RL's SFT, whatever the number of GPUs.
RECIPE = """\
sft:
  max_num_epochs: 1
policy:
  train_global_batch_size: {batch}
  train_micro_batch_size: 1
  max_total_sequence_length: 1024
cluster:
  gpus_per_node: 8
  num_nodes: 1
"""
ASSIGNED = """\
import argparse
import os
parser = argparse.ArgumentParser()
parser.add_argument("--config", type=str, default=None, help="a YAML file")
args, overrides = parser.parse_known_args()
if not args.config:
    args.config = os.path.join(
        os.path.dirname(__file__), "configs", "sft.yaml"
    )
"""
DECLARED = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-c", "--config", type=str, default="{default}")
args, overrides = parser.parse_known_args()
"""
TWO = ASSIGNED + '    args.recipe = os.path.join(os.path.dirname(__file__), "configs", "other.yaml")\n'


def launched(folder: Path, program: str, command: str) -> list[int | None]:
    """The batches of what a script starts, beside recipes with batches of 32 and 64."""
    files = {"examples/run_sft.py": program, "run.sh": f"{command}\n"}
    files |= {f"examples/configs/{name}.yaml": RECIPE.format(batch=batch) for name, batch in (("sft", 32), ("other", 64))}
    report = checked(folder, files, "run.sh")
    assert codes(report) == []
    return batches(report)


@pytest.mark.parametrize(
    ("program", "command"),
    [
        pytest.param(ASSIGNED, "uv run examples/run_sft.py --config $RECIPE", id="a recipe that is not known"),
        pytest.param(ASSIGNED, "uv run examples/run_sft.py --config gone.yaml", id="a recipe that is not here"),
        pytest.param(ASSIGNED, "uv run examples/run_sft.py $ARGUMENTS", id="words that are not known"),
        pytest.param(ASSIGNED.replace("sft.yaml", "gone.yaml"), "uv run examples/run_sft.py", id="a default that is not here"),
        pytest.param(TWO, "uv run examples/run_sft.py", id="two defaults"),
        pytest.param(DECLARED.format(default="sft.yaml"), "uv run examples/run_sft.py", id="a declared default that is not here"),
        pytest.param(DECLARED.format(default="configs/{size}.yaml"), "uv run examples/run_sft.py", id="a default that is made up"),
    ],
)
def test_it_is_silent_where_the_recipe_is_not_known(tmp_path: Path, program: str, command: str) -> None:
    assert launched(tmp_path, program, command) == []


@pytest.mark.parametrize(
    ("program", "command", "batch"),
    [
        pytest.param(ASSIGNED, "uv run examples/run_sft.py", 32, id="assigned"),
        pytest.param(ASSIGNED, "cd examples && python run_sft.py", 32, id="from another folder"),
        pytest.param(ASSIGNED, "uv run examples/run_sft.py --config examples/configs/other.yaml", 64, id="another one is named"),
        pytest.param(ASSIGNED, "uv run examples/run_sft.py policy.train_global_batch_size=128", 128, id="an override"),
        pytest.param(DECLARED.format(default="examples/configs/sft.yaml"), "uv run examples/run_sft.py", 32, id="from the root"),
        pytest.param(DECLARED.format(default="configs/sft.yaml"), "cd examples; uv run run_sft.py", 32, id="beside the program"),
    ],
)
def test_it_runs_the_recipe_of_its_program(tmp_path: Path, program: str, command: str, batch: int) -> None:
    assert launched(tmp_path, program, command) == [batch]
