"""The lock file: what is written is read again, it is TOML, and anything else is one clear error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.files.toml import tomllib
from pytest_gbs.history.lockfile import NAME, read_lock, write_lock
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.location import Source
from pytest_gbs.model.locked import PER_RANK, Record

KNOWN = Record("samples", 128, "2", operands=(("micro_batch_size", 1), ("gradient_accumulation_steps", 2), ("num_nodes", 8)), claim=128)
OPEN = Record("pairs", None, "1/2", operands=(("micro_batch_size", 1),))
STATED = Record("completions", 512)
RANKED = Record("samples", None, "16", PER_RANK)


def read(text: str) -> dict[str, Record]:
    return {name: line.record for name, line in read_lock(Source(NAME, text)).items()}


def test_a_line_says_all_there_is_in_words() -> None:
    assert write_lock({"b.yaml": OPEN, "a.yaml": KNOWN}, "GBS503").splitlines() == [
        "# The global batch size of each recipe and launch. Written by gbs lock; gbs check fails if one changes (GBS503).",
        "version = 1",
        '"a.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 2, micro_batch_size = 1, gradient_accumulation_steps = 2, '
        "num_nodes = 8, claim = 128 }",
        '"b.yaml" = { unit = "pairs", per_gpu = "1/2", micro_batch_size = 1 }',
    ]


def test_what_is_written_is_read_and_is_toml() -> None:
    records = {"a.yaml": KNOWN, "b.yaml @ run.sh #2": OPEN, "c.yaml (document 2)": STATED, 'q"\\.yaml': RANKED, "ü\n.yaml": STATED}
    text = write_lock(records, "GBS503")
    assert read(text) == records
    assert set(tomllib.loads(text)) == {"version", *records}
    assert text.count("\n") == 2 + len(records)


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.sampled_from((KNOWN, OPEN, STATED, RANKED)), max_size=5))
def test_any_name_comes_back(records: dict[str, Record]) -> None:
    assert read(write_lock(records, "GBS503")) == records


def test_a_name_that_is_not_utf_8_comes_back_from_bytes() -> None:
    text = write_lock({"caf\udce9.yaml": KNOWN}, "GBS503")
    assert read(text.encode().decode()) == {"caf\udce9.yaml": KNOWN}


def test_comments_empty_lines_and_the_line_ends_of_windows_are_read_over() -> None:
    text = write_lock({"a.yaml": KNOWN}, "GBS503") + "\n# mine\n"
    assert read(text.replace("\n", "\r\n")) == {"a.yaml": KNOWN}
    assert read("") == {}


def test_an_entry_knows_its_line() -> None:
    text = write_lock({"a.yaml": KNOWN, "b.yaml": OPEN}, "GBS503")
    at = read_lock(Source(NAME, text))["b.yaml"].at
    assert text[at.start : at.stop] == text.splitlines()[3]


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> topic", "||||||| base"])
def test_the_mark_of_a_merge_conflict_is_named_with_its_line(mark: str) -> None:
    with pytest.raises(SettingsError, match=r"^gbs\.lock:3: a merge conflict; gbs lock rewrites the file"):
        read(f"version = 1\n\n{mark}\n")


def test_two_lines_for_one_recipe_are_an_error() -> None:
    line = write_lock({"a.yaml": KNOWN}, "GBS503").splitlines()[2]
    with pytest.raises(SettingsError, match=r"^gbs\.lock:2: a second line for a\.yaml"):
        read(f"{line}\n{line}\n")


def test_a_file_of_a_later_gbs_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"^gbs\.lock:1: version 2 is from another version of gbs"):
        read("version = 2\n")


@pytest.mark.parametrize(
    "line",
    [
        "a.yaml = 1",
        '"a.yaml" = {  }',
        '"a.yaml" = { per_gpu = 2 }',
        '"a.yaml" = { unit = "samples", global_batch_size = "many" }',
        '"a.yaml" = { unit = "samples", global_batch_size = 1e3 }',
        '"a.yaml" = { unit = "samples", global_batch_size = 99999999999999999999 }',
        '"a.yaml" = { unit = "samples", global_batch_size = 9999999999999 }',
        '"a.yaml" = { unit = "samples" global_batch_size = 1 }',
        '"a.yaml" = { unit = "samples", }',
        '"a.yaml" = { unit = 3 }',
        '"a.yaml = { unit = "samples" }',
        '"a\\U00ffffff" = { unit',
        "\x00" * 50,
        '"' + "\\" * 10_001,
        '"a" = { ' + "a = 1, " * 10_000,
    ],
)
def test_anything_else_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(SettingsError, match=r"^gbs\.lock:2: not a line that gbs lock writes"):
        read(f"version = 1\n{line}\n")


@given(st.text(max_size=200))
def test_no_text_ends_in_anything_but_entries_or_one_error(text: str) -> None:
    try:
        assert isinstance(read(text), dict)
    except SettingsError as error:
        assert str(error).startswith("gbs.lock:")
