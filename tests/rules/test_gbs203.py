from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.model.equation import Enforcement, Equation
from pytest_gbs.model.framework import KeyChoice, Row
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name, Origin
from pytest_gbs.rules.gbs203_contradictory_batch import check
from tests.rules.claimed import checked

from .building import ASSUMED, TABLE, accumulation, micro, only, parsed, place, run, shown, size, world

KEYS = (("generation_batch_size",), ("steps_per_generation",))
EXCLUDES = TABLE._replace(exclusions=(KeyChoice(KEYS, "ValueError in GRPOConfig"),))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("lr: 1\n", id="neither"),
        pytest.param("generation_batch_size: 8\n", id="one"),
        pytest.param("generation_batch_size: 8\nsteps_per_generation: null\n", id="null"),
        pytest.param("generation_batch_size: 8\nsteps_per_generation:\n", id="no value"),
        pytest.param("generation_batch_size: 8\n# steps_per_generation: 2\n", id="commented out"),
        pytest.param("generation_batch_size: 8\nother: {steps_per_generation: 2}\n", id="elsewhere"),
    ],
)
def test_keys_that_do_not_meet_stay_silent(text: str) -> None:
    assert list(check(run(table=EXCLUDES, of=parsed(text)))) == []


@pytest.mark.parametrize(
    "text", ["steps_per_generation: 2\ngeneration_batch_size: 8\n", "generation_batch_size: 8\nsteps_per_generation: 2\n"]
)
def test_keys_that_exclude_each_other_are_an_error(text: str) -> None:
    document = parsed(text)
    found = only(list(check(run(table=EXCLUDES, of=document))))
    assert found.message == "generation_batch_size and steps_per_generation are both set; ValueError in GRPOConfig"
    assert found.severity == Severity.ERROR
    assert found.at.start == text.rindex(":") + 2
    assert [shown(document, related.at) for related in found.related] == [text[text.index(":") + 2]]


DEEPSPEED = """{{
  "train_batch_size": {train}, "train_micro_batch_size_per_gpu": {micro}, "gradient_accumulation_steps": {steps},
  "zero_optimization": {{"stage": 2}}
}}"""
STATED = size(Name.GLOBAL_BATCH_SIZE, 128)


def test_a_stated_size_that_its_factors_give_stays_silent() -> None:
    assert list(check(run(STATED, micro(4), accumulation(2), world(16)))) == []


def test_a_stated_size_whose_factors_are_not_known_stays_silent() -> None:
    assert list(check(run(STATED, micro(4), world(48)))) == []


@pytest.mark.parametrize("origin", [Origin.COMMENT, Origin.NAME])
def test_prose_is_left_to_the_rules_about_comments(origin: str) -> None:
    assert list(check(run(STATED, micro(4), accumulation(2), world(32, origin)))) == []


def test_a_stated_size_that_its_factors_do_not_give_is_an_error() -> None:
    found = only(list(check(run(STATED, micro(4), accumulation(4), world(16), assumptions=ASSUMED))))
    assert found.message == "global_batch_size is 128, but its factors give 256"
    assert found.severity == Severity.ERROR
    assert found.at == place(90)
    assert found.details == ("256 = 4 micro x 4 accumulation x 16 data-parallel (16 GPUs)",)
    assert [(related.at, related.label) for related in found.related] == [(place(30), "micro"), (place(60), "accumulation")]
    assert found.assumptions == ASSUMED


def test_one_factor_or_the_stated_size_may_change(tmp_path: Path) -> None:
    text = DEEPSPEED.format(train=128, micro=4, steps=4)
    (found,) = checked(tmp_path, text, name="ds.json", given=Given(world_size=16)).findings
    assert [[(edit.expected, edit.replacement) for edit in fix.edits] for fix in found.fixes] == [
        [("4", "2")],
        [("4", "2")],
        [("128", "256")],
    ]


def test_a_size_that_the_framework_corrects_is_a_warning() -> None:
    product = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.WORLD_SIZE)
    table = TABLE._replace(equations=(Equation(Name.GLOBAL_BATCH_SIZE, product, mismatch=Enforcement.CORRECTS),))
    found = only(list(check(run(STATED, micro(4), accumulation(4), world(16), table=table))))
    assert found.severity == Severity.WARNING


def test_keys_that_exclude_each_other_are_one_finding_even_if_their_sizes_disagree() -> None:
    rows = (Row(KEYS[0], Name.GENERATION_BATCH_SIZE), Row(KEYS[1], Name.STEPS_PER_GENERATION))
    generated = Equation(Name.GENERATION_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.STEPS_PER_GENERATION))
    table = EXCLUDES._replace(rows=rows, equations=(generated,))
    sizes = (size(Name.GENERATION_BATCH_SIZE, 8), micro(4), size(Name.STEPS_PER_GENERATION, 3))
    of = parsed("generation_batch_size: 8\nsteps_per_generation: 3\n")
    assert "both set" in only(list(check(run(*sizes, table=table, of=of)))).message
