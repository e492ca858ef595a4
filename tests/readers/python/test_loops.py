"""Training loops of a program's own: which data loader they go over, and after how many batches the optimizer takes a step."""

import pytest

from pytest_gbs.model.document import LOOP, Document, Scalar
from pytest_gbs.model.location import Source
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.python.results import SAMPLES, STEPS
from pytest_gbs.readers.scalar import COMPUTED
from tests.readers.python.test_calls import documents
from tests.readers.python.test_imports import reads

ACCELERATE = """\
from accelerate import Accelerator
from torch.utils.data import DataLoader

def main(batch_size=8):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    train_loader = DataLoader(train, shuffle=True, batch_size=batch_size)
    test_loader = DataLoader(test, batch_size=64)
    model, optimizer, train_loader, test_loader = accelerator.prepare(model, optimizer, train_loader, test_loader)
    for epoch in range(3):
        for step, batch in enumerate(train_loader):
            with accelerator.accumulate(model):
                accelerator.backward(model(batch))
                optimizer.step()
        for batch in test_loader:
            model(batch)

main(batch_size=2)
"""
SETTINGS = "accelerate.utils.DataLoaderConfiguration"
DISTRIBUTED = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
STEPS = 4

def train(model, loader, optimizer, scaler):
    for step, batch in enumerate(loader):
        scaler.scale(model(batch)).backward()
        if (step + 1) % STEPS == 0 or step == len(loader) - 1:
            scaler.step(optimizer)

def loaders(n):
    def collate(rows):
        return rows
    first = torch.utils.data.DataLoader(a, n, sampler=sampler, collate_fn=collate)
    second = torch.utils.data.DataLoader(b, 100)
    return first, second

model = DDP(model)
mine, other = loaders(16)
train(model, mine, optimizer, scaler)
"""


def loop(text: str) -> Document | None:
    """The document of the training loop in `text`, if there is one."""
    found = [each for each in documents(text) if each.called == LOOP]
    return found[0] if found else None


def numbers(text: str, *keys: str) -> list[str | None]:
    """What the loop has at `keys`, None where the text does not fix it."""
    document = loop(text)
    assert document is not None
    nodes = [document.get(*key.split(".")) for key in keys]
    return [node.text if isinstance(node, Scalar) and node.tag != COMPUTED else None for node in nodes]


TRACKED = "accelerator = Accelerator(log_with='all', gradient_accumulation_steps={}) if x else Accelerator("


@pytest.mark.parametrize(("steps", "found"), [(2, None), (4, "4")])
def test_an_accelerator_is_made_otherwise_where_it_reports(steps: int, found: str | None) -> None:
    text = ACCELERATE.replace("accelerator = Accelerator(", TRACKED.format(steps))
    assert (loop(text) is not None) == (found is not None)
    assert found is None or numbers(text, "DataLoader.batch_size", "Accelerator.gradient_accumulation_steps") == ["2", found]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("from accelerate import Accelerator", "from mine import Accelerator"), id="a class of another name"),
        pytest.param(("accelerator = Accelerator(", "other = Accelerator()\n    accelerator = Accelerator("), id="two of them"),
        pytest.param(("accelerator.backward(model(batch))", "model(batch)"), id="no backward pass"),
        pytest.param(("train_loader, test_loader = acc", "train_loader, test_loader = other.read(1) or acc"), id="not plainly prepared"),
        pytest.param(("model, optimizer, train_loader, test_loader =", "a, b, c, d ="), id="another is prepared"),
        pytest.param(("train_loader = DataLoader(", "train_loader = Loader("), id="a loader of another kind"),
        pytest.param(("enumerate(train_loader)", "enumerate(mixed(train_loader))"), id="a loader that something else wraps"),
        pytest.param(("    test_loader = D", "    if x:\n        train_loader = DataLoader(b)\n    test_loader = D"), id="two loaders"),
        pytest.param(("            with", "            for part in batch:\n             with"), id="a loop within the batch"),
        pytest.param(("def main", "KIND = 'MEGATRON_LM'\ndef main"), id="a program for Megatron-LM too"),
    ],
)  # fmt: skip
def test_a_loop_over_a_loader_that_is_not_plain_is_not_read(change: tuple[str, str]) -> None:
    assert change[0] in ACCELERATE
    assert loop(ACCELERATE.replace(*change)) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("batch_size=batch_size", "batch_sampler=mine"), id="a sampler of batches"),
        pytest.param(("batch_size=batch_size", "**options"), id="options that are not known"),
        pytest.param(("batch_size=batch_size", "batch_size=None"), id="batches that the dataset makes"),
        pytest.param(("(gradient", "(split_batches=True, gradient"), id="batches that the processes share"),
        pytest.param(("(gradient", "(dataloader_config=settings, gradient"), id="loaders with settings from elsewhere"),
        pytest.param(("(gradient", "(dataloader_config=DataLoaderConfiguration(True), gradient"), id="settings of another class"),
        pytest.param(("(gradient", f"(dataloader_config={SETTINGS}(True), gradient"), id="settings without names"),
        pytest.param(("(gradient", f"(dataloader_config={SETTINGS}(split_batches=flag), gradient"), id="batches that may be shared"),
        pytest.param(("(gradient", f"(dataloader_config={SETTINGS}(**options), gradient"), id="settings that are not known"),
        pytest.param(("(gradient", "(deepspeed_plugin=plugin, gradient"), id="DeepSpeed of its own"),
        pytest.param(("(gradient", "(**options, gradient"), id="an accelerator with options that are not known"),
        pytest.param(("main(batch_size=2)", "main(batch_size=2)\nmain(batch_size=4)"), id="two runs"),
    ],
)  # fmt: skip
def test_a_batch_that_is_not_plain_is_unknown(change: tuple[str, str]) -> None:
    assert change[0] in ACCELERATE
    assert numbers("import accelerate.utils\n" + ACCELERATE.replace(*change), "DataLoader.batch_size") == [None]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("        if (step + 1) % STEPS == 0 or", "        if ready(step) or"), id="a condition of another kind"),
        pytest.param(("(step + 1) % STEPS == 0", "(step + 1) % STEPS == 1 % other"), id="two divisions"),
        pytest.param(("or step == len(loader) - 1:", "and ready(step):"), id="a division and more"),
        pytest.param(("or step == len(loader) - 1:", "and step > 100:"), id="a division, late"),
        pytest.param(("(step + 1) % STEPS == 0", "(step + 1) % STEPS"), id="all steps but some"),
        pytest.param(("        scaler.scale", "        if step % 2:\n            continue\n        scaler.scale"), id="skipped"),
        pytest.param(("            scaler.step(optimizer)", "            scaler.update()"), id="no step of the optimizer"),
        pytest.param(("            scaler.step(optimizer)", "            if x:\n                scaler.step(optimizer)"), id="two tests"),
        pytest.param(("STEPS = 4", "STEPS = read()"), id="steps that are not known"),
    ],
)  # fmt: skip
def test_steps_that_are_not_plain_are_unknown(change: tuple[str, str]) -> None:
    assert change[0] in DISTRIBUTED
    assert numbers(DISTRIBUTED.replace(*change), "DataLoader.batch_size", STEPS) == ["16", None]


def test_the_loader_that_the_loop_goes_over_gives_the_batch() -> None:
    assert numbers(ACCELERATE, "DataLoader.batch_size", "Accelerator.gradient_accumulation_steps") == ["2", "4"]
    assert numbers(DISTRIBUTED, "DataLoader.batch_size", STEPS) == ["16", "4"]
    assert numbers(DISTRIBUTED.replace("scaler.step(optimizer)", "self.opt.step()"), "DataLoader.batch_size", STEPS) == [
        "16",
        "4",
    ]
    assert numbers(DISTRIBUTED.replace("scaler.step(optimizer)", "adopt.step()"), "DataLoader.batch_size", STEPS) == ["16", None]


def test_a_loader_without_a_size_has_batches_of_one() -> None:
    assert numbers(ACCELERATE.replace(", batch_size=batch_size", ""), "DataLoader.batch_size") == ["1"]


def test_a_test_that_has_a_name_in_the_loop() -> None:
    named = "        due = (step + 1) % STEPS == 0\n        if due:\n"
    text = DISTRIBUTED.replace("        if (step + 1) % STEPS == 0 or step == len(loader) - 1:\n", named)
    assert numbers(text, "DataLoader.batch_size", STEPS) == ["16", "4"]
    assert numbers(text.replace("        due =", "        due = x\n        due ="), "DataLoader.batch_size", STEPS) == [
        "16",
        None,
    ]


COUNTED = """\
        scaler.scale(model(batch)).backward()
        waiting += 1
        if waiting < STEPS:
            continue
        scaler.step(optimizer)
        waiting = 0
"""
LOGGED = """\
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        seen += 1
        if seen < STEPS:
            continue
        print(seen)
        seen = 0
"""
LEFT_OUT = """\
        scaler.scale(model(batch)).backward()
        if (step + 1) % STEPS != 0:
            continue
        scaler.step(optimizer)
"""
REACHED = """\
        scaler.scale(model(batch)).backward()
        waiting += 1
        if waiting == STEPS:
            scaler.step(optimizer)
            waiting = 0
"""


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        pytest.param(COUNTED.replace("            continue", "            if x:\n                continue"), None, id="two tests"),
        pytest.param(COUNTED.replace("        scaler.step", "        if x:\n            scaler.step"), None, id="a step under a condition"),
        pytest.param(REACHED.replace("waiting += 1", "waiting += 2"), None, id="counted in twos"),
        pytest.param(REACHED.replace("        waiting += 1\n", "") + "        waiting += 1\n", None, id="counted behind the step"),
        pytest.param(REACHED.replace("waiting = 0", "waiting = 1"), None, id="begun with another number"),
        pytest.param(REACHED.replace("            waiting = 0\n", ""), None, id="never begun again"),
        pytest.param(COUNTED.replace("        waiting = 0\n", ""), "1", id="the first turns alone are left out"),
        pytest.param(
            LEFT_OUT.replace("            continue", "            if x:\n                continue"), None, id="one of two tests, by number"
        ),
        pytest.param(LEFT_OUT.replace("!=", "=="), None, id="some are left out by number"),
        pytest.param(
            "".join(LEFT_OUT.splitlines(keepends=True)[place] for place in (1, 2, 0, 3)), None, id="left out ahead of the backward pass"
        ),
        pytest.param(LEFT_OUT.replace("% STEPS != 0", "% STEPS == 0 or late"), None, id="left out where one of two tests holds"),
        pytest.param(
            LEFT_OUT.replace("        scaler.step(optimizer)\n", "").replace(
                ".backward()\n", ".backward()\n        scaler.step(optimizer)\n"
            ),
            "1",
            id="left out behind the step, by number",
        ),
        pytest.param(
            LOGGED.replace("if seen < STEPS:\n", "if seen % STEPS == 0:\n            if x:\n    "),
            "1",
            id="left out behind the step, by two tests",
        ),
        pytest.param(LEFT_OUT, "4", id="left out until so many, by number"),
        pytest.param(LEFT_OUT.replace(" != 0", ""), "4", id="left out until so many, without a comparison"),
        pytest.param(LEFT_OUT.replace("!= 0", "!= 0 and step + 1 < len(loader)"), "4", id="left out until so many, but for the last"),
        pytest.param(LOGGED, "1", id="turns are left out behind the step"),
        pytest.param(COUNTED, "4", id="turns are left out until so many"),
        pytest.param(REACHED, "4", id="a step after so many"),
        pytest.param(REACHED.replace("== STEPS", ">= STEPS"), "4", id="a step after so many or more"),
    ],
)
def test_a_loop_may_count_its_batches(turn: str, expected: str | None) -> None:
    start, stop = DISTRIBUTED.index("        scaler.scale"), DISTRIBUTED.index("\ndef loaders")
    assert numbers(DISTRIBUTED[:start] + turn + DISTRIBUTED[stop:], "DataLoader.batch_size", STEPS) == ["16", expected]


def test_accelerate_accumulates_only_where_it_is_asked_to() -> None:
    plain = ACCELERATE.replace("with accelerator.accumulate(model):", "if True:").replace("            if True:\n", "            pass\n")
    plain = plain.replace("                accelerator.b", "            accelerator.b").replace(
        "                optimizer.s", "            optimizer.s"
    )
    assert numbers(plain, STEPS) == ["1"]


@pytest.mark.parametrize(("data", "expected"), [("Rows(path, batch_size=16)", None), ("Rows(path)", "1"), ("rows", "1")])
def test_a_data_set_may_have_batches_for_examples(data: str, expected: str | None) -> None:
    program = DISTRIBUTED.replace("(a, n, sampler", "(rows, batch_size=1, sampler").replace(
        "    first =", f"    rows = {data}\n    first ="
    )
    assert numbers(program, "DataLoader.batch_size", STEPS) == [expected, "4"]


def test_the_first_batch_may_be_left_out() -> None:
    program = DISTRIBUTED.replace("(step + 1) % STEPS == 0 or step == len(loader) - 1", "step % STEPS == 0 and step > 0")
    assert numbers(program, "DataLoader.batch_size", STEPS) == ["16", "4"]


def test_loaders_that_are_made_side_by_side() -> None:
    one, other = "torch.utils.data.DataLoader(a, n)", "torch.utils.data.DataLoader(b, 100)"
    program = DISTRIBUTED.replace("mine, other = loaders(16)", f"n = 16\nmine, other = {one}, {other}")
    assert numbers(program, "DataLoader.batch_size", STEPS) == ["16", "4"]
    assert numbers(program.replace("mine, other =", "other, mine ="), "DataLoader.batch_size", STEPS) == ["100", "4"]


_EITHER_WAY = """\
        if scaler is not None:
            {scaled}scaler.step(optimizer)
        else:
            {plain}optimizer.step()
"""


@pytest.mark.parametrize(
    ("scaled", "plain", "expected"),
    [("", "", "1"), ("if (step + 1) % 4 == 0: ", "if (step + 1) % STEPS == 0: ", "4"), ("if (step + 1) % 2 == 0: ", "", None)],
)
def test_a_step_with_a_scaler_or_without(scaled: str, plain: str, expected: str | None) -> None:
    before = DISTRIBUTED[DISTRIBUTED.index("        if (step + 1)") : DISTRIBUTED.index("def loaders")]
    program = DISTRIBUTED.replace(before, _EITHER_WAY.format(scaled=scaled, plain=plain) + "\n")
    assert numbers(program, "DataLoader.batch_size", STEPS) == ["16", expected]


def test_a_loader_that_gets_a_name_in_the_loop_is_the_same() -> None:
    """Facico/Chinese-Vicuna bd1658d, tools/application/chatglm_lora_finetune.py."""
    assert numbers(ACCELERATE.replace("enumerate(train_loader)", "enumerate(bar := tqdm(train_loader))"), "DataLoader.batch_size") == ["2"]


def test_a_loader_under_another_name_and_wrapped_is_the_same() -> None:
    text = ACCELERATE.replace("enumerate(train_loader)", "tqdm(enumerate(active))").replace(
        "        for step", "        active = train_loader if epoch else accelerator.skip_first_batches(train_loader, 3)\n        for step"
    )
    assert numbers(text, "DataLoader.batch_size") == ["2"]


PER_GPU = """\
import argparse, torch
from torch.utils.data import DataLoader
from torch.nn.parallel import DistributedDataParallel

def train(args, data, model, optimizer):
    args.train_batch_size = args.per_gpu * max(1, args.n_gpu)
    loader = DataLoader(data, batch_size=args.train_batch_size)
    for step, batch in enumerate(loader):
        model(batch).backward()
        optimizer.step()

parser = argparse.ArgumentParser()
parser.add_argument("--per_gpu", type=int, default=4)
args = parser.parse_args()
args.n_gpu = torch.cuda.device_count() if x else 1
train(args, data, DistributedDataParallel(model), optimizer)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("max(1, args.n_gpu)", "max(2, args.workers)", None, id="a factor of something else"),
        pytest.param("max(1, args.n_gpu)", "args.n_gpu", None, id="a factor that may be zero"),
        pytest.param("args.n_gpu =", "args.per_gpu = 64 // args.n_gpu\nargs.n_gpu =", None, id="a share of each GPU"),
        pytest.param("    loader =", "    args.train_batch_size = f()\n    loader =", None, id="set again"),
        pytest.param("4)", "4)", "4", id="an attribute"),
        pytest.param("=args.train_batch_size", "=args.per_gpu * max(1, args.n_gpu)", "4", id="in the call"),
    ],
)
def test_the_gpus_of_one_process_share_its_batch(old: str, new: str, expected: str | None) -> None:
    assert numbers(PER_GPU.replace(old, new), "DataLoader.batch_size") == [expected]


SAMPLED = ACCELERATE.replace("train, shuffle=True, batch_size=batch_size", "train, batch_sampler={}")
OWN = "torch.utils.data.BatchSampler(order, {}, drop_last=True)"


@pytest.mark.parametrize(
    ("sampler", "before", "expected"),
    [
        pytest.param("BatchSampler(order, 3)", "", None, id="a class of another name"),
        pytest.param("sampler", "sampler = torch.utils.data.BatchSampler(order, 3) if x else None", None, id="one of two"),
        pytest.param("sampler", "sampler = groups(torch.utils.data.BatchSampler(order, 3))", None, id="something around it"),
        pytest.param("sampler", "sampler = " + OWN.format("f()"), None, id="a size that is not known"),
        pytest.param(OWN.format("3"), "", "3", id="in the call"),
        pytest.param("sampler", "sampler = " + OWN.format("batch_size"), "2", id="by its name"),
        pytest.param("torch.utils.data.BatchSampler(sampler=order, batch_size=3, drop_last=False)", "", "3", id="by keywords"),
    ],
)
def test_the_batches_of_a_sampler(sampler: str, before: str, expected: str | None) -> None:
    text = "import torch\n" + SAMPLED.format(sampler).replace("    train_loader =", f"    {before or 'pass'}\n    train_loader =", 1)
    assert numbers(text, "DataLoader.batch_size") == [expected]


COLLECTING = """\
class Sampler:
    def __init__(self, order, size, skipped=0):
        self.order, self.skipped = order, skipped
        self.size = size
    def __iter__(self):
        batch = []
        for each in self.order:
            batch.append(each)
            if len(batch) == self.size:
                yield batch
                batch = []
        if batch:
            yield batch
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("== self.size", "== self.size * 2"), None, id="as many as something else"),
        pytest.param(("yield batch\n                batch", "yield batch[rank::ranks]\n                batch"), None, id="a part of it"),
        pytest.param((".append(each)", ".extend(each)"), None, id="several at once"),
        pytest.param(("batch.append(each)", "batch += each"), None, id="several at once by a sign"),
        pytest.param(("self.size = size", "self.size = size // ranks"), None, id="a share of what it gets"),
        pytest.param(("self.size = size", "self.size = size\n        self.size = 4"), None, id="a size that is set twice"),
        pytest.param(("self.size = size", "if order:\n            self.size = size"), None, id="a size under a condition"),
        pytest.param(("__iter__", "batches"), None, id="no batches"),
        pytest.param(("order, size, skipped", "order, skipped, size"), None, id="a size that the call does not give"),
        pytest.param(("", ""), "2", id="as it is"),
        pytest.param(("==", ">="), "2", id="at least as many"),
    ],
)
def test_the_batches_of_a_sampler_of_the_repository(change: tuple[str, str], expected: str | None) -> None:
    """jingyaogong/minimind d65ef2c, trainer/trainer_utils.py (SkipBatchSampler)."""
    text = COLLECTING.replace(*change) + SAMPLED.format("Sampler(order, batch_size)")
    assert numbers(text, "DataLoader.batch_size") == [expected]


def test_the_batches_of_a_sampler_of_another_file() -> None:
    text = "from samplers import Sampler\n" + SAMPLED.format("Sampler(order, size=batch_size, skipped=1)")
    found = read(Source("train.py", text), ProgramContext(reads({"samplers.py": "# batches\n" + COLLECTING})))
    (document,) = (each for each in found if isinstance(each, Document) and each.called == LOOP)
    node = document.get("DataLoader", "batch_size")
    assert isinstance(node, Scalar)
    assert node.text == "2"


# facebookresearch/barlowtwins 8e8d284, main.py: each process that is spawned takes its share of the batch of all.
SPAWNED = """\
import argparse
import torch
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", default=2048, type=int)

def main():
    args = parser.parse_args()
    args.world_size = torch.cuda.device_count()
    torch.multiprocessing.spawn(worker, args=(args,), nprocs=args.world_size)

def worker(rank, args):
    model = torch.nn.parallel.DistributedDataParallel(net(), device_ids=[rank])
    assert args.batch_size % args.world_size == 0
    share = args.batch_size // args.world_size
    loader = DataLoader(rows, batch_size=share, sampler=sampler)
    for step, batch in enumerate(loader):
        model(batch).backward()
        if (step + 1) % 2 == 0:
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("    assert args.batch_size % args.world_size == 0\n", ""), [], id="a share that may be uneven"),
        pytest.param(("// args.world_size", "// args.gpus"), [], id="a share of something else"),
        pytest.param(("args.batch_size // ", "args.batch_size * 2 // "), [], id="another number is even"),
        pytest.param(("args=(args,)", "args=options"), [], id="arguments that are not known"),
        pytest.param(("args=(args,)", "args=(rows, args)"), [], id="another argument"),
        pytest.param(("torch.multiprocessing.spawn", "pool.spawn"), [], id="another function starts them"),
        pytest.param(("(step + 1) % 2 == 0", "ready"), [], id="steps that are not known"),
        pytest.param(("", ""), ["4096"], id="as it is"),  # 2048 x 2
        pytest.param(("spawn(worker, args=(args,), nprocs", "spawn(worker, (args,), nprocs"), ["4096"], id="in order"),
        pytest.param(("args.batch_size // args.world_size", "int(args.batch_size / args.world_size)"), ["4096"], id="a quotient"),
    ],
)
def test_the_batch_that_the_processes_share(change: tuple[str, str], expected: list[str]) -> None:
    document = loop(SPAWNED.replace(*change))
    assert document is not None
    node = document.get(SAMPLES)
    assert [node.text for node in [node] if isinstance(node, Scalar)] == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [("notebook_launcher(main, (2,), num_processes=8)", "2"), ("notebook_launcher(main)", "8"), ("notebook_launcher(main, options)", None)],
)
def test_a_function_that_a_notebook_launches(start: str, expected: str | None) -> None:
    text = ACCELERATE.replace("import Accelerator", "import Accelerator, notebook_launcher").replace("main(batch_size=2)", start)
    assert numbers(text, "DataLoader.batch_size") == [expected]


SHARDED = DISTRIBUTED.replace(
    "from torch.nn.parallel import DistributedDataParallel as DDP", "from torch.distributed.fsdp import fully_shard"
)
SHARDED = SHARDED.replace("model = DDP(model)", "for each in model.layers:\n    fully_shard(each)\nfully_shard(model)\nmodel.train()")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("fully_shard(model)", "fully_shard(model, mesh=init_device_mesh('cuda', (2, 4)))"), id="a mesh"),
        pytest.param(("fully_shard(model)", "parallelize_module(fully_shard(model), tp)"), id="tensor parallelism"),
        pytest.param(("import torch\n", "import torch\nimport torch.distributed.tensor.parallel\n"), id="tensor parallelism is imported"),
        pytest.param(("torch.distributed.fsdp", "mine.fsdp"), id="another function"),
        pytest.param(("fully_shard(model)", "Accelerator()"), id="accelerate too, whose loader is not prepared"),
    ],
)  # fmt: skip
def test_processes_that_may_share_a_batch_are_not_read(change: tuple[str, str]) -> None:
    text = "from accelerate import Accelerator\n" + SHARDED
    assert change[0] in text
    assert loop(text.replace(*change)) is None


@pytest.mark.parametrize(("wrapper", "expected"), [("fully_shard", ["16", "4"]), ("Accelerator", None)])
def test_a_model_that_is_sharded_or_copied(wrapper: str, expected: list[str] | None) -> None:
    """facebookresearch/coconut 27273cb, run.py:185."""
    module = "accelerate" if wrapper == "Accelerator" else "torch.distributed.fsdp"
    text = f"from {module} import {wrapper}\n" + DISTRIBUTED.replace("= DDP(model)", f"= DDP(model) if small else {wrapper}(model)")
    assert (loop(text) is None) == (expected is None)
    assert expected is None or numbers(text, "DataLoader.batch_size", STEPS) == expected


def test_shards_take_batches_of_their_own() -> None:
    assert numbers(SHARDED, "DataLoader.batch_size", STEPS) == ["16", "4"]
    wrapped = DISTRIBUTED.replace("torch.nn.parallel import Distributed", "torch.distributed.fsdp import FullySharded")
    assert numbers(wrapped, "DataLoader.batch_size", STEPS) == ["16", "4"]


OPTIONS = DISTRIBUTED.replace("DataLoader(a, n, ", "DataLoader(a, **options, ").replace("    def collate", "    {}\n    def collate")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("options = {'batch_size': n}", "16"),
        ("options = dict(batch_size=n)\n    if cuda:\n        more = {'num_workers': 1}\n        options.update(more)", "16"),
        ("options = {'num_workers': 1}", "1"),
        ("options = {'batch_size': n}\n    options.update(batch_size=4)", None),
        ("options = {'batch_size': n}\n    options.update(more)", None),
        ("options = {'batch_size': n}\n    options.pop('batch_size')", None),
        ("options = {'batch_sampler': mine}", None),
        ("options = {'batch_size': None}", None),
        ("options = read()", None),
    ],
)
def test_options_that_are_unpacked(options: str, expected: str | None) -> None:
    assert numbers(OPTIONS.format(options), "DataLoader.batch_size") == [expected]


PLUGIN = ACCELERATE.replace("Accelerator\n", "Accelerator, DeepSpeedPlugin\n", 1).replace(
    "Accelerator(gradient_accumulation_steps=4)",
    "Accelerator(deepspeed_plugin=DeepSpeedPlugin(zero_stage=3, gradient_accumulation_steps=2))",
)
WITHIN = "            with accelerator.accumulate(model):\n    "
BY_ITSELF = (f"{WITHIN}            accelerator.backward(model(batch))\n    ", "            accelerator.backward(model(batch))\n")


# zhangfaen/finetune-Qwen2-VL, finetune_distributed.py: 1 sample x 2 batches x 2 processes is the 4 of its comment.
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("zero_stage=3", "hf_ds_config=a"), None, id="a file may say it"),
        pytest.param(("zero_stage=3", "**more"), None, id="anything may say it"),
        pytest.param(("DeepSpeedPlugin(zero", "make(zero"), None, id="made elsewhere"),
        pytest.param(("(deepspeed", "(split_batches=True, deepspeed"), None, id="batches that the processes share"),
        pytest.param(BY_ITSELF, None, id="the program steps its optimizer by itself"),
        pytest.param(("", ""), "2", id="the loader's"),
        pytest.param(("zero_stage=3, ", ""), "2", id="the loader's, with the accumulation alone"),
    ],
)
def test_a_plugin_of_deepspeed_takes_the_batch_of_the_loader(change: tuple[str, str], expected: str | None) -> None:
    text = PLUGIN.replace(*change, 1) if change[0] else PLUGIN
    assert numbers(text, "DataLoader.batch_size") == [expected]


BY_NEXT = """\
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
MICRO_STEPS = 4

model = DistributedDataParallel(model)
loader = DataLoader(data, batch_size=8)
held_out = DataLoader(rest, batch_size=100)
batches = iter(loader)
step = 0
while step < 100:
    for micro_step in range(MICRO_STEPS):
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        model(batch).backward()
    optimizer.step()
    step += 1
"""


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("batch = next(batches)", "batch = batches.take()"), id="another way to take a batch"),
        pytest.param(("            batches = iter(loader)", "            batches = iter(held_out)"), id="two loaders"),
        pytest.param(("batches = iter(loader)\nstep", "batches = read()\nstep"), id="an iterator that is not plain"),
        pytest.param(("in range(MICRO_STEPS)", "in parts"), id="a loop over something else"),
    ],
)
def test_batches_that_are_taken_from_something_else(change: tuple[str, str]) -> None:
    assert change[0] in BY_NEXT
    assert loop(BY_NEXT.replace(*change)) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("MICRO_STEPS = 4", "MICRO_STEPS = read()"), None, id="turns that are not known"),
        pytest.param(("range(MICRO_STEPS)", "range(1, MICRO_STEPS)"), None, id="turns that start elsewhere"),
        pytest.param(("    optimizer.step()", "    if ready():\n        optimizer.step()"), None, id="a step under a condition"),
        pytest.param(("    optimizer.step()", "    if step % 2 == 0:\n        optimizer.step()"), None, id="a step after some rounds"),
        pytest.param(("    optimizer.step()\n", ""), None, id="no step"),
        pytest.param(("", ""), "4", id="as it is"),
        pytest.param(("while step < 100:", "for step in tqdm(range(100)):"), "4", id="a loop that counts the steps"),
        pytest.param(("    for micro_step in range(MICRO_STEPS):", "    if True:"), "1", id="one loop"),
        pytest.param(
            ("        model(batch).backward()", "        model(batch).backward()\n        optimizer.step()"), "1", id="a step each time"
        ),
    ],
)
def test_batches_that_are_taken_one_by_one(change: tuple[str, str], expected: str | None) -> None:
    assert change[0] in BY_NEXT
    assert numbers(BY_NEXT.replace(*change), "DataLoader.batch_size", STEPS) == ["8", expected]


def test_a_while_loop_within_a_batch_takes_none() -> None:
    text = DISTRIBUTED.replace(
        "        scaler.scale", "        while unsure(batch):\n            batch = again(batch)\n        scaler.scale"
    )
    assert numbers(text, "DataLoader.batch_size", STEPS) == ["16", "4"]


def test_a_loop_that_counts_thousands_of_times_is_read_in_time() -> None:
    """What is counted is looked for once, not for each of 8,000 tests."""
    start, stop = DISTRIBUTED.index("        scaler.scale"), DISTRIBUTED.index("\ndef loaders")
    turns = "".join(f"        n += 1\n        if n < {i}:\n            continue\n" for i in range(8_000))
    turn = f"        scaler.scale(model(batch)).backward()\n{turns}        scaler.step(optimizer)\n        n = 0\n"
    assert numbers(DISTRIBUTED[:start] + turn + DISTRIBUTED[stop:], STEPS) == ["1"]  # several count it, so that none is plain
