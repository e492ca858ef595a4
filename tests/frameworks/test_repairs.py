"""The nearest whole numbers with which a size is as wanted, or divides: worked out by hand."""

import pytest

from pytest_gbs.frameworks.repairs import at_least, dividing, fixes, in_comment, reaching, spelt
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.run import Run
from tests.rules.building import accumulation, document, micro, place, run, size, world

# The numbers stand where `building` says, in a recipe of nothing else.
_BLANK = " " * 200


def _recipe(micro_batch: int, steps: int, ranks: int) -> Run:
    text = list(_BLANK)
    for at, value in ((30, micro_batch), (60, steps)):
        text[at : at + 2] = f"{value:2}"
    return run(micro(micro_batch), accumulation(steps), world(ranks), of=document("".join(text)))


def _batch(of: Run) -> Quantity:
    found = of.geometry.get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(found, Quantity)
    return found


@pytest.mark.parametrize(
    ("micro_batch", "steps", "ranks", "wanted", "words"),
    [
        # 127 is not a multiple of 16 processes.
        (4, 2, 16, 127, []),
        (4, 2, 16, 0, []),
        # 64 / (4 x 16) = 1; 64 / (2 x 16) = 2.
        (4, 2, 16, 64, ["gradient_accumulation_steps to 1", "micro_batch_size to 2"]),
        # 64 / (8 x 16) is not a whole number; 64 / (1 x 16) = 4.
        (8, 1, 16, 64, ["micro_batch_size to 4"]),
        # 128 / 16 = 8 = 2 x 4: neither 3 x n nor n x 3.
        (3, 3, 16, 128, ["gradient_accumulation_steps to 4 and micro_batch_size to 2"]),
    ],
)
def test_the_changes_that_reach_a_batch(micro_batch: int, steps: int, ranks: int, wanted: int, words: list[str]) -> None:
    of = _recipe(micro_batch, steps, ranks)
    assert [repair.words for repair in reaching(of, _batch(of), wanted)] == words


def test_a_number_without_a_place_is_reported_and_not_edited() -> None:
    of = run(micro(4), size(Name.GRADIENT_ACCUMULATION_STEPS, 2, Origin.DEFAULT), world(16), of=document(_BLANK))
    assert next((repair.words, repair.fix) for repair in reaching(of, _batch(of), 256)) == ("gradient_accumulation_steps to 4", None)


@pytest.mark.parametrize(
    ("top", "bottom", "titles"),
    [
        # 100 of 24: 96 and 120; 24 = 3 x 8 ranks, of 100 / 8 nothing is whole.
        (100, (3, 8), ["change global_batch_size to 96", "change global_batch_size to 120"]),
        # 20 of 24: there is none below.
        (20, (3, 8), ["change global_batch_size to 24"]),
        # 96 of 40 = 5 x 8: 80 and 120, or 4 and 6 of the 12 on each rank.
        (
            96,
            (5, 8),
            [
                "change global_batch_size to 80",
                "change global_batch_size to 120",
                "change micro_batch_size to 4",
                "change micro_batch_size to 6",
            ],
        ),
    ],
)
def test_the_nearest_numbers_that_divide(top: int, bottom: tuple[int, int], titles: list[str]) -> None:
    text = list(_BLANK)
    text[30:32] = f"{bottom[0]}  "[:2]
    of = run(of=document("".join(text)))
    stated = Quantity(
        Name.GLOBAL_BATCH_SIZE, top, Origin.FILE, at=place(90, "other.yaml")._replace(stop=90 + len(str(top))), key="global_batch_size"
    )
    sizes = micro(bottom[0])._replace(at=place(30, "other.yaml")._replace(stop=31)), world(bottom[1])
    assert [fix.title for fix in fixes(dividing(of, (stated,), sizes))] == titles


def test_numbers_of_processes_are_never_changed() -> None:
    ranks = Quantity(Name.DATA_PARALLEL_SIZE, 3, Origin.FILE, at=place(30, "other.yaml"), key="dp_size")
    of = run(of=document(_BLANK))
    assert dividing(of, (ranks,), (Quantity(Name.EXPERT_PARALLEL_SIZE, 2, Origin.FILE, at=place(60, "other.yaml"), key="ep"),)) == []


def test_the_least_number() -> None:
    of = _recipe(1, 2, 8)
    # 1 is to be 2.
    assert at_least(of, (micro(1),), (), 2) == []  # the place spans two characters: another text than the number stands there
    one = micro(1)._replace(at=place(31)._replace(stop=32))
    assert [fix.title for fix in fixes(at_least(of, (one,), (), 2))] == ["change micro_batch_size to 2"]


@pytest.mark.parametrize(
    ("written", "value", "text"), [("128", 2048, "2048"), ("1,024", 2048, "2,048"), ("1_024", 2048, "2_048"), ("1k", 512, "512")]
)
def test_numbers_are_spelt_as_they_were(written: str, value: int, text: str) -> None:
    assert spelt(written, value) == text


def test_a_title_names_every_number_once() -> None:
    of = run(of=document("# 4 x 2 = 8\n"))
    fix = in_comment(of, [(place(10)._replace(start=10, stop=11), 16), (place(6)._replace(start=6, stop=7), 4)])
    assert fix.title == "change 2 in the comment to 4 and 8 to 16"
