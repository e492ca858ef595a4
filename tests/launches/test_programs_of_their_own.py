"""Programs with arguments of their own under launchers: 22 commands, each batch worked out by hand beside it."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes
from tests.readers.python.test_stated_products import PROGRAM

# A configuration that a helper of another file starts, and the program completes for the engine.
CHAT = """\
import argparse, deepspeed, torch
from helpers import started

parser = argparse.ArgumentParser()
parser.add_argument("--per_device_train_batch_size", type=int, default=16)
parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
args = parser.parse_args()
config = started(stage=0)
config["train_micro_batch_size_per_gpu"] = args.per_device_train_batch_size
config["train_batch_size"] = args.per_device_train_batch_size * torch.distributed.get_world_size() * args.gradient_accumulation_steps
engine, _, _, _ = deepspeed.initialize(model=model, config=config)
for batch in loader:
    engine.backward(engine(batch))
    engine.step()
"""
# A configuration that is written out: one micro batch of one row.
WRITTEN = """\
import deepspeed
config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "zero_optimization": {"stage": 3}}
engine, _, _, _ = deepspeed.initialize(model=model, config=config)
for batch in loader:
    engine.backward(engine(batch))
"""
# Arguments of the Trainer, made from its class in another file of a package.
PACKAGE = {
    "pack/__init__.py": "",
    "pack/arguments.py": "from transformers import TrainingArguments\nclass Own(TrainingArguments):\n    temperature: float = 0.1\n",
    "pack/train.py": "from transformers import HfArgumentParser, Trainer\nfrom pack.arguments import Own\n"
    "(args,) = HfArgumentParser(Own).parse_args_into_dataclasses()\nTrainer(args=args).train()\n",
}
# Lightning's Trainer, which starts the processes itself.
LIGHTNING = """\
import argparse
from pytorch_lightning import Trainer
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--micro_bsz", default=12, type=int)
parser.add_argument("--devices", default=1, type=int)
parser.add_argument("--num_nodes", default=1, type=int)
args = parser.parse_args()
trainer = Trainer(devices=args.devices, num_nodes=args.num_nodes, strategy="ddp")
trainer.fit(model, DataLoader(rows, shuffle=False, batch_size=args.micro_bsz))
"""
# A batch of all processes, which each divides by their number.
SHARED = """\
import argparse
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--global-batch-size", type=int, default=256)
args = parser.parse_args()
model = DDP(model)
loader = DataLoader(rows, batch_size=int(args.global_batch_size // dist.get_world_size()))
for rows in loader:
    model(rows).backward()
    opt.step()
"""
# vasistalodagala/whisper-finetune 718ad18, train/fine-tune_on_hf_dataset.py: an option decides which arguments are made.
CHOICE = """\
import argparse
from transformers import Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=48)
parser.add_argument("--until", type=str, default="steps")
args = parser.parse_args()
if args.until == "epoch":
    options = TrainingArguments("out", per_device_train_batch_size=args.rows, num_train_epochs=3)
elif args.until == "steps":
    options = TrainingArguments("out", per_device_train_batch_size=args.rows, gradient_accumulation_steps=2)
Trainer(model, options).train()
"""
# facebookresearch/vicreg 4e12602, main_vicreg.py:70: a function of another file sets how many processes there are.
DISTRIBUTED = """\
import argparse
import torch
from torch.utils.data import DataLoader
from helpers import init_distributed_mode
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2048)
parser.add_argument("--world-size", type=int, default=1)
args = parser.parse_args()
init_distributed_mode(args)
assert args.batch_size % args.world_size == 0
model = torch.nn.parallel.DistributedDataParallel(model)
for rows in DataLoader(rows, batch_size=args.batch_size // args.world_size):
    model(rows).backward()
    optimizer.step()
"""
# chuanyangjin/fast-DiT, train.py: the share of a process under accelerate.
ACCELERATED = """\
import argparse
from accelerate import Accelerator
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--global-batch-size", type=int, default=256)
args = parser.parse_args()
accelerator = Accelerator()
loader = DataLoader(rows, batch_size=int(args.global_batch_size // accelerator.num_processes))
loader = accelerator.prepare(loader)
for rows in loader:
    accelerator.backward(model(rows))
    opt.step()
"""
# The same share in processes that the program starts itself.
SPAWNED = """\
import argparse
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--global-batch-size", type=int, default=256)
def main(rank, args):
    model = DDP(net)
    for rows in DataLoader(data, batch_size=int(args.global_batch_size // dist.get_world_size())):
        model(rows).backward()
        opt.step()
mp.spawn(main, args=(parser.parse_args(),), nprocs=gpus)
"""
FILES = {
    "accelerated.py": ACCELERATED,
    "spawned.py": SPAWNED,
    "all.py": DISTRIBUTED,
    "uneven.py": DISTRIBUTED.replace("assert ", "even = "),
    "choice.py": CHOICE,
    "chat.py": CHAT,
    "shared.py": SHARED,
    "written.py": WRITTEN,
    "light.py": LIGHTNING,
    **PACKAGE,
}
MICRO, STEPS = "--per_device_train_batch_size", "--gradient_accumulation_steps"


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        (f"deepspeed --num_gpus 1 chat.py {STEPS} 8", 128),  # 16 x 8 x 1, the micro batch by default
        (f"deepspeed --num_gpus 1 chat.py {MICRO} 8 {STEPS} 16", 128),  # 8 x 16 x 1
        (f"deepspeed --num_gpus 1 chat.py {STEPS} 4", 64),  # 16 x 4 x 1
        ("deepspeed --num_gpus 4 --num_nodes 2 chat.py", 128),  # 16 x 1 x 8
        (f"torchrun --nproc_per_node 8 chat.py {MICRO} 3 {STEPS} 5", 120),  # 3 x 5 x 8
        (f"deepspeed chat.py {MICRO} 2", None),  # on all GPUs of the machine
        (f"deepspeed --num_gpus 2 chat.py {MICRO} $SIZE", None),  # a variable
        ("deepspeed --num_gpus=2 written.py --layers 4", 2),  # 1 x 1 x 2
        ("deepspeed --num_gpus=4 written.py", 4),  # 1 x 1 x 4
        (f"torchrun --nproc_per_node 2 -m pack.train {MICRO} 2", 4),  # 2 x 1 x 2
        (f"torchrun --nproc_per_node=8 -m pack.train --max_steps 9 {MICRO} 100", 800),  # 100 x 1 x 8
        (f"torchrun --nproc_per_node 8 pack/train.py {MICRO} 4 {STEPS} 4", 128),  # 4 x 4 x 8
        (f"deepspeed --include localhost:0,1,2,3 --module pack.train {MICRO} 8 {STEPS} 4", 128),  # 8 x 4 x 4
        (f"deepspeed --include localhost:0,1 --module pack.train {MICRO} 8 {STEPS} 8", 128),  # 8 x 8 x 2
        (f"deepspeed --include localhost:0,1,2,3,4,5,6,7,8 --module pack.train {MICRO} 16 {STEPS} 2", 288),  # 16 x 2 x 9
        (f"CUDA_VISIBLE_DEVICES=0 torchrun --nproc_per_node=1 pack/train.py {MICRO} 16", 16),  # 16 x 1 x 1
        (f"N=2\nM=$((N * 4))\ntorchrun --nproc_per_node 4 -m pack.train {MICRO} $M {STEPS} 4", 128),  # 8 x 4 x 4
        ("torchrun --nnodes=1 --nproc_per_node=N shared.py", 256),  # on any number of processes that divides it
        ("torchrun --nproc_per_node=8 shared.py --global-batch-size 64", 64),  # 8 x 8
        ("torchrun --nproc_per_node=4 choice.py --rows 16", 128),  # 16 x 2 x 4
        ("torchrun --nproc_per_node=4 choice.py --rows 16 --until epoch", 64),  # 16 x 1 x 4
        ("torchrun --nproc_per_node=8 all.py --batch-size 512", 512),  # of all processes
        ("torchrun --nproc_per_node=$N all.py", 2048),
        ("torchrun --nproc_per_node=8 uneven.py --batch-size 512", None),  # the world is set elsewhere
        ("accelerate launch --num_processes 4 accelerated.py --global-batch-size 64", 64),  # 16 x 4
        ("accelerate launch --num_processes $N accelerated.py", 256),  # on any number of processes
        ("python spawned.py --global-batch-size 64", 64),  # on any number of processes
        ("python light.py", 12),  # 12 x 1
        ("python light.py --micro_bsz 30 --devices 8", 240),  # 30 x 8
        ("python light.py --micro_bsz 5 --devices 4 --num_nodes 3", 60),  # 5 x 4 x 3
    ],
)
def test_the_batch_is_the_one_that_is_worked_out_by_hand(tmp_path: Path, command: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, FILES | {"run.sh": f"{command}\n"})) == [batch]


@pytest.mark.parametrize("flags", ["--rows 16 --until $UNTIL", "--rows 16 --until $UNTIL --rows 4"])
def test_a_choice_that_is_not_known_leaves_several_batches(tmp_path: Path, flags: str) -> None:
    assert batches(checked(tmp_path, {"choice.py": CHOICE, "run.sh": f"torchrun --nproc_per_node=4 choice.py {flags}\n"})) == []


# A recipe in the Trainer's words beside a configuration of DeepSpeed with another micro batch: which programs compare the two?
COMPARED = {
    "args.yaml": "model_name_or_path: m\noutput_dir: out\nlearning_rate: 0.03\nper_device_train_batch_size: 16\ndeepspeed: engine.json\n",
    "engine.json": '{"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1}\n',
    "run.sh": "deepspeed --include localhost:0,1 src/train.py args.yaml\n",
}
PARSES = (
    "from transformers import HfArgumentParser, TrainingArguments\n"
    "(args,) = HfArgumentParser(TrainingArguments).parse_yaml_file('args.yaml')\n"
)
OWN_ENGINE = "import deepspeed\nclass OwnTrainer:\n    def __init__(self, args):\n        deepspeed.initialize(config=args.deepspeed)\n"
COMPARES = {
    "its own engine": (PARSES + "from own import OwnTrainer\nOwnTrainer(args)\n", OWN_ENGINE, False),
    "an engine of its own file": (PARSES + "import deepspeed\ndeepspeed.initialize(config=args.deepspeed)\n", "", False),
    "the Trainer": (PARSES + "from transformers import Trainer\nTrainer(args=args).train()\n", "", True),
    "a Trainer made of the Trainer": (
        PARSES + "from own import OwnTrainer\nOwnTrainer(args)\n",
        "import deepspeed\nfrom transformers import Trainer\nclass OwnTrainer(Trainer):\n    engine = deepspeed.initialize()\n",
        True,
    ),
    "unknown files": (PARSES + "from own import start\nstart(args)\n", "def start(args): ...\n", True),
}


@pytest.mark.parametrize(("program", "beside", "compares"), COMPARES.values(), ids=COMPARES)
def test_a_program_that_starts_deepspeed_itself_compares_nothing(tmp_path: Path, program: str, beside: str, compares: bool) -> None:
    found = checked(tmp_path, {**COMPARED, "src/train.py": program, "src/own.py": beside})
    assert ("GBS305" in codes(found)) is compares


# A loop over a loader that another file makes, of a program that another folder copies into its image.
LOOP = """\
import argparse
from torch.distributed.fsdp import FullyShardedDataParallel
from parts.data import make_loader

def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        model(batch).backward()
        optimizer.step()

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=2)
args = parser.parse_args()
model = FullyShardedDataParallel(model)
train(model, GIVEN, optimizer)
"""
MAKES = """\
from torch.utils.data import DataLoader

def make_loader(rows, batch_size=1, split=None):
    return DataLoader(rows, batch_size=batch_size, num_workers=4)

def both(args):
    train = DataLoader(rows, args.batch_size)
    return train, DataLoader(other, 100)

def either(args):
    if args.x:
        return DataLoader(rows, 3)
    return make_loader(rows, args.batch_size)

def wrapped(args):
    return Prefetch(DataLoader(rows, args.batch_size))
"""


@pytest.mark.parametrize(
    ("given", "flags", "expected"),
    [
        ("make_loader(rows, batch_size=args.batch_size)", "", [16]),  # 2 x 8
        ("make_loader(rows, batch_size=args.batch_size)", "--batch_size=5", [40]),
        ("make_loader(rows)", "--batch_size=5", [8]),  # 1 x 8, whatever the flag says
        ("make_loader(rows, 2 * args.batch_size)", "--batch_size 5", [80]),
        ("both(args)[0]", "--batch_size 5", []),
        ("first", "--batch_size 5", [40]),
        ("either(args)", "--batch_size 5", []),
        ("wrapped(args)", "--batch_size 5", []),
        ("make_loader(*rows)", "--batch_size 5", [None]),
    ],
)
def test_a_loader_that_another_file_makes(tmp_path: Path, given: str, flags: str, expected: list[int | None]) -> None:
    text = LOOP.replace("make_loader\n", "make_loader, both, either, wrapped\n")
    text = text.replace("model = Fully", "first, second = both(args)\nmodel = Fully").replace("GIVEN", given)
    files = {"src/train.py": text, "src/parts/data.py": MAKES, "run.sh": f"torchrun --nproc_per_node=8 src/train.py {flags}\n"}
    report = checked(tmp_path, files)
    assert batches(report) == expected
    assert codes(report) == []


# What starts a function of another file with the options that a parser of it reads, and the file with the loop.
STARTS = "from parts.training import read_parser, train\n\nargs = read_parser()\nargs = args.parse_args()\ntrain(args)\n"
TRAINS_ELSEWHERE = """\
import argparse
from torch.nn.parallel import DistributedDataParallel
from parts.data import make_loader

def read_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--accum_iter", type=int, default=1)
    return parser

def train(args):
    loader = build(args.rows, args.batch_size)
    model = DistributedDataParallel(network)
    one_epoch(model, loader, args)

def build(rows, batch_size):
    return make_loader(rows, batch_size=batch_size)

def one_epoch(model, loader, args):
    steps = args.accum_iter
    for number, batch in enumerate(loader):
        model(batch).backward()
        if (number + 1) % steps == 0:
            optimizer.step()
        if (number + 1) % steps == 0 and (number + 1) % 100 == 0:
            if quiet:
                continue
            print(number)
"""


@pytest.mark.parametrize(
    ("starts", "trains", "expected"),
    [
        pytest.param(STARTS.replace("train(args)", "train(settings)"), TRAINS_ELSEWHERE, [], id="options that are not known"),
        pytest.param(STARTS.replace("train(", "if x:\n    args.batch_size = 2\ntrain("), TRAINS_ELSEWHERE, [None], id="set later"),
        pytest.param(STARTS, TRAINS_ELSEWHERE.replace("    one_epoch(", "    another("), [], id="a loop that is not reached"),
        pytest.param(STARTS, TRAINS_ELSEWHERE.replace("    model = D", "    global model\nif x:\n    model = D"), [], id="no DDP in it"),
        pytest.param(
            "from parts.training import train\nargs = made(x).parse_args()\ntrain(args)\n",
            TRAINS_ELSEWHERE.replace("args.rows, args", "rows, args"), [None], id="a parser that is not known",
        ),
        pytest.param(STARTS, TRAINS_ELSEWHERE, [64], id="4 x 2 x 8"),
        pytest.param(STARTS.replace("train(args)", "train(args=args)"), TRAINS_ELSEWHERE, [64], id="given by name"),
        pytest.param(STARTS, TRAINS_ELSEWHERE.replace('"--accum_iter", type=int, default=1', '"--accum"'), [None], id="no such option"),
    ],
)  # fmt: skip
def test_a_training_loop_of_another_file(tmp_path: Path, starts: str, trains: str, expected: list[int | None]) -> None:
    files = {"train.py": starts, "parts/training.py": trains, "parts/data.py": MAKES}
    report = checked(tmp_path, files | {"run.sh": "torchrun --nproc_per_node=8 train.py --batch_size 4 --accum_iter=2\n"})
    assert batches(report) == expected
    assert codes(report) == []


def test_options_of_a_parser_of_another_file_may_be_set_before_a_third_gets_them(tmp_path: Path) -> None:
    parser = "import argparse\ndef options():\n    parser = argparse.ArgumentParser()\n"
    parser += '    parser.add_argument("--batch_size", type=int, default=2)\n    return parser.parse_args()\n'
    text = LOOP.replace("make_loader\n", "both\nfrom parts.options import options\n").replace(
        "args = parser.parse_args()", "args = options()"
    )
    text = text.replace("model = Fully", "first, second = both(args)\nmodel = Fully").replace("GIVEN", "first")
    files = {"train.py": text, "parts/data.py": MAKES, "parts/options.py": parser}
    files |= {"set.py": text.replace("first, second", "if x:\n    args.batch_size = 3\nfirst, second")}
    lines = "".join(f"torchrun --nproc_per_node=8 {name}.py --batch_size 5\n" for name in ("set", "train"))
    assert batches(checked(tmp_path, files | {"run.sh": lines})) == [None, 40]


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ("COPY src/ /work/\n", [40]),
        ("WORKDIR /work\nCOPY src .\n", [40]),
        ("COPY src/train.py /work/train.py\nCOPY src/parts /work/parts\n", [40]),
        ("COPY src/train.py /work\n", [40]),
        ("COPY --from=base src/ /work/\n", []),
        ("COPY src/*.py /work/\n", []),
        ("COPY $SOURCE /work/\n", []),
        ("COPY other/ /work/\n", []),
    ],
)
def test_a_program_that_an_image_has_a_copy_of(tmp_path: Path, copies: str, expected: list[int]) -> None:
    files = {
        "fsdp/src/train.py": LOOP.replace("GIVEN", "make_loader(rows, batch_size=args.batch_size)"),
        "fsdp/src/parts/data.py": MAKES,
        "fsdp/Dockerfile": f"FROM base\n{copies}",
        "fsdp/jobs/run.sh": "torchrun --nproc_per_node=8 /work/train.py --batch_size=5\n",
    }
    assert batches(checked(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("src/pack", [24]),  # 3 x 8: an installed package
        ("examples/src/pack", [24]),
        ("lib/pack", []),
        ("src/other/pack", []),
    ],
)
def test_arguments_of_an_installed_package(tmp_path: Path, place: str, expected: list[int]) -> None:
    files = {
        f"{place}/__init__.py": "",
        f"{place}/arguments.py": PACKAGE["pack/arguments.py"],
        "examples/sft/run.py": PACKAGE["pack/train.py"].replace(
            "HfArgumentParser, Trainer\n", "HfArgumentParser\nfrom pack.own import Trainer\n"
        ),
        "examples/sft/run.sh": "torchrun --nproc_per_node=8 run.py --per_device_train_batch_size 3\n",
    }
    assert batches(checked(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (64, []),  # 8 x 2 x 4 processes
        (128, ["GBS301"]),
    ],
)
def test_a_program_that_multiplies_its_batch(tmp_path: Path, claim: int, expected: list[str]) -> None:
    launch = f"torchrun --nproc_per_node 4 main.py --batch_size 8 --accum_iter 2  # global batch size {claim}\n"
    found = checked(tmp_path, {"main.py": PROGRAM, "helpers.py": "", "run.sh": launch})
    assert (batches(found), codes(found)) == ([64], expected)


TRAINER = (
    "--model_name_or_path m --data_path d --output_dir o --num_train_epochs 3 --save_strategy steps --save_steps 100 --save_total_limit 1 "
    "--learning_rate 2e-5 --bf16 --per_device_train_batch_size 2 --gradient_accumulation_steps 4"
)


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        (f"torchrun --nproc_per_node 8 train.py {TRAINER}", {}, [64]),
        (f"python -m torch.distributed.run --nproc_per_node=4 chat/tune.py {TRAINER}", {}, [32]),
        (f"accelerate launch --num_processes 2 train.py {TRAINER.rpartition(' --grad')[0]}", {}, []),  # may be of another kind
        (f"torchrun --nproc_per_node 8 train.py {TRAINER}", {"other/train.py": "import argparse\n"}, []),  # may be the program
        (f"torchrun --nproc_per_node 8 eval.py {TRAINER}", {}, []),
        (f"torchrun --nproc_per_node 8 $PROGRAM {TRAINER}", {}, []),
        (f"torchrun --nproc_per_node 8 train.py {TRAINER.partition('--num')[0]}{TRAINER.partition('--bf16')[2]}", {}, []),  # may be a loop
    ],
)
def test_a_program_that_is_not_in_the_tree_is_a_trainer_by_its_flags(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[int | None]
) -> None:
    assert batches(checked(tmp_path, {"run.sh": f"{command}\n", **files})) == expected


OF_WORDS = """\
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from settings import get_config

config = get_config()
loader = DataLoader(rows, batch_size=config.train.batch)
model = DistributedDataParallel(model)
for number, batch in enumerate(loader):
    labels[labels == 0] = -100
    labels[:, 0] = -100
    model(batch, labels).backward()
    if (number + 1) % config.train.steps == 0:
        optimizer.step()
"""
MERGES = """\
from omegaconf import OmegaConf

def get_config():
    given = OmegaConf.from_cli()
    file = OmegaConf.load(given.config)
    return OmegaConf.merge(file, given)
"""


@pytest.mark.parametrize(
    ("words", "merges", "expected"),
    [
        pytest.param("", MERGES, [None], id="no file"),
        pytest.param("--config run.yaml", MERGES, [None], id="a flag"),
        pytest.param("config=other.yaml", MERGES, [], id="a file that is not there"),
        pytest.param("config=run.yaml train.batch=$BATCH", MERGES, [None], id="a word that is not known"),
        pytest.param("config=run.yaml train=5", MERGES, [None], id="a part replaced"),
        pytest.param("config=run.yaml", MERGES.replace("from_cli()", "from_cli(['config=run.yaml'])"), [None], id="words of its own"),
        pytest.param("config=run.yaml", MERGES.replace("file, given", "file, other()"), [None], id="laid over by something else"),
        pytest.param("config=run.yaml train.batch=3 train.batch.x=4", MERGES, [None], id="a number that is a part, too"),
        pytest.param("config=run.yaml", MERGES.replace("return ", "file.train.batch = f()\n    return "), [None], id="set there"),
        pytest.param("config=run.yaml", MERGES.replace("return ", "file['a'] = f()\n    return "), [64], id="something else is set there"),
        pytest.param("config=run.yaml", MERGES, [64], id="the file"),
        pytest.param("config=run.yaml train.batch=16 train.other=1", MERGES, [256], id="a word over the file"),
        pytest.param("config=run.yaml train.batch=16", MERGES.replace("file, given", "given, file"), [64], id="the file over a word"),
        pytest.param("config=run.yaml train.steps=4", MERGES.replace("from_cli()", "from_cli(sys.argv[1:])"), [128], id="handed over"),
    ],
)
def test_words_that_omegaconf_lays_over_a_file(tmp_path: Path, words: str, merges: str, expected: list[int | None]) -> None:
    file = "train: {batch: 4, steps: 2}\n"
    report = checked(
        tmp_path,
        {"train.py": OF_WORDS, "settings.py": merges, "run.yaml": file, "run.sh": f"torchrun --nproc_per_node=8 train.py {words}\n"},
    )
    assert batches(report) == expected
    assert codes(report) == []
