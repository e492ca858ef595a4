"""The saved output of a notebook comes from a run with another batch than its source gives now.

As training begins, the Trainer of transformers and Unsloth print the batch of each device and the accumulation. The notebook
keeps that, and the loss curves and timings below it, if the source is changed and not run again. Readers then compare their own
run with one of another batch.

How to fix it: run the notebook again, or clear its outputs.

It stays silent if any recipe of the notebook could have printed the numbers: on several GPUs, where the Trainer may add up their batches,
or after the rewriting that Unsloth does for GRPO in some of its versions. So it does if a size is not known, if a trainer gets other values
after it was made (`trainer.args.x = 1`, a search for hyperparameters), and for what a command in a cell printed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.model.saved_output import SavedOutput, TrainingRecord


def check(saved: SavedOutput) -> Iterator[Outcome]:
    """Yield a finding if no recipe of a notebook could have printed a batch that its outputs have."""
    record, runs = saved.record, saved.runs
    if not runs or any(_may_print(run, record) for run in runs):
        return
    printed = _written(record.micro_batch_size, record.accumulation)
    given = {_written(_one(run, Name.MICRO_BATCH_SIZE), _one(run, Name.GRADIENT_ACCUMULATION_STEPS)) for run in runs}
    words = given.pop() if len(given) == 1 else "no such batch"
    places = (run.at(name) for run in runs for name in RANK_FACTORS)
    related = tuple(Related(at, "now") for at in places if at is not None)
    message = f"the saved output printed {printed} per device, but the source gives {words}"
    yield Finding(ITS_RULE, message, Severity.INFO, record.at, "printed", related, holds="run the notebook again, or clear its outputs")


def _one(run: Run, name: str) -> int | None:
    """The one value that a size may have, None if there are several, or it is not known."""
    possible = _possible(run, name) or set()
    return next(iter(possible)) if len(possible) == 1 else None


def _written(micro: int | None, accumulation: int | None) -> str:
    if micro is not None and accumulation is not None:
        return f"{micro:,} x {accumulation:,} = {micro * accumulation:,}"
    return f"accumulation {accumulation:,}" if accumulation is not None else f"micro batch {micro:,}" if micro is not None else "another"


def _may_print(run: Run, record: TrainingRecord) -> bool:
    """Whether a run, in some version of what it uses, prints what a record has."""
    steps = _possible(run, Name.GRADIENT_ACCUMULATION_STEPS)
    sizes = _possible(run, Name.MICRO_BATCH_SIZE)
    accumulates = record.accumulation is None or steps is None or record.accumulation in steps
    return accumulates and (sizes is None or any(_is_of_devices(record, size) for size in sizes))


def _possible(run: Run, name: str) -> set[int] | None:
    """What a size may be, as stated or as training has it; None if that is not known.

    A group that took the place of a micro batch did so in some versions only.
    """
    sizes = [run.geometry.said(name), run.geometry.get(name)]
    group = run.geometry.said(Name.NUM_GENERATIONS)
    replaced = isinstance(group, Quantity) and any(isinstance(size, Quantity) and size.at == group.at for size in sizes)
    known = {size.value for size in sizes if isinstance(size, Quantity)}
    return known if all(isinstance(size, Quantity) for size in sizes) and not replaced else None


def _is_of_devices(record: TrainingRecord, size: int) -> bool:
    """Whether a record has `size`, or that of several devices together."""
    devices, rest = divmod(record.micro_batch_size, size)
    return rest == 0 and 1 <= devices <= (record.devices or devices)


_NOTEBOOK = """\
{
 "cells": [
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [
    {
     "name": "stderr",
     "output_type": "stream",
     "text": [
      "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1\\n",
      "O^O/ \\\\_/ \\\\    Batch size per device = 8 | Gradient accumulation steps = 1\\n"
     ]
    }
   ],
   "source": [
    "from trl import SFTConfig, SFTTrainer\\n",
    "trainer = SFTTrainer(model, args=SFTConfig(per_device_train_batch_size=BATCH, gradient_accumulation_steps=1))\\n",
    "trainer.train()"
   ]
  }
 ],
 "nbformat": 4
}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.OUTPUT,
    summary="the saved output of a notebook comes from a run with another batch",
    bad=(Example((("train.ipynb", _NOTEBOOK.replace("BATCH", "4")),)),),
    good=(Example((("train.ipynb", _NOTEBOOK.replace("BATCH", "8")),)),),
    severity=Severity.INFO,
    check=check,
)
