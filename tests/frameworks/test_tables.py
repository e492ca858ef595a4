from itertools import chain
from typing import Any

import pytest

from pytest_gbs.frameworks import slug, tables
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.framework import Framework, Treatment
from pytest_gbs.model.outcome import Finding, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity, Reason

from .building import document, outcomes, sizes, stumbles, table, title, value

RUN = "model_name_or_path: my/model\ndataset_name: my/data\nlearning_rate: 1.0e-5\n"
SFT = RUN + "max_length: 4096\n"
SCRIPT = RUN + "block_size: 1024\n"
GRPO = RUN + "reward_funcs: [accuracy]\n"
OPEN_INSTRUCT = RUN + "use_slow_tokenizer: true\nwith_tracking: true\n"
BATCH = "per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"

every_table = pytest.mark.parametrize("each", tables(), ids=lambda each: slug(each.title))


@every_table
def test_each_fact_has_a_source(each: Framework) -> None:
    facts: list[Any] = [*each.rows, *each.equations, *each.constraints, *each.exclusions, *each.requirements, *each.switches, *each.texts]
    assert each.version
    assert each.source
    assert [fact for fact in facts if not fact.source] == []


@every_table
def test_each_condition_can_be_cited_by_people(each: Framework) -> None:
    assert [c for c in each.constraints if not c.label] == []
    assert [e for e in each.exclusions if not e.label] == []
    assert [r for r in each.requirements if not r.label] == []


@every_table
def test_each_size_of_an_equation_is_given_or_can_be(each: Framework) -> None:
    known = {row.name for row in each.rows} | {name for name, _ in each.assumed} | set(HARDWARE)
    if each.name == "starvla":  # it leaves the accumulation to what `accelerate launch` hands on
        known.add(Name.GRADIENT_ACCUMULATION_STEPS)
    # An equation is solved for whichever one size is missing: where the batch is given, for the accumulation.
    sizes = [(equation.result, *equation.product, *equation.divisors) for equation in each.equations]
    for _ in sizes:
        known |= {missing for names in sizes if len(left := [name for name in names if name not in known]) == 1 for missing in left}
    assert set(chain.from_iterable(sizes)) - known == set()


def test_titles_tell_tables_apart() -> None:
    assert len({each.title for each in tables()}) == len({slug(each.title) for each in tables()}) == len(tables())


# A table is data; what a framework rounds or corrects may need a function, and each of them is counted here.
HOOKS = {"realise_divided_batches", "realise_rank_batches", "realise_rollout_batch", "realise_running_batch", "realise_whole_micro_batches"}
SETTLING = {
    "accumulate_to_a_nominal_batch",
    "accumulate_where_a_global_batch_is_given",
    "accumulate_where_both_are_given",
    "clamp_to_the_processes",
    "fill_accumulation",
    "count_the_devices",
    "leave_out_generation",
    "raise_to_whole_groups",
    "size_from_the_depth",
    "reduce_micro_batch",
    "run_alone",
    "schedule_accumulation",
}


def test_no_hook_but_those_that_are_counted() -> None:
    assert {each.derive.__name__ for each in tables() if each.derive} == HOOKS
    assert {each.settle.__name__ for each in tables() if each.settle} == SETTLING


@pytest.mark.parametrize("key", ["warmup_ratio", "max_grad_norm", "lr_scheduler_kwargs", "overwrite_output_dir", "per_gpu_eval_batch_size"])
def test_keys_of_every_trainer_are_known(key: str) -> None:
    named = (each for each in tables() if each.name in ("transformers", "trl", "open-instruct"))
    trainers = [each for each in named if each.title != "TRL (PPO, before 0.12)"]  # which was no Trainer
    assert trainers
    assert all(key in each.also for each in trainers)
    assert all(f"my_{key}" not in each.also for each in trainers)


def test_keys_of_one_trainer_are_known_to_its_table() -> None:
    assert "dataset_mixture" in table("TRL (SFT)").also
    assert "wandb_entity" in table("TRL (GRPO)").also
    assert "line_by_line" in table("transformers Trainer").also
    assert "dataset_mix_dir" in table("open-instruct (SFT)").also
    assert "gradient_accumulation_step" not in table("TRL (SFT)").also


# Global batch = micro x accumulation x data-parallel, by hand.
@pytest.mark.parametrize(
    ("text", "hardware", "expected", "unit"),
    [
        pytest.param(SFT + BATCH.format(micro=1, steps=2), {"num_nodes": 8, "gpus_per_node": 8}, 128, "samples", id="8 nodes"),
        pytest.param(SFT + BATCH.format(micro=2, steps=8), {"world_size": 8}, 128, "samples", id="8 GPUs"),
        pytest.param(SFT, {"world_size": 8}, 64, "samples", id="defaults 8 x 1"),
        pytest.param(SCRIPT, {"world_size": 2}, 16, "samples", id="defaults of a script"),
        pytest.param(SFT + BATCH.format(micro=4, steps=4), {"world_size": 16, "tensor_parallel_size": 2}, 128, "samples", id="tensor"),
        pytest.param(
            SFT + BATCH.format(micro=4, steps=4),
            {"world_size": 16, "context_parallel_size": 4, "tensor_parallel_size": 2},
            32,
            "samples",
            id="both",
        ),
        pytest.param(SFT + BATCH.format(micro=1, steps=1), {"world_size": 10, "sequence_parallel_size": 4}, 2, "samples", id="10 // 4"),
        pytest.param(RUN + "beta: 0.1\n" + BATCH.format(micro=2, steps=8), {"world_size": 8}, 128, "pairs", id="DPO"),
        pytest.param(GRPO + BATCH.format(micro=4, steps=32), {"world_size": 8}, 1024, "completions", id="GRPO"),
        pytest.param(
            OPEN_INSTRUCT + BATCH.format(micro=1, steps=2), {"num_nodes": 4, "gpus_per_node": 8}, 64, "samples", id="open-instruct"
        ),
        pytest.param(
            OPEN_INSTRUCT + "sequence_parallel_size: 4\n" + BATCH.format(micro=2, steps=2),
            {"world_size": 8},
            8,
            "samples",
            id="8 // 4 x 2 x 2",
        ),
        pytest.param(
            SFT + "deepspeed: {tensor_parallel: {autotp_size: 2}}\n" + BATCH.format(micro=4, steps=1),
            {"world_size": 8},
            16,
            "samples",
            id="autotp",
        ),
        pytest.param(
            SFT + "per_gpu_train_batch_size: 2\n" + BATCH.format(micro=4, steps=1), {"world_size": 8}, 16, "samples", id="per_gpu wins"
        ),
        pytest.param(
            SFT + "per_gpu_train_batch_size: 0\n" + BATCH.format(micro=4, steps=1), {"world_size": 8}, 32, "samples", id="per_gpu of 0"
        ),
    ],
)
def test_the_global_batch_follows(text: str, hardware: dict[str, int], expected: int, unit: str) -> None:
    batch = sizes(text, **hardware).stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.unit) == (expected, unit)


def test_without_hardware_the_global_batch_is_not_known() -> None:
    geometry = sizes(SFT + BATCH.format(micro=2, steps=8))
    assert geometry.value(Name.GLOBAL_BATCH_SIZE) is None
    assert geometry.value(Name.MICRO_BATCH_SIZE) == 2


def test_processes_in_a_recipe_are_its_own_hardware() -> None:
    own = read_sizes(document(SFT + "num_processes: 7\nnum_machines: 1\n"), table("TRL (SFT)"))
    assert (value(own[Name.WORLD_SIZE]), value(own[Name.NUM_NODES])) == (7, 1)
    assert Name.WORLD_SIZE not in read_sizes(document(SCRIPT + "num_processes: 7\n"), table("transformers Trainer (example script)"))


@pytest.mark.parametrize("text", [SFT + "num_processes: -1\n", SFT + "num_processes: auto\n", SFT])
def test_a_placeholder_is_not_a_world(text: str) -> None:
    assert sizes(text).value(Name.WORLD_SIZE) is None
    assert stumbles(text) == {}


EVALUATION = SFT + "per_device_eval_batch_size: 4\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(EVALUATION, None, id="never"),
        pytest.param(EVALUATION + "eval_strategy: 'no'\n", None, id="no"),
        pytest.param(EVALUATION + "eval_strategy: no\n", None, id="no read as false"),
        pytest.param(EVALUATION + "do_eval: false\n", None, id="not at the end"),
        pytest.param(EVALUATION + "eval_strategy: epoch\n", 32, id="every epoch"),
        pytest.param(EVALUATION + "evaluation_strategy: steps\n", 32, id="by its older name"),
        pytest.param(EVALUATION + "do_eval: true\n", 32, id="at the end"),
        pytest.param(SFT + "eval_strategy: steps\n", 64, id="8 by default"),
    ],
)
def test_the_evaluation_batch_is_there_where_something_evaluates(text: str, expected: int | None) -> None:
    assert sizes(text, world_size=8).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(SFT, {Name.LOGGING_STEPS: 10, Name.SAVE_STEPS: 500, Name.EVAL_STEPS: None, Name.MAX_STEPS: None}, id="TRL's defaults"),
        pytest.param(SCRIPT, {Name.LOGGING_STEPS: 500, Name.SAVE_STEPS: 500}, id="transformers' defaults"),
        pytest.param(SFT + "eval_strategy: steps\n", {Name.EVAL_STEPS: 10}, id="evaluates as it logs"),
        pytest.param(SFT + "eval_strategy: steps\nlogging_steps: 25\neval_steps: null\n", {Name.EVAL_STEPS: 25}, id="null is as it logs"),
        pytest.param(
            SFT + "eval_strategy: steps\nlogging_steps: 0.1\n", {Name.EVAL_STEPS: Reason.NOT_AN_INTEGER}, id="as it logs, a share"
        ),
        pytest.param(SFT + "evaluation_strategy: steps\neval_steps: 40\n", {Name.EVAL_STEPS: 40}, id="older name"),
        pytest.param(SFT + "eval_strategy: epoch\neval_steps: 40\n", {Name.EVAL_STEPS: None}, id="by epoch"),
        pytest.param(SFT + "save_strategy: epoch\nsave_steps: 40\n", {Name.SAVE_STEPS: None}, id="saves by epoch"),
        pytest.param(SFT + "save_steps: 0.05\n", {Name.SAVE_STEPS: Reason.NOT_AN_INTEGER}, id="a share of the run"),
        pytest.param(SFT + "save_steps: 100.0\n", {Name.SAVE_STEPS: 100}, id="a whole float"),
        pytest.param(SFT + "max_steps: -1\n", {Name.MAX_STEPS: None}, id="no limit"),
        pytest.param(SFT + "max_steps: 1_000\n", {Name.MAX_STEPS: 1000}, id="a limit"),
    ],
)
def test_intervals_count_optimizer_steps(text: str, expected: dict[str, int | str | None]) -> None:
    stated = sizes(text).stated
    assert {name: value(stated.get(name)) for name in expected} == expected
    assert stumbles(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(RUN + "packing: true\n", 1024, id="SFT's default"),
        pytest.param(RUN + "max_length: 2048\nmax_seq_length: 512\n", 2048, id="the new name first"),
        pytest.param(RUN + "max_seq_length: 512\n", 512, id="the older name"),
        pytest.param(RUN + "max_length: null\npacking: true\n", Reason.AUTO, id="no limit"),
        pytest.param(SCRIPT, None, id="a script's own business"),
    ],
)
def test_the_sequence_length_is_read(text: str, expected: int | str | None) -> None:
    assert value(sizes(text).stated.get(Name.SEQUENCE_LENGTH)) == expected


# Odd values, as the libraries' own code treats them.
STRICT = {
    "8": None,
    "010": None,
    "1:30": None,
    "0x10": None,
    "true": None,
    "'8'": Treatment.STOPS_LATE,
    "8.0": Treatment.STOPS_LATE,
    "8.5": Treatment.STOPS_LATE,
    "1e1": Treatment.STOPS_LATE,
    "eight": Treatment.STOPS_LATE,
    "auto": Treatment.STOPS_LATE,
    "null": Treatment.STOPS_LATE,
    "0": Treatment.STOPS_LATE,
    "false": Treatment.STOPS_LATE,
    "-8": Treatment.STOPS_LATE,
    "[8]": Treatment.STOPS_LATE,
    "${BATCH}": None,
    "'{{ batch }}'": None,
    "<BATCH>": None,
    "???": None,
}
CONVERTED = STRICT | {"'8'": None, "'1_024'": None, "'0'": Treatment.STOPS_LATE} | dict.fromkeys(("1e1", "eight", "auto"), Treatment.STOPS)


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [(text, written, expected) for text, cases in ((SCRIPT, STRICT), (SFT, CONVERTED)) for written, expected in cases.items()],
    ids=[f"{name} {written}" for name, cases in (("script", STRICT), ("TRL", CONVERTED)) for written in cases],
)
def test_odd_micro_batches_are_treated_as_the_parser_does(text: str, written: str, expected: str | None) -> None:
    found = stumbles(f"{text}per_device_train_batch_size: {written}\n")
    assert found == ({"per_device_train_batch_size": expected} if expected else {})


@pytest.mark.parametrize("text", [SFT, SCRIPT], ids=["TRL", "script"])
def test_a_negative_accumulation_never_steps(text: str) -> None:
    assert stumbles(text + "gradient_accumulation_steps: -1\n") == {"gradient_accumulation_steps": Treatment.NO_STEPS}
    assert stumbles(text + "gradient_accumulation_steps: 0\n") == {"gradient_accumulation_steps": Treatment.STOPS_LATE}
    assert sizes(text + "gradient_accumulation_steps: true\n", world_size=1).value(Name.GLOBAL_BATCH_SIZE) == 8


def test_an_unknown_script_may_convert_text() -> None:
    bare = "per_device_train_batch_size: '8'\noutput_dir: out\nlearning_rate: 2e-5\n"
    assert title(bare) == "transformers Trainer"
    assert stumbles(bare) == {}
    assert table("transformers Trainer").texts == ()
    assert table("TRL (SFT)").texts == ()
    assert ("learning_rate",) in {text.key for text in table("transformers Trainer (example script)").texts}


def test_an_evaluation_batch_that_nothing_uses_is_not_a_mistake() -> None:
    assert stumbles(SFT + "per_device_eval_batch_size: 0\n") == {}
    assert stumbles(SFT + "per_device_eval_batch_size: 0\neval_strategy: epoch\n") == {"per_device_eval_batch_size": Treatment.STOPS_LATE}


SPLIT = SFT + "accelerator_config: {split_batches: true}\n"
OLDER_SPLIT = SFT + "split_batches: true\n"  # an argument of its own in transformers 4.35 to 4.50


def test_batches_are_not_split_where_the_older_key_is_off() -> None:
    assert sizes(SFT + "split_batches: false\n" + BATCH.format(micro=24, steps=12), world_size=2).global_batch_size == 576


@pytest.mark.parametrize("split", [SPLIT, OLDER_SPLIT])
def test_split_batches_make_the_micro_batch_that_of_all_ranks(split: str) -> None:
    text = split + BATCH.format(micro=24, steps=12)
    assert sizes(text, world_size=2).global_batch_size == 288
    assert sizes(text).global_batch_size == 288
    assert sizes(SFT + BATCH.format(micro=24, steps=12), world_size=2).global_batch_size == 576
    assert sizes(SPLIT + "gradient_accumulation_steps: ${STEPS}\n", world_size=2).global_batch_size is None


def test_split_batches_make_the_evaluation_batch_that_of_all_ranks() -> None:
    text = "eval_strategy: steps\nper_device_eval_batch_size: 6\n"
    assert value(sizes(SFT + text, world_size=2).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 12
    assert value(sizes(SPLIT + text, world_size=2).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 6


@pytest.mark.parametrize(
    ("text", "batch", "findings"),
    [
        pytest.param("accelerator_config: '{\"split_batches\": false}'\n", 8, [], id="false in JSON text"),
        pytest.param("accelerator_config: accelerator.json\n", 8, [], id="a file"),
        pytest.param("accelerator_config: '{\"split_batches\": tru'\n", 8, [], id="no JSON"),
        pytest.param("accelerator_config: '{\"split_batches\": true}'\n", 4, [], id="JSON text"),
        # trainer.py:811-822: num_steps takes the place of an accumulation of 1.
        pytest.param("accelerator_config: {gradient_accumulation_kwargs: {num_steps: 4}}\n", 32, [], id="steps of accelerate"),
        pytest.param('accelerator_config: \'{"gradient_accumulation_kwargs": {"num_steps": 4}}\'\n', 32, [], id="steps in JSON text"),
    ],
)
def test_the_configuration_of_accelerate_counts(text: str, batch: int, findings: list[str]) -> None:
    assert sizes(SFT + "per_device_train_batch_size: 4\n" + text, world_size=2).global_batch_size == batch
    assert list(stumbles(SFT + text)) == findings


def test_split_batches_must_divide_among_the_ranks() -> None:
    (good,) = outcomes("GBS202", SPLIT + BATCH.format(micro=4, steps=1), world_size=4)
    (bad,) = outcomes("GBS202", SPLIT + BATCH.format(micro=6, steps=1), world_size=4)
    (older,) = outcomes("GBS202", OLDER_SPLIT + BATCH.format(micro=6, steps=1), world_size=4)
    assert isinstance(older, Finding)
    assert isinstance(good, Verified)
    assert isinstance(bad, Finding)
    assert outcomes("GBS202", SFT + BATCH.format(micro=6, steps=1), world_size=4) == []


BEST = SFT + "load_best_model_at_end: true\neval_strategy: steps\n"


def test_the_best_checkpoint_needs_saves_that_were_evaluated() -> None:
    assert isinstance(outcomes("GBS208", BEST + "eval_steps: 200\nsave_steps: 500\n")[0], Finding)
    assert isinstance(outcomes("GBS208", BEST + "eval_steps: 250\nsave_steps: 500\n")[0], Verified)
    assert isinstance(outcomes("GBS208", BEST + "eval_steps: 125\n")[0], Verified)  # saves every 500 by default
    assert isinstance(outcomes("GBS208", BEST + "logging_steps: 30\n")[0], Finding)  # evaluates as it logs
    assert outcomes("GBS208", SFT + "eval_strategy: steps\neval_steps: 200\n") == []
    assert outcomes("GBS208", BEST + "save_strategy: epoch\neval_steps: 200\n") == []


KTO = RUN + "desirable_weight: 1.0\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(KTO + "per_device_train_batch_size: 2\n", Verified, id="pairs"),
        pytest.param(KTO, Verified, id="8 by default"),
        pytest.param(KTO + "per_device_train_batch_size: 1\n", Finding, id="alone"),
        pytest.param(KTO + "per_device_train_batch_size: 1\nloss_type: kto\n", Finding, id="alone, said aloud"),
        pytest.param(KTO + "per_device_train_batch_size: 1\nloss_type: apo_zero_unpaired\n", None, id="no KL term"),
        pytest.param(RUN + "beta: 0.1\nper_device_train_batch_size: 1\n", None, id="DPO"),
    ],
)
def test_kto_needs_two_answers_in_a_micro_batch(text: str, kind: type | None) -> None:
    found = outcomes("GBS207", text)
    assert [type(outcome) for outcome in found] == ([kind] if kind else [])


def test_ppo_divides_the_batch_of_each_rank() -> None:
    ppo = RUN + "num_ppo_epochs: 1\n"
    assert isinstance(outcomes("GBS202", ppo + "num_mini_batches: 4\n" + BATCH.format(micro=4, steps=2))[0], Verified)
    assert isinstance(outcomes("GBS202", ppo + "num_mini_batches: 3\n" + BATCH.format(micro=4, steps=2))[0], Finding)


# GRPO: generation batch = micro x world x steps per generation, of whole groups.
def test_grpo_generates_what_one_step_learns_from_by_default() -> None:
    stated = sizes(GRPO + "num_generations: 16\n" + BATCH.format(micro=4, steps=32), world_size=8).stated
    expected = {
        Name.GLOBAL_BATCH_SIZE: 1024,
        Name.STEPS_PER_GENERATION: 32,
        Name.GENERATION_BATCH_SIZE: 1024,
        Name.PROMPTS_PER_STEP: 64,
        Name.NUM_ITERATIONS: 1,
    }
    assert {name: value(stated.get(name)) for name in expected} == expected
    steps = stated[Name.STEPS_PER_GENERATION]
    assert isinstance(steps, Quantity)
    assert steps.origin == Origin.DEFAULT
    assert [part.key for part in steps.because] == ["gradient_accumulation_steps"]


def test_grpo_steps_per_generation_follow_from_the_generation_batch() -> None:
    stated = sizes(GRPO + "generation_batch_size: 128\nnum_generations: 4\n" + BATCH.format(micro=4, steps=1), world_size=2).stated
    assert value(stated[Name.STEPS_PER_GENERATION]) == 16
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == 8
    unknown = sizes(GRPO + "generation_batch_size: 128\n").stated
    assert Name.STEPS_PER_GENERATION not in unknown


def test_a_step_has_no_prompts_of_its_own_where_a_generation_feeds_several() -> None:
    text = GRPO + "num_generations: 24\nsteps_per_generation: 6\n" + BATCH.format(micro=4, steps=4)
    stated = sizes(text, world_size=2).stated
    assert value(stated[Name.GENERATION_BATCH_SIZE]) == 48
    assert value(stated[Name.PROMPTS_PER_ROLLOUT]) == 2
    assert Name.PROMPTS_PER_STEP not in stated
    assert isinstance(outcomes("GBS205", text, world_size=2)[0], Verified)


def test_rloo_has_two_generations_by_default() -> None:
    text = RUN + "max_completion_length: 512\n"
    assert value(sizes(text, "grpo.yaml").stated[Name.NUM_GENERATIONS]) == 8
    assert value(sizes(text, "rloo.yaml").stated[Name.NUM_GENERATIONS]) == 2


def test_groups_must_be_whole() -> None:
    text = GRPO + "num_generations: 14\n" + BATCH.format(micro=16, steps=4)
    least, good = outcomes("GBS205", text, world_size=7)
    _, bad = outcomes("GBS205", text, world_size=8)
    _, unknown = outcomes("GBS205", text)
    assert isinstance(good, Verified)  # 16 x 4 x 7 = 448 = 32 x 14
    assert isinstance(least, Verified)
    assert isinstance(bad, Finding)  # 512 = 36 x 14 + 8
    assert isinstance(unknown, Undetermined)
    assert unknown.implies == "true if the number of GPUs is a multiple of 7"


def test_groups_are_checked_before_batches_are_split() -> None:
    text = GRPO + "accelerator_config: {split_batches: true}\nnum_generations: 8\n" + BATCH.format(micro=4, steps=1)
    assert isinstance(outcomes("GBS205", text, world_size=2)[0], Verified)  # 4 x 2, though 4 completions are generated
    assert value(sizes(text, world_size=2).get(Name.GENERATION_BATCH_SIZE)) == 4


def test_groups_of_the_evaluation_must_be_whole_where_it_evaluates() -> None:
    text = GRPO + "num_generations: 8\nper_device_eval_batch_size: 3\n" + BATCH.format(micro=8, steps=1)
    assert len(outcomes("GBS205", text, world_size=2)) == 2
    evaluates = text + "eval_strategy: steps\n"
    assert [type(each) for each in outcomes("GBS205", evaluates, world_size=2)] == [Finding, Verified, Verified]
    assert [type(each) for each in outcomes("GBS205", evaluates, world_size=8)] == [Verified, Verified, Verified]
    of_its_own = evaluates + "num_generations_eval: 2\n"
    assert [type(each) for each in outcomes("GBS205", of_its_own, world_size=2)] == [Verified, Verified, Verified]


def test_one_generation_is_too_few() -> None:
    least, group = outcomes("GBS205", GRPO + "num_generations: 1\n", world_size=8)
    assert isinstance(group, Verified)
    assert isinstance(least, Finding)
    assert least.severity == Severity.ERROR


def test_a_generation_batch_must_hold_whole_micro_batches() -> None:
    text = GRPO + "generation_batch_size: 36\nnum_generations: 4\n" + BATCH.format(micro=4, steps=2)
    assert isinstance(outcomes("GBS202", text, world_size=8)[0], Finding)
    assert isinstance(outcomes("GBS202", text, world_size=3)[0], Verified)
    assert outcomes("GBS202", GRPO + BATCH.format(micro=4, steps=2), world_size=8) == []


def test_null_leaves_a_generation_size_open() -> None:
    text = GRPO + "generation_batch_size: null\nsteps_per_generation: ~\n" + BATCH.format(micro=4, steps=2)
    assert value(sizes(text, world_size=4).stated[Name.GENERATION_BATCH_SIZE]) == 32
    assert stumbles(text) == {}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("num_generations: '8'", None, id="quoted"),
        pytest.param("num_generations: eight", Treatment.STOPS, id="a word"),
        pytest.param("num_generations: null", Treatment.STOPS, id="null"),
        pytest.param("num_generations: 0", Treatment.STOPS, id="zero"),
        pytest.param("num_generations: -4", Treatment.STOPS, id="negative"),
        pytest.param("per_device_train_batch_size: [4]", Treatment.STOPS, id="list"),
        pytest.param("gradient_accumulation_steps: null", Treatment.STOPS, id="no accumulation"),
    ],
)
def test_odd_grpo_values_stop_while_the_config_is_made(line: str, expected: str | None) -> None:
    assert list(stumbles(f"{GRPO}{line}\n").values()) == ([expected] if expected else [])


def test_grpo_refuses_two_ways_of_saying_it_and_a_batch_that_shrinks() -> None:
    grpo = table("TRL (GRPO)")
    assert (("generation_batch_size",), ("steps_per_generation",)) in [exclusion.keys for exclusion in grpo.exclusions]
    assert [switch.enforcement for switch in grpo.switches] == ["stops"]
    assert {switch.enforcement for switch in table("TRL (SFT)").switches} == {"ignores"}


def test_trainers_that_generate_may_reserve_gpus() -> None:
    reserving = {each.title for each in tables() if each.reserves}
    of_trl = {"TRL (GRPO)", "TRL (RLOO)", "TRL (Online DPO)", "unsloth (GRPO)"}
    by_trl = {"axolotl (GRPO)", "axolotl (EBFT)", "ms-swift (GRPO)", "Megatron-SWIFT (GRPO)", "oumi (GRPO)"}
    # Whose keys say that these are other GPUs.
    apart = {"verl (RL, FSDP)", "verl (RL, torchtitan)", "verl (RL, Megatron)", "SkyRL (RL)"}
    assert reserving == of_trl | by_trl | apart | {"OpenRLHF (PPO)"}
    assert all(each.shares for each in tables() if each.reserves and each.title not in apart)
