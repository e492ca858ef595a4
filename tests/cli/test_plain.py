"""Calls that need no parser come to the same as those that do."""

from __future__ import annotations

import pytest

from pytest_gbs.cli import find
from pytest_gbs.cli._parser import Parser
from pytest_gbs.cli._plain import plain


@pytest.mark.parametrize("name", ["check", "show"])
@pytest.mark.parametrize(
    "words",
    [[], ["."], ["a.yaml", "b"], ["-"], ["-q", "a.yaml"], ["-v", "-v", "x"], ["x", "--no-cache", "y"], ["-q", "-v", "-q"]],
    ids=" ".join,
)
def test_it_agrees_with_the_parser(name: str, words: list[str]) -> None:
    command = find(name)
    assert command is not None
    parser = Parser(prog="gbs", allow_abbrev=False)
    command.add_arguments(parser)
    found = plain(command, words)
    assert found is not None
    assert vars(found) == vars(parser.parse_intermixed_args(words))


@pytest.mark.parametrize(
    "words", [["--nodes", "2"], ["--format=json"], ["-qq"], ["--", "x"], ["--help"], ["--strict=claims"], ["-x"]], ids=" ".join
)
def test_what_takes_a_value_goes_to_the_parser(words: list[str]) -> None:
    command = find("check")
    assert command is not None
    assert plain(command, words) is None


def test_paths_that_are_known_to_be_some_come_last() -> None:
    command = find("check")
    assert command is not None
    found = plain(command, ["-q", "a"], ["--nodes", "-v"])
    assert found is not None
    assert (found.paths, found.quiet, found.nodes) == (["a", "--nodes", "-v"], 1, None)
