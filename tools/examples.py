"""Checking an example of a rule as `gbs check` would: its files in a folder of their own, its flags as the command line has them."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_gbs import Given
from pytest_gbs.api import KEEP_RUNS, CheckOptions, check
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.history.lock import Base, records
from pytest_gbs.model.report import Report
from pytest_gbs.model.rule import Example
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import rules
from pytest_gbs.settings import Overrides, load_settings


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--gpus-per-node", type=int)
    parser.add_argument("--world-size", type=int)
    parser.add_argument("--launch", action="append", default=[])
    parser.add_argument("--select", action="append")
    return parser


def check_example(example: Example, folder: Path) -> Report:
    """The report on all files of `example`, written to `folder`."""
    _write(example.files, folder)
    flags = _flags().parse_args(example.flags)
    names = {rule.code: rule.name for rule in rules()}
    settings = load_settings(folder, None, Overrides(select=flags.select), rules=names)
    given = Given(flags.nodes, flags.gpus_per_node, flags.world_size, tuple(flags.launch))
    base = _base(example, folder / ".base", settings, given) if example.base else None
    report = check(WorkTree(folder, settings.max_file_size, settings.exclude), [], settings, given, CheckOptions(base=base))
    assert report.internal == (), report.internal[0].error
    return report


def _base(example: Example, folder: Path, settings: Settings, given: Given) -> Base:
    """What the recipes of `example` were at its base."""
    _write(example.base, folder)
    report = check(WorkTree(folder), [], settings, given, KEEP_RUNS)
    return Base("main", {name: found for name, (_, found) in records(report).items()})


def _write(files: tuple[tuple[str, str], ...], folder: Path) -> None:
    for name, text in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
