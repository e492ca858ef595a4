from __future__ import annotations

import pytest

from pytest_gbs.core.location import Location
from pytest_gbs.core.outcome import Applicability, Edit, Severity
from pytest_gbs.core.suppression import Suppression
from pytest_gbs.rules.gbs901_unused_suppression import check

from .building import only

AT = Location("sft.yaml", 10, 35)
REMOVAL = Edit(Location("sft.yaml", 8, 35), "  # gbs: ignore[GBS101]", "")


def test_nothing_unused_has_no_outcome() -> None:
    assert list(check(())) == []


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        pytest.param(("GBS101",), "no finding of GBS101 here to ignore", id="one code"),
        pytest.param(("GBS101", "GBS104"), "no finding of GBS101 or GBS104 here to ignore", id="two codes"),
        pytest.param(("no-such-rule",), "no finding of no-such-rule here to ignore", id="no rule"),
    ],
)
def test_an_unused_suppression_warns_and_can_be_removed(codes: tuple[str, ...], message: str) -> None:
    found = only(list(check((Suppression(AT, codes, removal=REMOVAL),))))
    assert (found.message, found.severity, found.at) == (message, Severity.WARNING, AT)
    (fix,) = found.fixes
    assert (fix.applicability, fix.edits) == (Applicability.SAFE, (REMOVAL,))


def test_a_suppression_without_brackets_is_left_to_its_author() -> None:
    found = only(list(check((Suppression(AT, removal=REMOVAL),))))
    assert found.message == "a suppression without a rule in brackets ignores nothing"
    assert found.fixes == ()


def test_each_unused_suppression_is_a_finding() -> None:
    assert len(list(check((Suppression(AT, ("GBS101",)), Suppression(AT))))) == 2
