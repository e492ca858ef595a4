"""The lines of source under a finding: what is underlined, labelled, folded and cut."""

import pytest

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._excerpt import Mark, _kept, excerpt
from pytest_gbs.formats._paint import Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats.text import render_finding
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Related, Severity
from pytest_gbs.model.report import Report


def lines(text: str, at: str, *related: tuple[str, str], label: str = "declared") -> list[str]:
    """The excerpt about the first `at` in `text`, with related places by their text and label."""
    places = [Related(_place(text, part), name) for part, name in related]
    finding = Finding("GBS101", "", Severity.ERROR, _place(text, at), label, tuple(places))
    report = Report((), {"a.yaml": Source("a.yaml", text)}, {})
    return list(excerpt(finding, Places(report, FormatOptions()), Paint(color=False)))


def _place(text: str, part: str) -> Location:
    start = text.index(part)
    return Location("a.yaml", start, start + len(part))


@pytest.mark.parametrize(
    ("location", "sources"),
    [
        pytest.param(Location("a.yaml", 0, 1), {}, id="no text kept"),
        pytest.param(Location("a.yaml", 0, 0), {"a.yaml": Source("a.yaml", "a: 1\n")}, id="the file as a whole"),
        pytest.param(Location("a.yaml", 5, 5), {"a.yaml": Source("a.yaml", "a: 1\n")}, id="an empty place"),
    ],
)
def test_there_is_nothing_to_show(location: Location, sources: dict[str, Source]) -> None:
    finding = Finding("GBS101", "", Severity.ERROR, location)
    assert list(excerpt(finding, Places(Report((), sources, {}), FormatOptions()), Paint(color=False))) == []


def test_distant_lines_are_folded_and_in_order() -> None:
    text = "# GBS 128\n" + "x: 1\n" * 98 + "accumulation: 4\n"
    assert lines(text, "128", ("4", "accumulation")) == [
        "      1 │ # GBS 128",
        "        │       ━━━ declared",
        "    100 │ accumulation: 4",
        "        │               ─ accumulation",
    ]


def test_a_label_without_room_is_printed_below_its_mark() -> None:
    assert lines("micro: 12 # 4 x 3 is 128\n", "128", ("12 ", "micro batch"), ("4", "accumulation"), ("3", "nodes")) == [
        "      1 │ micro: 12 # 4 x 3 is 128",
        "        │        ───  ─   ─    ━━━ declared",
        "        │                 nodes",
        "        │             accumulation",
        "        │        micro batch",
    ]


def test_a_place_that_is_named_twice_is_marked_once() -> None:
    assert lines("a: 128\n", "128", ("128", "micro"), ("128", "micro")) == ["      1 │ a: 128", "        │    ━━━ declared, micro"]


def test_wide_signs_take_two_columns_and_accents_none() -> None:
    assert lines("# 批量大小 e\u0301 128\n", "128") == ["      1 │ # 批量大小 e\u0301 128", "        │ " + " " * 13 + "━━━ declared"]


def test_tabs_and_controls_keep_underlines_in_place() -> None:
    assert lines("\ta:\x1b 128\n", "128") == ["      1 │     a:\\x1b 128", "        │            ━━━ declared"]


def test_a_place_of_several_lines_is_marked_in_its_first() -> None:
    assert lines("a: [1,\n  2]\n", "[1,\n  2]") == ["      1 │ a: [1,", "        │    ━━━ declared"]


def test_carriage_returns_are_not_part_of_a_line() -> None:
    assert lines("a: 1\r\nb: 2\r\n", "2", label="") == ["      2 │ b: 2", "        │    ━"]


def test_a_long_line_is_cut_around_its_marks() -> None:
    text = "{" + '"k": 0, ' * 300 + '"micro": 7, ' + '"k": 0, ' * 300 + '"total": 512' + ', "k": 0' * 300 + "}\n"
    shown = lines(text, "512", ("7", "micro batch"))
    assert all(len(line) <= 125 for line in shown)
    assert shown[0].count("…") == 3
    for part in ("512", "7"):
        column = shown[0].index(part)
        assert shown[1][column] in "━─"


def test_a_value_of_thousands_of_digits_is_cut() -> None:
    shown = lines("a: " + "9" * 5000 + "\n", "9" * 5000)
    assert all(len(line) <= 125 for line in shown)
    assert shown[1].count("━") >= 40


@pytest.mark.parametrize("columns", [80, 60, 20])
def test_a_narrow_terminal_gets_shorter_lines(columns: int) -> None:
    text = "a: " + "x " * 30 + "12 " + "y " * 30 + "\n"
    place = Location("a.yaml", text.index("12"), text.index("12") + 2)
    found = Finding("GBS101", "word " * 30, Severity.ERROR, place, "here")
    report = Report((), {"a.yaml": Source("a.yaml", text)}, {})
    shown = render_finding(found, report, FormatOptions(columns=columns)).splitlines()
    assert max(map(len, shown[1:])) <= max(columns, 60)
    line, below = shown[-2:]
    assert line.index("12") == below.index("━")
    assert render_finding(found, report, FormatOptions(columns=200)) == render_finding(found, report)


@pytest.mark.parametrize(
    ("starts", "kept"),
    [
        pytest.param([500], [(455, 555)], id="45 signs on each side of one place of 10"),
        pytest.param([200, 700], [(180, 230), (680, 730)], id="20 on each side of two"),
        pytest.param([200, 250], [(180, 280)], id="places that are near to each other are not parted"),
        pytest.param([0, 990], [(0, 30), (970, 1000)], id="the ends of the line"),
    ],
)
def test_what_is_kept_of_a_long_line_has_the_width_of_the_terminal(starts: list[int], kept: list[tuple[int, int]]) -> None:
    marks = [Mark(start, start + 10, "", Severity.ERROR, first=True) for start in starts]
    assert _kept("x" * 1000, marks, 100) == kept


def test_a_label_that_would_reach_into_the_next_place_is_printed_below() -> None:
    assert lines("x   22222222", "x", ("22222222", "micro")) == [
        "      1 │ x   22222222",
        "        │ ━   ──────── micro",
        "        │ declared",
    ]
