from pathlib import Path

import pytest

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Enforcement
from pytest_gbs.model.framework import Switch
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import Example
from pytest_gbs.model.settings import Expectation
from pytest_gbs.rules.gbs206_batch_not_fixed import check
from tools.examples import check_example

from .building import TABLE, claim, only, parsed, place, run, shown
from .claimed import checked

CONDITION = Condition(("auto_find_batch_size",), (True,), default=False)
SWITCHES = TABLE._replace(switches=(Switch(CONDITION, (Name.MICRO_BATCH_SIZE,), "it shrinks"),))
STOPS = TABLE._replace(switches=(Switch(CONDITION, (Name.MICRO_BATCH_SIZE,), "TRL refuses it", enforcement=Enforcement.STOPS),))
POLICY = Expectation(("**",), Name.GLOBAL_BATCH_SIZE, (128,), origin="gbs.toml", text="global-batch-size = 128")
ON = "auto_find_batch_size: true\n"
STREAMS = """\
# global batch size 64 on 8 GPUs
model_name_or_path: my/model
dataset_name: my/data
max_steps: 100
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
dataset_streaming: true
"""


def test_a_switch_that_is_on_where_nothing_is_claimed_stays_silent() -> None:
    assert list(check(run(table=SWITCHES, of=parsed(ON)))) == []


@pytest.mark.parametrize(
    "text", ["lr: 1\n", "auto_find_batch_size: false\n", "auto_find_batch_size: 'true'\n", "# auto_find_batch_size: true\nlr: 1\n"]
)
def test_a_switch_that_is_off_stays_silent(text: str) -> None:
    document = parsed(text)
    assert list(check(run(table=SWITCHES, of=document, claims=(claim(),)))) == []
    assert list(check(run(table=STOPS, of=document))) == []


def test_a_statement_about_hardware_is_not_a_claim() -> None:
    assert list(check(run(table=SWITCHES, of=parsed(ON), claims=(claim(Name.NUM_NODES, 8),)))) == []


@pytest.mark.parametrize("key", ["dataset_streaming", "streaming"])
def test_one_step_of_each_pass_over_streamed_data_is_no_other_batch(tmp_path: Path, key: str) -> None:
    # 4 x 2 x 8 = 64 in each step, but for what a pass leaves over, which may never end.
    found = checked(tmp_path, STREAMS.replace("dataset_streaming", key))
    assert (found.verdict, found.codes) == ("verified", [])


def test_a_claimed_batch_that_may_change_warns() -> None:
    document = parsed(ON)
    found = only(list(check(run(table=SWITCHES, of=document, claims=(claim(),)))))
    assert found.message == "a batch is claimed, but it shrinks"
    assert found.severity == Severity.WARNING
    assert shown(document, found.at) == "true"
    assert [(related.at, related.label) for related in found.related] == [(place(2), "claimed")]


def test_an_expectation_of_the_team_is_a_claim_too() -> None:
    assert only(list(check(run(table=SWITCHES, of=parsed(ON), policies=(POLICY,))))).severity == Severity.WARNING


def test_a_switch_that_stops_the_framework_is_an_error_without_a_claim() -> None:
    found = only(list(check(run(table=STOPS, of=parsed(ON)))))
    assert (found.message, found.severity) == ("TRL refuses it", Severity.ERROR)


GRPO = """\
model_name_or_path: my/model
dataset_name: my/data
reward_funcs: [accuracy]
num_generations: 4
per_device_train_batch_size: 4
auto_find_batch_size: true
"""
REFUSES = "auto_find_batch_size would break the groups, so the config refuses it"


def reported(folder: Path, *files: tuple[str, str]) -> list[tuple[str, str]]:
    """Severity and message of what GBS206 says of a GRPO recipe beside `files`."""
    report = check_example(Example((("grpo.yaml", GRPO), *files)), folder)
    return [(each.severity, each.message) for each in report.findings() if each.code == "GBS206"]


@pytest.mark.parametrize("pin", ["trl==1.8.0", "trl<1.9", "trl==0.16.1", "trl==0.14.0"])
def test_a_version_that_does_not_refuse_it_is_silent_without_a_claim(pin: str, tmp_path: Path) -> None:
    assert reported(tmp_path, ("requirements.txt", f"{pin}\n")) == []


@pytest.mark.parametrize(
    ("pin", "expected"),
    [
        pytest.param("trl==1.9.0", ("error", REFUSES), id="a version that refuses it"),
        pytest.param("trl>=1.9", ("error", REFUSES), id="versions that all refuse it"),
        pytest.param("trl>=1.0", ("warning", f"{REFUSES} (before 1.9 it does not check this)"), id="some of them"),
        pytest.param("torch", ("warning", f"{REFUSES} (before 1.9 it does not check this)"), id="no version"),
    ],
)
def test_what_only_newer_versions_refuse_is_a_warning_that_says_so(pin: str, expected: tuple[str, str], tmp_path: Path) -> None:
    assert reported(tmp_path, ("requirements.txt", f"{pin}\n")) == [expected]
