"""Options that a program gives other values than its command line does, several at once: the batch is that of the command line no more."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked

PROGRAM = """\
import argparse, json, yaml
import torch
from torch.utils.data import DataLoader, DistributedSampler
from more import fill, keep, merged

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="", type=str)
parser.add_argument("--rows", default=4, type=int)
parser.add_argument("--lr", default=0.1, type=float)

def load(path):
    with open(path) as file:
        return json.load(file)

def main():
    args = parser.parse_args()
    {}
    loader = DataLoader(data, batch_size=args.rows, sampler=DistributedSampler(data))
    model = torch.nn.parallel.DistributedDataParallel(net)
    for rows in loader:
        optimizer.zero_grad()
        model(rows).backward()
        optimizer.step()

main()
"""
# A file of the repository whose functions get the options.
MORE = """\
import json

def keep(args):
    print(args)

def each_of(options, more):
    for key in more:
        setattr(options, key, more[key])

def fill(args):
    each_of(args, json.load(open(args.config)))

def merged(options):
    options.__dict__.update(json.load(open(options.config)))
    return options
"""


def found(folder: Path, text: str, flags: str = "--config other.json") -> list[int | None]:
    body = text.replace("\n", "\n    ")
    files = {"train.py": PROGRAM.format(body), "more.py": MORE, "lr.json": '{"lr": 1}', "rows.json": '{"rows": 32}'}
    return batches(checked(folder, {**files, "run.sh": f"torchrun --nproc_per_node 8 train.py {flags}\n"}))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("parser.set_defaults(**load(args.config))\nargs = parser.parse_args()", id="defaults"),
        pytest.param("for key, value in load(args.config).items():\n    setattr(args, key, value)", id="setattr"),
        pytest.param("for key, value in load(args.config).items():\n    args.__setattr__(key, value)", id="its method"),
        pytest.param("args.__dict__.update(load(args.config))", id="the dictionary of attributes"),
        pytest.param("vars(args).update(load(args.config))", id="vars"),
        pytest.param("known = vars(args)\nfor key, value in load(args.config).items():\n    known[key] = value", id="vars by a name"),
        pytest.param("for key in load(args.config):\n    args.__dict__[key] = best(key)", id="an item of that dictionary"),
        pytest.param("more = argparse.Namespace(**load(args.config))\nargs = parser.parse_args(namespace=more)", id="a namespace"),
        pytest.param(
            "for action in parser._actions:\n    action.default = best(action)\nargs = parser.parse_args()", id="the parser's own"
        ),
        pytest.param("fill(args)", id="a function of another file, by another"),
        pytest.param("args = merged(args)", id="what a function of another file gives back"),
        pytest.param("args = parser.parse_args(open(args.config).read().split())", id="words of a file"),
        pytest.param("setattr(args, 'rows', best())", id="one of them by its name"),
        pytest.param("if args.rows < 16:\n    fill(args)", id="where the batch itself decides"),
        pytest.param(
            "def f():\n    setattr(args, 'rows', best())\nif False:\n" + "    f()\n" * 101 + "f()",
            id="a function that many calls do not run",
        ),
    ],
)
def test_an_option_that_a_file_may_give_is_unknown(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, text) == [None]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        pytest.param("pass", "--lr 1", id="nothing is filled"),
        pytest.param(
            "if args.config:\n    parser.set_defaults(**load(args.config))\n    args = parser.parse_args()", "--lr 1", id="no file is given"
        ),
        pytest.param("if args.config:\n    fill(args)", "--lr 1", id="no file is given to a function"),
        pytest.param("keep(args)", "--lr 1", id="a function that only reads"),
        pytest.param("for key in model:\n    setattr(model, key, best(key))", "--lr 1", id="another object"),
        pytest.param("setattr(args, 'lr', best())", "--lr 1", id="another option"),
        pytest.param("args.__dict__.update(lr=best())", "--lr 1", id="another option of its dictionary"),
        pytest.param(
            "with open('lr.json') as file:\n    vars(args).update(json.load(file))", "--lr 1", id="a file that gives another option"
        ),
        pytest.param(
            "with open(args.config) as file:\n    more = json.load(file)\nfor key, value in more.items():\n    setattr(args, key, value)",
            "--config lr.json",
            id="a file that the command line names",
        ),
        pytest.param("args = parser.parse_args(args=None)", "--lr 1", id="the words of the command line"),
    ],
)
def test_an_option_that_nothing_else_gives_is_known(text: str, flags: str, tmp_path: Path) -> None:
    assert found(tmp_path, text, flags) == [32]


def test_a_call_without_a_name_says_nothing_of_the_module(tmp_path: Path) -> None:
    filled = "args = parser.parse_args()\nsetattr(args, 'rows', best())\nif False:\n    best()()\n"
    text = PROGRAM.format("pass").replace("    args = parser.parse_args()\n", "").replace("def main", f"{filled}def main")
    files = {"train.py": text, "more.py": MORE, "run.sh": "torchrun --nproc_per_node 8 train.py --lr 1\n"}
    assert batches(checked(tmp_path, files)) == [None]


def test_a_file_of_words_may_give_any_option(tmp_path: Path) -> None:
    assert found(tmp_path, "pass", "@flags.txt") == [None]
    assert found(tmp_path, "pass", "@flags.txt --rows 8") == [64]


def test_a_file_that_gives_the_batch_leaves_it_unknown(tmp_path: Path) -> None:
    text = "with open(args.config) as file:\n    vars(args).update(json.load(file))"
    assert found(tmp_path, text, "--config rows.json") == [None]


# Reduced from Jayfeather1024/Backdoor-Enhanced-Alignment, opensource/finetuning.py: fields of classes that a function sets, called by fire.
SETTINGS = """\
from dataclasses import dataclass

@dataclass
class Training:
    batch_size: int = 4
    steps: int = 1

@dataclass
class Sharding:
    offload: bool = False
"""
FILL = """\
import json

def show(settings):
    print(settings.batch_size)

def fill(settings, **more):
    if isinstance(settings, (tuple, list)):
        for each in settings:
            fill(each, **more)
        return
    for name, value in more.items():
        if hasattr(settings, name):
            setattr(settings, name, value)
        elif "." in name:
            of, own = name.split(".")
            if type(settings).__name__ == of:
                setattr(settings, own, value)

def fill_all(every, **more):
    for each in every:
        for name in more:
            setattr(each, name, more[name])

def read(settings, path):
    for name, value in json.load(open(path)).items():
        setattr(settings, name, value)
"""
BY_FIRE = """\
import fire
import torch
from torch.utils.data import DataLoader, DistributedSampler
{imports}

def main(path="other.json", **flags):
    settings = {made}
    {filled}
    loader = DataLoader(data, batch_size=settings.batch_size, sampler=DistributedSampler(data))
    model = torch.nn.parallel.DistributedDataParallel(net)
    for step, rows in enumerate(loader):
        model(rows).backward()
        if (step + 1) % settings.steps == 0:
            optimizer.step()

fire.Fire(main)
"""


def by_fire(folder: Path, filled: str, flags: str, *, made: str = "Training()", apart: bool = True) -> list[int | None]:
    imports = "from settings import Sharding, Training\nfrom filling import *" if apart else f"{SETTINGS}{FILL}"
    program = BY_FIRE.format(imports=imports, made=made, filled=filled)
    if made == "Training":  # the class itself is filled
        program = (
            program.replace("    settings = Training\n", "")
            .replace("settings.", "Training.")
            .replace("(settings", "(Training")
            .replace("[settings", "[Training")
        )
    files = {"settings.py": SETTINGS, "filling.py": FILL} if apart else {}
    program = program.replace("from filling import *", "from filling import fill, fill_all, read, show")
    return batches(checked(folder, {**files, "train.py": program, "run.sh": f"torchrun --nproc_per_node 2 train.py {flags}\n"}))


@pytest.mark.parametrize(
    ("filled", "flags"),
    [
        pytest.param("read(settings, path)", "--batch_size 10", id="those of a file"),
        pytest.param("fill(settings, **json.load(open(path)))", "--batch_size 10", id="keywords of a file"),
        pytest.param("fill((settings, Sharding), **best())", "--batch_size 10", id="keywords that are computed"),
        pytest.param("fill((settings, Sharding), **flags)", "--Training.batch_size 10", id="a name with its class"),
        pytest.param("fill((settings, Sharding), **flags)\n    read(settings, path)", "--batch_size 10", id="a file after the flags"),
        pytest.param("fill(settings, batch_size=best())", "--lr 1", id="one of them"),
        pytest.param("for each in (settings, Sharding):\n        setattr(each, best(), 8)", "--lr 1", id="each of several"),
    ],
)
@pytest.mark.parametrize(("made", "apart"), [("Training()", False), ("Training", False), ("Training", True)])
def test_fields_that_a_function_may_fill_are_unknown(filled: str, flags: str, made: str, apart: bool, tmp_path: Path) -> None:
    assert by_fire(tmp_path, filled, flags, made=made, apart=apart) == [None]


@pytest.mark.parametrize(
    ("filled", "flags", "batch"),
    [
        pytest.param("show(settings)", "--lr 1", 8, id="a function that only reads: 4 x 2"),
        pytest.param("fill(Sharding, **flags)", "--batch_size 10", 8, id="another object is filled"),
        pytest.param("fill(settings, offload=True)", "--lr 1", 8, id="another field"),
        pytest.param("fill(settings, **flags)", "--batch_size 10 --steps 3", 60, id="10 x 3 x 2"),
        pytest.param("fill((settings, Sharding), **flags)", "--batch_size 10 --steps 3", 60, id="two at once"),
        pytest.param("fill_all([settings, Sharding], **flags)", "--batch_size 10", 20, id="each of a list"),
        pytest.param("fill((settings, Sharding), **flags)", "--lr 1", 8, id="flags that are not sizes"),
    ],
)
@pytest.mark.parametrize(("made", "apart"), [("Training()", False), ("Training", False), ("Training", True)])
def test_fields_are_what_the_flags_are_that_fill_them(filled: str, flags: str, batch: int, made: str, apart: bool, tmp_path: Path) -> None:
    assert by_fire(tmp_path, filled, flags, made=made, apart=apart) == [batch]


TRAINERS = """\
import argparse
from transformers import Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int)
args = parser.parse_args()
{}
"""


@pytest.mark.parametrize(("number", "known"), [(50, [16]), (51, [])])
def test_a_program_of_very_many_trainers_is_not_known_where_it_is_launched(tmp_path: Path, number: int, known: list[int]) -> None:
    trainer = "Trainer(model, TrainingArguments('out', per_device_train_batch_size=args.rows)).train()\n"
    report = checked(tmp_path, {"train.py": TRAINERS.format(trainer * number), "run.sh": "torchrun --nproc_per_node 2 train.py --rows 8\n"})
    assert list(dict.fromkeys(batches(report))) == known
