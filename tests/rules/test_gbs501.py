import pytest

from pytest_gbs.model.outcome import Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Conflict, Name, Origin, Quantity
from pytest_gbs.model.settings import Expectation
from pytest_gbs.rules.gbs501_recipe_policy import check

from .building import ASSUMED, accumulation, micro, only, place, run, size, world


def policy(*values: int, low: int | None = None, high: int | None = None, name: str = Name.GLOBAL_BATCH_SIZE) -> Expectation:
    return Expectation(("**",), name, values, low, high, origin="[[expect]] in gbs.toml", text="global-batch-size = 128")


def test_a_recipe_without_expectations_has_no_outcome() -> None:
    assert list(check(run(micro(4), accumulation(2), world(16)))) == []


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(policy(128), id="value"),
        pytest.param(policy(64, 128), id="one of two values"),
        pytest.param(policy(low=128), id="at least"),
        pytest.param(policy(high=128), id="at most"),
        pytest.param(policy(low=100, high=200), id="between"),
    ],
)
def test_an_expectation_that_is_met_verifies(expected: Expectation) -> None:
    (outcome,) = check(run(micro(4), accumulation(2), world(16), policies=(expected,), assumptions=ASSUMED))
    assert isinstance(outcome, Verified)
    assert outcome.assumptions == ASSUMED
    assert outcome.decides


def test_an_open_expectation_is_met_by_every_number_of_gpus() -> None:
    (outcome,) = check(run(micro(4), accumulation(8), policies=(policy(low=32),)))
    assert isinstance(outcome, Verified)


@pytest.mark.parametrize(
    ("expected", "implies"),
    [
        pytest.param(policy(128), "true with 16 GPUs", id="one number of GPUs"),
        pytest.param(policy(64, 128), "true with 8 or 16 GPUs", id="two numbers"),
        pytest.param(policy(high=64), "true with 1 to 8 GPUs", id="many numbers"),
        pytest.param(policy(low=9), "true with 2, 3, 4 or more GPUs", id="all but one GPU"),
        pytest.param(policy(8), "true with 1 GPU", id="one GPU"),
    ],
)
def test_unknown_hardware_stays_undetermined(expected: Expectation, implies: str) -> None:
    (outcome,) = check(run(micro(4), accumulation(2), policies=(expected,)))
    assert isinstance(outcome, Undetermined)
    assert outcome.missing == (Name.WORLD_SIZE,)
    assert outcome.implies == implies
    assert outcome.claim


def test_known_nodes_ask_for_gpus_per_node() -> None:
    nodes = size(Name.NUM_NODES, 2, Origin.COMMENT)
    (outcome,) = check(run(micro(4), accumulation(2), nodes, policies=(policy(128),)))
    assert isinstance(outcome, Undetermined)
    assert outcome.missing == (Name.GPUS_PER_NODE,)
    assert outcome.implies == "true with 8 GPUs per node"


def test_an_unknown_setting_names_what_is_missing() -> None:
    (outcome,) = check(run(micro(4), policies=(policy(128),)))
    assert isinstance(outcome, Undetermined)
    assert outcome.missing == (Name.GRADIENT_ACCUMULATION_STEPS, Name.WORLD_SIZE)


def test_a_contradictory_recipe_stays_undetermined() -> None:
    torn = Conflict(Name.GLOBAL_BATCH_SIZE, (size(Name.GLOBAL_BATCH_SIZE, 8), size(Name.GLOBAL_BATCH_SIZE, 9)))
    (outcome,) = check(run(torn, policies=(policy(128),)))
    assert isinstance(outcome, Undetermined)


def test_a_size_that_no_equation_gives_stays_undetermined() -> None:
    (outcome,) = check(run(micro(4), policies=(policy(10, name=Name.TOKENS_PER_STEP),)))
    assert isinstance(outcome, Undetermined)
    assert outcome.missing == (Name.TOKENS_PER_STEP,)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        pytest.param(policy(128), "global batch size is 256, but the settings expect 128", id="value"),
        pytest.param(policy(64, 128), "global batch size is 256, but the settings expect 64 or 128", id="one of two values"),
        pytest.param(policy(low=1000), "global batch size is 256, but the settings expect at least 1,000", id="at least"),
        pytest.param(policy(high=128), "global batch size is 256, but the settings expect at most 128", id="at most"),
        pytest.param(policy(low=300, high=400), "global batch size is 256, but the settings expect 300 to 400", id="between"),
    ],
)
def test_another_size_is_an_error(expected: Expectation, message: str) -> None:
    found = only(list(check(run(micro(4), accumulation(4), world(16), policies=(expected,)))))
    assert found.message == message
    assert found.severity == Severity.ERROR


def test_the_finding_points_at_the_accumulation_and_says_the_way_out() -> None:
    found = only(list(check(run(micro(4), accumulation(4), world(16), policies=(policy(128),), assumptions=ASSUMED))))
    assert found.at == place(60)
    assert [(related.at, related.label) for related in found.related] == [(place(30), "micro")]
    assert found.details == (
        "256 = 4 micro x 4 accumulation x 16 data-parallel (16 GPUs)",
        "expected by [[expect]] in gbs.toml: global-batch-size = 128",
    )
    assert found.holds == "set micro_batch_size to 2, or set gradient_accumulation_steps to 2"
    assert found.assumptions == ASSUMED


def test_a_way_out_that_is_not_a_whole_number_is_not_offered() -> None:
    found = only(list(check(run(micro(1), accumulation(3), world(16), policies=(policy(40),)))))
    assert found.holds == ""


def test_hardware_from_a_file_name_only_warns() -> None:
    found = only(list(check(run(micro(4), accumulation(4), world(16, Origin.NAME), policies=(policy(128),)))))
    assert found.severity == Severity.WARNING


def test_a_size_that_no_number_of_gpus_reaches_is_an_error() -> None:
    found = only(list(check(run(micro(6), accumulation(8), policies=(policy(128),)))))
    assert found.message == "global batch size is 48 x GPUs, but the settings expect 128: no number of GPUs gives that"
    assert found.severity == Severity.ERROR


def test_a_setting_that_no_whole_number_fits_is_an_error() -> None:
    found = only(list(check(run(micro(6), world(8), policies=(policy(128),)))))
    assert found.message == "global batch size is 48 x accumulation, but the settings expect 128: no accumulation gives that"


def test_each_expectation_has_an_outcome_of_its_own() -> None:
    outcomes = list(check(run(micro(4), accumulation(2), world(16), policies=(policy(128), policy(64)))))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Verified", "Finding"]


def test_a_stated_size_is_judged_where_it_is_written() -> None:
    stated = Quantity(Name.GLOBAL_BATCH_SIZE, 64, Origin.FILE, at=place(90), key="train_batch_size")
    found = only(list(check(run(stated, policies=(policy(128),)))))
    assert found.at == place(90)
    assert found.details == ("expected by [[expect]] in gbs.toml: global-batch-size = 128",)
