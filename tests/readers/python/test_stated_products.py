"""The batch that a program computes for itself, where its training loop is in another file."""

from __future__ import annotations

import pytest

from pytest_gbs.readers.python.results import STEPS
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


def test_without_an_accumulation_each_batch_is_a_step() -> None:
    lines = [line.replace("args.accum_iter * ", "") for line in PROGRAM.splitlines() if "--accum_iter" not in line]
    assert numbers("\n".join(lines), *SIZES) == ["16", "1"]
