"""Comments and settings that silence findings."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_gbs.checking.ignore import apply, per_file_ignored, read_suppressions
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Related, Severity
from pytest_gbs.model.settings import Settings
from pytest_gbs.model.suppression import Suppression
from pytest_gbs.readers import read

RULES = {"GBS101": "stale-declaration", "GBS104": "stale-factor", "GBS204": "unsatisfiable-batch"}
PATH = "sft.yaml"


def _document(text: str, path: str = PATH) -> Document:
    (document,) = read(Source(path, text))
    assert isinstance(document, Document)
    return document


def _read(text: str) -> tuple[Suppression, ...]:
    return read_suppressions(_document(text), RULES)


def _finding(text: str, code: str, at: str, *related: str, elsewhere: str = "") -> Finding:
    places = [Location(PATH, text.index(part), text.index(part) + len(part)) for part in (at, *related)]
    others = [Location(elsewhere, 0, 1)] if elsewhere else []
    return Finding(code, "message", Severity.ERROR, places[0], related=tuple(Related(place, "x") for place in (*places[1:], *others)))


def _silenced(text: str, finding: Finding) -> bool:
    kept, silenced, _ = apply([finding], _read(text), Source(PATH, text))
    assert (kept, silenced) in (((finding,), ()), ((), (finding,)))
    return bool(silenced)


def _without(text: str, suppression: Suppression) -> str:
    edit = suppression.removal
    assert edit is not None
    assert text[edit.at.start : edit.at.stop] == edit.expected
    return text[: edit.at.start] + edit.replacement + text[edit.at.stop :]


# Reading.


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 1  # comment\n", id="another comment"),
        pytest.param("a: 1  # gbs: 128 on 8 nodes x 8 gpus\n", id="an annotation"),
        pytest.param("a: 1  # gbs: not-a-claim\n", id="another annotation"),
        pytest.param("a: '# gbs: ignore[GBS101]'\n", id="in a value"),
        pytest.param("a: |\n  # gbs: ignore[GBS101]\n", id="in a block"),
        pytest.param("a: 1  # gbs: ignored by the launcher\n", id="another word"),
        pytest.param("a: 1  # not-gbs: ignore[GBS101]\n", id="another tool"),
        pytest.param("a: 1  # ignore[GBS101]\n", id="no tool"),
    ],
)
def test_what_is_not_a_suppression_is_not_read_as_one(text: str) -> None:
    assert _read(text) == ()


@pytest.mark.parametrize("word", ["ignored", "ignore-this", "ignroe", "noqa"])
def test_a_misspelt_one_names_no_rule(word: str) -> None:
    assert [(each.codes, each.misspelt, each.meant) for each in _read(f"a: 1  # gbs: {word}[GBS101]\n")] == [((), word, "ignore")]


def test_json_has_none() -> None:
    assert read_suppressions(_document('{"a": "# gbs: ignore[GBS101]"}', "a.json"), RULES) == ()


@pytest.mark.parametrize(
    ("comment", "codes", "reason"),
    [
        pytest.param("# gbs: ignore[GBS101] the paper's", ("GBS101",), "the paper's", id="code and reason"),
        pytest.param("#gbs:ignore[ gbs101 ]", ("GBS101",), "", id="no blanks, small letters"),
        pytest.param("# gbs: ignore [GBS101]: why", ("GBS101",), "why", id="colon"),
        pytest.param("# gbs: ignore[GBS101] - why - so", ("GBS101",), "why - so", id="dash"),
        pytest.param("# gbs: ignore[GBS101, stale-factor]", ("GBS101", "GBS104"), "", id="name"),
        pytest.param("# gbs: ignore[stale_factor,GBS2,]", ("GBS104", "GBS2"), "", id="underscore and prefix"),
        pytest.param("# gbs: ignore[GBS999, no-rule]", ("GBS999", "no-rule"), "", id="no rules"),
        pytest.param("# gbs: ignore", (), "", id="no brackets"),
        pytest.param("# gbs: ignore this line", (), "this line", id="no brackets with a reason"),
        pytest.param("# gbs: ignore[]", (), "", id="empty brackets"),
        pytest.param("# gbs: ignore[GBS101 why", (), "[GBS101 why", id="brackets never closed"),
    ],
)
def test_codes_and_reason_are_read(comment: str, codes: tuple[str, ...], reason: str) -> None:
    text = f"a: 1  {comment}\nb: 2\n"
    (found,) = _read(text)
    assert (found.codes, found.reason, found.lines, found.whole_file) == (codes, reason, (1,), False)
    assert text[found.at.start : found.at.stop] == comment
    assert _without(text, found) == "a: 1\nb: 2\n"


def test_other_words_around_it_stay() -> None:
    text = "a: 1  # GBS 128 gbs: ignore[GBS101] why  # yamllint disable-line\n"
    (found,) = _read(text)
    assert text[found.at.start : found.at.stop] == "gbs: ignore[GBS101] why"
    assert found.reason == "why"
    assert _without(text, found) == "a: 1  # GBS 128  # yamllint disable-line\n"


def test_several_in_one_comment_are_read() -> None:
    text = "a: 1  # gbs: ignore[GBS101] one  # gbs: ignore[GBS104] two\n"
    first, second = _read(text)
    assert [(s.codes, s.reason, s.lines) for s in (first, second)] == [(("GBS101",), "one", (1,)), (("GBS104",), "two", (1,))]
    assert _without(text, second) == "a: 1  # gbs: ignore[GBS101] one\n"
    assert _without(text, first) == "a: 1  # gbs: ignore[GBS104] two\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("# gbs: ignore[GBS101]\na: 1\nb: 2\n", (1, 2), id="header"),
        pytest.param("a: 1\n# gbs: ignore[GBS101]\n# 8 nodes, GBS 128\n\nb: 2\nc: 3\n", (2, 3, 4, 5), id="comments between"),
        pytest.param("# gbs: ignore[GBS101]\n---\na: 1\nb: 2\n", (1, 2, 3), id="document start"),
        pytest.param("a:\n  # gbs: ignore[GBS101]\n  - 1\n  - 2\n", (2, 3), id="list"),
        pytest.param("a: 1\n# gbs: ignore[GBS101]", (2, 3), id="at the end"),
        pytest.param("# 8 nodes, GBS 128  # gbs: ignore[GBS101]\na: 1\n", (1,), id="behind a claim"),
        pytest.param("a: 1\r\n# gbs: ignore[GBS101]\r\nb: 2\r\n", (2, 3), id="CRLF"),
    ],
)
def test_one_on_its_own_line_speaks_for_what_is_below(text: str, lines: tuple[int, ...]) -> None:
    (found,) = _read(text)
    assert found.lines == lines


def test_one_on_its_own_line_is_removed_with_it() -> None:
    text = "a: 1\n  # gbs: ignore[GBS101] why\r\nb: 2\n"
    assert _without(text, _read(text)[0]) == "a: 1\nb: 2\n"
    text = "a: 1\n# gbs: ignore[GBS101] why # other\nb: 2\n"
    assert _without(text, _read(text)[0]) == "a: 1\n# other\nb: 2\n"


def test_one_for_the_file_speaks_for_no_line() -> None:
    (found,) = _read("# gbs: file-ignore[GBS101, stale-factor] generated\na: 1\n")
    assert (found.codes, found.reason, found.lines, found.whole_file) == (("GBS101", "GBS104"), "generated", (), True)


# Silencing.

TEXT = """\
# 8 nodes, GBS 128
model: x
accumulation: 4{}
micro: 1
"""


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "  # gbs: ignore[GBS104]",
        "  # gbs: ignore[GBS2]",
        "  # gbs: ignore",
        "  # gbs: ignore[GBS]",
        "  # gbs: ignore[G]",
        "  # gbs: ignore[]",
    ],
    ids=repr,
)
def test_a_finding_of_another_rule_stays(comment: str) -> None:
    text = TEXT.format(comment)
    assert not _silenced(text, _finding(text, "GBS101", "accumulation: 4"))


def test_a_finding_on_another_line_stays() -> None:
    text = TEXT.format("  # gbs: ignore[GBS101]")
    assert not _silenced(text, _finding(text, "GBS101", "128", "micro: 1"))


def test_a_line_of_another_file_is_not_meant() -> None:
    text = "a: 1  # gbs: ignore[GBS101]\nb: 2\n"
    assert not _silenced(text, _finding(text, "GBS101", "b: 2", elsewhere="other.yaml"))


@pytest.mark.parametrize("code", ["GBS101", "gbs101", "GBS1", "stale-declaration", "GBS204, GBS101"])
def test_a_finding_on_the_line_is_silenced(code: str) -> None:
    text = TEXT.format(f"  # gbs: ignore[{code}]")
    assert _silenced(text, _finding(text, "GBS101", "accumulation: 4"))


def test_a_comment_on_the_line_of_any_operand_silences() -> None:
    text = TEXT.format("  # gbs: ignore[GBS101]")
    assert _silenced(text, _finding(text, "GBS101", "128", "micro: 1", "accumulation: 4"))


def test_a_comment_below_or_behind_a_claim_silences_it() -> None:
    above = "# gbs: ignore[GBS101] the paper's\n" + TEXT.format("")
    assert _silenced(above, _finding(above, "GBS101", "128"))
    behind = TEXT.format("").replace("GBS 128", "GBS 128  # gbs: ignore[GBS101]")
    assert _silenced(behind, _finding(behind, "GBS101", "128"))


def test_the_whole_file_is_silenced() -> None:
    text = TEXT.format("") + "# gbs: file-ignore[GBS101]\n"
    assert _silenced(text, _finding(text, "GBS101", "128"))
    assert not _silenced(text, _finding(text, "GBS104", "128"))


def test_a_value_of_several_lines_is_silenced_from_its_last() -> None:
    text = "a: [1,\n  2,\n  3]  # gbs: ignore[GBS101]\n"
    assert _silenced(text, _finding(text, "GBS101", "[1,\n  2,\n  3]"))


# What silences nothing.


def test_one_that_silences_is_not_unused() -> None:
    text = TEXT.format("  # gbs: ignore[GBS1, stale-declaration]")
    assert apply([_finding(text, "GBS101", "accumulation: 4")], _read(text), Source(PATH, text))[2] == ()


def test_one_of_a_rule_that_did_not_run_is_not_called_unused() -> None:
    text = TEXT.format("  # gbs: ignore[GBS104, GBS1] why")
    (whole,) = _read(text)
    assert apply([], [whole], Source(PATH, text), inactive=("GBS104",))[2] == ()
    assert apply([], [whole], Source(PATH, text), inactive=("GBS204",))[2] == (whole,)


def test_one_without_brackets_is_always_unused() -> None:
    text = TEXT.format("  # gbs: ignore")
    assert apply([_finding(text, "GBS101", "accumulation: 4")], _read(text), Source(PATH, text))[2] == _read(text)


def test_the_unused_part_is_reported_and_can_be_removed() -> None:
    text = TEXT.format("  # gbs: ignore[stale-declaration, GBS104,GBS204] why")
    finding = _finding(text, "GBS101", "accumulation: 4")
    (unused,) = apply([finding], _read(text), Source(PATH, text))[2]
    assert unused.codes == ("GBS104", "GBS204")
    repaired = _without(text, unused)
    assert repaired == TEXT.format("  # gbs: ignore[stale-declaration] why")
    assert _silenced(repaired, finding)


def test_one_without_a_reason_silences_nothing_where_a_reason_is_required() -> None:
    text = TEXT.format("  # gbs: ignore[GBS101]")
    finding = _finding(text, "GBS101", "accumulation: 4")
    kept, silenced, unused = apply([finding], _read(text), Source(PATH, text), require_reason=True)
    assert (kept, silenced, unused) == ((finding,), (), tuple(s._replace(refused=True) for s in _read(text)))
    text = TEXT.format("  # gbs: ignore[GBS101] why")
    assert apply([finding], _read(text), Source(PATH, text), require_reason=True)[1] == (finding,)


_PIECES = [
    "gbs:",
    " ignore",
    "file-ignore",
    "[",
    "]",
    "GBS101",
    "stale-factor",
    ",",
    " # ",
    "#",
    "\n",
    "\r\n",
    "a: 1",
    " why",
    "---\n",
    "- ",
    "'",
]


@example(" # gbs: ignorea: 1")
@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_whatever_the_comments_an_edit_fits_and_removes_one(text: str) -> None:
    for document in read(Source(PATH, text)):
        if not isinstance(document, Document):
            continue
        found = read_suppressions(document, RULES)
        for suppression in found:
            if suppression.misspelt:
                assert text[suppression.at.start : suppression.at.stop] == suppression.misspelt
                continue
            assert "gbs:" in text[suppression.at.start : suppression.at.stop]
            assert _without(text, suppression).count("gbs:") == text.count("gbs:") - text[suppression.at.start : suppression.at.stop].count(
                "gbs:"
            )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 1 " + " # gbs: ignore[GBS101]" * 50_000 + "\n", id="one line"),
        pytest.param("# gbs: ignore[GBS101]\n" * 30_000 + "a: 1\n", id="many lines"),
        pytest.param("a: 1 # gbs: ignore[" + "GBS101," * 100_000 + "]\n", id="many codes"),
    ],
)
def test_thousands_of_them_are_read_quickly(text: str) -> None:
    start = time.perf_counter()
    found = _read(text)
    assert found
    apply([_finding(text, "GBS104", "a: 1")], found, Source(PATH, text))
    assert time.perf_counter() - start < 60  # it ends; how fast is for the benchmarks


# Settings.


def test_files_are_ignored_by_the_globs_they_match() -> None:
    settings = Settings(per_file_ignores=(("tests/**", ("GBS101", "GBS104")), ("*.json", ("GBS204",)), ("x", ("GBS501",))))
    assert per_file_ignored(settings, "recipes/a.yaml") == frozenset()
    assert per_file_ignored(settings, "tests/a.json") == {"GBS101", "GBS104", "GBS204"}
    assert per_file_ignored(Settings(), "tests/a.json") == frozenset()
