"""What pytest's terminal summary says of recipes; plain values, so that a worker of pytest-xdist can send it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypedDict

import pytest

from pytest_gbs.core.report import VERDICTS, Role
from pytest_gbs.formats._escape import escape
from pytest_gbs.pytest_items.items import RecipeFile, RecipeItem


class Summary(TypedDict):
    """`counts` has the number of recipes by verdict, `deselected` that of those without a selected item, `bugs` that of our own.

    `items` is the number of items before any were deselected. `warnings` are findings below error as `gbs check` prints them,
    `claims` a line for each claim that can't be decided.
    """

    counts: dict[str, int]
    deselected: int
    bugs: int
    items: int
    warnings: list[str]
    claims: list[str]
    advice: str


def summarise(files: Iterable[RecipeFile], selected: Sequence[RecipeItem]) -> Summary:
    """Return the sum of what was found in `files`, as far as their items were `selected`; files without items always count."""
    chosen = {item.path for item in selected}
    collected = {file.path: file for file in files}
    counts, deselected = Counter[str](), 0
    for path, file in sorted(collected.items()):
        recipes = [each for each in file.checked.files if each.role == Role.RECIPE]
        if file.items and path not in chosen:
            deselected += len(recipes)
        else:
            counts.update(each.verdict for each in recipes if each.verdict)
    ordered = sorted(selected, key=lambda item: (item.path, item.name))
    claims = [claim for item in ordered for claim in item.claims()]
    return Summary(
        counts={verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        deselected=deselected,
        bugs=sum(len(item.judged.bugs) for item in selected),
        items=sum(len(file.items) for file in collected.values()),
        warnings=[item.text() for item in ordered if item.judged.findings and not item.fails],
        claims=claims,
        advice=next((advice for file in collected.values() if (advice := file.checked.view.report.advice)), "") if claims else "",
    )


def write_summary(summary: Summary, terminal: pytest.TerminalReporter, counts_only: bool) -> None:
    """Write the section of warnings, the line of counts, and a line for each claim that can't be decided."""
    if summary["warnings"] and not counts_only:
        terminal.section("gbs warnings", sep="=", yellow=True, bold=True)
        terminal.write_line("\n\n".join(summary["warnings"]))
    terminal.ensure_newline()
    terminal.write_line(f"gbs: {count_line(summary)}")
    if not counts_only:
        for claim in summary["claims"]:
            terminal.write_line(f"  {claim}")
        if summary["advice"]:
            terminal.write_line(f"  {escape(summary['advice'])}")


def count_line(summary: Summary) -> str:
    """Return `3 verified, 19 unclaimed`; what is zero is left out."""
    parts = [f"{number} {verdict}" for verdict, number in summary["counts"].items()]
    if summary["deselected"]:
        parts.append(f"{summary['deselected']} deselected")
    if summary["bugs"]:
        parts.append(f"{summary['bugs']} internal error{'s' * (summary['bugs'] > 1)}")
    return ", ".join(parts) or "no recipe found"
