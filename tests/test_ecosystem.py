"""What is found in a folder of repositories, against what somebody read of it."""

from pathlib import Path

import pytest

from tests.cli.support import GOOD, STALE, write
from tools.ecosystem import UNREAD, Row, judged, main, read
from tools.ecosystem import write as write_review


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two repositories: one with a finding, one without."""
    write(tmp_path, {"repos/a/recipes/sft.yaml": STALE, "repos/b/sft.yaml": GOOD})
    return tmp_path


def run(folder: Path, *flags: str) -> int:
    return main([str(folder / "repos"), str(folder / "review.tsv"), *flags])


def review(folder: Path, verdict: str, reason: str = "") -> None:
    """Accept what is found, and give it a verdict."""
    run(folder, "--update")
    rows = [row._replace(verdict=verdict, reason=reason) for row in read(folder / "review.tsv")]
    write_review(folder / "review.tsv", rows)


def test_what_was_read_and_stays_is_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review(folder, "TRUE", "half of the batch")
    capsys.readouterr()
    assert run(folder) == 0
    assert capsys.readouterr().out.splitlines() == [
        "rule                TRUE   NOISE   FALSE       ?",
        "GBS101                 1       0       0       0",
        "all                    1       0       0       0",
        "2 repositories, 0 changes",
    ]


def test_a_repository_that_is_not_there_keeps_its_verdicts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review(folder, "TRUE", "half of the batch")
    before = (folder / "review.tsv").read_bytes()
    (folder / "repos/a").rename(folder / "elsewhere")
    capsys.readouterr()
    assert run(folder, "--update") == 0
    assert capsys.readouterr().out.endswith("1 repositories, 0 changes\n")
    assert (folder / "review.tsv").read_bytes() == before


def test_other_words_are_a_change_and_are_not_written_down(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review(folder, "TRUE")
    assert "GPU" not in (folder / "review.tsv").read_text() and "comment says" not in (folder / "review.tsv").read_text()
    write(folder, {"repos/a/recipes/sft.yaml": STALE.replace("128", "512")})
    capsys.readouterr()
    assert run(folder) == 1
    gone, new = capsys.readouterr().out.splitlines()[:2]
    assert (gone[0], new[0]) == ("-", "+") and "comment says 512" in new


def test_each_finding_of_the_review_of_this_project_was_read() -> None:
    rows = read(Path(__file__).parent.parent / "tools/ecosystem.tsv")
    assert len({row.repo for row in rows}) >= 40
    assert [row for row in rows if row.verdict == UNREAD or (row.words and not row.reason)] == []


def test_a_new_finding_is_one_line_that_somebody_has_to_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("+ a  recipes/sft.yaml:1  GBS101 error  [?]  ")
    assert run(folder, "--update") == 1
    row, nothing = read(folder / "review.tsv")
    assert (nothing.repo, nothing.rule) == ("b", "-")
    assert (row.repo, row.rule, row.place, row.verdict) == ("a", "GBS101", "recipes/sft.yaml:1", UNREAD)


def test_what_is_gone_is_reported_with_its_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review(folder, "TRUE")
    write(folder, {"repos/a/recipes/sft.yaml": GOOD})
    capsys.readouterr()
    assert run(folder) == 1
    assert "- a  recipes/sft.yaml:1  GBS101 error  [TRUE]  " in capsys.readouterr().out


def test_a_verdict_stays_where_only_the_line_changed(folder: Path) -> None:
    review(folder, "NOISE", "an example")
    write(folder, {"repos/a/recipes/sft.yaml": "seed: 1\n" + STALE})
    assert run(folder, "--update") == 1
    row, _ = read(folder / "review.tsv")
    assert (row.place, row.verdict, row.reason) == ("recipes/sft.yaml:2", "NOISE", "an example")


def test_a_false_finding_fails_until_it_is_gone(folder: Path) -> None:
    review(folder, "FALSE", "the trainer doubles it")
    assert run(folder) == 1


def test_a_verdict_is_one_of_four_and_false_has_a_reason(folder: Path) -> None:
    for verdict in ("MAYBE", "FALSE"):
        review(folder, verdict)
        with pytest.raises(SystemExit, match=r"a verdict is one of TRUE, NOISE, FALSE, \?"):
            run(folder)
        (folder / "review.tsv").unlink()


def test_each_verdict_goes_to_one_finding() -> None:
    def row(line: int, message: str, verdict: str = UNREAD) -> Row:
        return Row("a", "GBS101", f"sft.yaml:{line}", "error", verdict, "", message)

    before = [row(1, "64"), row(9, "128", "TRUE")]
    assert [each.verdict for each in judged([row(2, "128"), row(1, "64"), row(5, "256")], before)] == [UNREAD, "TRUE", UNREAD]
