"""The batch that a program computes for itself: where its training loop is in another file, or takes batches of no data loader."""

from pathlib import Path

import pytest

from pytest_gbs.model.document import Scalar
from pytest_gbs.readers.python.results import SAMPLES, STEPS
from pytest_gbs.readers.scalar import COMPUTED
from tests.launches.building import batches, checked, codes
from tests.readers.python.test_loops import loop, numbers

# 16 x 4 x processes, as a program modelled on MAE has it: the backward pass is in a module that is not here.
PROGRAM = """\
import argparse
import torch
import helpers as misc
from engine import train_one_epoch

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", default=16, type=int)
parser.add_argument("--accum_iter", default=4, type=int)

def main(args):
    loader = torch.utils.data.DataLoader(data, sampler=sampler, batch_size=args.batch_size)
    validation = torch.utils.data.DataLoader(other, batch_size=100)
    model = torch.nn.parallel.DistributedDataParallel(network, device_ids=[args.gpu])
    eff_batch_size = args.batch_size * args.accum_iter * misc.get_world_size()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 * eff_batch_size / 256)
    train_one_epoch(model, loader, optimizer, args)

main(parser.parse_args())
"""
PRODUCT = "args.batch_size * args.accum_iter * misc.get_world_size()"
OTHER = PRODUCT.replace("batch_size", "val_batch")
SIZES = ("DataLoader.batch_size", STEPS)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("eff_batch_size = ", "eff_batch_size = 2 * "), id="a factor that is nothing known"),
        pytest.param(("* misc.get_world_size()", ""), id="the batch of one process"),
        pytest.param(("misc.get_world_size()", "misc.get_world_size(group)"), id="a group of processes"),
        pytest.param(("args.accum_iter * misc", "misc"), id="an accumulation that it leaves out"),
        pytest.param(("args.batch_size * ", "8 * "), id="no name of a batch"),
        pytest.param(("    eff_batch_size =", "    eval_batch_size ="), id="the batch of an evaluation"),
        pytest.param(("batch_size=args.batch_size", "batch_size=args.batch_size // 2"), id="no loader with that batch"),
        pytest.param(("    optimizer", f"    total_batch_size = {OTHER}\n    optimizer"), id="two of them"),
        pytest.param((f" = {PRODUCT}", f" = {PRODUCT} // 2"), id="more than a product"),
        pytest.param(("torch.nn.parallel.DistributedDataParallel(", "wrapped("), id="processes that may not train together"),
    ],
)  # fmt: skip
def test_another_product_says_nothing(change: tuple[str, str]) -> None:
    assert change[0] in PROGRAM
    assert loop(PROGRAM.replace(*change)) is None


@pytest.mark.parametrize("replaced", ["batch_size=args.batch_size", "eff_batch_size = args.batch_size"])
def test_an_expression_nested_too_deeply_for_its_text_to_be_written(tmp_path: Path, replaced: str) -> None:
    """The text of each is held against the others; Python writes none that is nested a thousand times."""
    deep = "+".join(["args.batch_size"] * 1_500)
    name = replaced.partition("=")[0]
    found = checked(tmp_path, {"train.py": PROGRAM.replace(replaced, f"{name}={deep}"), "run.sh": "torchrun --nproc_per_node=8 train.py\n"})
    assert not found.internal
    assert batches(found) == []


def test_a_program_that_does_not_train_says_nothing() -> None:
    lines = [line for line in PROGRAM.splitlines() if "optim" not in line]
    assert loop("\n".join(lines)) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("", ""), ["16", "4"], id="as it is"),
        pytest.param((PRODUCT, "misc.get_world_size() * args.accum_iter * args.batch_size"), ["16", "4"], id="in another order"),
        pytest.param(("accum_iter", "update_freq"), ["16", "4"], id="another word for the accumulation"),
        pytest.param(("misc.get_world_size()", "world_size"), ["16", "4"], id="processes by name"),
        pytest.param(("eff_batch_size = ", "total_batch_size = "), ["16", "4"], id="another word for the whole"),
        pytest.param(("default=16, ", ""), [None, "4"], id="a batch that a launch gives"),
    ],
)
def test_the_factors_are_the_batch(change: tuple[str, str], expected: list[str | None]) -> None:
    assert numbers(PROGRAM.replace(*change), *SIZES) == expected


@pytest.mark.parametrize(
    ("tasks", "found"),
    [
        pytest.param("tasks = len(jobs)", False, id="a number of something else"),
        pytest.param("tasks = misc.get_world_size()\n    tasks = 2", False, id="a name with two values"),
        pytest.param("tasks = misc.get_world_size()", True, id="the processes"),
    ],
)
def test_processes_under_a_name_that_does_not_say_so(tasks: str, found: bool) -> None:
    """OpenGVLab/VideoMAEv2 29eab1e, run_class_finetuning.py:693."""
    text = PROGRAM.replace("misc.get_world_size()", "tasks").replace("    eff_batch", f"    {tasks}\n    eff_batch")
    assert (loop(text) is not None) == found
    assert not found or numbers(text, *SIZES) == ["16", "4"]


# Alpha-VLLM/LLaMA2-Accessory, accessory/main_finetune.py:143 and :280: so many processes have one model, and one batch, together.
SHARED = PROGRAM.replace("misc.get_world_size", "fs_init.get_data_parallel_world_size").replace(
    "import helpers as misc\n", "import fairscale.nn.model_parallel.initialize as fs_init\n"
)
PARALLEL = SHARED.replace("def main(args):\n", "def main(args):\n    fs_init.initialize_model_parallel(args.together)\n").replace(
    "\ndef main", 'parser.add_argument("--together", type=int, default=1)\n\ndef main'
)


@pytest.mark.parametrize(
    ("program", "flags", "expected"),
    [
        pytest.param(SHARED, "", [], id="nothing says how many"),
        pytest.param(PARALLEL, "--together $N", [None], id="a variable"),
        pytest.param(PARALLEL.replace("fairscale.nn.model_parallel", "megatron.core"), "", [None], id="another library"),
        pytest.param(PARALLEL.replace("args.together)", "args.together, 2)"), "", [None], id="a pipeline too"),
        pytest.param(PARALLEL, "", [512], id="each process for itself"),  # 16 x 4 x 8
        pytest.param(PARALLEL, "--together 2", [256], id="two together"),  # 16 x 4 x 8 / 2
        pytest.param(PARALLEL, "--together 8", [64], id="all together"),  # 16 x 4
    ],
)
def test_processes_that_share_a_batch(tmp_path: Path, program: str, flags: str, expected: list[int | None]) -> None:
    found = checked(tmp_path, {"train.py": program, "run.sh": f"torchrun --nproc_per_node=8 train.py {flags}\n"})
    assert batches(found) == expected
    assert codes(found) == []


# Sequence parallelism of a program's own: the ranks of a group get the same rows.
GROUPS = """\
import argparse
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
parser = argparse.ArgumentParser()
parser.add_argument("--dp_size", type=int, default=2)
args = parser.parse_args()
ranks = dist.get_world_size()
replicas = REPLICAS
loader = DataLoader(rows, batch_size=4, sampler=DistributedSampler(rows, num_replicas=replicas, rank=0))
model = DistributedDataParallel(network)
for batch in loader:
    model(batch).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        pytest.param("None", 32, id="its default"),
        pytest.param("ranks", 32, id="all processes"),
        pytest.param("dist.get_world_size(dist.group.WORLD)", 32, id="the group of all processes"),
        pytest.param("args.world_size", 32, id="an option of that name"),
        pytest.param("args.dp_size", None, id="an option"),
        pytest.param("ranks // args.sp_size", None, id="a quotient"),
        pytest.param("dist.get_world_size(dp_group)", None, id="the size of a group"),
        pytest.param("device_mesh['dp'].size()", None, id="a dimension of a mesh"),
        pytest.param("mpu.get_data_parallel_world_size()", None, id="what a library says"),
    ],
)
def test_a_sampler_that_gives_the_same_rows_to_several_processes(tmp_path: Path, replicas: str, expected: int | None) -> None:
    """After deepspeedai/DeepSpeedExamples, benchmarks/autosp/run.py."""
    script = "torchrun --nproc_per_node=8 train.py\n"
    assert batches(checked(tmp_path, {"train.py": GROUPS.replace("REPLICAS", replicas), "run.sh": script})) == [expected]


@pytest.mark.parametrize(("replicas", "expected"), [("dist.get_world_size()", [32]), ("args.dp_size", [])])
def test_a_sampler_in_another_file(tmp_path: Path, replicas: str, expected: list[int]) -> None:
    lines = GROUPS.replace("REPLICAS", replicas).splitlines(keepends=True)
    made = "".join(f"    return {line[9:]}" if line.startswith("loader = ") else f"    {line}" for line in lines[8:11])
    program = "".join([*lines[:8], "from data import load\nloader = load(args)\n", *lines[11:]])
    module = "".join(lines[:5]) + "def load(args):\n" + made
    files = {"train.py": program, "data.py": module, "run.sh": "torchrun --nproc_per_node=8 train.py\n"}
    assert batches(checked(tmp_path, files)) == expected


def test_without_an_accumulation_each_batch_is_a_step() -> None:
    lines = [line.replace("args.accum_iter * ", "") for line in PROGRAM.splitlines() if "--accum_iter" not in line]
    assert numbers("\n".join(lines), *SIZES) == ["16", "1"]


# 524,288 tokens of each optimizer step: 512 rows of 1,024, of which each process takes as many micro batches of 64.
SHARED = """\
import os
from torch.nn.parallel import DistributedDataParallel as DDP
ddp_world_size = int(os.environ.get("WORLD_SIZE", 1))
total = 2**19
B, T = 64, 1024
rows = B * T * ddp_world_size
assert total % rows == 0
accumulation = total // rows
model = DDP(model)
optimizer = make(model)
for step in range(100):
    for micro_step in range(accumulation):
        loss = model(*batches.take(B, T))
        loss.backward()
    optimizer.step()
"""
# 40 micro batches of 12 of all processes.
DIVIDED = """\
import os
from torch.nn.parallel import DistributedDataParallel
gradient_accumulation_steps = 5 * 8
batch_size = 12
block_size = 1024
world_size = 1
if "RANK" in os.environ:
    world_size = int(os.environ["WORLD_SIZE"])
    assert gradient_accumulation_steps % world_size == 0
    gradient_accumulation_steps //= world_size
tokens_per_iter = gradient_accumulation_steps * world_size * batch_size * block_size
model = DistributedDataParallel(model)
while True:
    for micro_step in range(gradient_accumulation_steps):
        scaler.scale(model(batch)).backward()
    scaler.step(optimizer)
"""


@pytest.mark.parametrize(
    ("program", "change"),
    [
        pytest.param(SHARED, ("range(accumulation)", "range(10)"), id="a loop that repeats something else"),
        pytest.param(SHARED, ("range(accumulation)", "range(accumulation + 1)"), id="a loop that repeats one more"),
        pytest.param(SHARED, ("range(accumulation)", "range(0, accumulation, 2)"), id="a loop in steps"),
        pytest.param(SHARED, ("loss.backward()", "loss.item()"), id="a loop without a backward pass"),
        pytest.param(SHARED, ("B * T * ddp", "B * T * 2 * ddp"), id="a factor that is nothing known"),
        pytest.param(SHARED, ("rows = B * T", "rows = T"), id="no micro batch"),
        pytest.param(SHARED, ("total // rows", "max(1, total // rows)"), id="more than a quotient"),
        pytest.param(SHARED, ("optimizer", "update"), id="nothing trains"),
        pytest.param(DIVIDED, (" * block_size", ""), id="tokens without the length of a row"),
        pytest.param(DIVIDED, (" * world_size *", " *"), id="tokens of one process"),
        pytest.param(DIVIDED, ("model =", "exec(open('configurator.py').read())\nmodel ="), id="nanoGPT, which has a table"),
    ],
)
def test_a_share_that_is_not_plain_says_nothing(program: str, change: tuple[str, str]) -> None:
    assert change[0] in program
    assert loop(program.replace(*change)) is None


@pytest.mark.parametrize(
    ("program", "change", "expected"),
    [
        pytest.param(SHARED, ("", ""), ["64", None, "512"], id="2**19 / 1,024"),
        pytest.param(SHARED, ("range(accumulation)", "range(1, accumulation + 1)"), ["64", None, "512"], id="counted from 1"),
        pytest.param(SHARED, ("B * T * ddp", "B * ddp"), ["64", None, "524288"], id="samples"),
        pytest.param(SHARED, ("2**19", "2**19 + 1"), ["64", None, None], id="rows that are not whole"),
        pytest.param(SHARED, ("2**19", "read()"), ["64", None, None], id="a total that is not known"),
        pytest.param(SHARED, ("assert total", "assert other"), ["64", None, "512"], id="another assertion of the same"),
        pytest.param(SHARED, ("assert total % rows == 0", ""), ["64", None, None], id="nothing is asserted: it rounds down"),
        pytest.param(DIVIDED, ("", ""), ["12", None, "480"], id="12 x 40"),
        pytest.param(DIVIDED, ("    gradient_accumulation_steps //= world_size\n", ""), ["12", "40", None], id="40 of each process"),
        pytest.param(DIVIDED, ("//=", "-="), ["12", None, None], id="changed otherwise"),
    ],
)
def test_what_all_processes_share(program: str, change: tuple[str, str], expected: list[str | None]) -> None:
    assert change[0] in program
    document = loop(program.replace(*change, 1))
    assert document is not None
    shared = document.get(SAMPLES)
    found = shared.text if isinstance(shared, Scalar) and shared.tag != COMPUTED else None
    assert [*numbers(program.replace(*change, 1), *SIZES), found] == expected


def test_processes_that_cannot_share_are_found(tmp_path: Path) -> None:
    launches = "torchrun --nproc_per_node {} train.py\n"
    assert codes(checked(tmp_path, {"train.py": SHARED, "run.sh": launches.format(8)})) == []
    assert codes(checked(tmp_path, {"train.py": SHARED, "run.sh": launches.format(3)})) == ["GBS202"]
    assert codes(checked(tmp_path, {"train.py": SHARED.replace("assert total % rows == 0", "")})) == []


# As programs made from build-nanogpt have it: one that is started by itself has a world of 1, and nothing is asserted.
ROUNDS = SHARED.replace(
    'ddp_world_size = int(os.environ.get("WORLD_SIZE", 1))\n',
    """ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    ddp_world_size = int(os.environ["WORLD_SIZE"])
else:
    ddp_world_size = 1
""",
).replace("assert total % rows == 0\n", "")


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("torchrun --nproc_per_node 8 train.py", [512]),  # 64 x 1 x 8
        ("torchrun --nproc_per_node 2 train.py", [512]),  # 64 x 4 x 2
        ("torchrun --nproc_per_node 3 train.py", [384]),  # 64 x 2 x 3: 524,288 / 196,608 = 2.67
        ("torchrun --nproc_per_node $GPUS train.py", [512]),
        ("torchrun --nnodes 2 --nproc_per_node 8 train.py", [None]),  # 64 x 16 are more than 512
    ],
)
def test_each_process_accumulates_its_share_rounded_down(tmp_path: Path, launch: str, expected: list[int | None]) -> None:
    found = checked(tmp_path, {"train.py": ROUNDS, "run.sh": f"{launch}\n"})
    assert batches(found) == expected
    assert codes(found) == []


# 2 x 8 x processes: batches of buckets, by samplers that are not here, of one of two loaders.
# aigc-apps/EasyAnimate, scripts/train_lora.py at c2a70d1.
BUCKETS = """\
import argparse
import torch
from accelerate import Accelerator
from buckets import BucketSampler, MixedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--train_batch_size", default=2, type=int)
parser.add_argument("--gradient_accumulation_steps", default=8, type=int)
args = parser.parse_args()
accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps)
if args.buckets:
    sampler = BucketSampler(data, batch_size=args.train_batch_size)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, collate_fn=collate)
else:
    sampler = MixedSampler(data, args.train_batch_size)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
total_batch_size = args.train_batch_size * accelerator.num_processes * args.gradient_accumulation_steps
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(batch))
        optimizer.step()
"""


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("args.train_batch_size)", "8)"), id="samplers with another batch"),
        pytest.param(("accelerator.prepare(model, optimizer, loader)", "model, optimizer, loader"), id="loaders that are not prepared"),
        pytest.param(("accelerator.accumulate(model)", "nothing"), id="an accumulation of its own"),
        pytest.param(("Accelerator(", "Accelerator(split_batches=True, "), id="a batch of all processes"),
        pytest.param(("\nfor batch", "\ntotal_batch_size = total_batch_size // args.sp_size\nfor batch"), id="a total that changes"),
        pytest.param(("batch_sampler=sampler", "sampler=sampler"), id="samplers that make no batches"),
    ],
)
def test_a_product_of_accelerate_says_nothing(change: tuple[str, str]) -> None:
    assert change[0] in BUCKETS
    assert loop(BUCKETS.replace(*change)) is None


def test_the_factors_are_the_batch_of_samplers() -> None:
    assert numbers(BUCKETS, "DataLoader.batch_size", "Accelerator.gradient_accumulation_steps", STEPS) == ["2", "8", None]
