"""What is kept of a batch, and whether two of these say the same."""

from fractions import Fraction

import pytest

from pytest_gbs.claims.judgement import judged
from pytest_gbs.claims.locked import Moved, moved, operands, per_gpu, record, same_batch, words
from pytest_gbs.model.locked import PER_RANK, Record
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.run import Run, World
from tests.rules.building import accumulation, claim, micro, run, size, world

MICRO, ACCUMULATION = Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS


def tensor(value: int) -> Quantity:
    return size(Name.TENSOR_PARALLEL_SIZE, value)


def test_nothing_is_kept_where_nothing_is_known() -> None:
    assert record(run()) is None
    assert record(run(micro(4))) is None


@pytest.mark.parametrize(
    ("of", "batch", "share"),
    [
        pytest.param(run(micro(4), accumulation(2)), None, "8", id="no hardware"),
        pytest.param(run(micro(4), accumulation(2), world(16)), 128, "8", id="hardware"),
        pytest.param(run(micro(4), accumulation(2), tensor(4), world(16)), 32, "2", id="four GPUs share a rank"),
        pytest.param(run(micro(1), accumulation(1), tensor(8)), None, "1/8", id="eight GPUs share a sample"),
    ],
)
def test_a_batch_is_kept_with_the_part_of_one_gpu(of: Run, batch: int | None, share: str) -> None:
    found = record(of)
    assert found is not None
    assert (found.unit, found.global_batch_size, found.share, found.claim) == ("samples", batch, share, None)


def test_a_batch_that_is_stated_has_no_part_and_no_operands() -> None:
    stated = Quantity(Name.GLOBAL_BATCH_SIZE, 256, Origin.FILE, key="global_batch_size")
    of = run(stated, micro(4), world(8))
    assert record(of) == Record("samples", 256)
    assert operands(of) == ()
    symbolic = per_gpu(of)
    assert symbolic is not None
    assert (symbolic.coefficient, symbolic.free) == (Fraction(256), ())


def test_stated_ranks_stay_ranks() -> None:
    ranks = Quantity(Name.DATA_PARALLEL_SIZE, 4, Origin.FILE)
    kept = ((MICRO, 4), (ACCUMULATION, 2), (Name.DATA_PARALLEL_SIZE, 4))
    assert record(run(micro(4), accumulation(2), ranks)) == Record("samples", 32, operands=kept)


def test_operands_are_what_is_stated_in_the_order_of_the_product() -> None:
    found = record(run(accumulation(2), micro(4), size(Name.NUM_NODES, 2), size(Name.GPUS_PER_NODE, 8), tensor(2)))
    assert found is not None
    assert found.operands == (
        (MICRO, 4),
        (ACCUMULATION, 2),
        (Name.NUM_NODES, 2),
        (Name.GPUS_PER_NODE, 8),
        (Name.TENSOR_PARALLEL_SIZE, 2),
    )


def test_a_size_that_the_framework_rounds_counts_as_it_trains() -> None:
    of = run(micro(4), accumulation(2), world(16))
    rounded = Quantity(Name.GLOBAL_BATCH_SIZE, 120, Origin.DERIVED)
    found = record(of._replace(geometry=of.geometry._replace(realised={Name.GLOBAL_BATCH_SIZE: rounded})))
    assert found is not None
    assert found.global_batch_size == 120


def test_a_claim_counts_only_where_it_was_found_to_hold() -> None:
    of = run(micro(4), accumulation(2), world(16))
    holds, fails = (judged(of, claim(value=value).declaration, (World(of.geometry),)) for value in (128, 64))
    found = [record(of._replace(claims=claims)) for claims in ((), (fails,), (fails, holds))]
    assert [each.claim for each in found if each] == [None, None, 128]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        pytest.param(Record("samples", 128, "2"), Record("samples", 128, "4"), True, id="other GPUs, the same batch"),
        pytest.param(Record("samples", None, "2"), Record("samples", 128, "2"), True, id="GPUs known now"),
        pytest.param(Record("samples", 128, "2"), Record("samples", None, "2"), True, id="GPUs known once"),
        pytest.param(Record("samples", 128, "2"), Record("samples", None, "4"), None, id="GPUs may make up for it"),
        pytest.param(Record("samples", None, "2"), Record("samples", None, "2", PER_RANK), None, id="another kind of part"),
        pytest.param(Record("samples", None, "2"), Record("samples", 128), None, id="nothing in common"),
        pytest.param(Record("samples", 128), Record("samples", 64), False, id="another batch"),
        pytest.param(Record("samples", None, "2"), Record("samples", None, "4"), False, id="another part"),
        pytest.param(Record("samples", 128), Record("pairs", 128), False, id="another unit"),
    ],
)
def test_whether_two_are_the_same_batch(before: Record, after: Record, same: bool | None) -> None:
    assert same_batch(before, after) is same


def test_operands_that_differ_are_named_once_each() -> None:
    before = Record("samples", 1, operands=((MICRO, 4), (ACCUMULATION, 2), (Name.NUM_NODES, 1)))
    after = Record("samples", 1, operands=((MICRO, 4), (ACCUMULATION, 4), (Name.WORLD_SIZE, 8)))
    assert moved(before, before) == ()
    assert moved(before, after) == (Moved(ACCUMULATION, 2, 4), Moved(Name.NUM_NODES, 1, None), Moved(Name.WORLD_SIZE, None, 8))


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Record("samples", 1024), "1,024 samples"),
        (Record("pairs", 1), "1 pair"),
        (Record("pairs", None, "1"), "1 pair per GPU"),
        (Record("rows", None, "1/2"), "1/2 rows per GPU"),
        (Record("samples", None, "4", PER_RANK), "4 samples per data-parallel rank"),
    ],
)
def test_the_words_for_people(found: Record, text: str) -> None:
    assert words(found) == text
