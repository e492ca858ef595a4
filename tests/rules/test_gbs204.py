"""No number of GPUs: which checks exclude each other, and what they say."""

import pytest

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Constraint, Framework
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name, Origin, Reason, Size, Unknown
from pytest_gbs.rules import gbs204_unsatisfiable_batch as rule

from .building import TABLE, accumulation, only, place, run, size, world

STEPS = (Name.GRADIENT_ACCUMULATION_STEPS,)
DIVIDES = Constraint("batch-not-divisible", (Name.GLOBAL_BATCH_SIZE,), (Name.WORLD_SIZE, *STEPS), label="it divides")
TWO = Constraint("unsatisfiable-batch", (Name.GLOBAL_BATCH_SIZE,), STEPS, at_least=2, label="one is refused")
GROUPS = Constraint("group-not-divisible", (Name.MICRO_BATCH_SIZE,), (Name.NUM_GENERATIONS,), label="whole groups")
MICRO = Constraint("micro-batch-too-small", (Name.MICRO_BATCH_SIZE,), at_least=2, label="two of them")


def table(*constraints: Constraint) -> Framework:
    return TABLE._replace(constraints=constraints, equations=())


def batch(value: int) -> Size:
    return size(Name.GLOBAL_BATCH_SIZE, value)


@pytest.mark.parametrize(
    ("constraints", "sizes"),
    [
        pytest.param((), (batch(8), accumulation(8)), id="nothing is checked"),
        pytest.param((MICRO,), (size(Name.MICRO_BATCH_SIZE, 1),), id="another rule's least size"),
        pytest.param((DIVIDES,), (Unknown(Name.GLOBAL_BATCH_SIZE, Reason.AUTO), accumulation(8)), id="an unknown batch"),
    ],
)
def test_it_says_nothing(constraints: tuple[Constraint, ...], sizes: tuple[Size, ...]) -> None:
    assert list(rule.check(run(*sizes, table=table(*constraints)))) == []


@pytest.mark.parametrize(
    ("constraints", "sizes"),
    [
        pytest.param((DIVIDES,), (batch(8), accumulation(8)), id="one process fits"),
        pytest.param((DIVIDES, TWO), (batch(16), accumulation(8), world(3)), id="others than those at hand fit"),
        pytest.param((TWO,), (Unknown(Name.GLOBAL_BATCH_SIZE, Reason.AUTO), accumulation(8)), id="of unknown size"),
    ],
)
def test_some_number_fits(constraints: tuple[Constraint, ...], sizes: tuple[Size, ...]) -> None:
    (outcome,) = rule.check(run(*sizes, table=table(*constraints)))
    assert isinstance(outcome, Verified)
    assert not outcome.decides


def test_a_least_size_on_any_hardware_is_named_alone() -> None:
    found = only(list(rule.check(run(batch(8), accumulation(8), table=table(DIVIDES, TWO)))))
    assert found.message == ("no number of GPUs works: global_batch_size 8 / gradient_accumulation_steps 8 = 1 must be at least 2")
    assert found.details == ("one is refused",)
    assert len(found.related) == 1


def test_it_shows_what_stops_the_run_on_the_hardware_at_hand() -> None:
    found = only(list(rule.check(run(batch(8), accumulation(8), world(4), table=table(DIVIDES, TWO)))))
    stops = "on 4 GPUs: global_batch_size 8 is not divisible by 4 GPUs x gradient_accumulation_steps 8 = 32; Example stops at start"
    assert found.details == ("one is refused", stops)


@pytest.mark.parametrize("hardware", [(), (world(4),)], ids=["GPUs unknown", "4 GPUs"])
def test_the_gpus_at_hand_are_not_to_blame(hardware: tuple[Size, ...]) -> None:
    found = only(list(rule.check(run(batch(8), accumulation(3), *hardware, table=table(DIVIDES, TWO)))))
    assert found.message == ("no number of GPUs works: global_batch_size 8 must be divisible by GPUs x gradient_accumulation_steps 3")


def test_checks_that_exclude_each_other_are_all_named() -> None:
    # 12 / GPUs in groups of 6 leaves 1 and 2 GPUs; 4 x GPUs in groups of 3 needs multiples of 3.
    one = Constraint("batch-not-divisible", (Name.GLOBAL_BATCH_SIZE,), (Name.WORLD_SIZE, Name.NUM_GENERATIONS), label="one")
    other = Constraint("group-not-divisible", (Name.STEPS_PER_GENERATION, Name.WORLD_SIZE), (Name.NUM_ITERATIONS,), label="other")
    sizes = (
        batch(12),
        *(size(name, number, Origin.SETTINGS) for name, number in ((Name.NUM_GENERATIONS, 6), (Name.STEPS_PER_GENERATION, 4))),
    )
    found = only(list(rule.check(run(*sizes, size(Name.NUM_ITERATIONS, 3, Origin.SETTINGS), table=table(one, other, GROUPS)))))
    assert found.message == "no number of GPUs works: these checks of the framework contradict each other"
    assert len(found.details) == 2


# The number of GPUs is a multiple of the tensor parallel size, and 12 / GPUs is whole on 1, 2, 3, 4, 6 and 12.
SHARED = (Constraint("batch-not-divisible", (Name.GLOBAL_BATCH_SIZE,), (Name.WORLD_SIZE,), label="it divides"),)
RANKS = Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,))


@pytest.mark.parametrize("tensor", [1, 2, 12])
def test_parallel_sizes_that_leave_a_number_take_no_part(tensor: int) -> None:
    sizes = (batch(12), size(Name.TENSOR_PARALLEL_SIZE, tensor))
    (outcome,) = rule.check(run(*sizes, table=table(*SHARED)._replace(equations=(RANKS,))))
    assert isinstance(outcome, Verified)


def test_a_parallel_size_that_excludes_the_rest_is_named() -> None:
    tensor = size(Name.TENSOR_PARALLEL_SIZE, 8)._replace(at=place(120))
    found = only(list(rule.check(run(batch(12), tensor, table=table(*SHARED)._replace(equations=(RANKS,))))))
    assert found.details == ("global_batch_size 12 must be divisible by GPUs", "GPUs must be divisible by tensor_parallel_size 8")
    assert [each.label for each in found.related] == ["global batch"]
    assert found.at == tensor.at


def test_a_stated_number_of_ranks_that_excludes_the_rest_is_named() -> None:
    ranks = size(Name.DATA_PARALLEL_SIZE, 5)._replace(at=place(120))
    found = only(list(rule.check(run(batch(12), ranks, table=table(*SHARED)._replace(equations=(RANKS,))))))
    assert found.details[:2] == (
        "global_batch_size 12 must be divisible by GPUs",
        "data_parallel_size 5 must be GPUs / tensor_parallel_size 1",
    )
    assert {found.at, *(each.at for each in found.related)} == {ranks.at, place(90)}


def test_checks_that_take_no_part_are_not_named() -> None:
    # 8 holds no whole micro batches of 3 on any number of GPUs; that the batch is their product says the same once more.
    whole = Constraint(
        "batch-not-divisible", (Name.GLOBAL_BATCH_SIZE,), (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE), label="whole micro batches"
    )
    two = Constraint("group-not-divisible", (Name.NUM_GENERATIONS,), at_least=2, label="an advantage needs two completions")
    sizes = (batch(8), size(Name.MICRO_BATCH_SIZE, 3), size(Name.NUM_GENERATIONS, 8))
    found = only(list(rule.check(run(*sizes, table=TABLE._replace(constraints=(whole, two))))))
    assert found.message == ("no number of GPUs works: global_batch_size 8 must be divisible by micro_batch_size 3 x data-parallel size")
    assert found.details == ()


def test_a_check_that_another_rule_reports_is_named_where_it_takes_part() -> None:
    # A completion for each rank makes 4 GPUs the most, and whole groups make 8 the least.
    least = Constraint(
        "micro-batch-too-small", (Name.GENERATION_BATCH_SIZE,), (Name.WORLD_SIZE,), at_least=1, label="a completion for each rank"
    )
    groups = Constraint("group-not-divisible", (Name.WORLD_SIZE,), (Name.NUM_GENERATIONS,), label="whole groups")
    sizes = (size(Name.GENERATION_BATCH_SIZE, 4), size(Name.NUM_GENERATIONS, 8))
    found = only(list(rule.check(run(*sizes, table=table(groups, least)))))
    assert found.details == (
        "GPUs must be divisible by num_generations 8",
        "generation_batch_size 4 / GPUs must be at least 1",
        "a completion for each rank",
    )


def test_a_quotient_is_judged_against_the_least_size() -> None:
    outcomes = [next(judge(run(batch(value), accumulation(4), table=table(TWO)), "unsatisfiable-batch")) for value in (8, 7)]
    assert isinstance(outcomes[0], Verified)
    assert isinstance(outcomes[1], Finding)
    assert outcomes[1].message == "global_batch_size 7 / gradient_accumulation_steps 4 = 7/4 is less than 2; Example stops at start"
