import pytest

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.framework import Constraint
from pytest_gbs.model.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Reason, Size, Unknown

from .building import TABLE, micro, only, parsed, run, size

KTO = Constraint("micro-batch-too-small", (Name.MICRO_BATCH_SIZE,), at_least=2, when=(Condition(("loss_type",), ("kto",), default="kto"),))
BEST = Condition(("load_best_model_at_end",), (True,), default=False)
SAVES = Constraint("intervals-not-divisible", (Name.SAVE_STEPS,), (Name.EVAL_STEPS,), when=(BEST,))
CHECKS = TABLE._replace(constraints=(KTO, SAVES))
PLAIN, ON = "lr: 1\n", "load_best_model_at_end: true\n"


def outcomes(constraint: Constraint, text: str, *sizes: Size) -> list[Outcome]:
    return list(judge(run(*sizes, table=CHECKS, of=parsed(text)), constraint.rule))


def intervals(save: int, evaluate: int) -> tuple[Size, ...]:
    return size(Name.SAVE_STEPS, save), size(Name.EVAL_STEPS, evaluate, Origin.DEFAULT)


@pytest.mark.parametrize(
    ("constraint", "text", "sizes"),
    [
        pytest.param(KTO, "loss_type: apo_zero_unpaired\n", (micro(1),), id="another loss"),
        pytest.param(KTO, PLAIN, (Unknown(Name.MICRO_BATCH_SIZE, Reason.AUTO),), id="an unknown micro batch"),
        pytest.param(SAVES, PLAIN, intervals(500, 200), id="intervals without the best model"),
        pytest.param(SAVES, ON, (Unknown(Name.SAVE_STEPS, Reason.NOT_AN_INTEGER), size(Name.EVAL_STEPS, 200)), id="a fraction of the run"),
    ],
)
def test_it_stays_silent(constraint: Constraint, text: str, sizes: tuple[Size, ...]) -> None:
    assert not any(isinstance(outcome, Finding | Verified) for outcome in outcomes(constraint, text, *sizes))


def test_a_framework_without_such_checks_stays_silent() -> None:
    assert [*judge(run(micro(1), *intervals(500, 200)), KTO.rule), *judge(run(micro(1), *intervals(500, 200)), SAVES.rule)] == []


def test_a_micro_batch_of_two_is_enough_and_decides_nothing() -> None:
    (outcome,) = outcomes(KTO, PLAIN, micro(2))
    assert isinstance(outcome, Verified)
    assert not outcome.decides


@pytest.mark.parametrize(("save", "evaluate"), [(500, 500), (500, 250), (500, 1)])
def test_multiples_are_in_order(save: int, evaluate: int) -> None:
    (outcome,) = outcomes(SAVES, ON, *intervals(save, evaluate))
    assert isinstance(outcome, Verified)


def test_a_micro_batch_of_one_is_an_error() -> None:
    found = only(outcomes(KTO, PLAIN, micro(1)))
    assert found.severity == Severity.ERROR
    assert found.message == "micro_batch_size 1 is less than 2; Example stops at start"


@pytest.mark.parametrize(("save", "evaluate"), [(500, 200), (200, 500)])
def test_saves_between_evaluations_are_an_error(save: int, evaluate: int) -> None:
    found = only(outcomes(SAVES, ON, *intervals(save, evaluate)))
    assert found.severity == Severity.ERROR
    assert str(save) in found.message and str(evaluate) in found.message
