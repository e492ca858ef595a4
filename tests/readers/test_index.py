"""Keys are indexed as the loaders have them: aliases followed, merge keys taken in, the last of repeated keys winning."""

import pytest

from pytest_gbs.model.document import Alias, Document
from pytest_gbs.model.location import KeyPath
from tests.readers.reading import document, mapping, refusal, texts, written


def leaves(found: Document) -> dict[str, str]:
    """The text of every indexed scalar by dotted path."""
    return {".".join(map(str, path)): text for path, text in texts(found).items() if text is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {b: 1}\nc: [{d: 2}]\n", {"a.b": "1"}),
        ("'<<': {b: 1}\n", {"<<.b": "1"}),
        ("a: <<\n", {"a": "<<"}),
        ("chat: '<<SYS>>'\n", {"chat": "<<SYS>>"}),
        ("a: &x 8\nb: *x\n", {"a": "8", "b": "8"}),
        ("a: &x {b: 1}\nc: *x\n", {"a.b": "1", "c.b": "1"}),
        ("a: &x {b: &y {c: 1}}\nd: *y\ne: {f: *x}\n", {"a.b.c": "1", "d.c": "1", "e.f.b.c": "1"}),
        ("&x a: 1\n*x : 2\nb: 3\n", {"a": "2", "b": "3"}),
        ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  b: 3\n", {"a.b": "1", "a.c": "2", "d.b": "3", "d.c": "2"}),
        ("d:\n  b: 3\n  <<: {b: 1, c: 2}\n", {"d.b": "3", "d.c": "2"}),
        ("<<: [{a: 1, b: 1}, {b: 2, c: 2}]\nc: 3\n", {"a": "1", "b": "1", "c": "3"}),
        ("x: &x {a: 1}\ny: &y\n  <<: *x\n  b: 2\nz:\n  <<: *y\n", {"x.a": "1", "y.a": "1", "y.b": "2", "z.a": "1", "z.b": "2"}),
        ("<<: {a: 1}\n<<: {a: 2, b: 2}\n", {"a": "2", "b": "2"}),
        ("<<: {a: {b: 1}}\n", {"a.b": "1"}),
        ("a: &x\n  <<: *x\n  b: 1\n", {"a.b": "1"}),
        ("!!merge <<: {a: 1}\n", {"a": "1"}),
    ],
)
def test_keys_are_found_where_the_loader_has_them(text: str, expected: dict[str, str]) -> None:
    assert leaves(document(text)) == expected


def test_an_alias_points_at_its_node() -> None:
    found = document("a: &x [1]\nb: *x\n")
    (_, first), (_, second) = mapping(found.root).entries
    assert isinstance(second, Alias)
    assert second.target is first
    assert (written(found, second), second.name) == ("*x", "x")
    assert found.get("b") is first


@pytest.mark.parametrize(
    "text", ["a: &x [*x]\n", "a: &x {b: *x}\n", "&x [*x]\n", "a: &x\n  - b: *x\n"], ids=["list", "map", "root", "deep"]
)
def test_an_alias_within_its_own_node_has_no_target(text: str) -> None:
    found = document(text)
    assert "target=None" in repr(found.root)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("a: {<<: 1}\n", 8), ("<<: [1]\n", 4), ("<<:\n", 3), ("<<: [{a: 1}, [2]]\n", 4), ("x: &x 1\ny:\n  <<: *x\n", 17)],
)
def test_only_mappings_can_be_merged(text: str, offset: int) -> None:
    found = refusal(text)
    assert (found.offset, found.reason) == (offset, "found a merge key whose value is neither a mapping nor a list of mappings")


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: {a: 2}\n",
        "- a: 1\n- a: 2\n",
        "1: a\n'1': b\n",
        "<<: {a: 1}\n<<: {b: 2}\n",
        "a: &x {b: 1}\nb: *x\n",
        "? [a]\n: 1\n? [a]\n: 2\n",
    ],
    ids=["other-mapping", "other-item", "number-and-text", "merge", "alias", "complex"],
)
def test_what_only_looks_repeated_is_not(text: str) -> None:
    assert document(text).duplicates == ()


@pytest.mark.parametrize(
    ("text", "path", "spans"),
    [
        ("a: 1\nb: 2\na: 3\n", ("a",), [(0, 1), (10, 11)]),
        ("a: 1\n'a': 3\n", ("a",), [(0, 1), (5, 8)]),
        ("x:\n  a: 1\n  a: 2\n", ("x", "a"), [(5, 6), (12, 13)]),
        ("x:\n- b: 0\n- {a: 1, a: 2}\n", ("x", 1, "a"), [(13, 14), (19, 20)]),
        ("a: 1\na: {b: 1}\n", ("a",), [(0, 1), (5, 6)]),
    ],
)
def test_a_repeated_key_is_reported_with_both_places(text: str, path: KeyPath, spans: list[tuple[int, int]]) -> None:
    (found,) = document(text).duplicates
    assert found.path == path
    assert [(place.start, place.stop) for place in (found.first, found.second)] == spans
    assert {place.path for place in (found.first, found.second)} == {path}
    assert {place.source for place in (found.first, found.second)} == {"recipe.yaml"}


def test_a_key_written_three_times_is_reported_twice() -> None:
    assert [(each.first.start, each.second.start) for each in document("a: 1\na: 2\na: 3\n").duplicates] == [(0, 5), (0, 10)]


def test_the_last_of_repeated_keys_wins_with_all_that_it_holds() -> None:
    found = document("a: {b: 1, c: 1}\na: {b: 2}\n")
    assert leaves(found) == {"a.b": "2"}
    assert len(mapping(found.root).entries) == 2
