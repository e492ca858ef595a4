"""Baselines: findings of today are put up with, those of tomorrow are not."""

import json
from pathlib import Path

import pytest

from tests.cli.support import GOOD, STALE, Gbs, write

FILE = "gbs-baseline.json"


@pytest.fixture
def known(repo: Path, gbs: Gbs) -> Path:
    """A repository with one stale recipe, which its baseline lists."""
    write(repo, {"a.yaml": STALE, "b.yaml": GOOD})
    assert gbs("check", "--write-baseline", FILE) == (
        0,
        "",
        f'gbs: 1 finding written to {FILE}; baseline = "{FILE}" in the settings leaves them out everywhere\n',
    )
    return repo


def test_it_is_a_line_for_each_entry(known: Path) -> None:
    text = (known / FILE).read_text()
    assert json.loads(text) == {"version": 1, "findings": [{"path": "a.yaml", "rule": "GBS101", "key": "", "count": 1}]}
    assert text.count("\n") == 6


def test_what_it_lists_is_left_out(known: Path, gbs: Gbs) -> None:
    said = gbs("check", "--baseline", FILE)
    assert (said.code, said.err) == (0, "")
    assert "1 verified, 1 unclaimed" in said.out
    assert "1 findings suppressed" in said.out or "1 finding suppressed" in said.out


def test_lines_may_move(known: Path, gbs: Gbs) -> None:
    write(known, {"a.yaml": "\n\n\n" + STALE})
    assert gbs("check", "--baseline", FILE).code == 0


@pytest.mark.parametrize(
    "files",
    [{"b.yaml": STALE}, {"a.yaml": STALE + "# the effective batch size is 64 on 16 GPUs\n"}],
    ids=["another file", "one more"],
)
def test_what_is_new_is_reported(known: Path, gbs: Gbs, files: dict[str, str]) -> None:
    write(known, files)
    said = gbs("check", "--baseline", FILE, "-q")
    assert said.code == 1
    assert said.out.count("GBS101") == 1


def test_what_occurs_no_longer_is_reported_and_pruned(known: Path, gbs: Gbs) -> None:
    write(known, {"a.yaml": GOOD})
    said = gbs("check", "--baseline", FILE)
    assert (said.code, said.err) == (0, "gbs: in the baseline, but no longer found: a.yaml GBS101\ngbs: --prune-baseline removes them\n")
    assert gbs("check", "--baseline", FILE, "--prune-baseline").err == "gbs: removed from the baseline: a.yaml GBS101\n"
    assert json.loads((known / FILE).read_text())["findings"] == []
    assert gbs("check", "--baseline", FILE).err == ""


@pytest.mark.parametrize("flags", [("b.yaml",), ("--select", "GBS901")], ids=["another file", "another rule"])
def test_what_was_not_looked_at_is_not_gone(known: Path, gbs: Gbs, flags: tuple[str, ...]) -> None:
    assert gbs("check", "--baseline", FILE, *flags).err == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[]", f"{FILE} is not a baseline of version 1; --write-baseline writes one"),
        ('{"version": 2, "findings": []}', f"{FILE} is not a baseline of version 1; --write-baseline writes one"),
        ('{"version": 1, "findings": [1]}', f"{FILE}: entry 1 has no path, rule and key"),
        (
            '{"version": 1, "findings": [{"path": "a", "rule": "b", "key": "", "count": 0}]}',
            f"{FILE}: the count of entry 1 is not a whole number from 1 to 1,000,000,000",
        ),
        ("<<<<<<< HEAD\n", f"{FILE} contains merge conflict markers: keep the lines of both sides, or run --write-baseline"),
        ("{", f"{FILE} is not a baseline: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_a_broken_baseline_is_one_line(repo: Path, gbs: Gbs, text: str, line: str) -> None:
    write(repo, {FILE: text, "a.yaml": GOOD})
    assert gbs("check", "--baseline", FILE) == (2, "", f"gbs: {line}\n")


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (("--baseline", "none.json"), "--baseline none.json: there is no such file"),
        (("--prune-baseline",), "--prune-baseline needs --baseline FILE, or baseline in the settings"),
        (("--write-baseline", "x", "--baseline", "y"), "--write-baseline writes a new file: leave out --baseline and --prune-baseline"),
        (("--write-baseline", "none/x"), "can't write none/x: there is no such folder; nothing was written"),
    ],
    ids=["missing", "prune alone", "both", "no folder"],
)
def test_a_wrong_call_is_one_line(repo: Path, gbs: Gbs, flags: tuple[str, ...], line: str) -> None:
    write(repo, {"a.yaml": GOOD})
    assert gbs("check", *flags) == (2, "", f"gbs: {line}\n")


def test_two_branches_merge_by_adding_up() -> None:
    from pytest_gbs.history.baseline import BaselineEntry, parse, render

    line = '{"path": "a", "rule": "GBS101", "key": "k", "count": 2}'
    known = parse(f'{{"version": 1, "findings": [{line}, {line}]}}', "x")
    assert known == {BaselineEntry("a", "GBS101", "k"): 4}
    assert parse(render(known), "x") == known


def test_a_recipe_is_not_violated_by_a_launch_that_is_listed(repo: Path, gbs: Gbs) -> None:
    write(repo, {"b.yaml": GOOD, "run.sh": "torchrun --nproc_per_node 4 train.py --config b.yaml\n"})
    assert gbs("check").code == 1
    gbs("check", "--write-baseline", FILE)
    said = gbs("check", "--baseline", FILE)
    assert said.code == 0
    assert "violated" not in said.out
    assert "states no batch size" not in said.out


class TestSettings:
    """The baseline that the settings name holds wherever they do."""

    @pytest.fixture
    def named(self, known: Path) -> Path:
        write(known, {"gbs.toml": f'baseline = "{FILE}"\n'})
        return known

    @pytest.mark.parametrize("flags", [(), ("a.yaml",), ("--hook", "--", "a.yaml"), ("--hook", "--", FILE)], ids=" ".join)
    def test_what_it_lists_is_left_out(self, named: Path, gbs: Gbs, flags: tuple[str, ...]) -> None:
        said = gbs("check", *flags)
        assert (said.code, said.err) == (0, "")
        assert "1 finding suppressed" in said.out

    @pytest.mark.parametrize("flags", [(), ("--hook", "--", "b.yaml")], ids=" ".join)
    def test_what_is_new_is_reported(self, named: Path, gbs: Gbs, flags: tuple[str, ...]) -> None:
        write(named, {"b.yaml": STALE})
        said = gbs("check", *flags)
        assert (said.code, said.out.count("GBS101")) == (1, 1)

    def test_what_occurs_no_longer_is_reported_and_pruned(self, named: Path, gbs: Gbs) -> None:
        write(named, {"a.yaml": GOOD})
        assert "in the baseline, but no longer found: a.yaml GBS101" in gbs("check").err
        assert gbs("check", "--prune-baseline").err == "gbs: removed from the baseline: a.yaml GBS101\n"
        assert json.loads((named / FILE).read_text())["findings"] == []

    def test_a_flag_replaces_it(self, named: Path, gbs: Gbs) -> None:
        write(named, {"none.json": '{"version": 1, "findings": []}'})
        assert gbs("check", "--baseline", "none.json").code == 1

    def test_one_that_is_missing_says_what_writes_it(self, named: Path, gbs: Gbs) -> None:
        (named / FILE).unlink()
        line = f"gbs: baseline {FILE} in gbs.toml: there is no such file; gbs check --write-baseline {FILE} writes it\n"
        assert gbs("check") == (2, "", line)
        assert gbs("check", "--write-baseline", FILE).code == 0
        assert gbs("check").code == 0

    @pytest.mark.parametrize("path", ["../secret.json", "/etc/passwd", "link.json"])
    def test_it_never_leads_out_of_the_repository(self, known: Path, gbs: Gbs, path: str) -> None:
        (known.parent / "secret.json").write_text("not for others")
        (known / "link.json").symlink_to(known.parent / "secret.json")
        write(known, {"gbs.toml": f'baseline = "{path}"\n'})
        for flags in ((), ("--prune-baseline",)):
            said = gbs("check", *flags)
            assert said.code == 2
            assert said.err.startswith(f"gbs: baseline {path} in gbs.toml: ")
        assert (known.parent / "secret.json").read_text() == "not for others"
