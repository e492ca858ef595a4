from __future__ import annotations

import pytest

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Enforcement
from pytest_gbs.model.framework import Switch
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.run import Policy
from pytest_gbs.rules.gbs206_batch_not_fixed import check

from .building import TABLE, claim, only, parsed, place, run, shown

CONDITION = Condition(("auto_find_batch_size",), (True,), default=False)
SWITCHES = TABLE._replace(switches=(Switch(CONDITION, (Name.MICRO_BATCH_SIZE,), "it shrinks"),))
STOPS = TABLE._replace(switches=(Switch(CONDITION, (Name.MICRO_BATCH_SIZE,), "TRL refuses it", enforcement=Enforcement.STOPS),))
POLICY = Policy(Name.GLOBAL_BATCH_SIZE, None, None, (128,), "gbs.toml", "global-batch-size = 128")
ON = "auto_find_batch_size: true\n"


def test_a_switch_that_is_on_where_nothing_is_claimed_stays_silent() -> None:
    assert list(check(run(table=SWITCHES, of=parsed(ON)))) == []


@pytest.mark.parametrize(
    "text", ["lr: 1\n", "auto_find_batch_size: false\n", "auto_find_batch_size: 'true'\n", "# auto_find_batch_size: true\nlr: 1\n"]
)
def test_a_switch_that_is_off_stays_silent(text: str) -> None:
    document = parsed(text)
    assert list(check(run(table=SWITCHES, of=document, claims=(claim(),)))) == []
    assert list(check(run(table=STOPS, of=document))) == []


def test_a_statement_about_hardware_is_no_claim() -> None:
    assert list(check(run(table=SWITCHES, of=parsed(ON), claims=(claim(Name.NUM_NODES, 8),)))) == []


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
