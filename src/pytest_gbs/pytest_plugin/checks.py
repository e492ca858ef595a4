"""What pytest asks of gbs: one check of all recipe folders, looked up by file, its findings in the words of `gbs check`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_gbs import formats
from pytest_gbs.api import CheckOptions, check_worktree
from pytest_gbs.checking.accepted import accepted, read_baseline
from pytest_gbs.checking.changed import check_changed
from pytest_gbs.checking.strict import tighten
from pytest_gbs.files.git import GitRepository
from pytest_gbs.files.root import find_root
from pytest_gbs.files.worktree import WorkTree, most_searched
from pytest_gbs.formats._escape import escape, neutralize
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import open_claim
from pytest_gbs.formats.text import render_finding
from pytest_gbs.history.lockfile import read_lock
from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Location, Source, grouped
from pytest_gbs.model.outcome import Finding, Undetermined
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Bug, FileReport, Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.pytest_plugin.imports import imports_from
from pytest_gbs.settings import Overrides, load_settings


class PluginOptions(NamedTuple):
    """What pytest says about a check: its root, the folder that paths are shown relative to, and its command line.

    `import_path` are the folders that gbs may import from; without any it imports from where Python does.
    """

    root: Path
    folder: Path
    given: CommandLineHardware = CommandLineHardware()
    overrides: Overrides = Overrides()
    changed_since: str | None = None
    import_path: tuple[str, ...] = ()


class CheckedTree(NamedTuple):
    """A tree, with the settings that hold in it."""

    root: Path
    settings: Settings
    options: PluginOptions

    def inside(self, path: Path) -> str:
        """`path` as the tree calls it: relative, with `/`, one more at the end of a folder, "" for the root."""
        inner = os.path.relpath(path, self.root).replace(os.sep, "/")
        return "" if inner == "." else f"{inner}/" if path.is_dir() else inner

    def must_be_sound(self) -> None:
        """Raise for what would fail with every file alike: a broken lock file, a revision that is not there.

        Raises:
            GbsError: one clear line.
        """
        tree = WorkTree(self.root)
        if self.settings.baseline:
            read_baseline(self.settings, tree)
        lock = tree.read("gbs.lock")
        if isinstance(lock, Source):
            read_lock(lock)
        if self.options.changed_since is not None:
            GitRepository(self.root).commit(self.options.changed_since)

    def check(self, targets: Sequence[str], *, keep_runs: bool = False) -> Report:
        """The report on `targets`."""
        with imports_from(self.options.import_path):
            return self._check(targets, keep_runs=keep_runs)

    def _check(self, targets: Sequence[str], *, keep_runs: bool) -> Report:
        named = frozenset(target for target in targets if target and not target.endswith("/"))
        most = most_searched(os.fspath(self.root)) if len(named) == len(targets) else None
        tree = WorkTree(self.root, self.settings.max_file_size, self.settings.exclude, named, most)
        given, since = self.options.given, self.options.changed_since
        if since is None or keep_runs:
            return check_worktree(tree, targets, self.settings, given, CheckOptions(keep_runs=keep_runs))
        report = check_changed(tree, targets, self.settings, given, root=self.root, revision=since)
        return tighten(accepted(report, self.settings, tree, targets)._replace(notices=()), self.settings)


def open_repository(start: Path, options: PluginOptions) -> CheckedTree:
    """The repository that `start` lies in: if nothing marks one, the folder that pytest takes as its root.

    Raises:
        GbsError: its settings, or what the command line adds to them, are broken.
    """
    with imports_from(options.import_path):
        return _open_repository(start, options)


def _open_repository(start: Path, options: PluginOptions) -> CheckedTree:

    root = find_root(start)
    marked = any((root / name).exists() for name in (".git", "gbs.toml", "pyproject.toml"))
    if not marked and start.is_relative_to(options.root):
        root = find_root(options.root)
    found = CheckedTree(root, load_settings(root, None, options.overrides), options)
    found.must_be_sound()
    return found


class View:
    """A report as people see it: the words of `gbs check`, paths relative to the folder they are in, all safe to print."""

    def __init__(self, report: Report, repository: CheckedTree) -> None:
        self.report = report
        self._import_path = repository.options.import_path
        self._options = formats.FormatOptions(root=repository.root.as_posix(), folder=repository.options.folder.as_posix())
        self._places = Places(report, self._options)

    def path(self, path: str) -> str:
        """A path of the tree relative to the folder that pytest was started in."""
        return neutralize(escape(self._places.path(path)))

    def line(self, at: Location) -> int:
        """The line of `at`, the first where the text was not kept."""
        position = self._places.position(at)
        return position.line if position else 1

    def title(self, code: str) -> str:
        """A rule's code and name."""
        rule = self.report.rules.get(code)
        return f"{code} {rule.name}" if rule else code

    def one_line(self, finding: Finding) -> str:
        """A finding in one line, for short summaries, where pytest itself puts path and code in front and cuts the end."""
        return neutralize(f"{escape(finding.message)} ({self._places.where(finding.at)})")

    def finding(self, finding: Finding) -> str:
        """The text of `gbs check` for one finding."""
        with imports_from(self._import_path):
            return neutralize(render_finding(finding, self.report, self._options))

    def claim(self, outcome: Undetermined) -> str:
        """The line of `gbs check` for a claim that can't be decided, with what would decide it."""
        return neutralize(f"undetermined: {self._places.where(outcome.at)}  {open_claim(outcome)}")


class Checked(NamedTuple):
    """What was found out about one file; `bugs` are errors in gbs that were met on the way."""

    path: str
    files: tuple[FileReport, ...]
    bugs: tuple[Bug, ...]
    view: View

    @property
    def silent(self) -> bool:
        """True if nothing applies to the file."""
        return not self.bugs and not any(file.rules for file in self.files)


class Checks:
    """The memo of one session: each repository is checked once, when the first of its files is asked for."""

    def __init__(self, roots: Sequence[Path], options: PluginOptions) -> None:
        self._roots = [(root, real := root.resolve(), open_repository(real, options)) for root in roots]
        self._found: dict[Path, dict[str, Checked] | None] = {}

    def of(self, path: Path, *, named: bool) -> Checked:
        """What is true of a file below one of the roots; one that was `named` is checked even where its folder leaves it out."""
        root, real, repository = next(entry for entry in self._roots if path.is_relative_to(entry[0]))
        inner = repository.inside(real / path.relative_to(root))
        if repository.root not in self._found:
            self._found[repository.root] = self._check_roots(repository)
        found = self._found[repository.root]
        if found is None:
            return _check_one(repository, inner)
        checked = found.get(inner) or Checked(inner, (), (), View(_NOTHING, repository))
        return _check_one(repository, inner) if named and checked.silent else checked

    def _check_roots(self, repository: CheckedTree) -> dict[str, Checked] | None:
        """What is true of each file of a repository, by path; None if a bug in gbs ends the check."""
        targets = [repository.inside(real) for _, real, other in self._roots if other.root == repository.root]
        try:
            report = repository.check(targets)
        except Exception:  # each file is checked by itself then, so that only the guilty one fails
            return None
        return _by_path(report, repository)


def in_words(error: GbsError) -> str:
    """What pytest prints of an error that ends the session."""
    return "\n".join(neutralize(f"gbs: {escape(line)}") for line in str(error).splitlines())


_NOTHING = Report((), {}, {})


def _check_one(repository: CheckedTree, path: str) -> Checked:
    """What is true of one file by itself. Any failure is reported by its item: it must not end a pytest session."""
    try:
        report = repository.check([path])
    except GbsError as error:
        report = _NOTHING._replace(internal=(Bug(str(error)),))
    except Exception as error:
        report = _NOTHING._replace(internal=(Bug(f"{type(error).__name__}: {error}", path),))
    nothing = Checked(path, (), report.internal, View(report, repository))
    return _by_path(report, repository).get(path, nothing)


def _by_path(report: Report, repository: CheckedTree) -> dict[str, Checked]:
    """What is true of each file. A bug in gbs that belongs to no single file fails the first."""
    files = grouped((file.path, file) for file in report.files)
    bugs = grouped((bug.path if bug.path in files else next(iter(files), ""), bug) for bug in report.internal)
    view = View(report, repository)
    of_launches = {finding for file in report.files for finding in file.elsewhere}
    return {
        path: Checked(path, tuple(_own(file, of_launches) for file in each), tuple(bugs.get(path, ())), view)
        for path, each in files.items()
    }


def _own(file: FileReport, of_launches: set[Finding]) -> FileReport:
    """The outcomes of a launching file that do not fail one of its recipes; the items of the recipes report the rest."""
    if not file.launches:
        return file
    findings = tuple(finding for finding in file.findings if finding not in of_launches)
    codes = {finding.code for finding in findings}
    rules = tuple(entry for entry in file.rules if entry[0] in codes or (file.framework is not None and entry[1] != "violated"))
    return file._replace(findings=findings, rules=rules)
