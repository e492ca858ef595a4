"""One version everywhere, and a tag that is released only if it is that one."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import yaml

from pytest_gbs import __version__
from pytest_gbs.cli import run
from tools import release

ROOT = Path(__file__).resolve().parents[1]


def test_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    component = (ROOT / "templates" / "gbs.yml").read_text(encoding="utf-8")
    assert {release.version(), citation["version"], *re.findall(r"pytest-gbs==([\d.]+)", component)} == {__version__}


def test_a_tag_that_is_not_the_version_is_not_released() -> None:
    assert "the tag is v0.0.1" in release.problems("v0.0.1")[0]


def test_the_package_runs_by_its_own_name() -> None:
    ours = {each.name: each.load() for each in entry_points(group="console_scripts") if each.value.startswith("pytest_gbs")}
    assert ours == {"gbs": run, "pytest-gbs": run}


def test_the_changelog_begins_with_what_is_unreleased_or_the_version() -> None:
    headings = re.findall(r"(?m)^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert headings[0] in ("Unreleased", __version__)
