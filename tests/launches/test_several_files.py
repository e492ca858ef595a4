"""A launched program may be a module of a package, and take its arguments from classes that other files define."""

from pathlib import Path

import pytest

from tests.launches.building import checked, launched

TRAIN = """\
from transformers import HfArgumentParser
from acme.arguments import DataArguments, OurTrainingArguments
from acme.trainer import OurTrainer

parser = HfArgumentParser((DataArguments, OurTrainingArguments))
data, training = parser.parse_args_into_dataclasses()
OurTrainer(args=training).train()
"""
ARGUMENTS = """\
from dataclasses import dataclass
from transformers import TrainingArguments

@dataclass
class DataArguments:
    path: str = ""

@dataclass
class OurTrainingArguments(TrainingArguments):
    temperature: float = 1.0
"""
RUN = "torchrun --nproc_per_node 8 -m acme.train --per_device_train_batch_size 2 --gradient_accumulation_steps 4\n"
FILES = {"src/acme/train.py": TRAIN, "src/acme/arguments.py": ARGUMENTS, "examples/run.sh": RUN}


def batches(folder: Path, files: dict[str, str]) -> list[tuple[int | None, int | None]]:
    """The micro and the global batch of each launch."""
    runs = launched(checked(folder, files))
    return [(run.geometry.value("micro_batch_size"), run.geometry.global_batch_size) for run in runs]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"src/acme/arguments.py": ARGUMENTS.replace("from transformers import TrainingArguments", "TrainingArguments = object")},
            id="a class of its own",
        ),
        pytest.param({"src/acme/arguments.py": ARGUMENTS.replace("transformers", "elsewhere")}, id="a class of a package that is unknown"),
        pytest.param({"src/acme/arguments.py": "def (:\n"}, id="no Python"),
        pytest.param(
            {"src/acme/train.py": TRAIN.replace("acme.arguments", "trl.experimental.gold")}, id="a trainer of TRL without a table"
        ),
        pytest.param({"copy/acme/train.py": TRAIN}, id="two modules of that name"),
        pytest.param({"examples/run.sh": RUN.replace("acme.train", "acme.eval")}, id="a module that is not there"),
        pytest.param({"examples/run.sh": RUN.partition(" --per")[0] + "\n"}, id="no size"),
        pytest.param({"src/acme/arguments.py": "from .arguments import OurTrainingArguments\n"}, id="an import of itself"),
    ],
)
def test_what_is_not_plainly_the_trainer_has_no_batch(files: dict[str, str], tmp_path: Path) -> None:
    assert batches(tmp_path, {**FILES, **files}) == []


def test_a_default_of_its_own_is_not_the_trainer_s(tmp_path: Path) -> None:
    own = ARGUMENTS.replace("    temperature: float = 1.0", "    gradient_accumulation_steps: int = 16")
    run = RUN.replace(" --gradient_accumulation_steps 4", "")
    assert batches(tmp_path, {**FILES, "src/acme/arguments.py": own, "examples/run.sh": run}) == [(2, None)]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="a package below src"),
        pytest.param({"run.sh": RUN.replace("-m acme.train", "src/acme/train.py"), "examples/run.sh": ""}, id="a file"),
        pytest.param({"src/acme/train.py": "", "src/acme/train/__main__.py": TRAIN}, id="a package that runs"),
        pytest.param(
            {
                "src/acme/train.py": TRAIN.replace("acme.arguments", "acme"),
                "src/acme/__init__.py": "from .arguments import DataArguments, Mine as OurTrainingArguments\n",
                "src/acme/arguments.py": ARGUMENTS.replace("OurTraining", "Base") + "\nclass Mine(BaseArguments):\n    pass\n",
            },
            id="under another name, made from a class of the same file",
        ),
        pytest.param({"src/acme/train.py": TRAIN.replace("from acme.arguments", "from .arguments")}, id="a relative import"),
        pytest.param(
            {
                "src/acme/arguments.py": "from .base import *\n",
                "src/acme/base.py": ARGUMENTS,
            },
            id="an import of everything",
        ),
    ],
)
def test_the_arguments_of_the_trainer_are_found_in_other_files(files: dict[str, str], tmp_path: Path) -> None:
    found = {path: text for path, text in {**FILES, **files}.items() if text}
    assert batches(tmp_path, found) == [(2, 64)]
