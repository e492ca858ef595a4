"""Training loops in a function of another file: which loader of the program they go over, and when the optimizer takes a step."""

import pytest

from pytest_gbs.model.document import LOOP, Document, Scalar
from pytest_gbs.model.location import Source
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.python.results import STEPS
from pytest_gbs.readers.scalar import COMPUTED
from tests.readers.python.test_imports import reads

MAIN = """\
import argparse
import torch
from engine import evaluate, train_one_epoch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--accum", default=4, type=int)
args = parser.parse_args()
training = DataLoader(images, batch_size=48, sampler=sampler)
testing = DataLoader(images, batch_size=96)
model = DistributedDataParallel(model)
for epoch in range(3):
    train_one_epoch(model, training, optimizer, scaler=loss_scaler, args=args)
    evaluate(model, testing)
"""
ENGINE = """\
def train_one_epoch(model, loader, optimizer, scaler, args):
    logger = MetricLogger()
    for step, (images, labels) in enumerate(logger.log_every(loader, 10)):
        loss = criterion(model(images), labels)
        loss.backward()
        if (step + 1) % args.accum == 0:
            optimizer.step()

def evaluate(model, loader):
    for images, labels in loader:
        model(images)
"""
MAYBE_ANOTHER = """\
logger, number = MetricLogger(), 48
    from torch.utils.data import DataLoader
    if asked():
        loader = DataLoader(other, batch_size=number)"""
SCALED = """\
        scaler(loss, optimizer, parameters=model.parameters(), update_grad=(step + 1) % args.accum == 0)
"""


def _numbers(main: str, engine: str, path: str = "engine.py") -> list[str | None] | None:
    """The micro batch and the accumulation of the loop, None where one is unknown; None if there is no loop."""
    found = read(Source("train.py", main), ProgramContext(reads({path: engine})))
    loops = [each for each in found if isinstance(each, Document) and each.called == LOOP]
    nodes = [each.get(*key) for each in loops for key in (("DataLoader", "batch_size"), (STEPS,))]
    assert all(0 <= each.start < each.stop <= len(main) for each in nodes if each is not None)
    return [each.text if isinstance(each, Scalar) and each.tag != COMPUTED else None for each in nodes] or None


def _scaled(engine: str) -> str:
    before, after = engine.split("        loss.backward()\n")
    return before + SCALED + after.partition("optimizer.step()\n")[2]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("", ""), ["48", "4"], id="as it is"),
        pytest.param(("        if (step + 1) % args.accum == 0:\n    ", ""), ["48", "1"], id="a step each time"),
        pytest.param(("args.accum == 0:", "wanted(step):"), ["48", None], id="a step now and then"),
        pytest.param(("logger.log_every(loader, 10)", "loader"), ["48", "4"], id="without a logger"),
        pytest.param(("logger.log_every(loader, 10)", "prefetched(loader)"), None, id="something of it"),
        pytest.param(("        loss.backward()\n", ""), None, id="no backward pass"),
        pytest.param(("logger = MetricLogger()", "loader = other(loader)"), None, id="another loader"),
        pytest.param(("logger = MetricLogger()", MAYBE_ANOTHER), None, id="maybe another loader"),
    ],
)
def test_a_function_goes_over_the_loader_that_it_gets(change: tuple[str, str], expected: list[str | None] | None) -> None:
    assert change[0] in ENGINE
    assert _numbers(MAIN, ENGINE.replace(*change)) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("", ""), ["48", "4"], id="told when to take a step"),
        pytest.param((", update_grad=(step + 1) % args.accum == 0", ""), ["48", "1"], id="not told"),
        pytest.param(("update_grad=(step + 1) % args.accum == 0", "need_update=due(step)"), ["48", None], id="told by something else"),
        pytest.param(("scaler(loss, optimizer,", "scaler(rate, optimizer,"), None, id="a scaler of another thing"),
    ],
)
def test_a_scaler_may_make_the_backward_pass_and_take_the_step(change: tuple[str, str], expected: list[str | None] | None) -> None:
    engine = _scaled(ENGINE)
    assert change[0] in engine
    assert _numbers(MAIN, engine.replace(*change)) == expected


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("from engine import", "from elsewhere import"), id="a file that is not there"),
        pytest.param(
            ("    evaluate(model, testing)", "    train_one_epoch(model, testing, optimizer, loss_scaler, args)"), id="two loaders"
        ),
        pytest.param(
            ("train_one_epoch(model, training, optimizer, scaler=loss_scaler, args=args)", "train_one_epoch(*given)"), id="unpacked"
        ),
        pytest.param(("model = DistributedDataParallel(model)\n", ""), id="processes that do not train together"),
        pytest.param(("DataLoader(images, batch_size=48, sampler=sampler)", "Loader(images, 48)"), id="a loader of another kind"),
    ],
)
def test_what_is_not_plain_is_not_read(change: tuple[str, str]) -> None:
    assert change[0] in MAIN
    assert _numbers(MAIN.replace(*change), ENGINE) is None


def test_a_call_that_never_runs_says_nothing() -> None:
    main = MAIN.replace("    evaluate(model, testing)", "    if False:\n        train_one_epoch(model, testing, optimizer, scaler, args)")
    assert _numbers(main, ENGINE) == ["48", "4"]


def test_a_module_with_a_dot_in_its_name() -> None:
    main = MAIN.replace("from engine import evaluate, train_one_epoch", "import core.engine").replace("train_one", "core.engine.train_one")
    assert _numbers(main, ENGINE, "core/engine.py") == ["48", "4"]


def test_accelerate_takes_the_steps_where_the_function_leaves_them_to_it() -> None:
    main = MAIN.replace("model = DistributedDataParallel(model)", "model, training = accelerator.prepare(model, training)")
    main = main.replace("import torch\n", "from accelerate import Accelerator\naccelerator = Accelerator(gradient_accumulation_steps=2)\n")
    engine = ENGINE.replace(
        "        loss.backward()", "        with accelerator.accumulate(model):\n            accelerator.backward(loss)"
    )
    assert _numbers(main, engine) == ["48", None]


# One function makes the loader of either split, in this file or another one.
SPLITS = """\
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

def load(rows, split, *, n=24):
    if split == "test":
        loader = DataLoader(rows, batch_size=1)
    else:
        loader = DataLoader(rows, batch_size=n)
    return rows, loader

"""
TRAINS = """\
_, training = load(rows, "train")
_, testing = load(rows, "test")
model = DistributedDataParallel(model)
for batch in training:
    model(batch).backward()
    optimizer.step()
"""
EITHER = """\
if distributed():
    training = DataLoader(rows, batch_size=24, sampler=sampler)
else:
    training = DataLoader(rows, batch_size=24, shuffle=True)
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("", ""), ["24", "1"], id="as it is"),
        pytest.param(('load(rows, "train")', 'load(rows, "train", n=32)'), ["32", "1"], id="a number that the call gives"),
        pytest.param(('load(rows, "train")', "load(rows, split())"), None, id="a split that is not known"),
    ],
)
def test_what_a_function_makes_for_the_arguments_of_the_call(change: tuple[str, str], expected: list[str] | None) -> None:
    assert change[0] in TRAINS
    text = TRAINS.replace(*change)
    assert _numbers(SPLITS + text, "") == expected
    imports = SPLITS.partition("def load")[0] + "from data import load\n"
    assert _numbers(imports + text, SPLITS, "data.py") == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("", ""), ["24", "1"], id="as it is"),
        pytest.param(("24, shuffle", "12, shuffle"), None, id="another batch"),
        pytest.param(("24, shuffle", "read(), shuffle"), None, id="a batch that is not known"),
        pytest.param(("DataLoader(rows, batch_size=24, sampler", "Loader(rows, batch_size=24, sampler"), None, id="another loader"),
    ],
)
def test_one_of_two_loaders_of_the_same_batch(change: tuple[str, str], expected: list[str] | None) -> None:
    assert change[0] in EITHER
    main = SPLITS + EITHER.replace(*change) + TRAINS.partition("\n")[2].partition("\n")[2]
    assert _numbers(main, "") == expected
