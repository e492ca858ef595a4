"""A check of what changed since a revision: the files, and every recipe that includes, inherits from or is launched by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.checking.session import KEEP_RUNS, CheckOptions, check
from pytest_gbs.files.git import GitRepository, GitTree
from pytest_gbs.files.root import StrPath
from pytest_gbs.history.lock import NAME, Base, records
from pytest_gbs.model.document import CONFIGURATIONS, Scalar
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Tree
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.report import FileReport, Report, Role
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings

_SETTINGS: Final = ("gbs.toml", "pyproject.toml", NAME)


def check_changed(
    tree: Tree, targets: Sequence[str], settings: Settings, given: CommandLineHardware, *, root: StrPath, revision: str
) -> Report:
    """The report on those of `targets` that changed since the working tree at `root` left `revision`, or rest on what did.

    Recipes are compared with what they were there, too.

    Raises:
        UsageError: there is no git, no repository, or no such revision.
    """
    repository = GitRepository(root)
    commit = repository.fork(revision) or repository.commit(revision)
    with GitTree(repository, commit, settings.max_file_size, settings.exclude) as before:
        changed = _changed(tree, before)
        if not changed:
            return Report((), {}, {})
        was = check(before, (), settings, given, KEEP_RUNS)
        said = repository.messages(commit)
    base = Base(revision, {name: found for name, (_, found) in records(was).items()}, said)
    report = check(tree, targets, settings, given, CheckOptions(keep_runs=True, base=base))
    if changed.isdisjoint((settings.source, settings.baseline, NAME, "gbs.toml")):
        report = _only(report, changed, was)
    return report._replace(files=tuple(file._replace(runs=(), launcher=None) for file in report.files))


def _changed(tree: Tree, before: GitTree) -> frozenset[str]:
    """The paths that are new, edited or gone."""
    paths = tree.paths()
    gone = set(before.paths()) - set(paths)
    locks = [name for name in _SETTINGS if name in before.blobs or name in paths]
    return frozenset((*before.changed((*paths, *locks)), *gone))


def _only(report: Report, changed: frozenset[str], was: Report) -> Report:
    """`report` with the files alone that changed or rest on a file that did."""
    launchers = {file.path for each in (report, was) for file in each.files if file.launches_others}
    evidence = not changed.isdisjoint(launchers)
    names = tuple(path.rpartition("/")[2] for path in changed if path.endswith(CONFIGURATIONS))
    kept = [file for file in report.files if _rests_on(file, changed, names, evidence)]
    scripts = {run.launch.at.source for file in kept for run in file.runs if run.launch is not None}
    paths = {file.path for file in kept} | scripts
    return report._replace(files=tuple(file for file in report.files if file.path in paths))


def _rests_on(file: FileReport, changed: frozenset[str], names: tuple[str, ...], evidence: bool) -> bool:
    """Whether a file changed, or something that it includes changed.

    `names` are those of the changed configuration files, one of which it may name; with `evidence` a launcher file changed, on which
    every judgement rests that assumes something.
    """
    if file.path in changed or (evidence and file.role == Role.RECIPE and (file.assumptions or file.undetermined)):
        return True
    if not changed.isdisjoint(place for run in file.runs for place in _places(run)):
        return True
    return any(name in text for run in file.runs for text in _texts(run) for name in names)


def _texts(run: Run) -> Iterator[str]:
    """Yield what may name the files that `run` includes: its text, and the values that a command line gives it."""
    yield run.document.source.text
    yield from (node.text for _, node in run.document.keyed.values() if run.launch is not None and isinstance(node, Scalar))


def _places(run: Run) -> Iterator[str]:
    """Yield the paths of all files that have a part in `run`."""
    yield from (at.source for at in (run.places or {}).values())
    yield from (companion.document.source.path for companion in run.companions)
    yield from (leaf.at.source for size in run.geometry.stated.values() for leaf in leaves(size) if isinstance(leaf, Quantity) and leaf.at)
    if run.launch is not None:
        yield run.launch.at.source
        yield from (file.path for file in run.launch.start.files) if run.launch.start is not None else ()
