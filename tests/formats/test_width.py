"""What fits a terminal."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.formats import FormatOptions, find
from pytest_gbs.formats._width import ending, wrapped
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.settings import Settings
from tests.cli.support import GOOD, STALE, UNCLAIMED, write
from tests.support import check


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        pytest.param("", 10, [""], id="nothing"),
        pytest.param("as wide", 7, ["as wide"], id="fits"),
        pytest.param("one word", 4, ["one", "> word"], id="a word that is too long stays whole"),
        pytest.param("a  gap stays", 20, ["a  gap stays"], id="spaces"),
        pytest.param("three words here", 11, ["three words", "> here"], id="indent"),
        pytest.param("批量 大小", 5, ["批量", "> 大小"], id="wide signs"),
    ],
)
def test_lines_are_broken_between_words(text: str, room: int, expected: list[str]) -> None:
    assert list(wrapped(text, room, "> ")) == expected


@pytest.mark.parametrize(("room", "expected"), [(9, "runs/a.sh"), (8, "…ns/a.sh"), (5, "…a.sh"), (1, "…")])
def test_the_end_of_a_name_is_kept(room: int, expected: str) -> None:
    assert ending("runs/a.sh", room) == expected


def _shown(root: Path, files: dict[str, str], columns: int) -> list[str]:
    show = find("text").show
    assert show is not None
    write(root, files)
    report = check(WorkTree(str(root)), (), Settings(), CommandLineHardware(), keep_runs=True)
    return show(report, FormatOptions(columns=columns)).splitlines()


def test_a_pipe_gets_everything(tmp_path: Path) -> None:
    name = f"{'recipes/' * 20}a.yaml"
    lines = _shown(tmp_path, {name: GOOD, "b.yaml": UNCLAIMED}, 0)
    assert lines[0].endswith("GPUs  tokens per step  verdict    framework  recipe")
    assert any(line.endswith(name) for line in lines)


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        (200, "global batch micro accumulation GPUs tokens per step verdict framework recipe"),
        (130, "global batch micro accumulation GPUs tokens per step verdict recipe"),
        (110, "global batch micro accumulation GPUs verdict recipe"),
        (80, "global batch micro GPUs verdict recipe"),
    ],
)
def test_a_table_gives_up_columns_before_names(tmp_path: Path, columns: int, head: str) -> None:
    name = f"{'recipes/' * 6}a.yaml"
    lines = _shown(tmp_path, {name: GOOD, "b.yaml": UNCLAIMED}, columns)
    assert lines[0].split() == head.split()
    assert all(len(line) <= columns for line in lines)
    assert any(line.endswith("recipes/recipes/a.yaml") for line in lines)


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_no_line_of_a_check_sticks_out(tmp_path: Path, columns: int) -> None:
    write(tmp_path, {"gbs.toml": "gpus-per-node = 8\n", "a.yaml": STALE, "b.yaml": GOOD, "c.yaml": UNCLAIMED})
    report = check(WorkTree(str(tmp_path)), (), Settings(), CommandLineHardware())
    lines = find("text").render(report, FormatOptions(columns=columns)).splitlines()
    copied = [line for line in lines if line.startswith("  run: ")]
    shown = [line for line in lines if line not in copied and "stale-declaration" not in line and "│" not in line]
    assert max(map(len, shown)) <= max(columns, 42)
    assert " ".join("\n".join(lines).rpartition("\n\n")[2].split()).startswith(
        "3 recipes in 4 files: 1 verified, 1 violated, 1 unclaimed; 1 error "
    )
    assert len(copied) == 1


def test_words_of_a_block_go_on_below_themselves(tmp_path: Path) -> None:
    lines = _shown(tmp_path, {"a.yaml": GOOD}, 60)
    index = next(index for index, line in enumerate(lines) if line.startswith("  global batch size"))
    assert lines[index : index + 2] == [
        "  global batch size        128   = 4 x 2 x 16",
        f"{' ' * 33}declared 128 at line 1: agrees",
    ]


def test_what_is_said_of_a_batch_goes_below_it_where_it_does_not_fit(tmp_path: Path) -> None:
    wide, narrow = (_shown(tmp_path, {"a.yaml": GOOD}, columns) for columns in (120, 80))
    assert any("= 4 x 2 x 16     " in line and "declared 128 at line 1: agrees" in line for line in wide)
    first = next(number for number, line in enumerate(narrow) if line.endswith("= 4 x 2 x 16"))
    assert narrow[first + 1].strip() == "declared 128 at line 1: agrees"
    assert max(map(len, narrow)) <= 80
