"""A program hands the options it parsed to a class or a function of another file, which makes the trainer's arguments of them."""

from pathlib import Path

import pytest

from tests.launches.building import checked, launched

# After sotopia-lab/sotopia-rl, scripts/train_sft.py and sotopia_rl/sft_trainer.py, with one argument fewer.
MAIN = """\
import argparse
from own import OwnTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--train_batch_size", type=int, default=2)
parser.add_argument("--accumulation_steps", type=int, default=8)
parser.add_argument("--method", type=str, default="sft")
args = parser.parse_args()
trainer = OwnTrainer(args)
trainer.train()
"""
CLASS = """\
from transformers import Trainer, TrainingArguments

class OwnTrainer(Trainer):
    def __init__(self, args):
        made = TrainingArguments(
            output_dir="out", per_device_train_batch_size=args.train_batch_size, gradient_accumulation_steps=args.accumulation_steps
        )
        super().__init__(args=made)
"""
# After the same, sotopia_rl/grpo_trainer.py: a method makes them of what `__init__` kept.
KEPT = """\
from transformers import Trainer, TrainingArguments

class OwnTrainer:
    def __init__(self, args):
        self.args = args

    def train(self):
        size = self.args.train_batch_size
        made = TrainingArguments("out", per_device_train_batch_size=size, gradient_accumulation_steps=self.args.accumulation_steps)
        Trainer(args=made).train()
"""
FUNCTION = """\
from transformers import Trainer, TrainingArguments

def arguments(args):
    return TrainingArguments("out", per_device_train_batch_size=args.train_batch_size, gradient_accumulation_steps=args.accumulation_steps)

def OwnTrainer(options):
    return Trainer(args=arguments(options))
"""
DATACLASS = """\
from dataclasses import dataclass
from transformers import HfArgumentParser
from own import OwnTrainer

@dataclass
class Own:
    train_batch_size: int = 2
    accumulation_steps: int = 8

own = HfArgumentParser(Own).parse_args_into_dataclasses()[0]
OwnTrainer(own).train()
"""
# A class of settings beside the function that gets them, which the program fills in from its options.
SETTINGS = MAIN.replace("import OwnTrainer", "import OwnTrainer, OwnConfig").replace(
    "trainer = OwnTrainer(args)",
    "def filled(options):\n    return OwnConfig(train_batch_size=options.train_batch_size)\n\ntrainer = OwnTrainer(filled(args))",
)
FILLED = """\
from dataclasses import dataclass
from transformers import Trainer, TrainingArguments

@dataclass
class OwnConfig:
    train_batch_size: int = 1
    accumulation_steps: int = 4

def OwnTrainer(cfg: OwnConfig):
    made = TrainingArguments(
        "out", per_device_train_batch_size=cfg.train_batch_size, gradient_accumulation_steps=cfg.accumulation_steps
    )
    return Trainer(args=made)
"""
NUMBERS = MAIN.replace("OwnTrainer(args)", "OwnTrainer(steps=args.accumulation_steps, size=args.train_batch_size)")
TAKES_NUMBERS = """\
from transformers import Trainer, TrainingArguments

def OwnTrainer(size, steps=1):
    return Trainer(args=TrainingArguments("out", per_device_train_batch_size=size, gradient_accumulation_steps=steps))
"""
OTHER = CLASS.replace("OwnTrainer", "OtherTrainer").replace("=args.train", "=1 + args.train")
CHOSEN = """\
from own import OwnTrainer
from other import OtherTrainer
"""
RUN = "torchrun --nproc_per_node 4 train.py "


def batches(folder: Path, files: dict[str, str], command: str = "") -> list[tuple[int | None, int | None, int | None]]:
    """The global batch, micro batch and accumulation of each launch."""
    runs = launched(checked(folder, {**files, "run.sh": f"{RUN}{command}\n"}))
    return [
        (run.geometry.global_batch_size, run.geometry.value("micro_batch_size"), run.geometry.value("gradient_accumulation_steps"))
        for run in runs
    ]


def both(chosen: str) -> str:
    """A program that has two trainers of other files, and takes one of them as `chosen` says."""
    return MAIN.replace("from own import OwnTrainer\n", CHOSEN).replace("trainer = OwnTrainer(args)\n", chosen)


@pytest.mark.parametrize(
    ("main", "own"),
    [
        pytest.param(
            MAIN, CLASS.replace("        super", "        other = TrainingArguments(train_batch_size=1)\n        super"), id="two"
        ),
        pytest.param(MAIN, f"{CLASS}\n    def get_train_dataloader(self):\n        return loader(self.batch)\n", id="a loader of its own"),
        pytest.param(MAIN.replace("OwnTrainer(args)", "OwnTrainer(load('config'))"), CLASS, id="no options"),
        pytest.param(MAIN, CLASS.replace("class OwnTrainer(Trainer)", "class OwnTrainer(Base)").replace("__init__", "setup"), id="no init"),
        pytest.param(MAIN, FUNCTION.replace("arguments(options)", "load(options)"), id="a function that is not called"),
        pytest.param("try:\n    from new import OwnTrainer\nexcept ImportError:\n    pass\n" + MAIN, CLASS, id="imported twice"),
        pytest.param(both("for Each in (OwnTrainer, OtherTrainer):\n    trainer = Each(args)\n"), CLASS, id="by another name"),
        pytest.param(both("OtherTrainer(args)\ntrainer = OwnTrainer(args)\n"), CLASS, id="two trainers"),
        pytest.param(both("trainer = OwnTrainer(args) if input() else OtherTrainer(args)\n"), CLASS, id="either of two"),
    ],
)
def test_what_does_not_make_one_trainer_is_not_a_launch(main: str, own: str, tmp_path: Path) -> None:
    files = {"train.py": main, "own.py": own, "other.py": OTHER}
    assert batches(tmp_path, files) == []


@pytest.mark.parametrize(
    ("main", "own", "expected"),
    [
        pytest.param(MAIN, CLASS.replace("        made", "        for each in x:\n            args.train_batch_size = each\n        made"),
                     (None, None, 8), id="set in a loop"),
        pytest.param(MAIN, CLASS.replace("=args.train_batch_size", "=fitting(args.train_batch_size)"), (None, None, 8), id="computed"),
        pytest.param(MAIN.replace("trainer =", "args.train_batch_size = find()\ntrainer ="), CLASS, (None, None, 8), id="set before"),
        pytest.param(MAIN.replace("OwnTrainer(args)", "OwnTrainer(**vars(args))"), TAKES_NUMBERS, [], id="unpacked"),
        pytest.param(SETTINGS.replace("OwnConfig(train", "OwnConfig(**load(), train"), FILLED, (None, 2, None), id="filled from a file"),
    ],
)  # fmt: skip
def test_what_is_not_known_there_is_unknown(main: str, own: str, expected: tuple[int | None, ...], tmp_path: Path) -> None:
    assert batches(tmp_path, {"train.py": main, "own.py": own}) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("main", "own", "command", "expected"),
    [
        pytest.param(MAIN, CLASS, "", (64, 2, 8), id="defaults: 2 x 8 x 4"),
        pytest.param(MAIN, CLASS, "--train_batch_size 3 --accumulation_steps=5", (60, 3, 5), id="flags: 3 x 5 x 4"),
        pytest.param(MAIN, KEPT, "--train_batch_size 3", (96, 3, 8), id="kept by the class: 3 x 8 x 4"),
        pytest.param(MAIN, FUNCTION, "--train_batch_size 3", (96, 3, 8), id="a function that calls another"),
        pytest.param(MAIN, CLASS, "--train_batch_size $N", (None, None, 8), id="a variable"),
        pytest.param(DATACLASS, CLASS, "--accumulation_steps 2", (16, 2, 2), id="fields of a class: 2 x 2 x 4"),
        pytest.param(SETTINGS, FILLED, "--train_batch_size 3", (48, 3, 4), id="fields of a class of the other file: 3 x 4 x 4"),
        pytest.param(SETTINGS.replace("=options.train_batch_size", "=2"), FILLED, "", (32, 2, 4), id="given by the program: 2 x 4 x 4"),
        pytest.param(SETTINGS.replace("train_batch_size=opt", "2, opt"), FILLED, "", (16, 2, 2), id="given by their places: 2 x 2 x 4"),
        pytest.param(NUMBERS, TAKES_NUMBERS, "--accumulation_steps 2", (16, 2, 2), id="numbers by name"),
        pytest.param(both("if args.method == 'sft':\n    trainer = OwnTrainer(args)\nelse:\n    trainer = OtherTrainer(args)\n"),
                     CLASS, "--method sft", (64, 2, 8), id="the one that an option chooses"),
    ],
)  # fmt: skip
def test_options_are_followed(main: str, own: str, command: str, expected: tuple[int | None, ...], tmp_path: Path) -> None:
    files = {
        "train.py": main,
        "own.py": own,
        "other.py": OTHER,
    }
    assert batches(tmp_path, files, command) == [expected]


def test_a_package_may_import_it(tmp_path: Path) -> None:
    files = {
        "scripts/train.py": MAIN.replace("from own", "from package"),
        "package/__init__.py": "from .run import OwnTrainer\n",
        "package/run.py": FUNCTION,
    }
    run = "cd scripts\n" + RUN + "--train_batch_size 1\n"
    assert [each.geometry.global_batch_size for each in launched(checked(tmp_path, {**files, "run.sh": run}))] == [32]  # 1 x 8 x 4


def test_the_command_line_is_where_a_number_comes_from(tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": MAIN, "own.py": CLASS, "run.sh": RUN + "--train_batch_size 3\n"})
    (run,) = launched(report)
    micro, steps = run.at("micro_batch_size"), run.at("gradient_accumulation_steps")
    assert micro is not None and (micro.source, steps and steps.source) == ("run.sh", "train.py")


HELPER = """\
def add_option(name, type, default, help, parser, **more):
    parser.add_argument("--" + name, default=default, type=type, help=help + ": %(default)s", **more)
"""
HELPED = """\
import argparse, functools
from own import add_option
from transformers import Trainer, TrainingArguments

parser = argparse.ArgumentParser()
add = functools.partial(add_option, parser=parser)
add("batch", int, 2, "rows of a process")
add("steps", type=int, default=8, help="micro batches of a step")
args = parser.parse_args()
made = TrainingArguments("out", per_device_train_batch_size=args.batch, gradient_accumulation_steps=args.steps)
Trainer(args=made).train()
"""


@pytest.mark.parametrize(
    ("main", "own", "command", "expected"),
    [
        (HELPED, HELPER, "", (64, 2, 8)),
        (HELPED, HELPER, "--batch 3 --steps=5", (60, 3, 5)),
        (HELPED.replace("from own import add_option\n", HELPER), "", "--batch 3", (96, 3, 8)),
        (HELPED, HELPER.replace("default=default", "default=default * 2"), "", (None, None, None)),
        (HELPED, HELPER.replace('"--" + name', '"--" + prefix + name'), "", (None, None, None)),
        (HELPED.replace("args = p", "args.batch = fitting()\nargs = p"), HELPER, "", (None, None, 8)),
    ],
)
def test_options_that_a_helper_adds(main: str, own: str, command: str, expected: tuple[int | None, ...], tmp_path: Path) -> None:
    assert batches(tmp_path, {"train.py": main, "own.py": own}, command) == [expected]


# After princeton-nlp/LLM-Shearing, instruction_tuning/supervised.py: a function of another file opens what a dataclass of this one names.
OPENED = """\
from dataclasses import dataclass
from transformers import HfArgumentParser, Trainer, TrainingArguments
from own import rows

@dataclass
class Data:
    folder: str = "data"

data, made = HfArgumentParser((Data, TrainingArguments)).parse_args_into_dataclasses()
module = rows(data=data)
Trainer(args=made, **module).train()
"""
OPENS = """\
import json, os

def rows(data):
    with open(os.path.join(data.folder, "rows.json")) as file:
        given = json.load(file)
    return dict(train_dataset=given)
"""


@pytest.mark.parametrize("reads", ["data.folder", "data.missing", "data.folder.name"])
def test_a_field_of_a_class_of_another_file(reads: str, tmp_path: Path) -> None:
    files = {"train.py": OPENED, "own.py": OPENS.replace("data.folder", reads), "data/rows.json": "[]"}
    command = "torchrun --nproc_per_node 4 train.py --per_device_train_batch_size 3 --output_dir out\n"
    runs = launched(checked(tmp_path, {"run.sh": command, **files}))
    assert [run.geometry.global_batch_size for run in runs] == [12]
