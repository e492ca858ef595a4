"""Reading again: what an edit changed beside the value it stands in, as YAML 1.1 and 1.2, JSON and TOML."""

import pytest

from pytest_gbs.fixes.rereading import unintended
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Edit


def _change(before: str, old: str, new: str, path: str = "a.yaml") -> str:
    start = before.index(old)
    edits = (Edit(Location(path, start, start + len(old)), old, new),)
    after = before[:start] + new + before[start + len(old) :]
    return unintended(Source(path, before), Source(path, after), edits)


@pytest.mark.parametrize(
    ("before", "old", "new", "path"),
    [
        ("a: 4\nb: 1\n", "4", "8", "a.yaml"),
        ("a: 4 # 4\nb: 1\n", "# 4", "# 8", "a.yaml"),
        ("a: '4'\n", "'4'", "'8'", "a.yaml"),
        ("a: 2e-5\n", "2e-5", "2.0e-5", "a.yaml"),
        ("a: [1, 2]\nb: 1\n", "1", "3", "a.yaml"),
        ("x: 1\n---\na: 4\n", "4", "8", "a.yaml"),
        ("a: 4 # gbs: ignore[GBS101]\n", " # gbs: ignore[GBS101]", "", "a.yaml"),
        ('{"a": 4, "b": 1}\n', "4", "8", "a.json"),
        ("a = 4\n[b]\nc = 1\n", "4", "8", "a.toml"),
        ("a: !include x.yaml\nb: 4\n", "4", "8", "a.yaml"),
        ("accelerate launch --steps 4\n", "4", "8", "run.sh"),
    ],
)
def test_the_value_itself_may_change(before: str, old: str, new: str, path: str) -> None:
    assert _change(before, old, new, path) == ""


@pytest.mark.parametrize(
    ("before", "old", "new", "path", "why"),
    [
        ("a: &x 4\nb: *x\n", "4", "8", "a.yaml", "b would change too"),
        ("a: 4\nb: 1\n", "4\n", "4 ", "a.yaml", "the file could no longer be read"),
        ("a: 4 # x\nb: 1\n", "# x\n", "", "a.yaml", "the file could no longer be read"),
        ("a: 4\nb: 1\n", "\nb", "\nc", "a.yaml", "b and c would change too"),
        ("a: 4 # x\nb: 1\n", "# x", "\nc: 2", "a.yaml", "c would change too"),
        ("a: 4\n--- # x\nb: 1\n", "--- # x\n", "", "a.yaml", "the file would have another number of documents"),
        ("a: |\n  x # y\nb: 1\n", " # y", "", "a.yaml", ""),
        ('{"a": 4, "b": 1}\n', "4,", "", "a.json", "the file could no longer be read"),
    ],
)
def test_nothing_else_may(before: str, old: str, new: str, path: str, why: str) -> None:
    assert _change(before, old, new, path) == why


def test_what_only_yaml_1_2_reads_otherwise_is_found() -> None:
    # Behind a comment sign that goes, 1.1 and 1.2 both see a longer text: the value is another.
    assert _change("a: 4 #x\n", " #x", "x", "a.yaml") == "a would change too"


def test_aliases_that_multiply_are_read_in_no_time() -> None:
    lines = ["a0: &a0 [1, 2]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)), "size: 4"]
    assert _change("\n".join(lines) + "\n", "size: 4", "size: 8") == ""
