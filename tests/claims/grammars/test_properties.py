"""Whatever a comment holds, reading it ends, raises nothing and points at digits; sentences give back their numbers."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.claims.grammars.names import read_name
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.location import Location
from tests.claims.grammars.support import BATCHES, SOURCE, block, declared

_WORDS = (
    "gbs GBS global effective total batch size of is = : -> x * / // ( ) , . ; 8 16 128 1,024 2k 1M ~ about tokens per step GPUs GPU nodes"
    " node 8xH100 4x8 GB200 micro accum grad_accum= dp8 dp_size(64) on with if paper at least 2**10 samples prompts gbs: not-a-claim + -"
    " 80GB eval # \n"
)
LISTS = st.lists(st.sampled_from(_WORDS.split(" ")), max_size=40)
TEXTS = st.one_of(st.text(max_size=200), LISTS.map(" ".join), LISTS.map("".join))
SIZES = st.integers(1, 4096)


def places(declaration: Declaration) -> list[Location]:
    """Every place that a declaration points at."""
    stated = declaration.sum
    factors = [factor.at for factor in (*stated.factors, *stated.divisors)] if stated else []
    return [declaration.at, *declaration.condition_places, *factors]


@settings(max_examples=500, deadline=None)
@given(text=TEXTS, owner=st.sampled_from([None, ("global_batch_size",), ("gradient_accumulation_steps",), ("eval_steps",)]))
def test_any_text_is_read_and_places_hold_digits(text: str, owner: tuple[str] | None) -> None:
    source = "".join(f"  # {line}\n" for line in text.split("\n"))
    for declaration in declared(text, owner):
        assert declaration.value > 0
        assert declaration.admits(declaration.value)
        assert len(declaration.conditions) == len(declaration.condition_places)
        assert len(declaration.text) <= 200
        for place in places(declaration):
            assert 0 <= place.start < place.stop <= len(source)
            written = source[place.start : place.stop].lower()
            assert any(character.isdigit() for character in written) or written in SPELT_OUT


SPELT_OUT = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "single", "sixteen"}


@given(text=st.text(max_size=100))
def test_any_name_is_read(text: str) -> None:
    for declaration in read_name(text, Location(SOURCE, 7, 7 + len(text))):
        assert text[declaration.at.start - 7 : declaration.at.stop - 7]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 20_000,
        "8 x " * 20_000,
        "((" + "8 * " * 10_000,
        "GBS " * 20_000 + "128",
        "1," * 30_000,
        "1" * 100_000 + " GPUs",
        "a" * 100_000,
        " " * 100_000 + "GBS 128",
        "GBS 128" + " " * 100_000,
        "batch\n" * 20_000 + "8",
        "8 nodes x " * 10_000,
        "unique " * 20_000 + "8 prompts per step gbs",
        "e.g. 8 GPUs. " * 10_000,
        "8 GPUs (1 train " * 10_000,
        "gbs: not-a-claim 8\n" * 5_000,
        "A=B " * 20_000 + "8 gpus",
        "= " * 20_000 + "gbs 8",
        "8 * 8 = " * 10_000 + "gbs",
    ],
    ids=range(18),
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    start = time.process_time()
    read_declarations((block(text),), SOURCE)
    assert time.process_time() - start < 60  # it ends; how fast is for the benchmarks


SENTENCES = (
    "Config for {nodes} nodes with GBS {batch}",
    "global batch size: {batch}\nruns on {nodes} nodes of {gpus} GPUs",
    "effective batch size {batch} with {nodes} nodes",
    "We train with an effective batch size of {batch} on {nodes} nodes x {gpus} GPUs.",
    "GBS={batch} on {nodes} nodes with {gpus} gpus each",
    "gbs: {batch} on {nodes} nodes x {gpus} gpus",
)


@pytest.mark.parametrize("sentence", SENTENCES)
@given(size=SIZES, nodes=st.integers(2, 1024), gpus=st.sampled_from([1, 2, 4, 8, 16]))
def test_a_sentence_gives_back_its_numbers(sentence: str, size: int, nodes: int, gpus: int) -> None:
    (found,) = [d for d in declared(sentence.format(batch=size, nodes=nodes, gpus=gpus)) if d.name in BATCHES]
    assert (found.value, found.force) == (size, "states")
    expected = {"num_nodes": nodes, **({"gpus_per_node": gpus} if "{gpus}" in sentence else {})}
    assert dict(found.conditions) == expected


@pytest.mark.parametrize("sign", [" x ", "x", " * ", "*", " × ", "×"])
@given(micro=SIZES, accumulation=SIZES, gpus=st.integers(2, 512), wrong=st.integers(0, 2))
def test_arithmetic_gives_back_its_numbers(sign: str, micro: int, accumulation: int, gpus: int, wrong: int) -> None:
    result = micro * accumulation * gpus + wrong
    text = f"GBS = {micro}{sign}{accumulation}{sign}{gpus} = {result}"
    (found,) = declared(text)
    assert found.sum is not None
    assert (found.value, found.sum.value) == (result, result - wrong)
    assert [factor.value for factor in found.sum.factors] == [micro, accumulation, gpus]


@given(micro=SIZES, accumulation=SIZES, gpus=st.integers(2, 512))
def test_named_factors_give_back_their_names(micro: int, accumulation: int, gpus: int) -> None:
    result = micro * accumulation * gpus
    text = f"{gpus} GPUs * micro_batch={micro} * grad_accum={accumulation} -> effective batch {result}"
    (found,) = [d for d in declared(text) if d.name in BATCHES]
    assert found.sum is not None
    assert {factor.name: factor.value for factor in found.sum.factors} == {
        "world_size": gpus,
        "micro_batch_size": micro,
        "gradient_accumulation_steps": accumulation,
    }
