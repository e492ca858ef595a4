"""What goes by with each optimizer step: tokens, and the samples between evaluations, saves and log lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.epoch import Epoch
from pytest_gbs.arithmetic.schedules import stages_of
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import called, symbolic_text
from pytest_gbs.formats._arithmetic import arithmetic, number
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._places import Places
from pytest_gbs.frameworks.conditions import packs
from pytest_gbs.frameworks.epochs import epoch_of
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.location import dotted
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run

_FACTORS: Final = 3  # of a batch: micro batch, ranks, accumulation
_INTERVALS: Final = ((Name.SAVE_STEPS, "saves"), (Name.LOGGING_STEPS, "log lines"))


class ShownLine(NamedTuple):
    """One line: what it is about, its number (aligned to the right, "" for none) and the words behind it."""

    label: str
    value: str
    text: str = ""


def steps(run: Run, places: Places) -> Iterator[ShownLine]:
    """Yield the lines about what goes by with each optimizer step of `run`."""
    yield from _tokens(run, places)
    yield from _evaluation(run)
    for name, label in _INTERVALS:
        if interval := _every(run, name):
            yield ShownLine(label, "", _interval_text(interval))
    if places.options.examples:
        yield from _epoch(run, places.options.examples)


def stages(run: Run, name: str) -> tuple[int | None, ...]:
    """The values that size `name` has one after the other; nothing if it does not change."""
    return stages_of(name, run.geometry.stated, run.framework.equations)


def span(run: Run, size: Quantity) -> str:
    """The number of `size`, or the first and the last where it changes while training runs: `32 to 128`."""
    first = next((value for value in stages(run, size.name) if value is not None), size.value)
    return number(size.value) if first == size.value else f"{number(first)} to {number(size.value)}"


def batch_text(run: Run) -> str:
    """The global batch size: `128`, `32 to 128`, `16 x GPUs`; `unknown` too where the formula of every batch is all that is left."""
    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if isinstance(size, Quantity):
        return span(run, size)
    found = symbolic(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations)
    says_something = found and found.free and (found.coefficient != 1 or len(found.free) < _FACTORS)
    return symbolic_text(found) if found and says_something else "unknown"


def _tokens(run: Run, places: Places) -> Iterator[ShownLine]:
    length, size = run.geometry.get(Name.SEQUENCE_LENGTH), run.geometry.get(Name.TOKENS_PER_STEP)
    if not isinstance(length, Quantity):
        if isinstance(size, Quantity) and size.because and run.framework.unit != "tokens":  # batches that are filled up to a number of them
            yield ShownLine(called(Name.TOKENS_PER_STEP), number(size.value), f"at most: {arithmetic(size, run.framework.equations)}")
        return
    where = "the default" if length.origin == Origin.DEFAULT else places.line(length.at, run.shown_in) if length.at else ""
    each = f"{escape(length.key) or called(length.name)} {number(length.value)}{f' ({where})' if where else ''}"
    samples = run.framework.sequences_per_sample
    sequences = f", {samples} sequences in each {run.framework.unit.removesuffix('s')}" if samples > 1 else ""
    if isinstance(size, Quantity):
        batch = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
        factors = f"{number(batch.value)} x {each}" if isinstance(batch, Quantity) else arithmetic(size, run.framework.equations)
        first = next(iter(stages(run, size.name)), None)
        at_first = "" if first is None else f", first {number(first)}"
        yield ShownLine(called(Name.TOKENS_PER_STEP), number(size.value), f"at most: {factors}{sequences}{at_first}")
    else:
        yield ShownLine(called(Name.TOKENS_PER_STEP), "", f"at most: {batch_text(run)} x {each}{sequences}")


def _evaluation(run: Run) -> Iterator[ShownLine]:
    """Yield how large an evaluation batch is and how many samples lie between evaluations."""
    size, micro = run.geometry.get(Name.EVAL_GLOBAL_BATCH_SIZE), run.geometry.get(Name.EVAL_MICRO_BATCH_SIZE)
    interval = _every(run, Name.EVAL_STEPS)
    if not isinstance(micro, Quantity):
        if interval:
            yield ShownLine("evaluation", "-" if interval.never else "", interval.words)
        return
    shared = isinstance(size, Quantity) and size.because == (micro,)
    each = f"{number(micro.value)} on {'all GPUs together' if shared else 'each GPU'}" + (
        " by default" if micro.origin == Origin.DEFAULT else ""
    )
    batch = number(size.value) if isinstance(size, Quantity) else ""
    yield ShownLine("evaluation", batch, "; ".join(filter(None, (each, _interval_text(interval)))))


def _epoch(run: Run, examples: int) -> Iterator[ShownLine]:
    """Yield what one epoch of so many examples comes to, and how far `max_steps` goes in it."""
    epoch, most = epoch_of(run, examples), run.geometry.value(Name.MAX_STEPS)
    if epoch is None:
        batch = f"the batch is {batch_text(run)} {'packed rows' if packs(run) else run.framework.unit}"
        yield ShownLine("one epoch", "", f"steps are not known: {batch}")
        return
    yield ShownLine("one epoch", number(epoch.full_steps), epoch_text(epoch, run.framework.unit))
    if most and epoch.unreached(most):
        yield ShownLine("ends after", number(most), f"steps: {number(epoch.unreached(most))} {run.framework.unit} are never reached")


def epoch_text(epoch: Epoch, unit: str) -> str:
    """What the full steps of an epoch take of its examples, and what becomes of the others."""
    steps = f"steps of {number(epoch.batch)} take all {number(epoch.examples)} {unit}"
    if not epoch.left:
        return steps
    dropped = f" ({number(epoch.dropped)} of them, where only the loader drops its last batch)" if epoch.dropped else ""
    return f"full steps of {number(epoch.examples)} {unit}; {number(epoch.left)} are left for a smaller one, or dropped{dropped}"


class _Interval(NamedTuple):
    """How often something is done: `every 100 steps = 12,800 samples`, `every epoch`; or what says that it is never done."""

    words: str
    never: bool = False


def _interval_text(interval: _Interval | None) -> str:
    if interval is None:
        return ""
    return f"never, {interval.words}" if interval.never else interval.words


def _every(run: Run, name: str) -> _Interval | None:
    """How often something is done, None if nothing says."""
    size = run.geometry.get(name)
    if isinstance(size, Quantity):
        steps = f"every {number(size.value)} steps" if size.value != 1 else "every step"
        steps += " by default" if size.origin == Origin.DEFAULT else ""
        return _Interval(f"{steps}{_samples(run, size.value)}")
    return _other_interval(run, name)


def _samples(run: Run, steps: int) -> str:
    """How many samples so many optimizer steps take: ` = 12,800 samples`, ` = 1600 samples per GPU`."""
    sizes = {**run.geometry.stated, **run.geometry.realised}
    found = symbolic(Name.GLOBAL_BATCH_SIZE, sizes, run.framework.equations)
    if found is None or (found.coefficient * steps).denominator != 1:
        return ""
    samples = f" = {number(int(found.coefficient * steps))} {run.framework.unit}"
    if stages(run, Name.GLOBAL_BATCH_SIZE):
        return f"{samples} in the last stage"
    if found.free == (Name.WORLD_SIZE,):
        return f"{samples} per GPU"
    return "" if found.free else samples


def _other_interval(run: Run, name: str) -> _Interval | None:
    """What a recipe says if it does not count steps: the text of the key that would have to be `steps`; None if that is computed."""
    for row in run.framework.rows:
        if row.name != name:
            continue
        node = run.document.get(*row.key)
        size = run.geometry.stated.get(name)
        computed = isinstance(size, Unknown) and size.reason == Reason.COMPUTED
        if row.ratio and size is not None and not computed and isinstance(node, Scalar):
            return _Interval(f"{escape(str(row.key[-1]))}: {escape(node.text)}, a share of the run")
        for condition in row.when if size is None else ():
            node = run.document.get(*condition.key)
            if isinstance(node, Scalar) and node.tag is None:  # one that is computed has a tag
                if node.text == "epoch":
                    return _Interval("every epoch")
                # `--save_strategy no` of a command line was read as YAML has it.
                text = "no" if node.text == "false" and "steps" in condition.values else node.text
                written = escape(text) if node.plain else f"'{escape(text)}'"
                return _Interval(f"{escape(dotted(condition.key))}: {written}", never=text != "best")
    return None
