"""Sizes and sums in words."""

import pytest

from pytest_gbs.arithmetic.wording import (
    amounts,
    assumed,
    called,
    count,
    degree,
    fraction,
    leaves,
    listing,
    quotient,
    several,
    short,
    symbolic_product,
)
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.equation import Monomial
from pytest_gbs.model.quantity import Name, Note, Origin, Quantity, Reason, Unknown


@pytest.mark.parametrize(
    ("name", "long", "brief"),
    [
        pytest.param(Name.GLOBAL_BATCH_SIZE, "global batch size", "global batch", id="with words of its own"),
        pytest.param(Name.TRAIN_SAMPLES, "train samples", "train samples", id="without"),
    ],
)
def test_what_a_size_is_called(name: str, long: str, brief: str) -> None:
    assert (called(name), short(name)) == (long, brief)


@pytest.mark.parametrize(
    ("origin", "note", "words"),
    [
        pytest.param(Origin.FILE, "", "tensor 2", id="stated"),
        pytest.param(Origin.FILE, "a remark", "tensor 2", id="stated, with a note"),
        pytest.param(Origin.DERIVED, "", "tensor 2", id="computed"),
        pytest.param(Origin.DERIVED, "16, clamped to the GPUs", "tensor 2 (16, clamped to the GPUs)", id="another than is stated"),
    ],
)
def test_a_parallel_size_says_why_it_is_another(origin: str, note: str, words: str) -> None:
    assert degree(Quantity(Name.TENSOR_PARALLEL_SIZE, 2, origin, note=Note(note))) == words


@pytest.mark.parametrize(("value", "words"), [(1, "1 node"), (2, "2 nodes"), (4_096, "4,096 nodes")])
def test_one_is_singular(value: int, words: str) -> None:
    assert count(value, Name.NUM_NODES) == words


@pytest.mark.parametrize(("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")])
def test_a_list_of_words(words: list[str], text: str) -> None:
    assert listing(words) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param([8], "8", id="one"),
        pytest.param([8, 16], "8 or 16", id="two"),
        pytest.param([8, 16, 24], "8, 16 or 24", id="three"),
        pytest.param([94, 95, 96, 97], "94 to 97", id="four in a row"),
        pytest.param([8, 16, 24, 128], "8, 16, ... or 128", id="four with gaps"),
        pytest.param([94, 95, 96, 98], "94, 95, ... or 98", id="a gap at the end"),
        pytest.param(range(2, 2_000, 2), "2, 4, ... or 1,998", id="999 of them"),
        pytest.param(range(2, 2_002, 2), "2, 4, 6 or more", id="as many as are distinguished"),
    ],
)
def test_several_numbers(values: list[int], text: str) -> None:
    assert several(values) == text


@pytest.mark.parametrize(
    ("values", "name", "text"),
    [
        ([1], Name.NUM_NODES, "1 node"),
        ([2, 4], Name.WORLD_SIZE, "2 or 4 GPUs"),
        ([30, 31], Name.MICRO_BATCH_SIZE, "micro batch size 30 or 31"),
    ],
)
def test_numbers_with_the_word_for_their_size(values: list[int], name: str, text: str) -> None:
    assert amounts(values, name) == text


@pytest.mark.parametrize(
    ("top", "bottom", "text"),
    [(["a", "b"], [], "a x b"), (["a"], ["b"], "a / b"), (["a", "c"], ["b", "d"], "a x c / (b x d)")],
)
def test_a_product_over_another(top: list[str], bottom: list[str], text: str) -> None:
    assert quotient(top, bottom) == text


@pytest.mark.parametrize(
    ("assumption", "words"),
    [
        pytest.param(Assumption(Assuming.NOT_SET, "NNODES"), "NNODES is not set", id="a variable"),
        pytest.param(Assumption(Assuming.NOT_SET, "1"), "argument 1 is not given", id="an argument"),
        pytest.param(Assumption(Assuming.NOT_SET), "the script's default value is used", id="neither"),
        pytest.param(
            Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 3, "launch/b.yaml:3  num_processes: 16"),
            "8 GPUs per node: 3 launcher files agree (launch/b.yaml:3  num_processes: 16)",
            id="files that agree",
        ),
        pytest.param(
            Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 1), "8 GPUs per node: 1 launcher file says so", id="one file"
        ),
        pytest.param(Assumption(Assuming.LAUNCHES, Name.GPUS_PER_NODE, 1), "1 GPU per node: a launch starts them", id="a launch"),
        pytest.param(Assumption(Assuming.COMMENT, Name.NUM_NODES, 2), "2 nodes, which the comment needs", id="a comment"),
        pytest.param(Assumption(Assuming.LEFT_AS_IT_IS, Name.NUM_NODES, 2), "2 nodes: a comment asks to adapt it", id="left as it is"),
        pytest.param(Assumption(Assuming.ONE_PROCESS), "one process uses all GPUs of its node", id="one process"),
    ],
)
def test_what_is_assumed(assumption: Assumption, words: str) -> None:
    assert assumed(assumption) == words


def test_what_a_size_rests_on() -> None:
    micro, steps = (Quantity(name, 2, Origin.FILE) for name in (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS))
    each = Quantity(Name.RANK_BATCH_SIZE, 4, Origin.DERIVED, because=(micro, steps))
    assert leaves(Quantity(Name.GLOBAL_BATCH_SIZE, 4, Origin.DERIVED, because=(each,))) == (micro, steps)
    assert leaves(Unknown(Name.GLOBAL_BATCH_SIZE, Reason.MISSING)) == ()


def test_what_no_equation_gives_is_the_product_of_its_parts() -> None:
    micro, world = Quantity(Name.MICRO_BATCH_SIZE, 2, Origin.FILE), Quantity(Name.WORLD_SIZE, 8, Origin.GIVEN)
    size = Quantity(Name.GLOBAL_BATCH_SIZE, 16, Origin.DERIVED, because=(micro, world))
    assert fraction(size, ()) == ((micro, world), ())
    assert fraction(micro, ()) is None


@pytest.mark.parametrize(
    ("symbolic", "expected"),
    [
        pytest.param(Monomial(4, (Name.WORLD_SIZE,)), "4 x GPUs", id="four"),
        pytest.param(Monomial(1, (Name.WORLD_SIZE,)), "1 x GPUs", id="one"),
        pytest.param(Monomial(1), "1", id="no size"),
    ],
)
def test_a_symbolic_value_in_a_sentence_has_a_number(symbolic: Monomial, expected: str) -> None:
    assert symbolic_product(symbolic) == expected
