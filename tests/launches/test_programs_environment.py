"""What programs take from the environment, as the script or the job that starts them sets it."""

from pathlib import Path

import pytest

from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Name, Quantity
from tests.launches.building import checked, launched

PROGRAM = """\
import os
from transformers import Trainer, TrainingArguments
micro = int(os.getenv("MICRO", "2"))
epochs = int(os.getenv("EPOCHS", "3"))
args = TrainingArguments(per_device_train_batch_size=micro, num_train_epochs=epochs, gradient_accumulation_steps=STEPS)
Trainer(args=args).train()
"""
RUN = "torchrun --nproc_per_node=4 train.py\n"


@pytest.mark.parametrize(
    ("script", "steps", "batch", "assumed"),
    [
        pytest.param(RUN, 'os.environ["STEPS"]', None, ["MICRO"], id="stops without it"),
        pytest.param(RUN, 'os.environ.get("STEPS")', None, ["MICRO"], id="no default"),
        pytest.param(RUN, 'int(os.environ.get("LOCAL_RANK", 0)) + 1', None, ["MICRO"], id="a variable of torchrun"),
        pytest.param("export MICRO=$(nproc)\n" + RUN, "1", None, [], id="of the machine"),
        pytest.param("MICRO=8\n" + RUN, "1", 8, ["MICRO"], id="not exported"),
        pytest.param(RUN, "1", 8, ["MICRO"], id="the default"),
        pytest.param(RUN, 'int(os.environ.get("STEPS", 4))', 32, ["MICRO", "STEPS"], id="two defaults"),
        pytest.param("export MICRO=8\n" + RUN, "1", 32, [], id="exported"),
        pytest.param("MICRO=8 " + RUN, "1", 32, [], id="before the command"),
        pytest.param("export MICRO=${MICRO:-8}\n" + RUN, "1", 32, ["MICRO"], id="a default of the script"),
        pytest.param("export MICRO=1 STEPS=16\n" + RUN, 'int(os.environ["STEPS"])', 64, [], id="both"),
    ],
)
def test_variables_of_a_program(tmp_path: Path, script: str, steps: str, batch: int | None, assumed: list[str]) -> None:
    found = checked(tmp_path, {"train.py": PROGRAM.replace("STEPS)", f"{steps})"), "run.sh": script})
    (run,) = launched(found)
    assert run.geometry.global_batch_size == batch
    assert sorted(assumption.name for assumption in run.assumptions if assumption.by_default) == assumed


def test_the_number_is_where_the_script_sets_it(tmp_path: Path) -> None:
    script = "export MICRO=8\n" + RUN
    (run,) = launched(checked(tmp_path, {"train.py": PROGRAM.replace("STEPS", "1"), "run.sh": script}))
    size = run.geometry.get(Name.MICRO_BATCH_SIZE)
    assert isinstance(size, Quantity)
    assert size.at == Location("run.sh", 13, 14)
