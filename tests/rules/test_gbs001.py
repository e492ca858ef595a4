from __future__ import annotations

import pytest

from pytest_gbs.core.location import Location, Source, Unreadable
from pytest_gbs.core.outcome import Severity
from pytest_gbs.rules.gbs001_unreadable_file import check

from .building import only

SOURCE = Source("sft.yaml", "a: [1\n")


@pytest.mark.parametrize(
    ("problem", "at"),
    [
        pytest.param(Unreadable("sft.yaml", "no such file"), Location("sft.yaml", 0, 0), id="the whole file"),
        pytest.param(Unreadable("sft.yaml", "bracket", 3, SOURCE), Location("sft.yaml", 3, 4), id="one character"),
        pytest.param(Unreadable("sft.yaml", "bracket", 6, SOURCE), Location("sft.yaml", 6, 6), id="the end of the text"),
        pytest.param(Unreadable("sft.yaml", "bracket", 99, SOURCE), Location("sft.yaml", 6, 6), id="behind the end"),
        pytest.param(Unreadable("sft.yaml", "bytes", 2), Location("sft.yaml", 2, 3), id="no text at hand"),
    ],
)
def test_the_finding_stands_where_reading_failed(problem: Unreadable, at: Location) -> None:
    found = only(list(check(problem)))
    assert found.at == at
    assert found.severity == Severity.ERROR
    assert found.message == problem.reason
