"""Edits on texts: each finds what it expects, and places behind it move along."""

import pytest

from pytest_gbs.fixes.editing import by_source, edit_all, overlap, shifting
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.outcome import Edit

TEXT = "a: 10\nb: 20\n"


def _read(path: str) -> Source | Unreadable:
    return Source(path, TEXT, bom=True) if path == "a.yaml" else Unreadable(path, "there is no such file")


def _edit(start: int, expected: str, replacement: str, path: str = "a.yaml") -> Edit:
    return Edit(Location(path, start, start + len(expected)), expected, replacement)


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ([], None),
        ([_edit(3, "10", "5")], "a: 5\nb: 20\n"),
        ([_edit(9, "20", "200"), _edit(3, "10", "5")], "a: 5\nb: 200\n"),
        ([_edit(3, "10", "5"), _edit(3, "10", "5")], "a: 5\nb: 20\n"),
        ([_edit(12, "", "c: 1\n")], "a: 10\nb: 20\nc: 1\n"),
    ],
    ids=["none", "one", "two in any order", "one said twice", "an insertion at the end"],
)
def test_edits_replace_their_spans(edits: list[Edit], after: str | None) -> None:
    changed = edit_all(by_source(edits), _read)
    assert isinstance(changed, dict)
    assert {path: source.text for path, source in changed.items()} == ({} if after is None else {"a.yaml": after})
    assert all(source.bom for source in changed.values())


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([_edit(3, "11", "5")], "a.yaml does not hold what is to be replaced"),
        ([_edit(3, "10", "5"), _edit(4, "0", "1")], "a.yaml does not hold what is to be replaced"),
        ([_edit(400, "10", "5")], "a.yaml does not hold what is to be replaced"),
        ([_edit(3, "10", "5", "b.yaml")], "b.yaml can't be read: there is no such file"),
    ],
    ids=["something else stands there", "overlapping", "behind the end", "no file"],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit], why: str) -> None:
    assert edit_all(by_source(edits), _read) == why


@pytest.mark.parametrize(
    ("other", "touches"),
    [
        (_edit(9, "20", "1"), False),
        (_edit(3, "10", "5"), False),
        (_edit(3, "10", "6"), True),
        (_edit(5, "\n", ""), True),
    ],
    ids=["elsewhere", "the same", "another value", "next to it"],
)
def test_edits_touch_where_both_can_not_be_done(other: Edit, touches: bool) -> None:
    assert overlap(_edit(3, "10", "5"), other) is touches


def test_places_move_with_the_text_before_them() -> None:
    shifted = shifting(by_source([_edit(3, "10", "5"), _edit(9, "20", "2000")]))
    assert [shifted("a.yaml", offset) for offset in (0, 3, 5, 6, 9, 11)] == [0, 3, 4, 5, 8, 12]
    assert shifted("b.yaml", 9) == 9
