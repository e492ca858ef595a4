"""Patterns for paths."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.files.globs import matches, problem

SILENT = [
    ("recipes/a.yaml", "*.yml"),
    ("recipes/a.yaml", "b.yaml"),
    ("recipes/a.yaml", "recipe"),
    ("recipes/a.yaml", "recipes/b.yaml"),
    ("old/recipes/a.yaml", "recipes/*.yaml"),
    ("old/recipes/a.yaml", "/recipes"),
    ("recipes/a/b.yaml", "recipes/*.yaml"),
    ("recipes", "recipes/"),
    ("recipes/a.yaml", "a.yaml/"),
    ("recipes/a.yaml", "recipes/?"),
    ("a/b", "a?b"),
    ("a/b", "a[/]b"),
    ("a/b", "a[!c]b"),
    ("a.yaml", "[!a].yaml"),
    ("a.yaml", "[b-z].yaml"),
    ("ax.yaml", "{a,b}.yaml"),
    ("a/c", "a/**/b"),
    ("xa/b", "**/a/b"),
    ("recipes", "recipes/**"),
    ("a.yaml", "[a.yaml"),
    ("a.yaml", ""),
    ("a.yaml", "/"),
    ("a//b", "a/b"),
    ("A.yaml", "a.yaml"),
    ("a.yaml\n", "a.yaml"),
]
FIRING = [
    ("recipes/a.yaml", "*.yaml"),
    ("recipes/a.yaml", "a.yaml"),
    ("recipes/a.yaml", "recipes"),
    ("recipes/a.yaml", "recipes/"),
    ("old/recipes/a.yaml", "recipes"),
    ("old/recipes/b/a.yaml", "recipes/"),
    ("recipes/a.yaml", "/recipes"),
    ("recipes/a.yaml", "./recipes/*.yaml"),
    ("recipes/a/b.yaml", "recipes/**/*.yaml"),
    ("recipes/b.yaml", "recipes/**/*.yaml"),
    ("recipes/a/b.yaml", "recipes/a"),
    ("recipes/a/b.yaml", "recipes/*"),
    ("recipes/a/b.yaml", "recipes/**"),
    ("recipes/a/b.yaml", "**/b.yaml"),
    ("b.yaml", "**/b.yaml"),
    ("x/a/y/z/b/c", "**/a/**/b"),
    ("a/b", "**"),
    ("a/b", "**/*"),
    ("a.yaml", "?.yaml"),
    ("é.yaml", "?.yaml"),
    ("b.yaml", "[!a].yaml"),
    ("b.yaml", "[^a].yaml"),
    ("b.yaml", "[a-c].yaml"),
    ("-.yaml", "[a-].yaml"),
    ("].yaml", "[]].yaml"),
    ("7.yaml", "[[:digit:]].yaml"),
    ("a.yaml", "{a,b}.yaml"),
    ("b/c/d.yaml", "{a,b/c}/d.{yaml,yml}"),
    ("bd", "{a,b{c,d}}"),
    ("a{b}", "a{b}"),
    ("a*.yaml", r"a\*.yaml"),
    ("{a,b}", r"\{a,b}"),
    ("a+b(c).yaml", "a+b(c).yaml"),
    ("a\nb.yaml", "a*.yaml"),
    ("a\udcff.yaml", "a*.yaml"),
    ("recipes/", "recipes/"),
    ("recipes/", "recipes"),
    ("recipes/", "recipes/**"),
]


@pytest.mark.parametrize(("path", "pattern"), SILENT, ids=repr)
def test_a_path_that_the_pattern_does_not_name_is_left_alone(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


@pytest.mark.parametrize(("path", "pattern"), FIRING, ids=repr)
def test_a_path_that_the_pattern_names_matches(path: str, pattern: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param("*a" * 200 + "b", "a" * 4000, id="stars"),
        pytest.param("**/a/" * 100 + "b", "a/" * 2000, id="double stars"),
        pytest.param("**/*a*/" * 50 + "b", "aaaa/" * 500, id="both"),
        pytest.param("{a,aa}" * 60, "a" * 100, id="braces"),
        pytest.param("{" * 5000, "a", id="open braces"),
        pytest.param("[" * 5000, "a", id="open brackets"),
        pytest.param("?" * 500 + "*" * 500, "a" * 499, id="more signs than letters"),
    ],
)
def test_a_hostile_pattern_is_refused_quickly(pattern: str, path: str) -> None:
    start = time.perf_counter()
    assert not matches(path, pattern)
    assert time.perf_counter() - start < 60  # it ends; how fast is for the benchmarks


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param("recipes/**/*.{yaml,yml}", "", id="in order"),
        pytest.param("[a]", "", id="class"),
        pytest.param("{a,b}" * 6, "", id="64 spellings"),
        pytest.param("[a", "matches nothing", id="class never closed"),
        pytest.param("/", "matches nothing", id="only a slash"),
        pytest.param("{a,b}" * 7, "covers more than 64 patterns", id="128 spellings"),
    ],
)
def test_a_pattern_that_can_match_nothing_is_reported(pattern: str, expected: str) -> None:
    assert problem(pattern) == expected


def _naive(parts: list[str], wanted: list[str]) -> bool:
    """Whether all path parts are what is wanted, trying everything."""
    if not wanted:
        return not parts
    if wanted[0] == "**":
        if len(wanted) == 1:
            return bool(parts)
        return any(_naive(parts[skip:], wanted[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and _naive_part(parts[0], wanted[0]) and _naive(parts[1:], wanted[1:])


def _naive_part(text: str, wanted: str) -> bool:
    if not wanted:
        return not text
    if wanted[0] == "*":
        return any(_naive_part(text[skip:], wanted[1:]) for skip in range(len(text) + 1))
    return bool(text) and wanted[0] in ("?", text[0]) and _naive_part(text[1:], wanted[1:])


_PART = st.text("ab", min_size=1, max_size=4)
_WANTED = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=5).filter(lambda text: "**" not in text))


@given(st.lists(_PART, min_size=1, max_size=5), st.lists(_WANTED, min_size=2, max_size=5))
def test_a_match_is_what_trying_everything_finds(parts: list[str], wanted: list[str]) -> None:
    above = [parts[:length] for length in range(1, len(parts) + 1)]
    assert matches("/".join(parts), "/".join(wanted)) == any(_naive(some, wanted) for some in above)
