"""fairseq2: batches worked out by hand, counted in examples or filled with tokens, and what it stops at."""

from pathlib import Path

import pytest

from pytest_gbs.cli import main
from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, stumbles, title, value

# recipes/lm/sft/configs/gemma3n_e2b_gsm8k.yaml, reduced.
COUNTED = """\
dataset:
  valid_split: "sft_test"
  batch_size: {batch}
  chat_mode: true
trainer:
  grad_accumulation:
    num_batches: {steps}
regime:
  num_steps: 100_000
  validate_every_n_steps: 100
"""
# recipes/lm/sft/configs/olmo2_1b_gsm8k.yaml, reduced.
FILLED = """\
model:
  name: "olmo-2-0425-1b"
dataset:
  max_seq_len: {length}
  max_num_tokens: {tokens}
  chat_mode: false
regime:
  num_steps: 100000
  checkpoint_every_n_steps: {save}
  validate_every_n_steps: 100
  publish_metrics_every_n_steps: 1
"""
# recipes/lm/train/configs/test_llama3_2_1b.yaml, reduced.
PRETRAINING = """\
dataset:
  family: lm_train
  max_seq_len: 4096
  max_num_tokens: 16384
  sync_ranks: false
gang:
  tensor_parallel_size: {tensor}
trainer:
  grad_accumulation:
    num_batches: 2
regime:
  num_steps: 520000
"""
# recipes/wav2vec2/asr/configs/large_10h.yaml, reduced.
SPEECH = """\
dataset:
  max_audio_len: 640_000
  max_num_elements: 1_280_000
trainer:
  freeze_encoder_for_n_steps: 10_000
  grad_accumulation:
    num_batches: 5
regime:
  validate_every_n_steps: 1_000
  publish_metrics_every_n_steps: 200
"""


def _counted(batch: object = 4, steps: object = 2) -> str:
    return COUNTED.format(batch=batch, steps=steps)


def _filled(length: int = 4096, tokens: int = 8192, save: object = 100) -> str:
    return FILLED.format(length=length, tokens=tokens, save=save)


NO_RECIPES = {
    "no regime": "dataset:\n  chat_mode: true\n  batch_size: 4\nmodel:\n  name: llama3_2_1b\n",
    "a dataset of somebody's own": "dataset:\n  batch_size: 4\nregime:\n  num_steps: 100\n",
    "an evaluation": "dataset:\n  valid_split: test_other\n  max_num_elements: 3_200_000\nmodel:\n  name: wav2vec2_asr_base_10h\n",
    "before 0.5": COUNTED.format(batch=4, steps=2).replace("  grad_accumulation:\n    num_batches: 2\n", "  gradient_accumulation: 2\n"),
    "preferences": COUNTED.format(batch=4, steps=2) + "criterion:\n  name: dpo\n",
}


@pytest.mark.parametrize("text", NO_RECIPES.values(), ids=NO_RECIPES)
def test_others_are_left_alone(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_counted(), "fairseq2 (SFT)"),
        (_filled(), "fairseq2 (SFT)"),
        (PRETRAINING.format(tensor=1), "fairseq2 (pretraining)"),
        (PRETRAINING.format(tensor=1).replace("  family: lm_train\n", ""), "fairseq2 (pretraining)"),
        (SPEECH, "fairseq2 (speech)"),
    ],
    ids=["examples", "tokens", "pretraining", "pretraining by a key", "speech"],
)
def test_each_recipe_is_recognised_by_its_dataset(text: str, expected: str) -> None:
    assert title(text) == expected


@pytest.mark.parametrize(("world", "expected"), [(1, 8), (8, 64), (24, 192)], ids=str)
def test_a_batch_of_examples_is_batch_size_times_batches_times_gpus(world: int, expected: int) -> None:
    assert value(sizes(_counted(), world_size=world).get(Name.GLOBAL_BATCH_SIZE)) == expected  # 4 x 2 x world


def test_tensor_parallel_ranks_read_the_same_examples() -> None:
    text = _counted() + "gang:\n  tensor_parallel_size: 4\n"
    assert value(sizes(text, world_size=16).get(Name.GLOBAL_BATCH_SIZE)) == 32  # 4 x 2 x 16/4


def test_one_batch_makes_a_step_by_default() -> None:
    text = _counted().replace("trainer:\n  grad_accumulation:\n    num_batches: 2\n", "")
    assert value(sizes(text, world_size=8).get(Name.GLOBAL_BATCH_SIZE)) == 32  # 4 x 1 x 8


@pytest.mark.parametrize("text", [_filled(), _counted("null"), _counted("~")], ids=["no batch size", "null", "tilde"])
def test_how_many_examples_fill_a_batch_of_tokens_is_not_known(text: str) -> None:
    found = sizes(text, world_size=8)
    assert found.value(Name.MICRO_BATCH_SIZE) is None
    assert found.value(Name.GLOBAL_BATCH_SIZE) is None


def test_a_batch_of_tokens_bounds_the_tokens_of_a_step() -> None:
    assert value(sizes(_filled(), world_size=8).get(Name.TOKENS_PER_STEP)) == 65_536  # 8192 x 1 x 8
    assert value(sizes(_counted("null"), world_size=8).get(Name.TOKENS_PER_STEP)) == 262_144  # 16384 by default x 2 x 8


def test_packed_text_is_counted_in_tokens() -> None:
    found = sizes(PRETRAINING.format(tensor=2), world_size=64)
    assert value(found.get(Name.GLOBAL_BATCH_SIZE)) == 1_048_576  # 16384 x 2 x 64/2
    assert value(found.get(Name.TOKENS_PER_STEP)) == 1_048_576


def test_speech_has_its_accumulation_and_no_batch() -> None:
    found = sizes(SPEECH, world_size=8)
    assert found.value(Name.GRADIENT_ACCUMULATION_STEPS) == 5
    assert found.value(Name.GLOBAL_BATCH_SIZE) is None
    without = SPEECH.replace("  grad_accumulation:\n    num_batches: 5\n", "")
    assert sizes(without).value(Name.GRADIENT_ACCUMULATION_STEPS) is None  # 4 or 1


def test_without_a_split_nothing_is_evaluated() -> None:
    assert value(sizes(_counted()).get(Name.EVAL_STEPS)) == 100
    assert sizes(_counted().replace('  valid_split: "sft_test"\n', "")).value(Name.EVAL_STEPS) is None
    assert sizes(PRETRAINING.format(tensor=1)).value(Name.EVAL_STEPS) is None


@pytest.mark.parametrize("batch", ['"4"', "4.0", "true", "${env:BATCH:4}"])
def test_what_int_takes_is_not_a_mistake(batch: str) -> None:
    assert stumbles(_counted(batch)) == {}


def test_numbers_are_read_as_yaml_1_2_has_them() -> None:
    assert value(sizes(_counted(10, "010"), world_size=1).get(Name.GLOBAL_BATCH_SIZE)) == 100  # 10 x 10: no octal


def test_what_it_stops_at() -> None:
    assert stumbles(_counted(0, 0)) == {"batch_size": "stops", "num_batches": "stops"}
    assert stumbles(_counted("auto", "null")) == {"batch_size": "stops", "num_batches": "stops"}
    assert stumbles(PRETRAINING.format(tensor=0).replace("16384", "0")) == {"max_num_tokens": "stops-late", "tensor_parallel_size": "stops"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_filled(4096, 8192), [Verified]),
        (_filled(8192, 8192), [Verified]),
        (_counted(4).replace("  batch_size: 4\n", "  batch_size: 4\n  max_seq_len: 3000\n"), []),
        (_filled(3000, 8192), [Finding]),
        (_filled(16384, 8192), [Finding]),
    ],
    ids=["two", "one", "a batch of examples", "no multiple", "less than one"],
)
def test_a_batch_of_tokens_holds_whole_sequences(text: str, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes("GBS202", text)] == expected


def test_intervals_are_multiples() -> None:
    # Validation 100, saving 100, and keeping 4000 by default, with metrics published each step.
    assert [type(outcome) for outcome in outcomes("GBS208", _filled())] == [Verified, Verified, Verified]


@pytest.mark.parametrize("save", ["null", "~"])
def test_an_interval_that_is_switched_off_is_not_compared(save: str) -> None:
    assert [type(outcome) for outcome in outcomes("GBS208", _filled(save=save))] == [Verified]


def test_intervals_of_speech_have_no_defaults() -> None:
    assert [type(outcome) for outcome in outcomes("GBS208", SPEECH)] == [Verified]
    assert Finding not in [type(outcome) for outcome in outcomes("GBS208", SPEECH + "  keep_checkpoint_every_n_steps: 300\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_filled(save=300), [Verified, Verified, Finding]),  # 4000 / 300
        (_filled(save=50) + "  keep_best_n_checkpoints: 2\n", [Verified, Verified, Finding, Verified]),  # 50 / 100
        (_counted() + "  checkpoint_every_n_steps: 25\n", [Verified, Finding, Verified]),  # 25 / 10 by default
        (SPEECH.replace("1_000", "1_100"), [Finding]),  # 1100 / 200
    ],
    ids=["kept", "best", "published", "validated"],
)
def test_intervals_that_are_not_multiples_stop_it(text: str, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes("GBS208", text)] == expected


def test_undecided_is_not_a_finding() -> None:
    text = _filled().replace("publish_metrics_every_n_steps: 1\n", "publish_metrics_every_n_steps: ${env:EVERY:10}\n")
    assert {type(outcome) for outcome in outcomes("GBS208", text)} == {Undetermined, Verified}


@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        pytest.param((), [], id="GPUs unknown"),
        pytest.param(("--world-size", "8"), ["  tokens per step       65,536   at most: 8,192 x 1 x 8"], id="known"),
    ],
)
def test_the_tokens_that_fill_a_step_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], lines: list[str]
) -> None:
    text = "dataset:\n  chat_mode: true\n  max_num_tokens: 8192\n  max_seq_len: 4096\nregime:\n  num_steps: 10\n"
    (tmp_path / "sft.yaml").write_text(text)
    assert main(["show", *flags, str(tmp_path / "sft.yaml")]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if "tokens per step" in line] == lines
