"""Scaling one recipe in memory: what is changed, what is left alone, and the original bytes on the way back."""

import pytest

from pytest_gbs import Given
from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.model.location import Source
from pytest_gbs.model.scaling import Scaled, Stuck
from tests.fixes.scaling import after, and_back, scaled

TRL = (
    "model_name_or_path: m\ndataset_name: d\nmax_length: 4096\nper_device_train_batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"
)
NO_STEPS = "model_name_or_path: m\ndataset_name: d\nmax_length: 4096\nper_device_train_batch_size: 4\nlearning_rate: 1.0e-5\n"
NEMO = """\
trainer:
  num_nodes: {nodes}
  devices: 8
  max_steps: 1000
model:
  micro_batch_size: {micro}
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
  encoder_seq_length: 2048
  optim: {{name: fused_adam}}
"""


def _on(world: int) -> Given:
    return Given(world_size=world)


def _text(result: Scaled | Stuck, before: str, name: str = "sft.yaml") -> str:
    assert isinstance(result, Scaled), result
    return after(result, Source(name, before)).text


def _back(result: Scaled | Stuck, before: str, name: str = "sft.yaml") -> str:
    assert isinstance(result, Scaled), result
    found = and_back(result, Source(name, before))
    assert isinstance(found, Source), found
    return found.text


@pytest.mark.parametrize(
    ("before", "expected", "to", "here"),
    [
        pytest.param(TRL.format(micro=4, steps=8), TRL.format(micro=4, steps=4), 16, 8, id="accumulation first"),
        pytest.param(TRL.format(micro=4, steps=8), TRL.format(micro=4, steps=64), 1, 8, id="one GPU"),
        pytest.param(TRL.format(micro=4, steps=1), TRL.format(micro=2, steps=1), 16, 8, id="then the micro batch"),
        pytest.param(TRL.format(micro=4, steps=3), TRL.format(micro=3, steps=2), 16, 8, id="the largest micro batch that divides"),
        pytest.param(TRL.format(micro=4, steps="'8'"), TRL.format(micro=4, steps="'4'"), 16, 8, id="quotes stay"),
        pytest.param(
            "# 8 GPUs, GBS 256\n" + TRL.format(micro=4, steps=8), "# 4 GPUs, GBS 256\n" + TRL.format(micro=4, steps=16), 4, 0, id="GPUs"
        ),
        pytest.param(
            "# global batch size 256 = 4 x 8 x 8\n" + TRL.format(micro=4, steps=8),
            "# global batch size 256 = 4 x 4 x 16\n" + TRL.format(micro=4, steps=4),
            16,
            8,
            id="a product without names",
        ),
        pytest.param(
            TRL.format(micro=4, steps="8  # 4 * 8 * 8 GPUs = 256 global batch size"),
            TRL.format(micro=4, steps="4  # 4 * 4 * 16 GPUs = 256 global batch size"),
            16,
            0,
            id="a product behind a key",
        ),
        pytest.param(
            "# gbs: 256 on 8 gpus\n" + TRL.format(micro=4, steps=8),
            "# gbs: 256 on 16 gpus\n" + TRL.format(micro=4, steps=4),
            16,
            0,
            id="ours",
        ),
    ],
)
def test_the_batch_is_kept_and_the_way_back_is_exact(before: str, expected: str, to: int, here: int) -> None:
    result = scaled(before, _on(to), _on(here) if here else Given())
    assert _text(result, before) == expected
    assert _back(result, before) == before


def test_a_larger_micro_batch_is_taken_only_where_it_may_and_must_be() -> None:
    before = TRL.format(micro=1, steps=8)
    assert _text(scaled(before, _on(4), _on(8), most=8), before) == TRL.format(micro=1, steps=16)
    json = '{"model_name_or_path": "m", "dataset_name": "d", "max_length": 64, "per_device_train_batch_size": 1}'
    found = scaled(json, _on(4), _on(8), "sft.json")
    assert isinstance(found, Stuck)
    assert "accumulation 2 would keep the batch, but the recipe has no editable number for it" in found.reason
    assert '"per_device_train_batch_size": 2}' in _text(scaled(json, _on(4), _on(8), "sft.json", most=2), json, "sft.json")


def test_a_smaller_largest_micro_batch_moves_samples_into_the_accumulation() -> None:
    before = TRL.format(micro=8, steps=2)
    assert _text(scaled(before, _on(8), _on(8), most=4), before) == TRL.format(micro=4, steps=4)


class TestTheKeyThatIsNotThere:
    """An accumulation left to its default is put in, marked, and taken out again."""

    @pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
    def test_it_is_put_in_and_taken_out(self, end: str) -> None:
        before = NO_STEPS.replace("\n", end)
        result = scaled(before, _on(2), _on(8))
        text = _text(result, before)
        assert f"train_batch_size: 4{end}gradient_accumulation_steps: 4  # added by gbs scale{end}learning" in text
        assert _back(result, before) == before

    def test_at_the_end_of_a_file_without_a_line_break(self) -> None:
        before = NO_STEPS.partition("learning")[0].rstrip()
        result = scaled(before, _on(2), _on(8))
        assert _text(result, before) == before + "\ngradient_accumulation_steps: 4  # added by gbs scale"
        assert _back(result, before) == before

    def test_what_a_person_wrote_is_not_taken_out(self) -> None:
        before = NO_STEPS + "gradient_accumulation_steps: 4\n"
        assert _text(scaled(before, _on(32), _on(8)), before) == NO_STEPS + "gradient_accumulation_steps: 1\n"


class TestWhereTheBatchIsGiven:
    """Frameworks whose recipes state the global batch size."""

    def test_nothing_but_the_hardware_changes(self) -> None:
        before = NEMO.format(nodes=2, micro=1)
        result = scaled(before, Given(num_nodes=4))
        assert _text(result, before) == NEMO.format(nodes=4, micro=1)
        assert _back(result, before) == before

    def test_the_micro_batch_moves_where_it_must(self) -> None:
        before = NEMO.format(nodes=2, micro=4)
        result = scaled(before, Given(num_nodes=8))
        assert _text(result, before) == NEMO.format(nodes=8, micro=2)
        assert _back(result, before) == before

    def test_model_parallelism_is_not_given_up(self) -> None:
        result = scaled(NEMO.format(nodes=2, micro=1), _on(1))
        assert isinstance(result, Stuck)
        assert (result.target, result.reason) == (64, "tensor parallel size 2 would be 1")


@pytest.mark.parametrize(
    ("before", "to", "here", "reason"),
    [
        pytest.param(
            TRL.format(micro=4, steps=8),
            _on(24),
            _on(8),
            "no integer accumulation keeps the batch: 256 is not a multiple of 24 on 24 GPUs",
            id="24",
        ),
        pytest.param(TRL.format(micro=4, steps=8), _on(4), Given(), "its current GPU count is unknown", id="unknown"),
        pytest.param(
            TRL.format(micro=4, steps=8), Given(num_nodes=2), _on(8), "the number of GPUs per node is unknown", id="nodes of what"
        ),
        pytest.param("# GBS 128 on 8 GPUs\n" + TRL.format(micro=4, steps=8), _on(4), Given(), "fix that first", id="false claim"),
        pytest.param(TRL.format(micro="&b 4", steps="*b"), _on(4), _on(8), "has no editable number for it", id="an alias"),
        pytest.param(TRL.format(micro="0x4", steps=1), _on(16), _on(8), "", id="hexadecimal"),
    ],
)
def test_it_says_why_it_can_not(before: str, to: Given, here: Given, reason: str) -> None:
    found = scaled(before, to, here)
    assert isinstance(found, Stuck)
    assert reason in found.reason


def test_the_gpus_that_a_claim_needs_are_taken_for_granted() -> None:
    before = "# Config for 2 nodes with GBS 512\n" + TRL.format(micro=4, steps=8)
    result = scaled(before, Given(num_nodes=4))
    assert _text(result, before) == "# Config for 4 nodes with GBS 512\n" + TRL.format(micro=4, steps=4)
    assert isinstance(result, Scaled)
    assert tuple(map(assumed, result.assumptions)) == ("8 GPUs per node, which the comment needs",)
    assert _back(result, before) == before


def commented(comment: str, steps: int) -> str:
    """A recipe of 4 x steps samples per GPU below a comment."""
    return f"# {comment}\n{TRL.format(micro=4, steps=steps)}"


@pytest.mark.parametrize(
    ("before", "after", "nodes"),
    [
        pytest.param("1 nodes of 8 GPUs with GBS 256", "8 nodes of 8 GPUs with GBS 256", 8, id="a plural of one"),
        pytest.param("8 node of 8 GPUs with GBS 256", "1 node of 8 GPUs with GBS 256", 1, id="a singular of many"),
        pytest.param("a 1 node setup, 8 GPUs per node, GBS 256", "a 8 node setup, 8 GPUs per node, GBS 256", 8, id="before another noun"),
        pytest.param("2 nodes of 8 GPUs with GBS 256", "8 nodes of 8 GPUs with GBS 256", 8, id="many both times"),
    ],
)
def test_a_word_that_does_not_change_with_its_number_stays(before: str, after: str, nodes: int) -> None:
    steps = {1: 8, 2: 4, 8: 1}
    old = next(number for number in steps if f"{number} node" in before)
    text = commented(before, steps[old])
    assert _text(scaled(text, Given(nodes, 8)), text) == commented(after, steps[nodes])


@pytest.mark.parametrize(
    ("one", "many", "gpus"),
    [
        pytest.param("1 node of 8 GPUs, GBS 256", "8 nodes of 8 GPUs, GBS 256", 8, id="nodes"),
        pytest.param("for 1 node with GBS 256", "for 8 nodes with GBS 256", 8, id="nodes of what the claim needs"),
        pytest.param("1 node x 8 GPUs: GBS 256", "8 nodes x 8 GPUs: GBS 256", 8, id="a product"),
        pytest.param("GBS 256 on 1 GPU", "GBS 256 on 8 GPUs", 1, id="GPUs at the end"),
    ],
)
def test_a_word_goes_with_its_number_there_and_back(one: str, many: str, gpus: int) -> None:
    few, lots = commented(one, 64 // gpus), commented(many, 8 // gpus)
    nodes = gpus > 1
    for before, expected, to in ((few, lots, 8), (lots, few, 1)):
        result = scaled(before, Given(to, gpus) if nodes else _on(to))
        assert _text(result, before) == expected
        assert _back(result, before) == before


NANOTRON = """\
parallelism:
  dp: {dp}
  pp: 1
  tp: 2
tokens:
  batch_accumulation_per_replica: {steps}
  micro_batch_size: 2
  sequence_length: 2048
"""


def test_replicas_that_the_recipe_states_follow_the_gpus() -> None:
    before = NANOTRON.format(dp=8, steps=4)
    result = scaled(before, _on(4))
    assert _text(result, before) == NANOTRON.format(dp=2, steps=16)
    assert _back(result, before) == before
    odd = scaled(before, _on(7))
    assert isinstance(odd, Stuck)
    assert odd.reason == "7 GPUs would not be a whole number of data-parallel ranks"


def test_what_counts_optimizer_steps_is_named() -> None:
    result = scaled(TRL.format(micro=4, steps=8) + "warmup_steps: 100\nsave_steps: 50\nlr_warmup_ratio: 0.1\n", _on(16), _on(8))
    assert isinstance(result, Scaled)
    assert result.counted == ("save_steps", "warmup_steps")


def test_what_is_near_is_reported() -> None:
    found = scaled(TRL.format(micro=4, steps=8), _on(24), _on(8))
    assert isinstance(found, Stuck)
    assert found.near == (240, 264, (8, 16, 32, 64))


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param("# trained on 8 GPUs originally", id="history"),
        pytest.param("# 8 GPUs recommended", id="advice"),
        pytest.param("# gradient_accumulation_steps: 8", id="a setting that is commented out"),
        pytest.param("# needs 8 GB", id="no GPUs"),
    ],
)
def test_other_comments_are_left_alone(comment: str) -> None:
    before = f"{comment}\n{TRL.format(micro=4, steps=8)}"
    assert _text(scaled(before, _on(16), _on(8)), before).startswith(f"{comment}\n")


@pytest.mark.parametrize("steps", ["999999999999999999", "1000000007", "-4", "0", "auto", "[1]", "8.5"])
def test_odd_numbers_neither_hang_nor_raise(steps: str) -> None:
    assert isinstance(scaled(TRL.format(micro=4, steps=steps), _on(24), _on(8)), (Scaled, Stuck))
