"""What trainers of transformers and Unsloth printed of their batch when a notebook was run, found in its saved outputs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.limits import LONGEST_RECORD, MOST_TRAINING_RECORDS
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.saved_output import TrainingRecord
from pytest_gbs.readers.python.notebook import CODE, Cell, read_cells
from pytest_gbs.readers.python.program import Program, read_program

# transformers 000945a9b, trainer.py (_inner_training_loop): "  Instantaneous batch size per device = 8", and two lines below
# "  Gradient Accumulation steps = 1"; before 4.31 that was the batch of all devices of the process. unsloth 2025.8.1, models/_utils.py:
# "Batch size per device = 2 | Gradient accumulation steps = 4", two lines below "Num GPUs used = 1"; "Num GPUs" of earlier versions was
# the number of processes.
_SAYS: Final = "atch size per device = "
_said = lazy_pattern(rf"{_SAYS}(\d[\d,]{{0,11}})(?![\d,])")
_accumulation = lazy_pattern(r"Gradient [Aa]ccumulation steps = (\d[\d,]{0,11})(?![\d,])")
_devices = lazy_pattern(r"Num GPUs used = (\d{1,6})(?!\d)")
# What gives a trainer other values than its arguments had, and cells that start another program, whose output it is then.
_changes = lazy_pattern(r"hyperparameter_search|find_executable_batch_size|auto_find_batch_size|\bsetattr\(|\.args\.\w+ *=[^=]")
_starts = lazy_pattern(
    r"^\s*(?:!|%%?(?:bash|sh|script|cmd|run|sx|system|writefile)\b|get_ipython\(|os\.system|subprocess\.|notebook_launcher)", re.MULTILINE
)


def read_training_records(source: Source) -> tuple[TrainingRecord, ...]:
    """The records in the saved outputs of a notebook; none if its source does not show what its trainers are given."""
    if not source.path.endswith(NOTEBOOK) or _SAYS not in source.text:
        return ()
    program = read_program(source)
    if isinstance(program, Unreadable) or _SAYS in program.text or _changes().search(program.text):
        return ()
    return tuple(_records(source, program))


def count_trainers(source: Source) -> int:
    """How many trainers the program in `source` makes."""
    program = read_program(source)
    called = {} if isinstance(program, Unreadable) else program.scopes.called
    return sum(len(calls) for name, calls in called.items() if name.endswith("Trainer"))


def _records(source: Source, program: Program) -> Iterator[TrainingRecord]:
    """Yield the first records of all outputs; nothing if the code of a cell can't be parsed, so that it may have the trainer."""
    parsed = {number for _, number in program.cells}
    every = read_cells(source)
    cells = [cell for cell in every if isinstance(cell, Cell) and cell.kind == CODE and cell.strings]
    if any(cell.number not in parsed and "batch" in cell.text for cell in cells):
        return
    starts = [cell.span[0] for cell in cells]
    places = list(islice(_said().finditer(source.text), MOST_TRAINING_RECORDS))
    for before, here, following in zip([None, *places], places, [*places[1:], None], strict=False):
        number = bisect_right(starts, here.start()) - 1
        if number >= 0 and _is_printed(cells[number], here.start()):
            first = max(here.start() - LONGEST_RECORD, before.end() if before is not None else 0)
            last = min(here.end() + LONGEST_RECORD, following.start() if following is not None else len(source.text))
            yield _record(source, here, first, last)


def _is_printed(cell: Cell, at: int) -> bool:
    """Whether what is at `at`, behind the start of `cell`, is output of the cell itself and not of a program that it starts."""
    return at < cell.span[1] and not cell.strings[0].start <= at < cell.strings[-1].stop and not _starts().search(cell.text)


def _record(source: Source, micro: re.Match[str], first: int, last: int) -> TrainingRecord:
    """The record whose micro batch is `micro`, with what is between `first` and `last`."""
    accumulation = _accumulation().search(source.text, micro.end(), last)
    devices = [int(each[1]) for each in _devices().finditer(source.text, first, micro.start())]
    steps = _whole(accumulation[1]) if accumulation is not None else None
    return TrainingRecord(_whole(micro[1]), steps, devices[-1] if devices else None, Location(source.path, *micro.span(1)))


def _whole(text: str) -> int:
    return int(text.replace(",", ""))
