"""JSON, an object a line: a finding, or with `gbs show` a recipe, each as `gbs schema report` describes it."""

from __future__ import annotations

from pytest_gbs.formats import _entries as entries
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._json import lines
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_json import recipes
from pytest_gbs.model.report import Report


def render(report: Report, options: FormatOptions) -> str:
    """A line for each finding; nothing if there is none."""
    places = Places(report, options)
    return lines(entries.finding(finding, places) for finding in report.findings())


def show(report: Report, options: FormatOptions) -> str:
    """A line for each recipe, and for each launch of it."""
    return lines(recipes(report, Places(report, options)))


FORMAT = Format("jsonl", "JSON, a finding or a recipe a line", render, show)
