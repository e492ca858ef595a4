import pytest

from pytest_gbs.model.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin
from pytest_gbs.rules import gbs431_ramp_up_breaks, gbs432_heads_not_divisible

from .building import only, parsed, run, size

RAMP = "model: {{rampup_batch_size: {}}}\n"


def ramped(ramp: str, end: int | None = 1024, micro: int | None = 1, ranks: int | None = 16) -> list[Outcome]:
    """What the rule says of a ramp-up to `end`."""
    given = {Name.GLOBAL_BATCH_SIZE: end, Name.MICRO_BATCH_SIZE: micro, Name.DATA_PARALLEL_SIZE: ranks}
    sizes = [size(name, value) for name, value in given.items() if value is not None]
    return list(gbs431_ramp_up_breaks.check(run(*sizes, of=parsed(RAMP.format(ramp)))))


@pytest.mark.parametrize("ramp", ["null", "[]", "[16, 8]", "[16, 8, '${samples}']", "16", "{start: 16}", "['16', 8, 300]", "[1.5, 8, 300]"])
def test_what_is_not_a_ramp_stays_silent(ramp: str) -> None:
    assert ramped(ramp) == []


@pytest.mark.parametrize("known", [{"end": None}, {"micro": None}, {"end": None, "ranks": None}, {"ranks": None}])
def test_what_depends_on_an_unknown_size_stays_silent(known: dict[str, None]) -> None:
    assert ramped("[16, 8, 300000]", **known) == []


def test_it_points_at_what_is_written() -> None:
    micro = size(Name.MICRO_BATCH_SIZE, 1, Origin.DEFAULT)
    known = (size(Name.GLOBAL_BATCH_SIZE, 1024), micro, size(Name.DATA_PARALLEL_SIZE, 16))
    found = only(list(gbs431_ramp_up_breaks.check(run(*known, of=parsed(RAMP.format("[16, 8, 300000]"))))))
    assert [each.label for each in found.related] == ["global batch"]


@pytest.mark.parametrize("ramp", ["[16, 16, 300000]", "[32, 496, 0]", "[512, 512, 300000]"])
def test_a_ramp_of_whole_micro_batches_is_in_order(ramp: str) -> None:
    (outcome,) = ramped(ramp)
    assert isinstance(outcome, Verified)
    assert outcome.decides


@pytest.mark.parametrize(
    ("ramp", "says"),
    [
        ("[16, 8, 300000]", "reaches a global batch of 24, which is not a multiple of micro 1 x 16 data-parallel = 16"),
        ("[8, 16, 300000]", "misses the global batch: 1,024 - 8 = 1,016"),
        ("[24, 200, 300000]", "reaches a global batch of 24"),
        ("[1024, 8, 300000]", "divides by zero"),
        ("[2048, 8, 300000]", "more than the global batch of 1,024"),
        ("[0, 8, 300000]", "must be positive"),
        ("[16, -8, 300000]", "must be positive"),
        ("[16, 16, -1]", "not negative"),
    ],
)
def test_a_ramp_that_stops_the_run_is_an_error(ramp: str, says: str) -> None:
    found = only(ramped(ramp))
    assert found.severity == Severity.ERROR
    assert says in found.message


def test_an_odd_increment_fails_on_any_number_of_gpus() -> None:
    assert "not a multiple of the micro batch of 4" in only(ramped("[16, 2, 300]", micro=4, ranks=None)).message


MODEL = "parallelism: {{tp: {tensor}}}\nmodel: {{model_config: {{num_attention_heads: {heads}, num_key_value_heads: {shared}}}}}\n"


def heads(tensor: int | None, number: object, shared: object = 4) -> list[Outcome]:
    """What the rule says of a model with `number` heads on `tensor` ranks."""
    text = MODEL.format(tensor=tensor, heads=number, shared=shared)
    sizes = [] if tensor is None else [size(Name.TENSOR_PARALLEL_SIZE, tensor)]
    return list(gbs432_heads_not_divisible.check(run(*sizes, of=parsed(text))))


@pytest.mark.parametrize(("number", "shared"), [("null", 4), ("many", 4), ("[12]", 4)])
def test_heads_that_are_not_known_stay_silent(number: str, shared: int) -> None:
    assert heads(8, number, shared) == []


@pytest.mark.parametrize(("tensor", "number", "shared"), [(4, 12, 4), (1, 9, 3), (2, 32, "null"), (8, 64, 8)])
def test_heads_that_divide_are_in_order(tensor: int, number: int, shared: object) -> None:
    (outcome,) = heads(tensor, number, shared)
    assert isinstance(outcome, Verified)
    assert not outcome.decides


@pytest.mark.parametrize(
    ("tensor", "number", "shared", "says"),
    [
        (8, 12, 4, "12 attention heads are not a multiple of 8 tensor-parallel ranks"),
        (8, 32, 4, "4 key-value heads are fewer than 8 tensor-parallel ranks"),
        (2, 10, 4, "10 attention heads are not a multiple of 4 key-value heads"),
    ],
)
def test_heads_that_do_not_divide_are_an_error(tensor: int, number: int, shared: int, says: str) -> None:
    found = only(heads(tensor, number, shared))
    assert isinstance(found, Finding)
    assert found.severity == Severity.ERROR
    assert found.message == f"{says}; nanotron stops at start"
