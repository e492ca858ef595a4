"""Fast-LLM: batches of tokens and, before version 0.4, of samples, worked out by hand, and what it stumbles over."""

import pytest

from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name, Quantity

from .building import outcomes, sizes, stumbles, title, value

RUN = """\
training: {train_iters: 100, checkpoint: {interval: null}}
run: {experiment_dir: out}
"""
DEGREES = "model: {{multi_stage: {{zero_stage: 2}}, distributed: {{tensor_parallel: {tensor}, sequence_data_parallel: {sequence}}}}}\n"


def _tokens(data: str = "micro_batch_size: 8192", schedule: str = "", tensor: object = 1, sequence: object = 1) -> str:
    return f"{RUN}data: {{{data}}}\nschedule: {{{schedule}}}\n" + DEGREES.format(tensor=tensor, sequence=sequence)


def _samples(batch: str, tensor: object = 1, sequence: object = 1) -> str:
    return f"{RUN}batch: {{{batch}}}\n" + DEGREES.format(tensor=tensor, sequence=sequence)


def _kinds(code: str, text: str, /, **hardware: int) -> list[type]:
    return [type(outcome) for outcome in outcomes(code, text, "recipe.yaml", **hardware)]


def test_what_prepares_data_is_not_a_recipe() -> None:
    assert title("dataset: {path: my/data, split: train}\ntokenizer: {path: my/model}\noutput_path: out\nnum_workers: 8\n") is None
    assert title("decoder: {num_blocks: 3}\n") is None
    assert title(DEGREES.format(tensor=1, sequence=1) + "data: {micro_batch_size: 8192}\n") is None


def test_the_keys_tell_both_versions_apart() -> None:
    assert title(_tokens()) == "Fast-LLM"
    assert title(_samples("batch_size: 16")) == "Fast-LLM (before 0.4)"


# Tokens = tokens of a micro batch x depth first x breadth first x GPUs / (tensor x pipeline x sequence data).
@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(_tokens(), 8, 65_536, id="8192 x 8"),
        pytest.param(_tokens("maximum_document_length: 4096"), 8, 16_384, id="2048 by default x 8"),
        pytest.param(_tokens(schedule="depth_first_micro_batches: 4"), 8, 262_144, id="8192 x 4 x 8"),
        pytest.param(_tokens(schedule="breadth_first_micro_batches: 2"), 8, 131_072, id="8192 x 2 x 8"),
        pytest.param(_tokens(schedule="depth_first_micro_batches: 1, breadth_first_micro_batches: 2"), 8, 131_072, id="8192 x 1 x 2 x 8"),
        pytest.param(_tokens(tensor=2, sequence=2), 16, 32_768, id="8192 x 16 / 2 / 2"),
    ],
)
def test_the_batch_is_counted_in_tokens(text: str, world: int, expected: int) -> None:
    geometry = sizes(text, world_size=world)
    batch = geometry.get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.unit, value(geometry.get(Name.TOKENS_PER_STEP))) == (expected, "tokens", expected)


def test_micro_batches_that_go_both_ways_are_left_unknown() -> None:
    text = _tokens(schedule="depth_first_micro_batches: 4, breadth_first_micro_batches: 2")
    assert sizes(text, world_size=8).value(Name.GLOBAL_BATCH_SIZE) is None


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        pytest.param("micro_batch_size: 2, batch_size: 16", (16, 2, 2), id="16 / (2 x 4)"),
        pytest.param("batch_size: 16", (16, 4, 1), id="the micro batch follows: 16 / 4"),
        pytest.param("batch_size: 16, depth_first_micro_batches: 2", (16, 2, 2), id="it follows: 16 / (2 x 4)"),
        pytest.param("micro_batch_size: 3, breadth_first_micro_batches: 5", (60, 3, 5), id="the batch follows: 3 x 5 x 4"),
        pytest.param("sequence_length: 4096", (4, 1, 1), id="1 x 1 x 4 by default"),
        pytest.param("micro_batch_size: 2, batch_size: 16, depth_first_micro_batches: 7", (16, 2, 2), id="the accumulation follows"),
    ],
)
def test_before_0_4_any_two_sizes_give_the_third(batch: str, expected: tuple[int, int, int]) -> None:
    geometry = sizes(_samples(batch, tensor=2), world_size=8)  # 4 replicas
    names = (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
    assert tuple(value(geometry.get(name)) for name in names) == expected


def test_a_sample_of_before_0_4_is_a_row_of_tokens() -> None:
    batch = sizes(_samples("sequence_length: 4096, batch_size: 16")).get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(batch, Quantity)
    assert batch.unit == "samples"
    assert value(sizes(_samples("sequence_length: 4096, batch_size: 16")).get(Name.SEQUENCE_LENGTH)) == 4096
    assert value(sizes(_samples("batch_size: 16")).get(Name.SEQUENCE_LENGTH)) == 2048


def test_intervals_are_iterations() -> None:
    stated = sizes(_tokens()).stated
    assert (value(stated[Name.MAX_STEPS]), value(stated[Name.SAVE_STEPS]), value(stated[Name.LOGGING_STEPS])) == (100, "auto", 100)


@pytest.mark.parametrize(("world", "kind"), [(4, Verified), (8, Verified), (6, Finding)], ids=str)
def test_a_step_holds_whole_micro_batches(world: int, kind: type) -> None:
    assert _kinds("GBS202", _samples("micro_batch_size: 2, batch_size: 16"), world_size=world) == [kind]


def test_a_step_divides_into_equal_micro_batches() -> None:
    text = _samples("batch_size: 16, depth_first_micro_batches: 2")
    assert _kinds("GBS202", text, world_size=8) == [Verified]  # 16 / (2 x 8) = 1
    assert _kinds("GBS202", text, world_size=3) == [Finding]
    assert _kinds("GBS202", _samples("micro_batch_size: 2"), world_size=3) == []


def test_sequence_data_parallelism_takes_equal_parts() -> None:
    assert _kinds("GBS202", _tokens(), world_size=6) == []
    assert _kinds("GBS202", _tokens(sequence=2), world_size=8) == [Verified]
    assert _kinds("GBS202", _tokens(sequence=3), world_size=6) == [Finding]  # 8192 / 3


def test_tensor_parallelism_stays_within_a_node() -> None:
    assert _kinds("GBS201", _tokens(), gpus_per_node=8, num_nodes=2) == []
    assert _kinds("GBS201", _tokens(tensor=4), gpus_per_node=8, num_nodes=2) == [Verified]
    assert _kinds("GBS201", _tokens(tensor=16), gpus_per_node=8, num_nodes=2) == [Finding]


def test_null_and_no_iterations_are_not_a_mistake() -> None:
    assert stumbles(_samples("batch_size: 16, micro_batch_size: null")) == {}
    assert stumbles(_tokens().replace("train_iters: 100", "train_iters: 0")) == {}


@pytest.mark.parametrize("written", ["0", "-8", "8.0", "'8'", "true", "null"])
def test_anything_but_a_positive_whole_number_stops_it(written: str) -> None:
    assert stumbles(_tokens(f"micro_batch_size: {written}")) == {"micro_batch_size": "stops"}
