"""`gbs rule`, `rules`, `frameworks`, `schema`, `init` and the help."""

import json
from pathlib import Path

import pytest

import pytest_gbs.cli
from pytest_gbs import __version__
from pytest_gbs.cli import commands, find
from pytest_gbs.cli._table import text_lines
from pytest_gbs.cli.rules import FAMILIES
from pytest_gbs.frameworks import tables
from pytest_gbs.launches.programs import launchers
from pytest_gbs.rules import manuals
from tests.cli.support import Gbs


@pytest.mark.parametrize("word", ["GBS101", "gbs101", "stale-declaration", "stale_declaration"])
def test_the_manual_of_a_rule_by_code_or_name(word: str, gbs: Gbs) -> None:
    out = gbs("rule", word).out
    assert out.startswith("GBS101 stale-declaration\nerror, on by default, since 0.1\n\nA comment states a global batch size")
    assert "\nFires on:\n\n  sft.yaml\n    # Config for 2 nodes of 8 x H100s with GBS 128\n" in out


def test_manuals_as_json_and_markdown(gbs: Gbs) -> None:
    entry = json.loads(gbs("rule", "GBS101", "--format", "json").out)
    assert (entry["code"], entry["name"], entry["severity"]) == ("GBS101", "stale-declaration", "error")
    assert "sft.yaml" in entry["bad"][0]["files"]
    assert gbs("rule", "GBS101", "--format", "markdown").out.startswith("# GBS101 stale-declaration\n")
    assert len(json.loads(gbs("rule", "--all", "--format", "json").out)) == len(manuals())


def test_every_rule_has_a_line(gbs: Gbs) -> None:
    lines = gbs("rules").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [rule.code for rule in manuals()]
    assert len(json.loads(gbs("rules", "--format", "json").out)) == len(manuals())


def test_the_rules_of_a_family_stand_together(gbs: Gbs) -> None:
    parts = gbs("rules", "--format", "markdown").out.split("## ")[1:]
    assert [part[0] for part in parts] == sorted(FAMILIES)
    assert "| GBS101 | stale-declaration |" in parts[1]


def test_every_framework_has_a_line_with_its_equation(gbs: Gbs) -> None:
    lines = gbs("frameworks").out.partition("\n\n")[0].splitlines()
    assert len(lines) == len(tables()) + 1
    assert any(line.startswith("TRL (SFT) ") and "micro x accumulation x data-parallel" in line for line in lines)
    assert {entry["title"] for entry in json.loads(gbs("frameworks", "--format", "json").out)} == {table.title for table in tables()}


def test_launchers_and_what_is_left_out_stand_below_the_frameworks(gbs: Gbs) -> None:
    _, started, left_out = gbs("frameworks").out.split("\n\n")
    assert [line.partition("  ")[0] for line in started.splitlines()[1:]] == [each.name for each in launchers()]
    assert "AXLearn" in left_out


@pytest.mark.parametrize("name", ["trl-grpo", "TRL (GRPO)", "trl_grpo"])
def test_all_that_is_known_of_one_framework(name: str, gbs: Gbs) -> None:
    out = gbs("frameworks", name).out
    assert out.startswith("TRL (GRPO)\n\na batch counts           completions\n")
    assert "\nother before             trl 0.15, trl 0.17, trl 1.9\n" in out
    row = next(line for line in out.splitlines() if line.startswith("eval_steps "))
    assert "steps between evaluations" in row
    assert "as steps between log lines" in row
    assert "eval_strategy is steps" in row
    assert row.endswith("TF training_args.py:1110, 1575-1583, 1739-1742")
    assert "\ngeneration batch size  micro x GPUs x steps per generation " in out
    assert "generation batch is a multiple of generations " in out
    assert "auto_find_batch_size is true " in out
    assert "\nper_gpu_train_batch_size  transformers 5.0   per_device_train_batch_size  " in out


def test_one_word_names_all_tables_of_a_framework(gbs: Gbs) -> None:
    out = gbs("frameworks", "trl", "h2o-llm-studio-dpo", "--format", "markdown").out
    titles = [line.removeprefix("# ") for line in out.splitlines() if line.startswith("# ")]
    assert titles == [*(table.title for table in tables() if table.name == "trl"), "H2O LLM Studio (DPO)"]
    assert "\n## Equations\n\n| size | is |" in out


def test_every_framework_has_a_page(gbs: Gbs) -> None:
    out = gbs("frameworks", "--all").out
    assert [table.title for table in tables() if f"{table.title}\n\na batch counts" not in out] == []


def test_no_framework_of_that_name(gbs: Gbs) -> None:
    said = gbs("frameworks", "trl-grop")
    assert (said.code, said.err) == (2, "gbs: no framework is called trl-grop; did you mean trl-grpo? gbs frameworks lists them\n")


def test_every_schema_that_is_listed_is_there(gbs: Gbs) -> None:
    listed = gbs("schema").out.split()
    assert {"settings", "report", "trl-sft"} <= set(listed)
    for name in listed:
        said = gbs("schema", name)
        assert said.code == 0
        assert json.loads(said.out)["$schema"].startswith("https://json-schema.org/")


def test_commands_are_the_modules_of_the_folder(gbs: Gbs) -> None:
    files = {path.stem for path in Path(pytest_gbs.cli.__file__).parent.glob("[!_]*.py")}
    assert files == set(commands())
    out = gbs().out
    for name in commands():
        command = find(name)
        assert command is not None
        assert f"  {name:<11} {command.summary}\n" in out


@pytest.mark.parametrize("name", commands())
def test_help_fits_one_screen(name: str, gbs: Gbs) -> None:
    said = gbs(name, "--help")
    assert said.code == 0
    assert len(said.out.splitlines()) <= 52
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize("word", ["__init__", "_output", "check.x", "", "os", "../check"])
def test_no_other_module_is_a_command(word: str) -> None:
    assert find(word) is None


def test_the_version(gbs: Gbs) -> None:
    assert gbs("--version") == (0, f"gbs {__version__}\n", "")


def test_a_table_that_is_too_wide_for_a_terminal_has_blocks() -> None:
    head, rows = ("key", "size", "source"), [("micro", "micro batch size", "trainer.py:12"), ("steps", "", "trainer.py:13")]
    assert list(text_lines(head, rows, 0)) == list(text_lines(head, rows, 80))
    assert list(text_lines(head, rows, 20)) == [
        "micro",
        "  size    micro batch size",
        "  source  trainer.py:12",
        "steps",
        "  source  trainer.py:13",
    ]
