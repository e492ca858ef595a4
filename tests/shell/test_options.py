"""Options and positional words of a command, as launchers look them up."""

import pytest

from pytest_gbs.launches.programs._words import option, uses
from pytest_gbs.model.command import options, positionals
from tests.shell.reading import only, written

FOUND = {
    "next-word": ("foo --num_processes 8", "8"),
    "equals": ("foo --num_processes=8", "8"),
    "dashes": ("foo --num-processes 8", "8"),
    "last-wins": ("foo --num_processes 4 --num-processes=8", "8"),
    "short": ("foo -n 8", "8"),
    "short-glued": ("foo -n8", "8"),
    "negative": ("foo --num_processes -1", "-1"),
    "unknown": ("foo --num_processes $N", None),
    "unknown-behind-equals": ("foo --num_processes=$N", None),
    "variable": ("N=8\nfoo --num_processes=${N}", "8"),
}


@pytest.mark.parametrize(("text", "value"), FOUND.values(), ids=FOUND)
def test_an_option_has_its_value(text: str, value: str | None) -> None:
    found = option(only(text).words, "--num_processes", "-n")
    assert found is not None
    assert found[1].text == value


ABSENT = {
    "not-there": "foo --other 8",
    "longer": "foo --num_processes_total 8",
    "value-of-another": "foo --name=--num_processes",
    "switch": "foo --num_processes --other",
    "at-the-end": "foo --num_processes",
    "unknown-name": "foo --num_$X 8",
    "positional": "foo num_processes 8",
}


@pytest.mark.parametrize("text", ABSENT.values(), ids=ABSENT)
def test_no_value_is_made_up(text: str) -> None:
    assert option(only(text).words, "--num_processes", "-n") is None


def test_a_switch_is_there_without_a_value() -> None:
    command = only("foo --multi_gpu --x")
    assert uses(command.words, "--multi-gpu")
    assert not uses(command.words, "--cpu")


def test_each_use_of_an_option_is_found() -> None:
    command = only("foo --config a --config=b")
    assert [(use.place, use.value.text if use.value else "") for use in options(command.words, "--config")] == [(1, "a"), (3, "b")]


def test_the_place_of_a_value_behind_equals_is_its_own() -> None:
    text = "foo --num_processes=8"
    found = option(only(text).words, "--num_processes")
    assert found is not None
    assert written(text, found[1].at) == "8"


@pytest.mark.parametrize(
    ("text", "switches", "wanted"),
    [("foo a --x 1 b", (), ["a", "b"]), ("foo --bf16 a", ("bf16",), ["a"]), ("foo --x=1 a", (), ["a"]), ("foo --x --y a b", (), ["b"]),
     ("foo --x 1 -- --y 2", (), ["--y", "2"])],
    ids=["around", "switch", "equals", "two-options", "behind-dashes"],
)  # fmt: skip
def test_positional_words_are_what_is_left(text: str, switches: tuple[str, ...], wanted: list[str]) -> None:
    assert [word.text for _, word in positionals(only(text).words, switches=frozenset(switches))] == wanted


@pytest.mark.parametrize(
    "text", ['foo --x 1 "$@"', "foo $OPTIONS", "foo --x=1 $*", 'foo --bf16 "$@"', 'A=("$@")\nfoo "${A[@]}"'], ids=range(5)
)
def test_words_can_be_added_from_outside(text: str) -> None:
    assert only(text).ends_with_args


@pytest.mark.parametrize("text", ["foo --x $N", "foo --x=$N", "foo a/$N", "foo 1", 'foo "$N"'], ids=range(5))
def test_the_value_of_an_option_is_one_word(text: str) -> None:
    assert not only(text).ends_with_args


def test_one_word_is_not_a_list_of_options() -> None:
    assert not only("ARGS=\"--tokens '<query>' '<answer>'\"\nCMD=\"foo $ARGS --x 1\"\neval $CMD\n").ends_with_args
