"""`gbs report`: one page of HTML with the batch of every recipe and launch."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.
# ruff: noqa: PTH119

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._input import CheckRequest, add_input, read_request
from pytest_gbs.cli._no_recipes import exit_code
from pytest_gbs.cli._output import complain_of_bugs, emit
from pytest_gbs.cli._streams import writes_to_terminal
from pytest_gbs.cli.diff import settings_at, state_at
from pytest_gbs.files.git import GitRepository, GitTree
from pytest_gbs.formats import FormatOptions
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import MOST_REPORTED_COMMITS
from pytest_gbs.model.report import Report
from pytest_gbs.report import Timeline, page
from pytest_gbs.report.timeline import timeline
from pytest_gbs.rules import manuals


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the page there instead of standard output")
    group.add_argument("--since", metavar="REV", help=f"add the history since this revision, at {MOST_REPORTED_COMMITS} commits at most")


def run(arguments: argparse.Namespace) -> int:
    """Write the page, and return the exit code."""
    if arguments.output_file is None and writes_to_terminal():
        raise UsageError("gbs report writes an HTML page: gbs report -o report.html")
    request = read_request(arguments)
    report = request.check(keep_runs=True)
    report = report._replace(rules={rule.code: rule for rule in manuals()})
    history = _history(request, arguments.since, report) if arguments.since else None
    emit(page(report, FormatOptions(), os.path.basename(request.root) or "/", history), arguments.output_file)
    if complain_of_bugs(report.internal):
        return 2
    return exit_code(report, request)


def _history(request: CheckRequest, since: str, now: Report) -> Timeline:
    """What the recipes were since a revision, and are in the working tree.

    Raises:
        UsageError: there is no such revision.
        SettingsError: the settings of a commit are broken.
    """
    repository = GitRepository(request.root)
    commits = _some(repository.first_parents(since))
    days = [*(day for _, day in commits), "now"]
    return timeline(since, days, (*_reports(request, repository, [name for name, _ in commits]), now))


def _some(commits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """All `commits`, or as many as are looked at, spread evenly: the first and the last among them."""
    if len(commits) <= MOST_REPORTED_COMMITS:
        return commits
    return [commits[index * (len(commits) - 1) // (MOST_REPORTED_COMMITS - 1)] for index in range(MOST_REPORTED_COMMITS)]


def _reports(request: CheckRequest, repository: GitRepository, commits: Sequence[str]) -> Iterator[Report]:
    """Yield the report on each commit; one whose files are those of the commit before is not checked again."""
    before: tuple[object, Report] | None = None
    for commit in commits:
        files = repository.blobs(commit)
        if before is None or before[0] != files:
            with GitTree(repository, commit, request.settings.max_file_size, request.settings.exclude) as tree:
                settings = settings_at(tree, commit, request.settings)
                before = files, state_at(request, commit, tree, settings).report
        yield before[1]


COMMAND = SubCommand("write an HTML page with the batch size of each recipe", _add_arguments, run, "[FLAG ...] [PATH ...]")
