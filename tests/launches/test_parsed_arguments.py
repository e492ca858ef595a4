"""A program that parses a trainer's arguments and makes others by itself: which of them a launch trains with, or that it isn't plain."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched, recipe, titled_batches

IMPORTS = "import argparse\nfrom trl import GRPOConfig, GRPOTrainer, ModelConfig, SFTConfig, SFTTrainer, TrlParser\n"
WARMS = """
def warm_up(model):
    args = SFTConfig(per_device_train_batch_size=1)
    SFTTrainer(model=model, args=args).train()

def train(own, grpo, model):
    if own.warm:
        warm_up(model)
        return
    GRPOTrainer(model=model, args=grpo).train()
"""
SUB_COMMANDS = f"""{IMPORTS}{WARMS}
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", parser_class=TrlParser)
train_parser = commands.add_parser("train", dataclass_types=[GRPOConfig, ModelConfig])
train_parser.add_argument("--warm", action="store_true")
train_parser.set_defaults(handler=train)
commands.add_parser("eval").add_argument("--batch", type=int, default=4)
commands.add_parser("serve").add_argument("--port")
own = parser.parse_args()
own.handler(own)
"""
FIELDS = f"""from dataclasses import dataclass
{IMPORTS}{WARMS}
@dataclass
class Own:
    warm: bool = False

train(*TrlParser((Own, GRPOConfig, ModelConfig)).parse_args_and_config())
"""
FLAGS = "--per_device_train_batch_size 8 --gradient_accumulation_steps 2"
RUN = "accelerate launch --num_processes 4 train.py"


@pytest.mark.parametrize(
    ("program", "command"),
    [
        pytest.param(SUB_COMMANDS, "python train.py eval --batch 8", id="a sub-command that evaluates"),
        pytest.param(SUB_COMMANDS, f"{RUN} eval {FLAGS}", id="it has flags of a trainer"),
        pytest.param(SUB_COMMANDS, f"{RUN} serve {FLAGS}", id="a sub-command without a class"),
        pytest.param(SUB_COMMANDS, f"{RUN} $COMMAND {FLAGS}", id="an unknown sub-command"),
        pytest.param(SUB_COMMANDS, f"{RUN} train --warm {FLAGS}", id="the other training, by a switch"),
        pytest.param(FIELDS, f"{RUN} --warm true {FLAGS}", id="the other training, by a field"),
        pytest.param(FIELDS.replace("warm: bool = False", "warm: bool = True"), f"{RUN} {FLAGS}", id="the other training by default"),
        pytest.param(SUB_COMMANDS, f"{RUN} train", id="no flags"),
    ],
)
def test_a_launch_has_no_number(program: str, command: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": program, "run.sh": f"{command}\n"})
    assert (launched(report), codes(report)) == ([], [])


@pytest.mark.parametrize(
    ("program", "command"),
    [
        pytest.param(SUB_COMMANDS, f"{RUN} train {FLAGS}", id="a sub-command"),
        pytest.param(SUB_COMMANDS, f"{RUN} train {FLAGS} --run_name eval", id="the word of another as a value"),
        pytest.param(FIELDS, f"{RUN} {FLAGS}", id="a parser of all"),
        pytest.param(FIELDS.replace("TrlParser((", "TrlParser(dataclass_types=(", 1), f"{RUN} {FLAGS}", id="by keyword"),
    ],
)
def test_flags_go_to_the_class_that_is_parsed(program: str, command: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": program, "run.sh": f"{command}\n"})
    assert titled_batches(report) == [("TRL (GRPO)", 64)]  # 8 x 2 x 4, not 1 x 4 of the literal


# As FastChat's train.py and many made from it; hkust-nlp/dart-math, pipeline/train.py at 219b324.
RESUMES = """
import pathlib
import transformers

def train():
    parser = transformers.HfArgumentParser((transformers.TrainingArguments,))
    training_args, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)
    trainer = transformers.Trainer(args=training_args)
    if list(pathlib.Path(training_args.output_dir).glob("checkpoint-*")):
        trainer.train(resume_from_checkpoint=True)
    else:
        trainer.train()

train()
"""


def test_parsed_arguments_are_not_made_otherwise(tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": RESUMES, "run.sh": f"{RUN} {FLAGS} --output_dir out\n"})
    assert titled_batches(report) == [("transformers Trainer", 64)]  # 8 x 2 x 4


# A function of its own hands the classes to the parser, as in pjlab-sys4nlp/llama-moe, smoe/utils/config.py at b17aff4.
HANDED = (
    """
from ours.config import DataArguments, OwnTrainingArguments, parse_args
from ours.trainer import OwnTrainer

data_args, training_args = parse_args(DataArguments, OwnTrainingArguments)
OwnTrainer(args=training_args).train()
"""
    + "print('done')\n" * 25
)  # more than a program that only starts another one
CONFIG = """
from transformers import HfArgumentParser, TrainingArguments

class OwnTrainingArguments({above}):
    portion: float = 0.1
    {more}

def parse_args(*classes):
    return HfArgumentParser(classes).parse_args_into_dataclasses()
"""


@pytest.mark.parametrize(
    ("above", "more", "wanted"),
    [
        pytest.param("DataArguments", "", [], id="not made from the library's"),
        pytest.param("TrainingArguments", "per_device_train_batch_size: int = 1", [64], id="another default that is not used"),
        pytest.param("TrainingArguments", "", [64], id="made from the library's"),
    ],
)
def test_classes_that_a_function_of_its_own_parses(above: str, more: str, wanted: list[int], tmp_path: Path) -> None:
    files = {"train.py": HANDED, "ours/config.py": CONFIG.format(above=above, more=more or "pass"), "run.sh": f"{RUN} {FLAGS}\n"}
    assert [batch for _, batch in titled_batches(checked(tmp_path, files))] == wanted  # 8 x 2 x 4


# Another file has the classes and the parser, and makes the Trainer's arguments of its own: rui-ye/OpenFedLLM, config.py at d41ceec.
FEDERATED = (
    """
from trl import DPOTrainer
from config import own, options_of

for turn in range(own.rounds):
    DPOTrainer(args=options_of(own, turn)).train()
"""
    + "print('done')\n" * 25
)
OWN_CLASS = """
from dataclasses import dataclass
from transformers import HfArgumentParser, TrainingArguments

@dataclass
class Own:
    batch_size: int = 16
    gradient_accumulation_steps: int = 1

(own,) = HfArgumentParser(Own).parse_args_into_dataclasses()

def options_of(own, turn):
    return TrainingArguments("out", per_device_train_batch_size=own.batch_size, learning_rate=0.1 / turn)
"""
WORDS = "--batch_size 2 --gradient_accumulation_steps 2 --model_name_or_path m --learning_rate 1e-4 --max_steps 900"
OWN_PARSER = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=16)
own = parser.parse_args()
"""
OF_TRAINER = """
from transformers import HfArgumentParser
from trl import DPOConfig

(own,) = HfArgumentParser(DPOConfig).parse_args_into_dataclasses()
"""


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param({"train.py": FEDERATED, "config.py": OWN_CLASS}, [None], id="classes of its own in another file"),
        pytest.param({"train.py": FEDERATED, "config.py": OWN_PARSER}, [None], id="a parser of its own in another file"),
        pytest.param({"train.py": OWN_CLASS + FEDERATED}, [None], id="classes of its own"),
        pytest.param({"train.py": FEDERATED, "config.py": OF_TRAINER}, [64], id="the trainer's arguments in another file"),
        pytest.param({"train.py": FEDERATED, "config.py": "own = 1\n"}, [64], id="nothing parses"),
    ],
)
def test_a_default_is_the_frameworks_where_its_arguments_are_parsed(
    files: dict[str, str], wanted: list[int | None], tmp_path: Path
) -> None:
    report = checked(tmp_path, {**files, "run.sh": f"torchrun --nproc_per_node 4 train.py {WORDS}\n"})
    assert [batch for _, batch in titled_batches(report)] == wanted  # 8 by default x 2 x 4


# A function of another file parses them, as in facebookresearch/MobileLLM and hiyouga/ChatGLM-Efficient-Tuning.
ASKS = (
    "from ours import get_arguments\nfrom ours.trainer import OwnTrainer\n"
    + "print('done')\n" * 25
    + "OwnTrainer(get_arguments()).train()\n"
)
PARSES = """
from transformers import HfArgumentParser, Seq2SeqTrainingArguments

def get_arguments():
    return HfArgumentParser((Seq2SeqTrainingArguments,)).parse_args_into_dataclasses()[0]
"""


@pytest.mark.parametrize(
    ("more", "flags", "wanted"),
    [
        pytest.param({"ours/options.py": "import argparse\n"}, FLAGS, [], id="a parser of its own"),
        pytest.param({"ours/trainer.py": ""}, "", [], id="no flags"),
        pytest.param({"ours/__init__.py": ""}, FLAGS, [], id="a file that is not imported"),
        pytest.param({"ours/trainer.py": ""}, FLAGS, [64], id="one that is"),
    ],
)
def test_classes_that_another_file_parses(more: dict[str, str], flags: str, wanted: list[int], tmp_path: Path) -> None:
    files = {"train.py": ASKS, "ours/__init__.py": "from .options import get_arguments\n", "ours/options.py": PARSES}
    report = checked(tmp_path, {**files, **more, "run.sh": f"{RUN} {flags}\n"})
    assert [batch for _, batch in titled_batches(report)] == wanted  # 8 x 2 x 4


@pytest.mark.parametrize(("command", "title"), [("sft", "TRL (SFT)"), ("grpo", "TRL (GRPO)")])
def test_each_sub_command_has_its_class(command: str, title: str, tmp_path: Path) -> None:
    program = f"""{IMPORTS}
commands = argparse.ArgumentParser().add_subparsers(parser_class=TrlParser)
commands.add_parser("sft", dataclass_types=[SFTConfig])
commands.add_parser("grpo", dataclass_types=GRPOConfig)
"""
    report = checked(tmp_path, {"train.py": program, "run.sh": f"{RUN} {command} {FLAGS}\n"})
    assert titled_batches(report) == [(title, 64)]  # 8 x 2 x 4


def test_a_sub_command_that_evaluates_is_not_a_launch_of_a_recipe(tmp_path: Path) -> None:
    commands = "torchrun --nproc_per_node 1 main.py eval --config sft.yaml\ntorchrun --nproc_per_node 8 main.py train --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": commands})
    assert [run.geometry.global_batch_size for run in launched(report)] == [128]  # 4 x 4 x 8


NESTED = """\
from dataclasses import dataclass, field
import tyro
from transformers import Trainer, TrainingArguments

@dataclass
class Arguments:
    model: str = "m"
    training_args: TrainingArguments = field(
        default_factory=lambda: TrainingArguments(output_dir="o", per_device_train_batch_size=4, gradient_accumulation_steps=2)
    )

args = tyro.cli(Arguments)
Trainer(args=args.training_args).train()
"""


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        pytest.param("", 64, id="4 x 2 x 8, as the program has it"),
        pytest.param("--training_args.learning_rate 1e-4", 64, id="another argument"),
        pytest.param("--training_args.per_device_train_batch_size 6", 96, id="6 x 2 x 8"),
        pytest.param("--training_args.per_device_train_batch_size=3 --training_args.gradient_accumulation_steps=4", 96, id="3 x 4 x 8"),
        pytest.param("--training_args.per_device_train_batch_size $N", None, id="a variable"),
        pytest.param("--training_args.per_device_train_batch_size 6 --rm_args.per_device_train_batch_size 2", None, id="of one of two"),
    ],
)
def test_arguments_that_are_named_with_their_field(flags: str, wanted: int | None, tmp_path: Path) -> None:
    """ZHZisZZ/modpo: what the program starts with was taken for what its launches have."""
    report = checked(tmp_path, {"train.py": NESTED, "run.sh": f"accelerate launch --num_processes 8 train.py --model m {flags}\n"})
    assert [run.geometry.global_batch_size for run in launched(report)] == [wanted]


# What a program does to the arguments that a parser of transformers gives it counts, whatever the command line says.
CHANGED = """\
import os
from transformers import HfArgumentParser, Trainer, TrainingArguments
from more import show, tune

def main():
    parser = HfArgumentParser((TrainingArguments,))
    (training_args,) = parser.parse_args_into_dataclasses()
    {}
    trainer = Trainer(model=model, args=training_args)
    {}
    trainer.train()

main()
"""
MORE = """\
def show(given):
    print(given.per_device_train_batch_size)

def tune(given):
    given.per_device_train_batch_size = fit(given)
"""


@pytest.mark.parametrize(
    ("parsed", "made", "expected"),
    [
        pytest.param("training_args.per_device_train_batch_size = 16", "pass", None, id="set"),
        pytest.param("training_args.gradient_accumulation_steps //= int(os.environ['WORLD_SIZE'])", "pass", None, id="divided"),
        pytest.param("if slow:\n        training_args.per_device_train_batch_size = 1", "pass", None, id="set in a case"),
        pytest.param("for key in more:\n        setattr(training_args, key, more[key])", "pass", None, id="setattr"),
        pytest.param("training_args.set_dataloader(train_batch_size=16)", "pass", None, id="a method"),
        pytest.param("tune(training_args)", "pass", None, id="a function of another file"),
        pytest.param("pass", "trainer.args.gradient_accumulation_steps = 8", None, id="through the trainer"),
        pytest.param("pass", "pass", 64, id="as they are: 4 x 2 x 8"),
        pytest.param("show(training_args)", "pass", 64, id="a function that reads"),
        pytest.param("training_args.remove_unused_columns = False", "pass", 64, id="another field"),
        pytest.param("model.per_device_train_batch_size = 16", "pass", 64, id="another object"),
    ],
)
def test_arguments_that_the_program_changes(parsed: str, made: str, expected: int | None, tmp_path: Path) -> None:
    flags = "--output_dir out --per_device_train_batch_size 4 --gradient_accumulation_steps 2"
    files = {"train.py": CHANGED.format(parsed, made), "more.py": MORE, "run.sh": f"torchrun --nproc_per_node 8 train.py {flags}\n"}
    assert batches(checked(tmp_path, files)) == [expected]
