"""GBS503 differs-from-lock: the batch against its line in the lock file; and GBS502 against the base."""

import pytest

from pytest_gbs.model.launch import Kind, Launch
from pytest_gbs.model.location import Location
from pytest_gbs.model.locked import PER_GPU, LockedBatch, Record
from pytest_gbs.model.outcome import Finding, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs502_gbs_changed_undeclared import check as check_base
from pytest_gbs.rules.gbs503_differs_from_lock import check
from tests.rules.building import accumulation, micro, only, run, world

MICRO, ACCUMULATION = Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS
LINE = Location("gbs.lock", 90, 120)


def locked(of: Run, batch: int | None, share: str, *operands: tuple[str, int], unit: str = "samples", what_if: bool = False) -> Run:
    """The run held to a line of the lock file."""
    return of._replace(locked=LockedBatch(Record(unit, batch, share, PER_GPU, operands), "gbs.lock", LINE, what_if))


def outcome(of: Run) -> object:
    (found,) = check(of)
    return found


ON_64 = run(micro(1), accumulation(2), world(64))
OPEN = run(micro(1), accumulation(2))
STATED = run(Quantity(Name.GLOBAL_BATCH_SIZE, 128, Origin.FILE, at=Location("sft.yaml", 90, 92), key="train_batch_size"))


def test_a_run_without_a_line_is_not_judged() -> None:
    assert list(check(ON_64)) == []


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(locked(ON_64, 128, "2"), id="the same batch"),
        pytest.param(locked(ON_64, 128, "4", (MICRO, 1), (ACCUMULATION, 4)), id="half the GPUs, twice the accumulation"),
        pytest.param(locked(OPEN, None, "2"), id="the same on each GPU, GPUs unknown"),
        pytest.param(locked(ON_64, None, "2"), id="the same on each GPU, GPUs unknown to the lock"),
        pytest.param(locked(STATED, 128, ""), id="stated, the same"),
        pytest.param(locked(ON_64, 512, "2", what_if=True), id="other GPUs on the command line"),
    ],
)
def test_the_same_batch_is_verified(held: Run) -> None:
    assert isinstance(outcome(held), Verified)


@pytest.mark.parametrize(
    ("held", "values"),
    [
        pytest.param(locked(OPEN, 128, "2"), (64,), id="on one number of GPUs"),
        pytest.param(locked(OPEN, 256, "4"), (128,), id="another part of each GPU, which other GPUs may make up for"),
        pytest.param(locked(run(accumulation(2)), 128, "2"), (), id="nothing known of the micro batch"),
    ],
)
def test_what_cannot_be_known_is_undetermined(held: Run, values: tuple[int, ...]) -> None:
    found = outcome(held)
    assert isinstance(found, Undetermined)
    assert found.claim
    assert found.values == values
    assert found.message.startswith("gbs.lock has ")


@pytest.mark.parametrize(
    ("held", "message"),
    [
        pytest.param(
            locked(ON_64, 256, "4", (MICRO, 1), (ACCUMULATION, 4), (Name.WORLD_SIZE, 64)),
            "global batch size is 128 samples, but gbs.lock has 256 samples: accumulation 2, was 4",
            id="accumulation",
        ),
        pytest.param(
            locked(ON_64, 64, "2", (MICRO, 1), (ACCUMULATION, 2), (Name.WORLD_SIZE, 32)),
            "global batch size is 128 samples, but gbs.lock has 64 samples: GPUs 64, was 32",
            id="GPUs",
        ),
        pytest.param(
            locked(OPEN, None, "4", (MICRO, 2), (ACCUMULATION, 2)),
            "global batch size is 2 samples per GPU, but gbs.lock has 4 samples per GPU: micro batch size 1, was 2",
            id="on each GPU",
        ),
        pytest.param(
            locked(OPEN, 127, "1"), "global batch size is 2 samples per GPU, but gbs.lock has 127 samples: micro", id="on no GPUs"
        ),
        pytest.param(locked(STATED, 256, ""), "global batch size is 128 samples, but gbs.lock has 256 samples", id="stated"),
        pytest.param(locked(ON_64, 128, "2", unit="pairs"), "global batch size is 128 samples, but gbs.lock has 128 pairs", id="unit"),
        pytest.param(
            locked(ON_64, 128, "4", (MICRO, 2), (ACCUMULATION, 2), what_if=True),
            "global batch size is 128 samples, but gbs.lock has 128 samples: micro batch size 1, was 2",
            id="what the command line's GPUs hide",
        ),
    ],
)
def test_a_batch_that_moved_is_found_with_its_operand(held: Run, message: str) -> None:
    found = outcome(held)
    assert isinstance(found, Finding)
    assert found.severity == Severity.ERROR
    assert found.message.startswith(message)
    assert LINE in {each.at for each in found.related}


def test_it_points_at_the_operand_and_says_how_to_go_back() -> None:
    found = only([*check(locked(OPEN, None, "8", (MICRO, 1), (ACCUMULATION, 8)))])
    assert found.at == accumulation(2).at
    assert found.label == "accumulation"
    assert found.holds == f"set {ACCUMULATION} to 8, or run gbs lock if the change is intended"


def test_a_launch_in_a_document_that_was_locked_is_an_error() -> None:
    held = locked(ON_64, 64, "2")._replace(launch=Launch(Location("README.md", 5, 9), Kind.DOCUMENT, "torchrun", ()))
    found = only([*check(held)])
    assert (found.severity, found.at) == (Severity.ERROR, held.launch.at if held.launch else None)


def based(of: Run, batch: int | None, share: str, said: str = "") -> Run:
    """The run held against the base."""
    return of._replace(base=LockedBatch(Record("samples", batch, share, PER_GPU, ((ACCUMULATION, 4),)), "main", said=said))


class TestBase:
    """GBS502 gbs-changed-undeclared."""

    @pytest.mark.parametrize(
        "held",
        [
            pytest.param(ON_64, id="no base"),
            pytest.param(based(ON_64, 128, "4"), id="the same batch"),
            pytest.param(based(OPEN, 256, "4"), id="can not be decided"),
        ],
    )
    def test_no_change_is_not_judged(self, held: Run) -> None:
        assert list(check_base(held)) == []

    @pytest.mark.parametrize(
        "held",
        [
            pytest.param(based(ON_64, 256, "4", "recipes: GBS 256 -> 128"), id="the commit says so"),
            pytest.param(based(ON_64, 256, "4", "Halve the batch size (now 128)."), id="in a sentence"),
            pytest.param(locked(based(ON_64, 256, "4"), 128, "2"), id="the lock file says so"),
        ],
    )
    def test_a_change_that_is_declared_is_verified(self, held: Run) -> None:
        assert [type(each) for each in check_base(held)] == [Verified]

    @pytest.mark.parametrize(
        "said",
        ["", "Halve the batch", "resize to 128x128", "GBS 1280", "GBS 12.128", "GBS 128.5"],
        ids=["nothing", "no number", "no word", "another number", "the end of a fraction", "the start of one"],
    )
    def test_a_change_that_nothing_declares_is_found(self, said: str) -> None:
        found = only([*check_base(based(ON_64, 256, "4", said))])
        assert found.severity == Severity.WARNING
        assert found.message == "global batch size went from 256 samples at main to 128 samples, but the change is not declared"
        assert "accumulation 4 to 2" in found.details[0]
