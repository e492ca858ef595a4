"""What HALOs alone asks: KTO's pairs, the interval between evaluations, examples and steps, keys without effect."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import Example
from pytest_gbs.model.run import Run
from pytest_gbs.rules import gbs401_kto_pairs_with_itself as pairs
from pytest_gbs.rules import gbs402_evaluation_interval_corrected as interval
from pytest_gbs.rules import gbs403_examples_are_no_whole_steps as examples
from pytest_gbs.rules import gbs404_key_without_effect as effect
from tools.examples import check_example

from .building import only, parsed, shown

Check = Callable[[Run], Iterator[Outcome]]
KTO_TRAINER = "{trainer: KTOTrainer, dataloader: UnpairedPreferenceDataLoader}"
SFT_LOADER = "{trainer: SFTTrainer, dataloader: SFTDataLoader}"


def recipe(*lines: str, loss: str = "kto", model: tuple[str, ...] = ()) -> str:
    """A recipe with `lines` at its top level and `model` below the model."""
    head = ("exp_name: x", "train_datasets: [shp]", "test_datasets: [shp]", f"loss: {loss}", *lines)
    return "".join(f"{line}\n" for line in (*head, "model:", *(f"  {line}" for line in ("name_or_path: my/model", *model))))


def run(text: str, world: int | None = None) -> Run:
    """The run of a recipe on so many processes."""
    document = parsed(text)
    table = recognise(document)
    assert table is not None
    assert table.name in ("halos", "litgpt")
    given = {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, world, Origin.GIVEN)} if world else {}
    return Run(document, table, None, geometry(read_sizes(document, table), given, applied_to(document, table), document), (), ())


def findings(check: Check, text: str, world: int | None = None) -> list[Finding]:
    return [outcome for outcome in check(run(text, world)) if isinstance(outcome, Finding)]


# 401: micro batch = batch / (processes x accumulation).
@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(recipe(), 16, id="32 on 16: two"),
        pytest.param(recipe(loss="dpo"), 32, id="another loss"),
        pytest.param(recipe(loss="grpo"), 32, id="unpaired, but no KL term"),
        pytest.param(recipe(loss="{beta: 0.1}"), 32, id="an unknown loss"),
        pytest.param(recipe(), None, id="processes unknown"),
        pytest.param(recipe(), 64, id="no whole micro batch"),
    ],
)
def test_kto_has_somebody_else_s_answer(text: str, world: int | None) -> None:
    assert findings(pairs.check, text, world) == []


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(recipe(), 32, id="32 on 32"),
        pytest.param(recipe(model=("gradient_accumulation_steps: 4",)), 8, id="32 on 8 in 4 steps"),
        pytest.param(recipe(loss=KTO_TRAINER), 32, id="composed"),
    ],
)
def test_kto_pairs_with_itself(text: str, world: int) -> None:
    found = only(list(pairs.check(run(text, world))))
    assert found.severity == Severity.WARNING
    assert found.message == "in a micro batch of 1, KTO pairs each prompt with its own answer; HALOs continues without a warning"


def test_kto_shows_where_the_one_comes_from() -> None:
    text = recipe(model=("batch_size: 32", "gradient_accumulation_steps: 4"))
    found = only(list(pairs.check(run(text, 8))))
    assert found.details == ("32 = 1 micro x 4 accumulation x 8 data-parallel (8 GPUs)",)
    assert {shown(parsed(text), at) for at in (found.at, *(related.at for related in found.related))} == {"32", "4"}


# 402: eval_every goes down to whole batches.
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(), id="1024 by 32, both by default"),
        pytest.param(recipe("eval_every: 256", model=("batch_size: 8",)), id="256 by 8"),
        pytest.param(recipe("eval_every: 32"), id="each step"),
        pytest.param(recipe("eval_every: 992.0"), id="a whole float"),
    ],
)
def test_whole_batches_between_evaluations(text: str) -> None:
    (outcome,) = interval.check(run(text))
    assert isinstance(outcome, Verified)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe("eval_every: ${EVERY}"), id="an interval from outside"),
        pytest.param(recipe("eval_every: 100", model=("batch_size: ${BATCH}",)), id="a batch from outside"),
        pytest.param(recipe("eval_every: 0"), id="zero is not a correction"),
        pytest.param(recipe("eval_every: -8"), id="below zero"),
    ],
)
def test_an_unknown_interval_is_not_judged(text: str) -> None:
    assert list(interval.check(run(text))) == []


# By hand: 100 - 100 % 32 = 96; 1024 - 1024 % 48 = 1008; 16 - 16 % 32 = 0.
@pytest.mark.parametrize(
    ("text", "severity", "message"),
    [
        pytest.param(
            recipe("eval_every: 100"),
            Severity.WARNING,
            "eval_every 100 is not a multiple of model.batch_size 32; HALOs sets it to 96 and continues",
            id="corrected",
        ),
        pytest.param(
            recipe(model=("batch_size: 48",)),
            Severity.INFO,
            "eval_every 1,024 (the default) is not a multiple of model.batch_size 48; HALOs sets it to 1,008 and continues",
            id="the default corrected",
        ),
        pytest.param(
            recipe("eval_every: 16"),
            Severity.ERROR,
            "eval_every 16 is less than model.batch_size 32; HALOs sets it to 0 and stops with a division by zero during training",
            id="to nothing",
        ),
        pytest.param(
            recipe(model=("batch_size: 2048",)),
            Severity.ERROR,
            "eval_every 1,024 (the default) is less than model.batch_size 2,048; "
            "HALOs sets it to 0 and stops with a division by zero during training",
            id="the default to nothing",
        ),
    ],
)
def test_an_interval_is_corrected(text: str, severity: str, message: str) -> None:
    found = only(list(interval.check(run(text))))
    assert (found.severity, found.message) == (severity, message)


# 403: steps that are planned, n_examples // batch x epochs, against those until the examples are seen.
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(), id="one epoch"),
        pytest.param(recipe("n_epochs: 3"), id="three epochs"),
        pytest.param(recipe("n_examples: null", "n_epochs: 3"), id="no examples"),
        pytest.param(recipe("n_examples: 320"), id="ten steps"),
        pytest.param(recipe("n_examples: 320", "n_epochs: null"), id="examples alone"),
        pytest.param(recipe("n_examples: 320", "n_epochs: 3", loss="sft"), id="SFT plans without epochs"),
        pytest.param(recipe("n_examples: 320", "n_epochs: 3", loss=SFT_LOADER), id="SFT, composed"),
        pytest.param(recipe("n_examples: 320", "n_epochs: 3", loss="{beta: 1}"), id="an unknown loader"),
        pytest.param(recipe("n_examples: ${N}"), id="examples from outside"),
        pytest.param(recipe("n_epochs: ${N}"), id="epochs from outside"),
        pytest.param(
            recipe("n_examples: 100", model=("batch_size: 33", "gradient_accumulation_steps: 2")), id="no whole micro batch at all"
        ),
    ],
)
def test_training_takes_the_steps_that_are_planned(text: str) -> None:
    assert findings(examples.check, text) == []


# By hand, and as measured with the loaders themselves for the first four.
@pytest.mark.parametrize(
    ("text", "severity", "message", "details"),
    [
        pytest.param(
            recipe("n_examples: 10_000", loss="dpo"),
            Severity.INFO,
            "n_examples 10,000 is not a multiple of model.batch_size 32; HALOs trains 313 steps, but plans 312",
            ("313 steps of 32 are 10,016 examples",),
            id="one step more",
        ),
        pytest.param(
            recipe("n_examples: 20_000", model=("batch_size: 64",)),
            Severity.INFO,
            "n_examples 20,000 is not a multiple of model.batch_size 64; HALOs trains 313 steps, but plans 312",
            ("313 steps of 64 are 20,032 examples",),
            id="one step more of 64",
        ),
        pytest.param(
            recipe("n_examples: 100", model=("gradient_accumulation_steps: 2",)),
            Severity.INFO,
            "n_examples 100 is not a multiple of model.batch_size 32; HALOs trains on 96 of them",
            ("3 steps of 32 are 96 examples", "1 micro batch of each process fills no step"),
            id="a micro batch is lost",
        ),
        pytest.param(
            recipe("n_examples: 320", "n_epochs: 3"),
            Severity.WARNING,
            "n_examples 320 ends training after 10 steps, but n_epochs 3 plans 30",
            ("10 steps of 32 are 320 examples", "warmup is a fraction of the planned steps"),
            id="epochs that never come",
        ),
        pytest.param(
            recipe("n_examples: 20"),
            Severity.WARNING,
            "n_examples 20 is not a multiple of model.batch_size 32; HALOs trains 1 step, but plans 0",
            ("1 step of 32 is 32 examples",),
            id="no step is planned",
        ),
        pytest.param(
            recipe("n_examples: 10", model=("gradient_accumulation_steps: 4",)),
            Severity.ERROR,
            "n_examples 10 ends before the first step of 32; HALOs trains nothing and continues",
            (),
            id="no step is taken",
        ),
        pytest.param(
            recipe("n_examples: null", "n_epochs: null"),
            Severity.ERROR,
            "n_epochs and n_examples are both null; HALOs stops at start",
            (),
            id="neither",
        ),
    ],
)
def test_training_takes_other_steps(text: str, severity: str, message: str, details: tuple[str, ...]) -> None:
    found = only(list(examples.check(run(text))))
    assert (found.severity, found.message, found.details) == (severity, message, details)


# 404
@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(recipe(), None, id="nothing odd"),
        pytest.param(recipe("save_every: 5120", "trainer: BasicTrainer"), None, id="as HALOs' own tree has it"),
        pytest.param(recipe(model=("microbatch_size: null", "eval_microbatch_size: null")), None, id="null"),
        pytest.param(recipe(model=("microbatch_size: 8",)), 4, id="what it is anyway"),
        pytest.param(recipe(model=("reward_model_path: my/rm", "reward_model: {path: my/rm}")), None, id="both paths"),
        pytest.param(recipe(model=("reward_model: {path: my/rm}",)), None, id="the path that counts"),
        pytest.param(recipe("eval_every: 320", "lr: 1e-6"), None, id="keys that are read"),
    ],
)
def test_keys_that_count_are_silent(text: str, world: int | None) -> None:
    assert findings(effect.check, text, world) == []


@pytest.mark.parametrize(
    ("text", "world", "message", "span"),
    [
        pytest.param(
            recipe("save_every: 2000"),
            None,
            "save_every is never read; HALOs saves every eval_every examples, if intermediate_checkpoints is on",
            "2000",
            id="saves",
        ),
        pytest.param(recipe("trainer: FSDPTrainer"), None, "trainer is never read; HALOs reads loss.trainer", "FSDPTrainer", id="trainer"),
        pytest.param(recipe("batch_size: 8"), None, "batch_size is never read; HALOs reads model.batch_size", "8", id="at the top"),
        pytest.param(
            recipe(model=("microbatch_size: 4",)),
            4,
            "model.microbatch_size is overwritten; the micro batch size is 8",
            "4",
            id="micro batch",
        ),
        pytest.param(
            recipe(model=("eval_microbatch_size: 4",)),
            None,
            "model.eval_microbatch_size is overwritten; the evaluation batch size per device is batch / (processes x accumulation)",
            "4",
            id="evaluation, processes unknown",
        ),
        pytest.param(
            recipe(loss="ppo", model=("reward_model_path: my/rm", "reward_model: {path: null}")),
            None,
            "model.reward_model_path loads no reward model; HALOs reads model.reward_model.path",
            "my/rm",
            id="reward model",
        ),
    ],
)
def test_keys_without_effect_are_named(text: str, world: int | None, message: str, span: str) -> None:
    found = only(list(effect.check(run(text, world))))
    assert (found.severity, found.message) == (Severity.WARNING, message)
    assert shown(parsed(text), found.at) == span


@pytest.mark.parametrize("check", [pairs.check, interval.check, examples.check, effect.check])
def test_hostile_values_are_taken(check: Check) -> None:
    odd = ("[]", "{}", "''", "~", "-1", "1e400", ".nan", "99999999999999999999999999", "!!int x", "!!python/name:x", "'\u00b2'")
    for value in odd:
        keys = (f"eval_every: {value}", f"n_examples: {value}", f"n_epochs: {value}", f"save_every: {value}", f"batch_size: {value}")
        list(
            check(run(recipe(*keys, model=(f"batch_size: {value}", f"gradient_accumulation_steps: {value}", f"reward_model: {value}")), 4))
        )


PRETRAINING = "model_name: pythia-14m\ntokenizer_dir: y\ntrain:\n  max_tokens: 1000000\n  micro_batch_size: 4\n  global_batch_size: 32\n"
FINETUNING = "checkpoint_dir: x\nlora_r: 8\ntrain:\n  global_batch_size: 32\n  micro_batch_size: 4\n  lr_warmup_steps: 10\n"


@pytest.mark.parametrize("text", [PRETRAINING, PRETRAINING + "  max_steps: null\n", FINETUNING + "  max_steps: 100\n"])
def test_steps_of_litgpt_that_count_are_silent(text: str) -> None:
    assert findings(effect.check, text) == []


def test_pretraining_of_litgpt_counts_no_steps() -> None:
    (found,) = findings(effect.check, PRETRAINING + "  max_steps: 100\n")
    assert found.message == "train.max_steps is never read; litgpt pretrains for train.max_tokens"


@pytest.mark.parametrize(
    ("script", "label", "beside"),
    [
        pytest.param("{command} 100\n", "no effect", [], id="a number"),
        pytest.param("STEPS=100\n{command} $STEPS\n", "sets it", ["its value"], id="a variable, which may be used elsewhere"),
    ],
)
def test_what_has_no_effect_is_the_option(tmp_path: Path, script: str, label: str, beside: list[str]) -> None:
    files = (("a.yaml", PRETRAINING), ("run.sh", script.format(command="litgpt pretrain --config a.yaml --train.max_steps")))
    (found,) = check_example(Example(files), tmp_path).findings()
    assert (found.code, found.label, [each.label for each in found.related]) == ("GBS404", label, beside)
