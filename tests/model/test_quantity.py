"""Notes of sizes: words for people, and a kind where something hangs on it."""

import pytest

from pytest_gbs.model.quantity import NO_NOTE, Note, Noted, together

PER_NODE = Note("2 nodes x 8")
OF_A = Note("default of A", Noted.DEFAULT, "A")
OF_B = Note("default of B", Noted.DEFAULT, "B")


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        pytest.param([], NO_NOTE, id="none"),
        pytest.param([NO_NOTE, NO_NOTE], NO_NOTE, id="none that says anything"),
        pytest.param([NO_NOTE, PER_NODE], PER_NODE, id="one"),
        pytest.param([OF_A, NO_NOTE, OF_A], OF_A, id="one twice keeps what it is"),
        pytest.param([PER_NODE, Note("sbatch --nodes")], Note("2 nodes x 8, sbatch --nodes"), id="two"),
        pytest.param([PER_NODE, OF_A], Note("2 nodes x 8, default of A", Noted.DEFAULT), id="one of them a default"),
        pytest.param([OF_A, OF_B], Note("default of A, default of B", Noted.DEFAULT), id="two defaults are of no one variable"),
    ],
)
def test_notes_are_said_together(notes: list[Note], expected: Note) -> None:
    assert together(notes) == expected
