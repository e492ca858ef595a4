"""A launch opens the program that it names: its flags, their defaults, and where they flow, read without running anything."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched

ARGPARSE = """\
import argparse
from transformers import Trainer, TrainingArguments

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--batch_size", "--bs", type=int, default=2)
    parser.add_argument("--steps", dest="accumulate", type=int, default=8)
    parser.add_argument("--half", action="store_true")
    return parser.parse_args()

def train(batch_size, steps):
    args = TrainingArguments(per_device_train_batch_size=batch_size, gradient_accumulation_steps=steps)
    Trainer(args=args).train()

if __name__ == "__main__":
    args = parse()
    train(batch_size=args.batch_size // 2 if args.half else args.batch_size, steps=args.accumulate)
"""
# The accumulation keeps the batch whatever the number of processes, as alpaca-lora has it.
FIRE = """\
import os
import fire
from transformers import Trainer, TrainingArguments

def train(batch_size: int = 128, micro: int = 4):
    accumulate = batch_size // micro
    processes = int(os.environ.get("WORLD_SIZE", 1))
    several = processes != 1
    if several:
        accumulate //= processes
    if not several:
        model.is_parallelizable = True
    Trainer(args=TrainingArguments(per_device_train_batch_size=micro, gradient_accumulation_steps=accumulate)).train()

fire.Fire(train)
"""
FIELDS = """\
from dataclasses import dataclass, field
from transformers import HfArgumentParser, Trainer, TrainingArguments

@dataclass
class Own:
    micro: int = field(default=4)
    steps: int = field(default=2)

(own,) = HfArgumentParser(Own).parse_args_into_dataclasses()
Trainer(args=TrainingArguments(per_device_train_batch_size=own.micro, gradient_accumulation_steps=own.steps)).train()
"""
WRAPPED = """\
from dataclasses import dataclass
import draccus
from transformers import Trainer, TrainingArguments

@dataclass
class Own:
    micro: int = 4
    steps: int = 2

@draccus.wrap()
def main(own: Own) -> None:
    Trainer(args=TrainingArguments(per_device_train_batch_size=own.micro, gradient_accumulation_steps=own.steps)).train()
"""
CLICK = """\
import click
from transformers import Trainer, TrainingArguments

@click.command()
@click.option("--batch-size", "-b", default=4)
def main(batch_size):
    Trainer(args=TrainingArguments(per_device_train_batch_size=batch_size, gradient_accumulation_steps=2)).train()
"""
TYPER = """\
import typer
from transformers import Trainer, TrainingArguments
app = typer.Typer()

@app.command()
def one(batch_size: int = 4):
    Trainer(args=TrainingArguments(per_device_train_batch_size=batch_size, gradient_accumulation_steps=2)).train()

@app.command()
def several(batch_size: int = typer.Option(4)):
    one(batch_size)
"""
RUN = "torchrun --nproc_per_node 4 train.py "


def sizes(tmp_path: Path, program: str, command: str) -> tuple[int | None, int | None, int | None]:
    """The global batch, the micro batch and the accumulation of the one launch of `program`."""
    (run,) = launched(checked(tmp_path, {"train.py": program, "run.sh": command + "\n"}))
    geometry = run.geometry
    names = ("global_batch_size", "micro_batch_size", "gradient_accumulation_steps")
    return tuple(geometry.value(name) for name in names)  # type: ignore[return-value]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(ARGPARSE.partition("def train")[0] + "parse()\n", id="no trainer"),
        pytest.param("import fire\ndef batch(batch_size=4):\n    print(batch_size)\nfire.Fire(batch)\n", id="fire, and no trainer"),
        pytest.param("def (:  # batch\n", id="no Python"),
        pytest.param("batch = " + "(" * 5000, id="too deep"),
        pytest.param("x = 1\n" * 170_000 + ARGPARSE, id="too long"),
    ],
)  # fmt: skip
def test_flags_alone_are_not_a_batch(program: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": program, "run.sh": RUN + "--batch_size 8 --micro_batch_size 3\n"})
    assert (launched(report), codes(report)) == ([], [])


@pytest.mark.parametrize(
    ("change", "command"),
    [
        pytest.param(("type=int, default=2", "default=2"), "-b 4", id="text, which the Trainer does not take"),
        pytest.param(("type=int, default=2", "type=str.strip, default=2"), "-b 4", id="a conversion of its own"),
        pytest.param(("type=int, default=2", "type=int, nargs='+'"), "-b 4", id="a list"),
        pytest.param(("type=int, default=2", "action='count'"), "-b 4", id="an action of another kind"),
        pytest.param(("", ""), "-b $BATCH", id="a variable"),
        pytest.param(("", ""), "$(cat flags)", id="flags that are not known"),
        pytest.param(("return parser", "parser.set_defaults(batch_size=9)\n    return parser"), "", id="another default"),
        pytest.param(("args = parse()\n", "args = parse()\n    for each in x:\n        args.batch_size = 3\n"), "", id="set in a loop"),
        pytest.param(("args = parse()\n", "args = parse()\n    o = args\n    o.batch_size = 3\n"), "", id="set under another name"),
        pytest.param(("", ""), "--batch 4", id="a flag that is cut short"),
        pytest.param(("parse_args()", "parse_args(['-b', '3'])"), "-b 4", id="arguments of its own"),
        pytest.param(("", ""), "--half $MAYBE -b $B", id="two variables"),
    ],
)  # fmt: skip
def test_what_the_program_does_not_show_is_unknown(change: tuple[str, str], command: str, tmp_path: Path) -> None:
    program = ARGPARSE.replace(*change) if change[0] else ARGPARSE
    assert sizes(tmp_path, program, RUN + command)[:2] == (None, None)


def test_a_condition_on_what_is_not_known_loses_the_value(tmp_path: Path) -> None:
    program = FIRE.replace("processes != 1", "input() == ''")
    assert sizes(tmp_path, program, RUN) == (None, 4, None)


@pytest.mark.parametrize(("trains", "batch"), [("from other import step\n", []), ("from transformers import Trainer\n", [256])])
def test_a_program_that_is_called_like_one_of_a_framework_may_be_another(tmp_path: Path, trains: str, batch: list[int]) -> None:
    program = trains + "from other import parser\nargs = parser().parse_args()\n" + "x = 1\n" * 30
    run = "torchrun --nproc_per_node 8 run_clm.py --per_device_train_batch_size 16 --gradient_accumulation_steps 2\n"
    report = checked(tmp_path, {"run_clm.py": program, "run.sh": run})
    assert [each.geometry.value("global_batch_size") for each in launched(report)] == batch


def test_several_trainers_have_no_single_batch(tmp_path: Path) -> None:
    other = "Trainer(args=TrainingArguments(per_device_train_batch_size=1))\n"
    assert launched(checked(tmp_path, {"train.py": ARGPARSE + other, "run.sh": RUN + "\n"})) == []


# wangclnlp/DeepSpeed-Chat-Extension, step2_dpo_finetuning/main.py, starts its engine in one of two places.
@pytest.mark.parametrize(
    ("other", "batch"),
    [
        pytest.param("per_device_train_batch_size=2, gradient_accumulation_steps=8", [64], id="the same"),
        pytest.param("gradient_accumulation_steps=8, per_device_train_batch_size=2, seed=1", [64], id="the same, and a seed"),
        pytest.param("per_device_train_batch_size=4, gradient_accumulation_steps=4", [], id="the same product"),
        pytest.param("per_device_train_batch_size=2", [], id="another accumulation"),
        pytest.param("per_device_train_batch_size=size(), gradient_accumulation_steps=8", [], id="a batch that is not known"),
    ],
)
def test_several_trainers_may_have_the_same_batch(tmp_path: Path, other: str, batch: list[int]) -> None:
    program = f"{ARGPARSE}if again:\n    Trainer(args=TrainingArguments({other})).train()\n"
    report = checked(tmp_path, {"train.py": program, "run.sh": RUN + "\n"})
    assert [each.geometry.global_batch_size for each in launched(report)] == batch  # 2 x 8 x 4


def test_a_framework_s_own_arguments_are_read_as_its_table_says(tmp_path: Path) -> None:
    program = (
        "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
        "(a,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
        "Trainer(args=TrainingArguments(per_device_train_batch_size=1))\n"
    )
    flags = "--per_device_train_batch_size 2 --gradient_accumulation_steps 3"
    assert sizes(tmp_path, program, RUN + flags) == (24, 2, 3)


@pytest.mark.parametrize(
    ("program", "command", "expected"),
    [
        pytest.param(ARGPARSE, RUN, (64, 2, 8), id="argparse: defaults"),
        pytest.param(ARGPARSE, RUN + "--batch_size 4 --steps=2", (32, 4, 2), id="argparse: flags"),
        pytest.param(ARGPARSE, RUN + "-b 4", (128, 4, 8), id="argparse: a short flag"),
        pytest.param(ARGPARSE, RUN + "--bs 4 --half", (64, 2, 8), id="argparse: another name, and a switch"),
        pytest.param(ARGPARSE, RUN + "--bs 4 --bs 6", (192, 6, 8), id="argparse: the last one counts"),
        pytest.param(ARGPARSE, RUN + '"$@"', (64, 2, 8), id="argparse: arguments that may be added"),
        pytest.param(ARGPARSE.replace("TrainingArguments(", "TrainingArguments(**{}, "), RUN, (64, 2, 8), id="a dictionary beside"),
        pytest.param(FIELDS, RUN + "--micro 1", (8, 1, 2), id="fields of a class"),
        pytest.param(WRAPPED, RUN, (32, 4, 2), id="a class that draccus fills"),
        pytest.param(WRAPPED, RUN + "--micro 1 --steps=8", (32, 1, 8), id="draccus: flags"),
        pytest.param(WRAPPED, RUN + "--micro $N", (None, None, 2), id="draccus: a variable"),
        pytest.param(WRAPPED.replace("draccus", "pyrallis"), RUN + "--micro 3", (24, 3, 2), id="pyrallis"),
        pytest.param(CLICK, RUN + "--batch-size 3", (24, 3, 2), id="click"),
        pytest.param(CLICK, RUN + "-b 3", (24, 3, 2), id="click: a short flag"),
        pytest.param(TYPER, RUN + "several", (32, 4, 2), id="typer"),
        pytest.param(TYPER, RUN + "one --batch-size 3", (24, 3, 2), id="typer: a flag"),
        pytest.param(TYPER, RUN + "one --batch-size $N", (None, None, 2), id="typer: a variable"),
        pytest.param(FIRE, RUN, (128, 4, 8), id="fire: four processes share the accumulation"),
        pytest.param(FIRE, RUN + "--batch_size 96 --micro=2", (96, 2, 12), id="fire: flags"),
        pytest.param(FIRE, "torchrun --nproc_per_node 3 train.py", (120, 4, 10), id="fire: three do not divide 32"),
        pytest.param(FIRE, "torchrun --nproc_per_node $N train.py", (128, 4, None), id="fire: the same in each world"),
        pytest.param(FIRE, "python train.py", (128, 4, None), id="fire: plain Python"),
        pytest.param(FIRE.replace("is_parallelizable", "x"), "python train.py", (None, 4, 32), id="one process on any GPUs"),
        pytest.param(FIRE, "torchrun --nproc_per_node $N train.py --micro $M", (None, None, None), id="fire: a variable"),
    ],
)  # fmt: skip
def test_the_program_says_what_a_flag_means(program: str, command: str, expected: tuple[int | None, ...], tmp_path: Path) -> None:
    assert sizes(tmp_path, program, command) == expected


@pytest.mark.parametrize(
    ("old", "new", "flags"),
    [
        pytest.param("", "", "--config_path $FILE", id="a file"),
        pytest.param("wrap()", "wrap(config_path='run.yaml')", "", id="a file of the program"),
        pytest.param("draccus.wrap", "acme.wrap", "", id="another decorator"),
        pytest.param("own: Own", "own", "", id="no class"),
        pytest.param("own: Own", "n, own: Own", "", id="another parameter"),
    ],
)
def test_what_else_may_fill_a_class_is_unknown(old: str, new: str, flags: str, tmp_path: Path) -> None:
    assert sizes(tmp_path, WRAPPED.replace(old, new), RUN + flags) == (None, None, None)


def test_each_number_has_its_place_in_the_script_or_in_the_program(tmp_path: Path) -> None:
    script = RUN + "--batch_size 4"
    (run,) = launched(checked(tmp_path, {"train.py": ARGPARSE, "run.sh": script + "\n"}))
    micro, steps = run.at("micro_batch_size"), run.at("gradient_accumulation_steps")
    assert micro is not None and (micro.source, script[micro.start : micro.stop]) == ("run.sh", "4")
    assert steps is not None and (steps.source, ARGPARSE[steps.start : steps.stop]) == ("train.py", "8")


def test_a_comment_of_the_script_is_compared_with_what_the_program_makes_of_its_flags(tmp_path: Path) -> None:
    files = {"train.py": ARGPARSE, "a.sh": f"# global batch size 128\n{RUN}-b 4\n", "b.sh": f"# global batch size 64\n{RUN}-b 4\n"}
    assert [(each.at.source, each.code) for each in checked(tmp_path, files).findings()] == [("b.sh", "GBS301")]


DOCUMENT = f"# Fine-tuning\n\n```bash\n{RUN}--bs 4\n```\n"


def test_a_document_means_the_only_program_of_that_name_below_it(tmp_path: Path) -> None:
    (run,) = launched(checked(tmp_path, {"finetune/train.py": ARGPARSE, "README.md": DOCUMENT}))
    assert run.geometry.global_batch_size == 4 * 8 * 4


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a/train.py": ARGPARSE, "b/train.py": ARGPARSE, "README.md": DOCUMENT}, id="two of that name"),
        pytest.param({"a/train.py": ARGPARSE, "docs/README.md": DOCUMENT}, id="elsewhere"),
        pytest.param({"a/train.py": ARGPARSE, "run.sh": f"{RUN}--bs 4\n"}, id="a script"),
    ],
)
def test_another_program_is_not_meant(files: dict[str, str], tmp_path: Path) -> None:
    assert launched(checked(tmp_path, files)) == []


HYDRA = """\
import hydra
from transformers import Trainer, TrainingArguments

@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(cfg):
    args = TrainingArguments(per_device_train_batch_size=cfg.sizes.micro, gradient_accumulation_steps=cfg.sizes.steps)
    Trainer(args=args).train()

main()
"""
CONF = {
    "conf/train.yaml": "defaults:\n- sizes: small\n- _self_\nbase: 2\n",
    "conf/other.yaml": "defaults:\n- train\n- override sizes: large\n",
    "conf/lacks.yaml": "defaults:\n- train\n- far: away\n",
    "conf/sizes/small.yaml": "micro: 4\nsteps: ${base}\n",
    "conf/sizes/large.yaml": "micro: 16\nsteps: 1\n",
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("sizes.micro=$MICRO", (None, None, 2), id="a variable"),
        pytest.param("$(cat overrides)", (None, None, None), id="overrides that are not known"),
        pytest.param("--config-name lacks", (None, None, None), id="a file that is not there"),
        pytest.param("sizes.other=1", (None, None, None), id="a key that Hydra refuses"),
        pytest.param("--config-name $NAME", (None, None, None), id="a configuration that is not known"),
        pytest.param("", (32, 4, 2), id="the defaults"),  # 4 x 2 x 4
        pytest.param("base=8", (128, 4, 8), id="an interpolation"),  # 4 x 8 x 4
        pytest.param("sizes=large sizes.steps=2", (128, 16, 2), id="another option"),  # 16 x 2 x 4
        pytest.param("--config-name=other", (64, 16, 1), id="another configuration"),  # 16 x 1 x 4
    ],
)
def test_what_hydra_gives_a_program(words: str, expected: tuple[int | None, ...], tmp_path: Path) -> None:
    runs = launched(checked(tmp_path, {**CONF, "train.py": HYDRA, "run.sh": f"{RUN}{words}\n"}))
    names = ("global_batch_size", "micro_batch_size", "gradient_accumulation_steps")
    assert [tuple(run.geometry.value(name) for name in names) for run in runs] == [expected]


def test_a_hydra_program_is_a_recipe_as_its_configuration_has_it(tmp_path: Path) -> None:
    report = checked(tmp_path, {**CONF, "train.py": HYDRA})
    (run,) = (run for each in report.files for run in each.runs if each.path == "train.py")
    assert [run.geometry.value(name) for name in ("micro_batch_size", "gradient_accumulation_steps")] == [4, 2]
