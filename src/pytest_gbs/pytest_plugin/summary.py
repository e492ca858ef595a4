"""What pytest's terminal summary says of recipes; plain values, so that a worker of pytest-xdist can send it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypedDict

import pytest

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._summary import LAUNCHER, PROGRAM, WORDS, kind, severities, unclaimed_in_words, word_of
from pytest_gbs.model.document import CONFIGURATIONS
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.pytest_plugin.items import RecipeFile, RecipeItem


class Summary(TypedDict):
    """`counts` are the words of the first line, `found` its errors and warnings.

    `recipes`, `unclaimed`, `unknown` (those unclaimed ones that can't be locked) and `items` are numbers before any item was deselected.
    `warnings` are findings below error as `gbs check` prints them, `claims` a line for each claim that can't be decided.
    """

    counts: list[str]
    found: str
    recipes: int
    unclaimed: int
    unknown: int
    items: int
    warnings: list[str]
    claims: list[str]
    advice: str
    notices: list[str]


def summarise(files: Iterable[RecipeFile], selected: Sequence[RecipeItem]) -> Summary:
    """The sum of what was found in `files`, as far as their items were `selected`; a file without items always counts."""
    collected = {file.path: file for file in files}
    ordered = sorted(selected, key=lambda item: (item.path, item.name))
    claims = [claim for item in ordered for claim in item.claims()]
    unclaimed = [each for file in collected.values() for each in file.checked.files if each.verdict == Verdict.UNCLAIMED]
    return Summary(
        counts=list(_counts(collected.values(), ordered)),
        found=severities(finding for item in ordered for finding in item.result.findings),
        recipes=sum(each.role == Role.RECIPE for file in collected.values() for each in file.checked.files),
        unclaimed=len(unclaimed),
        unknown=sum(each.unknown for each in unclaimed),
        items=sum(len(file.items) for file in collected.values()),
        warnings=[item.text() for item in ordered if item.result.findings and not item.fails],
        claims=claims,
        advice=next((escape(advice) for file in collected.values() if (advice := file.checked.view.report.advice)), "") if claims else "",
        notices=[escape(line) for line in dict.fromkeys(n for file in collected.values() for n in file.checked.view.report.notices)],
    )


def _counts(files: Iterable[RecipeFile], selected: Sequence[RecipeItem]) -> Iterator[str]:
    """Yield `3 verified`, `19 unclaimed` and so on; nothing for what is zero."""
    chosen = {item.path for item in selected}
    found = Counter[str]()
    for file in files:
        run = not file.items or file.path in chosen
        report = file.checked.view.report
        found.update(_word(each, report) if run else "deselected" for each in file.checked.files if each.verdict or each.findings)
    found["internal error"] = sum(len(item.result.bugs) for item in selected)
    for word in (*WORDS, _UNREADABLE, *_WITH_FINDINGS.values(), "deselected", "internal error"):
        if found[word]:
            yield f"{found[word]:,} {word}"


def _word(file: FileReport, report: Report) -> str:
    noun = _SETTINGS if file.role == Role.NEITHER and file.path.endswith(CONFIGURATIONS) else kind(file.path)
    return word_of(file, report) or (_UNREADABLE if file.role == Role.UNREADABLE else _WITH_FINDINGS[noun])


_UNREADABLE: Final = "unreadable"
_SETTINGS: Final = "settings"
_WITH_FINDINGS: Final = {noun: f"{noun} with findings" for noun in (LAUNCHER, PROGRAM, _SETTINGS)}


def write_summary(summary: Summary, terminal: pytest.TerminalReporter, *, counts_only: bool) -> None:
    """Write the section of warnings, the line of counts, and a line for each claim that can't be decided."""
    if summary["warnings"] and not counts_only:
        terminal.section("gbs warnings", sep="=", yellow=True, bold=True)
        terminal.write_line("\n\n".join(summary["warnings"]))
    terminal.ensure_newline()
    terminal.write_line(f"\ngbs: {', '.join(summary['counts']) or 'no recipe found; gbs check says why'}{summary['found']}")
    if not counts_only:
        if summary["unclaimed"]:
            terminal.write_line(f"  {unclaimed_in_words(summary['unclaimed'], summary['unknown'])}")
            # pytest's last line counts what is in here: "3 passed" alone would say that all is well.
            terminal.stats.setdefault(Verdict.UNCLAIMED, []).extend([pytest.CollectReport("", "passed", None, [])] * summary["unclaimed"])
        for line in filter(None, (*summary["claims"], summary["advice"], *summary["notices"])):
            terminal.write_line(f"  {line}")
