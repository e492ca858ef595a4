"""A bug of ours in one file is reported for that file, and takes no other file's result with it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_gbs import Given
from pytest_gbs.api import KEEP_RUNS, CheckOptions, check
from pytest_gbs.checking.judging import judge_file
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Outcome
from pytest_gbs.model.report import Bug, Report
from pytest_gbs.model.rule import Rule, Scope
from pytest_gbs.model.settings import Settings
from pytest_gbs.readers import read
from pytest_gbs.shell import read_commands
from tests.cli.support import write
from tests.launches.building import accelerate, recipe

RUN = "torchrun --nproc_per_node=8 train.py --config b.yaml\n"


def fail() -> None:
    raise ZeroDivisionError("unexpected")


def broken(function: Callable[..., Any], guilty: str) -> Callable[..., Any]:
    """`function` with a bug that only the file at `guilty` shows."""

    def found(source: Any, *rest: Any, **named: Any) -> Any:
        if source.path == guilty:
            fail()
        return function(source, *rest, **named)

    return found


def checked(folder: Path, files: dict[str, str]) -> Report:
    """The report on a repository that holds `files`, bugs of ours included."""
    write(folder, files)
    return check(WorkTree(folder), (), Settings(), Given(), KEEP_RUNS)


def verdicts(report: Report) -> dict[str, str | None]:
    return {file.path: file.verdict for file in report.files if file.path.endswith(".yaml")}


def test_nothing_fails_where_there_is_no_bug() -> None:
    guard = Guard()
    assert guard.attempt("a", lambda: 8, None) == 8
    assert guard.bugs == []


def test_what_a_person_must_correct_is_not_a_bug() -> None:
    def refuse() -> None:
        raise UsageError("say it otherwise")

    guard = Guard()
    with pytest.raises(UsageError):
        guard.attempt("a", refuse, None)
    assert guard.bugs == []


def test_a_bug_is_kept_once_and_short() -> None:
    def say_it() -> None:
        raise ValueError("x" * 1_000_000)

    guard = Guard()
    assert [guard.attempt("a", say_it, 1, "GBS101"), guard.attempt("a", say_it, 2, "GBS101")] == [1, 2]
    assert guard.bugs == [Bug("ValueError: " + "x" * 300, "a", "GBS101")]


def test_a_bug_in_reading_a_recipe_is_its_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.checking.repository.read", broken(read, "a.yaml"))
    report = checked(tmp_path, {name: recipe() for name in ("a.yaml", "b.yaml", "c.yaml")} | {"run.sh": RUN})
    assert verdicts(report) == {"a.yaml": None, "b.yaml": "verified", "c.yaml": "verified"}
    assert report.internal == (Bug("ZeroDivisionError: unexpected", "a.yaml"),)
    assert [(finding.code, finding.at.source) for finding in report.findings()] == [("GBS001", "a.yaml")]
    assert "internal error of gbs: ZeroDivisionError" in report.findings()[0].message


def test_a_bug_in_judging_a_recipe_is_its_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(document: Any, framework: Any) -> Any:
        return fail() if document.source.path == "a.yaml" else read_sizes(document, framework)

    monkeypatch.setattr("pytest_gbs.checking.file_judge.read_sizes", judged)
    report = checked(tmp_path, {"a.yaml": recipe(), "b.yaml": recipe()})
    assert verdicts(report) == {"a.yaml": None, "b.yaml": "verified"}
    assert [bug.path for bug in report.internal] == ["a.yaml"]


def test_a_bug_in_a_rule_names_the_file_that_it_was_asked_about() -> None:
    def fails(_: Any) -> Iterator[Outcome]:
        yield from ()
        raise ZeroDivisionError("unexpected")

    rules = Rulebook((Rule("GBS999", "fails", Scope.OUTPUT, "a rule for tests", (), (), fails),))
    asked = (SimpleNamespace(path="a.ipynb"), SimpleNamespace(document=SimpleNamespace(source=Source("b.yaml", "", ""))), ())
    found = [judge_file(each, rules, Scope.OUTPUT).internal for each in asked]
    assert found == [(Bug("ZeroDivisionError: unexpected", path, "GBS999"),) for path in ("a.ipynb", "b.yaml", "?")]


def test_a_bug_in_reading_a_script_leaves_open_what_it_may_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.launches.find.read_commands", broken(read_commands, "run.sh"))
    files = {"b.yaml": recipe(), "c.yaml": recipe(), "run.sh": RUN, "other.sh": RUN.replace("b.yaml", "c.yaml")}
    report = checked(tmp_path, files)
    assert verdicts(report) == {"b.yaml": "undetermined", "c.yaml": "verified"}
    assert [bug.path for bug in report.internal] == ["run.sh"]
    assert [(finding.code, finding.at.source) for finding in report.findings()] == [("GBS007", "run.sh")]


def test_a_bug_in_a_launcher_file_leaves_the_recipes_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.checking.repository.read_launcher_file", lambda _: fail())
    report = checked(
        tmp_path, {"a.yaml": recipe(comment="# 2 nodes, global batch size 256\n"), "b.yaml": recipe(), "zero3.yaml": accelerate(8)}
    )
    assert (verdicts(report)["a.yaml"], verdicts(report)["b.yaml"]) == ("undetermined", "verified")
    assert {bug.path for bug in report.internal} == {"zero3.yaml"}


def test_processes_that_share_the_work_bring_bugs_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.checking.session.WORTH_SHARING", 1)
    monkeypatch.setattr("pytest_gbs.checking.repository.read", broken(read, "r07.yaml"))
    for number in range(40):
        (tmp_path / f"r{number:02}.yaml").write_text(recipe(), encoding="utf-8")
    report = check(WorkTree(tmp_path), (), Settings(), Given(), CheckOptions(jobs=2))
    assert [path for path, verdict in verdicts(report).items() if verdict != "verified"] == ["r07.yaml"]
    assert report.internal == (Bug("ZeroDivisionError: unexpected", "r07.yaml"),)
