"""A learning-rate schedule that accelerate prepares is made for a number of steps that does not fit the number of processes.

A prepared schedule takes one step for each process whenever the optimizer takes one. On 8 GPUs a schedule that is made for
`args.max_train_steps` steps of the optimizer ends after an eighth of the run, and so does its warm-up; one that counts the
processes twice never ends. Nothing stops, and on one GPU everything is correct.

What accelerate does: `AcceleratedScheduler.step` (accelerate 16cb6eb8, `scheduler.py:54-82`) steps the schedule `num_processes` times,
unless the `Accelerator` has `split_batches=True` or `step_scheduler_with_optimizer=False`. It is meant for a schedule whose length is
`len(train_dataloader)` before `prepare()`, which has the batches of all processes. Since accelerate 0.16 batches that only accumulate do
not count, so that a factor of `gradient_accumulation_steps` is wrong as well.

How to fix it: multiply options that count optimizer steps by `accelerator.num_processes`, the warm-up too. Do not multiply what follows
from the length of a data loader that is not prepared yet. An option that is set to such a length if it is not given needs both: the
length divided by the processes if it is set, the option multiplied by them where the schedule is made.

It stays silent if it is unclear what a number counts, or whether accelerate gets the schedule, and if each launch of the program
starts one process. An option counts optimizer steps only if the program ends when a counter of those reaches it. The warm-up is judged
only beside a length that fits.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.schedule import Counts, Schedule, StepCount

# How often the number of processes must be a factor of a number of steps.
_RIGHT = {Counts.STEPS: 1, Counts.BATCHES: 0, Counts.SHARE: 1}
_PROCESSES = "accelerator.num_processes"
_MULTIPLY = f"multiply it by {_PROCESSES}"


def check(schedule: Schedule) -> Iterator[Outcome]:
    """Yield a finding for the length of a schedule, or for its warm-up, that does not fit the number of processes."""
    training, warmup = schedule.training, schedule.warmup
    if training is None:
        return
    wrong = _wrong(training) if training.otherwise is None else _in_either_case(training, training.otherwise)
    short = warmup is not None and warmup.counts == Counts.STEPS and warmup.processes < 1
    if wrong is not None:
        related = (Related(warmup.at, "so is the warm-up"),) if short and warmup is not None and training.processes < 1 else ()
        yield wrong._replace(related=related)
    elif short and warmup is not None and training.processes == 1:
        message = (
            f"{warmup.text} is not multiplied by the number of processes, as the schedule's length is: "
            "on N processes the warm-up ends after 1/N of its steps"
        )
        yield Finding(ITS_RULE, message, Severity.WARNING, warmup.at, "warm-up", holds=_MULTIPLY)


def _in_either_case(given: StepCount, otherwise: StepCount) -> Finding | None:
    """What is wrong if an option is given, or else if it is not, with a fix for both, as the schedule is made in one place."""
    divide = f"divide len({otherwise.text}) by"
    multiply = _MULTIPLY if _wrong(otherwise) is not None else f"{_MULTIPLY}, and {divide} that"
    return _wrong(given, f"if {given.text} is given, ", multiply=multiply) or _wrong(
        otherwise, f"if {given.text} is not given, ", leave=f"{divide} {_PROCESSES}"
    )


def _wrong(count: StepCount, when: str = "", multiply: str = _MULTIPLY, leave: str = f"leave out {_PROCESSES}") -> Finding | None:
    """What is wrong with the length of a schedule, None if it fits; `multiply` and `leave` fix one that is too short or too long."""
    if count.processes == _RIGHT[count.counts]:
        return None
    if count.processes > _RIGHT[count.counts]:
        if count.counts != Counts.BATCHES:
            return None
        counted = f"len({count.text}) before prepare() already counts the batches of all processes"
        message = f"{counted}: on N processes the schedule is N times too long"
        return Finding(ITS_RULE, when + message, Severity.WARNING, count.at, "length", holds=leave)
    name = "it" if when else count.text
    counted = f"{name} counts optimizer steps" if count.counts == Counts.STEPS else f"len({count.text}) has the batches of one process"
    message = f"{counted}, and accelerate steps the schedule once per process: on N processes it ends N times earlier than on one"
    return Finding(ITS_RULE, when + message, Severity.WARNING, count.at, "length", holds=multiply)


_PROGRAM = """\
from accelerate import Accelerator
from transformers import get_scheduler

MAX_STEPS = 1000


def train(model, optimizer, loader):
    accelerator = Accelerator()
    scheduler = get_scheduler("cosine", optimizer, num_warmup_steps=100{times}, num_training_steps=MAX_STEPS{times})
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    completed_steps = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        completed_steps += 1
        if completed_steps >= MAX_STEPS:
            break
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.SCHEDULE,
    summary="a schedule that accelerate steps once per process is too short or too long",
    bad=(Example((("train.py", _PROGRAM.format(times="")),)),),
    good=(Example((("train.py", _PROGRAM.format(times=" * accelerator.num_processes")),)),),
    severity=Severity.WARNING,
    check=check,
)
