"""Baselines on the command line: writing, applying and pruning the file of accepted findings."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.checking.accepted import missing, read_baseline
from pytest_gbs.cli._input import CheckRequest
from pytest_gbs.cli._output import complain, complain_each
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.files.writing import write_file
from pytest_gbs.history.baseline import BaselineEntry, entries, in_words, parse, render, without
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.report import Report

_SHOWN: Final = 5


def apply(report: Report, request: CheckRequest, arguments: argparse.Namespace) -> Report | None:
    """`report` without the findings of the baseline; None if a baseline was written instead.

    Raises:
        UsageError: the flags make no sense together, or the file is not a baseline or can't be written.
    """
    if arguments.write_baseline:
        if arguments.baseline or arguments.prune_baseline:
            raise UsageError("--write-baseline writes a new file: leave out --baseline and --prune-baseline")
        found = entries(report)
        write_file(arguments.write_baseline, render(found).encode())
        known_to_all = (
            "" if request.settings.baseline else f'; baseline = "{arguments.write_baseline}" in the settings leaves them out everywhere'
        )
        complain(f"{counted(found.total(), 'finding')} written to {arguments.write_baseline}{known_to_all}")
        return None
    name, known = _known(request, arguments)
    gone = Counter[BaselineEntry]() if arguments.changed_since else missing(report, known, request.settings, request.targets)
    if gone and arguments.prune_baseline:
        write_file(name, render(known - gone).encode())
    if gone:
        _print_notes(in_words(gone), arguments)
    return without(report, known)


def _known(request: CheckRequest, arguments: argparse.Namespace) -> tuple[str, Counter[BaselineEntry]]:
    """The file of the baseline, the one that is named or that of the settings, and what it lists.

    Raises:
        GbsError: there is none, or it can't be read.
    """
    if not arguments.baseline:
        if not request.settings.baseline:
            raise UsageError("--prune-baseline needs --baseline FILE, or baseline in the settings")
        return f"{request.root}/{request.settings.baseline}", read_baseline(request.settings, request.tree)
    data = read_bytes(arguments.baseline, MOST_FILE_BYTES)
    if isinstance(data, str):
        raise UsageError(f"--baseline {arguments.baseline}: {data}")
    return arguments.baseline, parse(data.decode("utf-8", "replace"), arguments.baseline)


def _print_notes(lines: Iterable[str], arguments: argparse.Namespace) -> None:
    """Say what the baseline lists and the recipes do not have any more."""
    if arguments.quiet:
        return
    pruned = arguments.prune_baseline
    said = "removed from the baseline" if pruned else "in the baseline, but no longer found"
    complain_each((f"{said}: {line}" for line in lines), _SHOWN)
    if not pruned:
        complain("--prune-baseline removes them")
