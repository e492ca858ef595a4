"""The solver, against sums done by hand and against properties that hold for all sizes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.arithmetic.solver import solve, symbolic
from pytest_gbs.model.equation import Equation, Monomial, Rounding
from pytest_gbs.model.quantity import Conflict, Name, Origin, Quantity, Reason, Size, Unknown

N = Name
WORLD = Equation(N.WORLD_SIZE, (N.NUM_NODES, N.GPUS_PER_NODE))
DATA_PARALLEL = Equation(N.DATA_PARALLEL_SIZE, (N.WORLD_SIZE,), (N.TENSOR_PARALLEL_SIZE,), rounding=Rounding.FLOOR)
BATCH = Equation(N.GLOBAL_BATCH_SIZE, (N.MICRO_BATCH_SIZE, N.GRADIENT_ACCUMULATION_STEPS, N.DATA_PARALLEL_SIZE), unit="samples")
ALL = (BATCH, DATA_PARALLEL, WORLD)


def sizes(**values: int) -> dict[str, Size]:
    return {name: Quantity(name, value, Origin.FILE) for name, value in values.items()}


def value(size: Size | None) -> int | None:
    return size.value if isinstance(size, Quantity) else None


def test_nothing_known_stays_nothing() -> None:
    assert solve({}, ALL) == {}


def test_an_unknown_operand_leaves_the_result_out() -> None:
    known = sizes(micro_batch_size=4) | {N.GRADIENT_ACCUMULATION_STEPS: Unknown(N.GRADIENT_ACCUMULATION_STEPS, Reason.AUTO)}
    assert N.GLOBAL_BATCH_SIZE not in solve(known, ALL)


def test_an_equation_that_rounding_leaves_open_is_checked_once_its_sizes_are_known() -> None:
    known = sizes(data_parallel_size=4, tensor_parallel_size=3, num_nodes=2, gpus_per_node=8)
    found = solve(known, (DATA_PARALLEL, WORLD))[N.DATA_PARALLEL_SIZE]
    assert isinstance(found, Conflict)
    assert [each.value for each in found.values] == [4, 5]  # 16 GPUs // 3


def test_two_missing_factors_are_not_guessed() -> None:
    solved = solve(sizes(global_batch_size=128, micro_batch_size=4), ALL)
    assert N.GRADIENT_ACCUMULATION_STEPS not in solved


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        pytest.param(
            dict(micro_batch_size=1, gradient_accumulation_steps=2, num_nodes=8, gpus_per_node=8, tensor_parallel_size=1), 128, id="nodes"
        ),
        pytest.param(dict(micro_batch_size=4, gradient_accumulation_steps=2, world_size=8, tensor_parallel_size=2), 32, id="tensor"),
        pytest.param(dict(micro_batch_size=16, gradient_accumulation_steps=4, world_size=7, tensor_parallel_size=1), 448, id="seven"),
        pytest.param(dict(micro_batch_size=3, gradient_accumulation_steps=5, world_size=9, tensor_parallel_size=2), 60, id="floored"),
    ],
)
def test_the_global_batch_follows(known: dict[str, int], wanted: int) -> None:
    assert value(solve(sizes(**known), ALL)[N.GLOBAL_BATCH_SIZE]) == wanted


@pytest.mark.parametrize(
    ("known", "name", "wanted"),
    [
        pytest.param(
            dict(global_batch_size=128, micro_batch_size=4, data_parallel_size=8), N.GRADIENT_ACCUMULATION_STEPS, 4, id="accumulation"
        ),
        pytest.param(dict(global_batch_size=128, gradient_accumulation_steps=4, data_parallel_size=8), N.MICRO_BATCH_SIZE, 4, id="micro"),
        pytest.param(dict(world_size=64, num_nodes=8), N.GPUS_PER_NODE, 8, id="per node"),
    ],
)
def test_the_one_missing_factor_follows(known: dict[str, int], name: str, wanted: int) -> None:
    assert value(solve(sizes(**known), ALL)[name]) == wanted


def test_a_factor_that_is_not_a_whole_number_is_unknown() -> None:
    solved = solve(sizes(global_batch_size=100, micro_batch_size=8, data_parallel_size=8), ALL)
    assert solved[N.GRADIENT_ACCUMULATION_STEPS] == Unknown(N.GRADIENT_ACCUMULATION_STEPS, Reason.NOT_WHOLE)


@pytest.mark.parametrize(("rounding", "wanted"), [(Rounding.FLOOR, 3), (Rounding.CEIL, 4)])
def test_a_rest_is_rounded_as_the_framework_does(rounding: str, wanted: int) -> None:
    steps = Equation(N.GRADIENT_ACCUMULATION_STEPS, (N.RANK_BATCH_SIZE,), (N.MICRO_BATCH_SIZE,), rounding=rounding)
    assert value(solve(sizes(rank_batch_size=14, micro_batch_size=4), (steps,))[N.GRADIENT_ACCUMULATION_STEPS]) == wanted


def test_what_was_rounded_leaves_its_dividend_open_unless_nothing_divides_it() -> None:
    world = solve(sizes(data_parallel_size=8, tensor_parallel_size=1), (DATA_PARALLEL,))
    assert value(world[N.WORLD_SIZE]) == 8
    assert N.WORLD_SIZE not in solve(sizes(data_parallel_size=8, tensor_parallel_size=2), (DATA_PARALLEL,))


def test_sizes_that_disagree_are_a_conflict() -> None:
    solved = solve(sizes(global_batch_size=100, micro_batch_size=4, gradient_accumulation_steps=2, data_parallel_size=8), ALL)
    conflict = solved[N.GLOBAL_BATCH_SIZE]
    assert isinstance(conflict, Conflict)
    assert [quantity.value for quantity in conflict.values] == [100, 64]


def test_a_derived_size_names_what_it_was_computed_from() -> None:
    solved = solve(sizes(micro_batch_size=4, gradient_accumulation_steps=2, world_size=8, tensor_parallel_size=1), ALL)
    batch = solved[N.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert [part.value for part in batch.because] == [4, 2, 8]
    assert batch.unit == "samples"


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        pytest.param(
            sizes(micro_batch_size=4, gradient_accumulation_steps=4, tensor_parallel_size=1),
            Monomial(Fraction(16), (N.WORLD_SIZE,)),
            id="GPUs",
        ),
        pytest.param(
            sizes(micro_batch_size=4, gradient_accumulation_steps=4, tensor_parallel_size=2),
            Monomial(Fraction(8), (N.WORLD_SIZE,)),
            id="half a GPU each",
        ),
        pytest.param(
            sizes(micro_batch_size=1, gradient_accumulation_steps=2, num_nodes=8, tensor_parallel_size=1),
            Monomial(Fraction(16), (N.GPUS_PER_NODE,)),
            id="GPUs per node",
        ),
        pytest.param(sizes(micro_batch_size=4, gradient_accumulation_steps=4), None, id="a divisor is not known"),
    ],
)
def test_the_law_of_a_size_that_is_not_known(known: dict[str, Size], wanted: Monomial | None) -> None:
    assert symbolic(N.GLOBAL_BATCH_SIZE, known, ALL) == wanted


positive = st.integers(1, 4096)


@given(positive, positive, positive, positive)
def test_whichever_operand_is_taken_away_comes_back(micro: int, accumulation: int, nodes: int, per_node: int) -> None:
    full = solve(
        sizes(
            micro_batch_size=micro,
            gradient_accumulation_steps=accumulation,
            num_nodes=nodes,
            gpus_per_node=per_node,
            tensor_parallel_size=1,
        ),
        ALL,
    )
    assert value(full[N.GLOBAL_BATCH_SIZE]) == micro * accumulation * nodes * per_node
    for taken in (N.MICRO_BATCH_SIZE, N.GRADIENT_ACCUMULATION_STEPS):
        rest = {name: size for name, size in full.items() if name != taken}
        assert value(solve(rest, ALL)[taken]) == value(full[taken])


@given(
    st.dictionaries(
        st.sampled_from([N.GLOBAL_BATCH_SIZE, N.MICRO_BATCH_SIZE, N.GRADIENT_ACCUMULATION_STEPS, N.WORLD_SIZE, N.NUM_NODES]),
        st.integers(-3, 99),
    )
)
def test_any_sizes_are_solved_without_an_error_and_twice_is_once(known: dict[str, int]) -> None:
    once = solve(sizes(**known), ALL)
    assert once.keys() >= known.keys()
    again = solve({name: size for name, size in once.items() if isinstance(size, Quantity)}, ALL)
    assert {n: value(s) for n, s in again.items() if isinstance(s, Quantity)} == {
        n: value(s) for n, s in once.items() if isinstance(s, Quantity)
    }


def test_a_contradiction_is_not_settled_by_another_equation() -> None:
    tokens = Equation(N.TOKENS_PER_STEP, (N.GLOBAL_BATCH_SIZE, N.SEQUENCE_LENGTH))
    stated = sizes(global_batch_size=100, micro_batch_size=4, gradient_accumulation_steps=4, data_parallel_size=8)
    found = solve(stated | sizes(sequence_length=1000, tokens_per_step=100_000), (BATCH, tokens))
    assert isinstance(found[N.GLOBAL_BATCH_SIZE], Conflict)


def test_a_size_that_is_not_whole_is_not_settled_by_another_equation() -> None:
    tokens = Equation(N.TOKENS_PER_STEP, (N.MICRO_BATCH_SIZE, N.SEQUENCE_LENGTH))
    stated = sizes(global_batch_size=100, gradient_accumulation_steps=3, data_parallel_size=8, sequence_length=10, tokens_per_step=40)
    assert solve(stated, (BATCH, tokens))[N.MICRO_BATCH_SIZE] == Unknown(N.MICRO_BATCH_SIZE, Reason.NOT_WHOLE)


@pytest.mark.parametrize(
    ("tensor", "stated", "derived"),
    [
        pytest.param(2, 4, None, id="8 / 2 is 4"),
        pytest.param(2, 5, 4, id="8 / 2 is not 5"),
        pytest.param(3, 2, 2, id="8 / 3 is 2 and a rest, so not 2"),
    ],
)
def test_a_result_that_is_stated_is_kept_if_its_factors_give_it_exactly(tensor: int, stated: int, derived: int | None) -> None:
    exact = DATA_PARALLEL._replace(rounding=Rounding.EXACT)
    found = solve(sizes(world_size=8, tensor_parallel_size=tensor, data_parallel_size=stated), (exact,))[N.DATA_PARALLEL_SIZE]
    if derived is None:
        assert value(found) == stated
    else:
        assert isinstance(found, Conflict)
        assert [each.value for each in found.values] == [stated, derived]
