import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs203_contradictory_batch import check as contradictions

from .building import document, outcomes, sizes, stumbles, title

MODEL = "model: {model_name: my/model, model_max_length: 2048}\ndata: {train: {datasets: [{dataset_name: my/data}]}}\n"
BATCH = "  per_device_train_batch_size: {micro}\n  gradient_accumulation_steps: {steps}\n"


def recipe(trainer: str, *lines: str, micro: object = 2, steps: object = 4) -> str:
    """A recipe for `trainer` with `lines` below `training`."""
    own = "".join(f"  {line}\n" for line in lines)
    return f"{MODEL}training:\n  trainer_type: {trainer}\n{BATCH.format(micro=micro, steps=steps)}{own}"


SFT = recipe("TRL_SFT")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MODEL + "generation: {max_new_tokens: 8}\n", id="inference"),
        pytest.param(MODEL + "tuning: {n_trials: 2, fixed_training_params: {per_device_train_batch_size: 1}}\n", id="a search"),
        pytest.param("name: job\nresources: {accelerators: A100}\nrun: oumi train\n", id="a job"),
        pytest.param("training: {trainer_type: TRL_SFT, output_dir: out}\n", id="no model"),
    ],
)
def test_what_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        ("TRL_SFT", "oumi"),
        ("OUMI", "oumi"),
        ("TRL_GOLD", "oumi"),
        ("TRL_DPO", "oumi (DPO)"),
        ("TrainerType.TRL_DPO", "oumi (DPO)"),
        ("TRL_KTO", "oumi (KTO)"),
        ("TRL_GRPO", "oumi (GRPO)"),
        ("VERL_GRPO", "oumi (GRPO by verl)"),
    ],
)
def test_the_trainer_chooses_the_table(trainer: str, expected: str) -> None:
    assert title(recipe(trainer)) == expected


VERL = recipe("VERL_GRPO", "verl_config_overrides:", "  actor_rollout_ref: {actor: {ppo_mini_batch_size: 128}, rollout: {n: 5}}")


# Global batch = micro x accumulation x processes, by hand; verl's is prompts x completions.
@pytest.mark.parametrize(
    ("text", "world", "expected", "unit"),
    [
        pytest.param(SFT, 8, 64, "samples", id="2 x 4 x 8"),
        pytest.param(f"{MODEL}training: {{output_dir: out, trainer_type: TRL_SFT}}\n", 2, 16, "samples", id="defaults 8 x 1"),
        pytest.param(recipe("TRL_DPO"), 8, 64, "pairs", id="pairs"),
        pytest.param(recipe("TRL_GRPO"), 8, 64, "completions", id="completions"),
        pytest.param(VERL, 4, 640, "completions", id="128 x 5"),
        pytest.param(recipe("VERL_GRPO"), 4, 256, "completions", id="verl's own defaults 256 x 1"),
    ],
)
def test_the_global_batch_follows(text: str, world: int, expected: int, unit: str) -> None:
    batch = sizes(text, world_size=world).stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.unit) == (expected, unit)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("eval_steps: 10", None), ("eval_strategy: 'no'", None), ("eval_strategy: steps", 64), ("eval_strategy: epoch", 64)],
)
def test_the_evaluation_batch_is_there_where_something_evaluates(line: str, expected: int | None) -> None:
    assert sizes(recipe("TRL_SFT", line), world_size=8).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize("written", ["8", "'8'", "8.0", "8.5", "0x10", "${oc.env:MICRO}"])
def test_what_omegaconf_converts_stays_silent(written: str) -> None:
    assert stumbles(recipe("TRL_SFT", micro=written, steps=written)) == {}


@pytest.mark.parametrize(
    ("written", "micro", "steps"),
    [
        ("eight", Treatment.STOPS, Treatment.STOPS),
        ("null", Treatment.STOPS, Treatment.STOPS),
        ("true", Treatment.STOPS, Treatment.STOPS),
        ("[8]", Treatment.STOPS, Treatment.STOPS),
        ("0", Treatment.STOPS_LATE, Treatment.STOPS),
        ("-1", Treatment.STOPS_LATE, Treatment.STOPS),
    ],
)
def test_other_values_are_stumbled_over(written: str, micro: str, steps: str) -> None:
    found = stumbles(recipe("TRL_SFT", micro=written, steps=written))
    assert found == {"per_device_train_batch_size": micro, "gradient_accumulation_steps": steps}


def test_no_limit_and_no_saves_are_not_a_mistake() -> None:
    text = recipe("TRL_SFT", "max_steps: -1", "save_steps: 0")
    assert stumbles(text) == {}
    assert sizes(text).value(Name.MAX_STEPS) is None


GROUPS = recipe("TRL_GRPO", "grpo: {num_generations: 8}")


@pytest.mark.parametrize(
    ("code", "text", "world", "count"),
    [
        pytest.param("GBS205", GROUPS, 8, 0, id="64 in groups of 8"),
        pytest.param("GBS205", recipe("TRL_GRPO", "grpo: {num_generations: 3}"), 6, 0, id="48 in groups of 3"),
        pytest.param("GBS205", recipe("TRL_GRPO", "grpo: {num_generations: 3}"), 8, 1, id="64 in groups of 3"),
        pytest.param("GBS207", recipe("TRL_KTO"), 8, 0, id="two at a time"),
        pytest.param("GBS207", recipe("TRL_KTO", "trainer_kwargs: {loss_type: apo_zero_unpaired}", micro=1), 8, 0, id="no KL term"),
        pytest.param("GBS207", recipe("TRL_KTO", micro=1), 8, 1, id="one at a time"),
    ],
)
def test_what_trl_checks_is_checked(code: str, text: str, world: int, count: int) -> None:
    assert sum(isinstance(each, Finding) for each in outcomes(code, text, world_size=world)) == count


@pytest.mark.parametrize(
    ("trainer", "deepspeed", "count"),
    [
        ("TRL_SFT", "{enable_deepspeed: true}", 0),
        ("TRL_SFT", "{enable_deepspeed: true, train_batch_size: auto}", 0),
        ("TRL_SFT", "{enable_deepspeed: false, train_batch_size: 64}", 0),
        ("HF", "{enable_deepspeed: true, train_batch_size: 64}", 0),
        ("TRL_SFT", "{enable_deepspeed: true, train_batch_size: 64}", 1),
    ],
)
def test_deepspeed_leaves_the_batch_to_trl(trainer: str, deepspeed: str, count: int) -> None:
    read_from = document(recipe(trainer) + f"deepspeed: {deepspeed}\n")
    found = recognise(read_from)
    assert found is not None
    assert len(list(contradictions(Run(read_from, found, None, sizes(read_from.source.text), (), ())))) == count
