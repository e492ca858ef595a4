"""`gbs diff`: what a change does to the global batch size of each recipe and launch."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.
# ruff: noqa: PTH100

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from typing import Final

from pytest_gbs.api import KEEP_RUNS, check
from pytest_gbs.cli._against_run import on_ranks, read_ran
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._input import STDIN, CheckRequest, add_input, read_request
from pytest_gbs.cli._output import add_output, complain_of_bugs, emit, options, slashed
from pytest_gbs.files.git import GitRepository, GitTree
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.formats._diff import find
from pytest_gbs.history.diff import BatchState, differences, since_run
from pytest_gbs.history.lock import NAME
from pytest_gbs.model.difference import Differences, Status
from pytest_gbs.model.errors import SettingsError, UsageError
from pytest_gbs.model.location import Source, Tree
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Bug, Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import rules
from pytest_gbs.settings.file import TABLE, parse
from pytest_gbs.settings.meaning import build
from pytest_gbs.settings.shape import fits

_USAGE: Final = "[FLAG ...] {BASE [HEAD] | --against-run FILE} [-- PATH ...]"
_WORKING_TREE: Final = "the working tree"


class _Revisions(NamedTuple):
    """The two sides: revisions as written, and the commits that they are; the later one None for the working tree."""

    base: str
    head: str
    base_commit: str
    head_commit: str | None


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    words = "git revisions (also BASE..HEAD and BASE...HEAD; HEAD defaults to the working tree), then paths after --"
    add_input(parser, metavar="BASE", words=words)
    parser.add_argument("--path", action="append", default=[], metavar="PATH", help="only these recipes, like paths after --")
    parser.add_argument("--against-run", metavar="FILE", help="instead of BASE: the record of a job (pytest_gbs.runtime)")
    group = add_output(parser, formats="text, json, markdown")
    group.add_argument(
        "--fail-on", choices=("changed", "never"), default="never", metavar="WHAT", help="changed: exit with 1 if a batch changed"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write what became of each recipe and launch, and return the exit code."""
    render = find(arguments.format)
    revisions, arguments.paths = list(arguments.paths), []
    if STDIN in revisions:
        raise UsageError("gbs diff does not read standard input")
    request = read_request(arguments)
    if arguments.against_run:
        found, internal = _since_run(request, arguments.against_run, revisions)
    else:
        repository = GitRepository(request.root)
        sides = _sides(repository, revisions)
        found, internal = _compare(request, repository, sides, fixed=arguments.config is not None)
    wanted = tuple(slashed(os.path.relpath(os.path.abspath(path), request.root)) for path in arguments.path)
    found = found._replace(changes=tuple(each for each in found.changes if _is_below((each.path, each.renamed_from), wanted)))
    emit(render(found, options(arguments, request.root, request.folder)), arguments.output_file)
    if complain_of_bugs(internal):
        return 2
    return int(arguments.fail_on == "changed" and any(change.status == Status.CHANGED for change in found.changes))


def _sides(repository: GitRepository, revisions: list[str]) -> _Revisions:
    """What is to be compared.

    Raises:
        UsageError: there is no such revision, or none or too many are given.
    """
    if len(revisions) == 1 and "..." in revisions[0]:
        base, _, head = (part or "HEAD" for part in revisions[0].partition("..."))
        fork = repository.fork(base, head)
        if fork is None:
            more = "; the clone is shallow: git fetch --unshallow, or fetch-depth: 0 in CI" if repository.is_shallow() else ""
            raise UsageError(f"{base} and {head} have no common commit here{more}")
        return _Revisions(base, head, fork, repository.commit(head))
    if len(revisions) == 1 and ".." in revisions[0]:
        revisions = [part or "HEAD" for part in revisions[0].split("..", 1)]
    if not 1 <= len(revisions) <= 2:
        raise UsageError("gbs diff takes one git revision to compare the working tree with, or two: gbs diff main, gbs diff v1 v2")
    head_commit = repository.commit(revisions[1]) if len(revisions) == 2 else None
    return _Revisions(revisions[0], revisions[1] if head_commit else _WORKING_TREE, repository.commit(revisions[0]), head_commit)


def _compare(request: CheckRequest, repository: GitRepository, sides: _Revisions, *, fixed: bool) -> tuple[Differences, tuple[Bug, ...]]:
    """The changes, and what bugs in gbs were met on the way. With `fixed` settings both sides have the same."""
    with ExitStack() as stack:
        most, exclude = request.settings.max_file_size, request.settings.exclude
        before = stack.enter_context(GitTree(repository, sides.base_commit, most, exclude))
        after: Tree = request.tree
        if sides.head_commit is not None:
            after = stack.enter_context(GitTree(repository, sides.head_commit, most, exclude))
        base = state_at(request, sides.base, before, request.settings if fixed else settings_at(before, sides.base, request.settings))
        settings = request.settings if fixed or sides.head_commit is None else settings_at(after, sides.head, request.settings)
        head = state_at(request, sides.head, after, settings, leave_out=before.links)
        return differences(base, head), (*base.report.internal, *head.report.internal)


def _since_run(request: CheckRequest, file: str, revisions: list[str]) -> tuple[Differences, tuple[Bug, ...]]:
    """What became of the recipe of a job since it ran.

    Raises:
        UsageError: it is not a record of a job, or a revision is given too.
    """
    if revisions:
        raise UsageError("gbs diff --against-run compares with the working tree, and takes no revision")
    ran = read_ran(file, request.root)
    head = state_at(request._replace(given=on_ranks(request, ran)), _WORKING_TREE, request.tree, request.settings)
    found = since_run(ran, head)
    if not found.recipes:
        raise UsageError(f"{ran.recipe}, which {file} names, is not a recipe that gbs knows")
    return found, head.report.internal


def state_at(request: CheckRequest, name: str, tree: Tree, settings: Settings, leave_out: frozenset[str] = frozenset()) -> BatchState:
    """The batches of the recipes in `tree`, called `name`, without its lock; files of `leave_out` are left out."""
    # Neither side is compared with its lock file, which may be broken by a merge.
    unlocked = OverlayTree(tree, {NAME: ""})
    report: Report = check(unlocked, (), settings, request.given, KEEP_RUNS)
    kept = tuple(file for file in report.files if file.path not in leave_out)
    return BatchState(name, tree, report._replace(files=kept))


def settings_at(tree: Tree, name: str, settings: Settings) -> Settings:
    """`settings` with the hardware and the launches that the settings of another state give.

    Raises:
        SettingsError: they are broken there.
    """
    codes = {rule.code: rule.name for rule in rules()}
    for path, table in (("gbs.toml", ()), ("pyproject.toml", TABLE)):
        source = tree.read(path)
        file = parse(f"{path} at {name}", source.text.encode(), table) if isinstance(source, Source) else None
        if file is not None and file.raw is not None:
            if not fits(file.raw):
                raise SettingsError(f"the settings in {path} at {name} are broken; those of the working tree say what is allowed")
            # What they say of rules and packages is ignored: nothing that another state names is loaded.
            there, _ = build(file.raw, file.name, ".".join(table), codes)
            return settings._replace(hardware=there.hardware, launches=there.launches, versions=there.versions)
    return settings._replace(hardware=(), launches=(), versions=())


def _is_below(paths: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return not wanted or any(each in (".", path) or path.startswith(f"{each}/") for each in wanted for path in paths if path)


COMMAND = SubCommand("show what a change does to the batch size of each recipe", _add_arguments, run, _USAGE)
