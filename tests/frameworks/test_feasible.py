"""On how many GPUs a recipe runs, by hand and by trying every number."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.arithmetic.solver import solve
from pytest_gbs.frameworks.feasible import feasible_world_sizes
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.document import Document
from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.framework import Constraint, Framework, Recognition
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.run import Cause, Claim, Geometry, Judgement, Run

WORLD = Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE))
RANKS = Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,), Rounding.FLOOR)
BATCH = Equation(Name.GLOBAL_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE))
GENERATED = Equation(Name.GENERATION_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE, Name.STEPS_PER_GENERATION))
GROUPS = Constraint("group-not-divisible", (Name.GENERATION_BATCH_SIZE,), (Name.NUM_GENERATIONS,))
PIECES = Constraint("batch-not-divisible", (Name.GENERATION_BATCH_SIZE,), (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE))
PAIRS = Constraint("micro-batch-too-small", (Name.MICRO_BATCH_SIZE,), at_least=2)
SPLIT = Constraint("batch-not-divisible", (Name.GLOBAL_BATCH_SIZE,), (Name.WORLD_SIZE, Name.GRADIENT_ACCUMULATION_STEPS))
TWO = Constraint("unsatisfiable-batch", (Name.GLOBAL_BATCH_SIZE,), (Name.GRADIENT_ACCUMULATION_STEPS,), at_least=2)
ENOUGH = Constraint("micro-batch-too-small", (Name.GLOBAL_BATCH_SIZE,), at_least=100)

AT = Location("a.yaml", 0, 1)


def feasible(*constraints: Constraint, declared: int = 0, hardware: int = 0, **sizes: int) -> dict[str, Any]:
    """The answer for a recipe that states `sizes`, shown on `hardware` GPUs; one that is 0 is not known."""
    stated: dict[str, Size] = {name: Quantity(name, value, Origin.FILE) for name, value in {"tensor_parallel_size": 1, **sizes}.items()}
    stated |= {name: Unknown(name, Reason.AUTO) for name, value in sizes.items() if value == 0}
    if hardware:
        stated[Name.WORLD_SIZE] = Quantity(Name.WORLD_SIZE, hardware, Origin.GIVEN)
    equations = (WORLD, RANKS, BATCH, GENERATED)
    framework = Framework("toy", "Toy", Recognition(), "samples", (), equations, constraints)
    document = Document(Source("a.yaml", "a"), 1, "yaml", None, {}, (), ())
    declaration = Declaration(Name.GLOBAL_BATCH_SIZE, declared, (Interval(declared, declared),), AT, "", "test")
    claim = Claim(declaration, (), Judgement((), Cause.PRODUCT, Verified("GBS101")))
    return feasible_world_sizes(Run(document, framework, None, Geometry(solve(stated, equations), {}), (claim,) if declared else (), ()))


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param({}, id="nothing stated"),
        pytest.param({"micro_batch_size": 1, "gradient_accumulation_steps": 2}, id="a product"),
        pytest.param({"micro_batch_size": 1, "gradient_accumulation_steps": 2, "hardware": 7}, id="whatever it is shown on"),
        pytest.param({"num_nodes": 2, "gpus_per_node": 8}, id="whatever hardware it states"),
    ],
)
def test_it_runs_on_any_number(sizes: dict[str, int]) -> None:
    assert feasible(**sizes) == {"all": True}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param({"micro_batch_size": 1, "gradient_accumulation_steps": 2}, [64], id="one number of GPUs"),
        pytest.param({"micro_batch_size": 1, "gradient_accumulation_steps": 2, "hardware": 8}, [64], id="also when shown on another"),
        pytest.param({"micro_batch_size": 3, "gradient_accumulation_steps": 2}, [], id="none"),
    ],
)
def test_it_shows_which_numbers_reach_the_declared_batch(sizes: dict[str, int], expected: list[int]) -> None:
    assert feasible(declared=128, **sizes) == {"all": True, "reaching_declared": expected}


def test_parallel_sizes_divide_the_world() -> None:
    found = feasible(micro_batch_size=1, gradient_accumulation_steps=2, tensor_parallel_size=4, declared=12)
    assert found == {"multiple_of": 4, "sizes": [4 * n for n in range(1, 13)], "reaching_declared": [24]}


def test_whole_groups_need_multiples() -> None:
    # 16 x GPUs x 4 completions in groups of 14: 64 x GPUs is a multiple of 14 from 7 GPUs on.
    found = feasible(GROUPS, micro_batch_size=16, steps_per_generation=4, num_generations=14)
    assert found == {"multiple_of": 7, "sizes": [7 * n for n in range(1, 13)]}


def test_a_stated_batch_is_divided() -> None:
    found = feasible(PIECES, micro_batch_size=16, generation_batch_size=512)
    assert found == {"divides": 32, "at_most": 32, "sizes": [1, 2, 4, 8, 16, 32]}


def test_an_accumulation_that_follows_must_be_whole() -> None:
    assert feasible(global_batch_size=24, micro_batch_size=2) == {"divides": 12, "at_most": 12, "sizes": [1, 2, 3, 4, 6, 12]}


def test_stated_ranks_fix_the_world() -> None:
    assert feasible(data_parallel_size=8, tensor_parallel_size=2) == {"at_least": 16, "at_most": 16, "sizes": [16]}


@pytest.mark.parametrize(
    ("constraints", "sizes"),
    [
        pytest.param((GROUPS,), {"generation_batch_size": 36, "num_generations": 8, "micro_batch_size": 4}, id="on no hardware at all"),
        pytest.param(
            (GROUPS, PIECES),
            {"micro_batch_size": 8, "generation_batch_size": 12, "num_generations": 6},
            id="checks that exclude each other",
        ),
    ],
)
def test_it_runs_nowhere(constraints: tuple[Constraint, ...], sizes: dict[str, int]) -> None:
    assert feasible(*constraints, **sizes) == {"sizes": []}


def test_what_is_not_known_is_named() -> None:
    found = feasible(GROUPS, num_generations=0, micro_batch_size=16, steps_per_generation=4)
    assert found == {"undecided": ["num_generations"]}


def test_a_least_size_on_any_hardware_is_not_a_question_of_hardware() -> None:
    assert feasible(PAIRS, micro_batch_size=1) == {"all": True}


def test_a_least_size_that_no_hardware_fixes_leaves_none() -> None:
    assert feasible(SPLIT, global_batch_size=8, gradient_accumulation_steps=8)["sizes"] == [1]
    assert feasible(SPLIT, TWO, global_batch_size=8, gradient_accumulation_steps=8) == {"sizes": []}
    assert feasible(SPLIT, TWO, global_batch_size=16, gradient_accumulation_steps=8)["sizes"] == [1, 2]


def test_a_least_batch_needs_enough_hardware() -> None:
    found = feasible(ENOUGH, micro_batch_size=4, gradient_accumulation_steps=3)
    assert (found["at_least"], found["sizes"][:2]) == (9, [9, 10])


@given(
    micro=st.integers(1, 12),
    steps=st.integers(1, 6),
    generations=st.integers(1, 16),
    tensor=st.integers(1, 4),
    generated=st.none() | st.integers(1, 200),
)
def test_it_is_what_trying_every_number_finds(micro: int, steps: int, generations: int, tensor: int, generated: int | None) -> None:
    sizes = {"micro_batch_size": micro, "num_generations": generations, "tensor_parallel_size": tensor}
    sizes |= {"steps_per_generation": steps} if generated is None else {"generation_batch_size": generated}

    def works(world: int) -> bool:
        batch = micro * world * steps if generated is None else generated
        return world % tensor == 0 and batch % generations == 0 and batch % (micro * world) == 0

    by_hand = [world for world in range(1, 400) if works(world)][:12]
    found = feasible(GROUPS, PIECES, **sizes)
    assert by_hand == (list(range(1, 13)) if found.get("all") else found["sizes"])[: len(by_hand)]
    assert bool(by_hand) == bool(found.get("all") or found["sizes"])
