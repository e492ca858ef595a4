"""What a long run says on a terminal, and that a short one says nothing."""

import io

import pytest

from pytest_gbs.cli._progress import ProgressTree
from pytest_gbs.model.location import Source
from tests.support import in_memory


@pytest.mark.parametrize(
    ("patience", "expected"),
    [
        pytest.param(60, "", id="short"),
        pytest.param(0, "\rgbs: 1 file read\r\x1b[K", id="long"),
    ],
)
def test_only_a_long_run_says_something(patience: float, expected: str) -> None:
    stream = io.StringIO()
    watched = ProgressTree(in_memory({"a.yaml": "a: 1\n"}), stream, patience)
    assert watched.paths() == ("a.yaml",)
    assert watched.read("a.yaml") == Source("a.yaml", "a: 1\n")
    watched.clear()
    assert stream.getvalue() == expected


def test_a_terminal_that_is_gone_does_not_matter() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    watched = ProgressTree(in_memory({"a.yaml": ""}), Gone(), 0)
    assert watched.read("a.yaml") == Source("a.yaml", "")
    watched.clear()
