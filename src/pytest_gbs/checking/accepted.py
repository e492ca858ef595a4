"""The accepted findings of a baseline, and patterns of the settings that match nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_gbs.checking.reporting import active_rules
from pytest_gbs.files.globs import matches, matches_any
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.history.baseline import BaselineEntry, in_words, parse, stale, without
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.location import Tree, Unreadable
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings


def accepted(report: Report, settings: Settings, tree: Tree, targets: Sequence[str]) -> Report:
    """`report` without the findings of the baseline that the settings name, with a notice for each of its entries that is gone.

    Raises:
        SettingsError: the baseline can't be read.
        UsageError: it is not a baseline.
    """
    notices = tuple(unmatched_globs(settings, tree)) if any(not target or target.endswith("/") for target in targets) else ()
    if not settings.baseline:
        return report._replace(notices=(*report.notices, *notices))
    known = read_baseline(settings, tree)
    gone = (f"in the baseline, but no longer found: {each}" for each in in_words(missing(report, known, settings, targets)))
    return without(report, known)._replace(notices=(*report.notices, *notices, *gone))


def read_baseline(settings: Settings, tree: Tree) -> Counter[BaselineEntry]:
    """The baseline that the settings name.

    Raises:
        SettingsError: it can't be read.
        UsageError: it is not a baseline.
    """
    found = tree.read(settings.baseline)
    if isinstance(found, Unreadable):
        written = f"gbs check --write-baseline {settings.baseline} writes it"
        raise SettingsError(f"baseline {settings.baseline} in {settings.source}: {found.reason}; {written}")
    return parse(found.text, settings.baseline)


def missing(report: Report, known: Counter[BaselineEntry], settings: Settings, targets: Sequence[str]) -> Counter[BaselineEntry]:
    """The entries that occur no longer, of the files and rules that were looked at."""
    active = {rule.code for rule in active_rules(settings)}
    return Counter({entry: count for entry, count in stale(report, known, targets).items() if entry.rule in active})


def unmatched_globs(settings: Settings, tree: Tree) -> Iterator[str]:
    """Yield a line for each path pattern of the settings that matches no file."""
    stated = [(f"{key}", glob) for key, globs in _globs(settings) for glob in globs if glob != "**"]
    if not stated and not settings.exclude:
        return
    paths = tree.paths()
    for key, glob in dict.fromkeys(stated):
        if not any(matches(path, glob) for path in paths):
            yield f'{settings.source}: {key} has "{glob}", which matches no file'
    yield from _unmatched_excludes(settings, tree)


def _globs(settings: Settings) -> Iterator[tuple[str, Sequence[str]]]:
    yield from (("hardware", each.paths) for each in settings.hardware)
    yield from (("launch", each.paths) for each in settings.launches)
    yield from (("expect", each.paths) for each in settings.expect)
    yield "per-file-ignores", [glob for glob, _ in settings.per_file_ignores]


def _unmatched_excludes(settings: Settings, tree: Tree) -> Iterator[str]:
    """Yield a line for each pattern of `exclude` that leaves out nothing, where the tree can list what is left out."""
    if not settings.exclude or not isinstance(tree, WorkTree):
        return
    paths = tree._replace(exclude=()).paths()
    folders = {f"{path[:place]}/" for path in paths for place, sign in enumerate(path) if sign == "/"}
    for glob in settings.exclude:
        if not any(matches_any(path, (glob,)) for path in (*folders, *paths)):
            yield f'exclude has "{glob}", which matches no file that would be read'
