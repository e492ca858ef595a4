from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.framework import Constraint
from pytest_gbs.model.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Reason, Size, Unknown
from pytest_gbs.model.run import Run
from pytest_gbs.rules import gbs207_micro_batch_too_small, gbs208_intervals_not_divisible

from .building import TABLE, micro, only, parsed, run, size

KTO = Constraint("micro-batch-too-small", (Name.MICRO_BATCH_SIZE,), at_least=2, when=(Condition(("loss_type",), ("kto",), default="kto"),))
BEST = Condition(("load_best_model_at_end",), (True,), default=False)
SAVES = Constraint("intervals-not-divisible", (Name.SAVE_STEPS,), (Name.EVAL_STEPS,), when=(BEST,))
CHECKS = TABLE._replace(constraints=(KTO, SAVES))
ON = parsed("load_best_model_at_end: true\n")

Check = Callable[[Run], Iterator[Outcome]]


def intervals(save: int, evaluate: int) -> tuple[Size, ...]:
    return size(Name.SAVE_STEPS, save), size(Name.EVAL_STEPS, evaluate, Origin.DEFAULT)


@pytest.mark.parametrize("check", [gbs207_micro_batch_too_small.check, gbs208_intervals_not_divisible.check])
def test_a_framework_without_such_checks_stays_silent(check: Check) -> None:
    assert list(check(run(micro(1), *intervals(500, 200)))) == []


def test_another_loss_stays_silent() -> None:
    of = parsed("loss_type: apo_zero_unpaired\n")
    assert list(gbs207_micro_batch_too_small.check(run(micro(1), table=CHECKS, of=of))) == []


def test_an_unknown_micro_batch_is_no_finding() -> None:
    auto = Unknown(Name.MICRO_BATCH_SIZE, Reason.AUTO)
    outcomes = list(gbs207_micro_batch_too_small.check(run(auto, table=CHECKS, of=parsed("lr: 1\n"))))
    assert not any(isinstance(outcome, Finding) for outcome in outcomes)


def test_a_micro_batch_of_two_is_enough_and_decides_nothing() -> None:
    (outcome,) = gbs207_micro_batch_too_small.check(run(micro(2), table=CHECKS, of=parsed("lr: 1\n")))
    assert isinstance(outcome, Verified)
    assert not outcome.decides


def test_a_micro_batch_of_one_is_an_error() -> None:
    found = only(list(gbs207_micro_batch_too_small.check(run(micro(1), table=CHECKS, of=parsed("lr: 1\n")))))
    assert found.severity == Severity.ERROR
    assert found.message == "micro_batch_size 1 is less than 2; Example stops at start"


def test_intervals_are_free_without_the_best_model() -> None:
    assert list(gbs208_intervals_not_divisible.check(run(*intervals(500, 200), table=CHECKS, of=parsed("lr: 1\n")))) == []


def test_fractions_of_the_run_are_no_finding() -> None:
    share = Unknown(Name.SAVE_STEPS, Reason.NOT_AN_INTEGER)
    outcomes = list(gbs208_intervals_not_divisible.check(run(share, size(Name.EVAL_STEPS, 200), table=CHECKS, of=ON)))
    assert not any(isinstance(outcome, Finding) for outcome in outcomes)


@pytest.mark.parametrize(("save", "evaluate"), [(500, 500), (500, 250), (500, 1)])
def test_multiples_are_in_order(save: int, evaluate: int) -> None:
    (outcome,) = gbs208_intervals_not_divisible.check(run(*intervals(save, evaluate), table=CHECKS, of=ON))
    assert isinstance(outcome, Verified)


@pytest.mark.parametrize(("save", "evaluate"), [(500, 200), (200, 500)])
def test_saves_between_evaluations_are_an_error(save: int, evaluate: int) -> None:
    found = only(list(gbs208_intervals_not_divisible.check(run(*intervals(save, evaluate), table=CHECKS, of=ON))))
    assert found.severity == Severity.ERROR
    assert str(save) in found.message and str(evaluate) in found.message
