"""One check of a tree: every target read, judged and reported, and what launches it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import islice

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.checking import finalise
from pytest_gbs.checking.evidence import HardwareLookup
from pytest_gbs.checking.file_judge import FileJudge
from pytest_gbs.checking.judging import judge_file
from pytest_gbs.checking.reporting import FileResult, Reporting
from pytest_gbs.checking.repository import WORTH_SHARING, Repository
from pytest_gbs.files.regular import MISSING
from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.launch import Unread
from pytest_gbs.model.location import Location, Source, Tree, Unreadable
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple
from pytest_gbs.model.report import Bug, FileReport, Report, Role
from pytest_gbs.model.rule import Scope
from pytest_gbs.model.run import NodeClaim
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import rules

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex
    from pytest_gbs.checking.memory import Memory
    from pytest_gbs.history.lock import Base, LockedBatches

_MANY: Final = 400_000  # objects made since the collector last ran; CPython has 700
_FIRST: Final = 100  # files among which a recipe is sought before others share the work


class CheckOptions(NamedTuple):
    """How a check is done.

    With `keep_runs` the report holds the geometry of every recipe too. `base` is an earlier state that recipes are compared with.
    Up to `jobs` processes share the work if there is enough of it; the report is the same. With `found` targets count as if their
    folders had been named: what is not a recipe is passed over, and no other recipe is reported because it rests on one of them.
    `memory` is that of earlier checks of a tree that gives the same `Source` for the same text; the report is the same.
    With `listed` no person named the targets: of those that can't be read only recipes and launcher files are reported.
    """

    keep_runs: bool = False
    base: Base | None = None
    jobs: int = 1
    found: bool = False
    memory: Memory | None = None
    listed: bool = False


KEEP_RUNS: Final = CheckOptions(keep_runs=True)
_NO_OPTIONS: Final = CheckOptions()


def check(
    tree: Tree, targets: Sequence[str], settings: Settings, given: CommandLineHardware, options: CheckOptions = _NO_OPTIONS
) -> Report:
    """What is true of every recipe and launcher file at `targets` (paths relative to the tree's root; none: all of it).

    Raises:
        SettingsError: the lock file is broken.
        UsageError: a target does not exist, or a launcher file given on the command line is none.
    """
    repository = Repository(tree, settings, options.memory)
    return _rarely_collected(lambda: _Check(repository, settings, given, options).report(targets))


def _rarely_collected(find: Callable[[], Report]) -> Report:
    """What `find` gives while the garbage collector of CPython rests: nearly all that a check makes stays, and searching finds nothing."""
    if not hasattr(gc, "freeze"):
        return find()
    before = gc.get_threshold()
    gc.set_threshold(max(_MANY, before[0]) if before[0] else 0)
    try:
        return find()
    finally:
        gc.set_threshold(*before)


class _Results(NamedTuple):
    """What was found out about one file: reports, bugs and claims; and what waits until all files are known."""

    files: tuple[FileReport, ...]
    internal: tuple[Bug, ...]
    judged: tuple[NodeClaim, ...]
    launched: tuple[FileResult, ...] = ()
    waiting: tuple[FileResult, ...] = ()
    suppressible: bool = False


class _Share(NamedTuple):
    """What another process found out about some of the files."""

    results: dict[str, _Results]
    parents: set[str]
    doubted: set[str]
    sources: dict[str, Source]
    bugs: tuple[Bug, ...]


class _Check:
    """One running check of many files: which of them, by how many processes, and what their launches and each other say of them."""

    def __init__(self, repository: Repository, settings: Settings, given: CommandLineHardware, options: CheckOptions) -> None:
        self.repository, self.settings, self.options = repository, settings, options
        self.guard = repository.guard
        self.reporting = Reporting(repository, settings, options.keep_runs)
        self.evidence = HardwareLookup(repository, settings, given)
        self.rules = self.reporting.rules
        self.judge = FileJudge(repository, self.evidence, self.reporting, self._locked_batches(), listed=options.listed)

    @property
    def launches(self) -> LaunchIndex | None:
        """The launches of the repository; None if it has no script."""
        return self.judge.launches

    def report(self, targets: Sequence[str]) -> Report:
        """The report on `targets`."""
        chosen = self.repository.targets(targets)
        if self.options.found:
            chosen = {path: False for path in chosen if self.repository.looks_at(path)}
        self.reporting.secondary_files.name(targets)
        scripts = self.repository.script_targets(targets)
        self._know_launches(frozenset((*chosen, *scripts)) if self.options.found else None)
        self._know_shared_policies()
        chosen = self._with_dependents(chosen)
        files: list[FileReport] = []
        internal: list[Bug] = []
        judged: list[NodeClaim] = []
        waiting: list[FileResult] = []
        launched: list[FileResult] = []
        for results in self._all_results(chosen):
            files.extend(results.files)
            internal.extend(results.internal)
            judged.extend(results.judged)
            launched.extend(results.launched)
            waiting.extend(results.waiting)
        others = (*self._launching_files(launched, scripts, frozenset(chosen)), *self._unlisted(targets))
        for result in (*map(self._unless_parent, waiting), *others):
            internal.extend(result.judgement.internal if result.role == Role.LAUNCHER else ())
            finished = self.guard.attempt(result.path, partial(self.reporting.finish, result), None)
            files += (finished,) if finished is not None else ()
        files += self._failed({file.path for file in files})
        launching = {file.path for file in files if file.role == Role.LAUNCHER}
        files = [file for file in files if file.role != Role.NEITHER or file.path not in launching]
        files.sort(key=lambda file: (file.path, file.document))
        files = list(finalise.without_notes(self.reporting.compare(files, tuple(judged), internal), self.reporting.secondary_files))
        files = [finalise.in_cells(file, self._cell) if file.path.endswith(NOTEBOOK) else file for file in files]
        used = {rule.code: rule for rule in (*rules(), *self.settings.rules)}
        notices = (self.repository.notice,) if self.repository.notice else ()
        return Report(tuple(files), self.reporting.sources, used, _advice(files), (*internal, *self.guard.bugs), notices)

    def _cell(self, at: Location) -> str:
        """The cell of a notebook and its line at a place, as words; "" if there is none."""
        from pytest_gbs.readers.python import cell_words

        source = self.reporting.sources.get(at.source)
        return cell_words(source, at.start) if source is not None else ""

    def _failed(self, results: Container[str]) -> Iterator[FileReport]:
        """Yield reports of the files of which nothing is known because of a bug in gbs."""
        for path, error in {bug.path: bug.error for bug in self.guard.bugs if bug.path not in results}.items():
            problem = Unreadable(path, f"an internal error of gbs: {error}", matters=True)
            yield self.reporting.finish(self.judge.unreadable(path, problem, named=True))

    def _all_results(self, chosen: dict[str, bool]) -> Iterator[_Results]:
        """Yield what is found out about each of the `chosen` files, in order."""
        shares = self.options.jobs > 1 and len(chosen) >= WORTH_SHARING and not self.options.keep_runs
        found = self._together(chosen) if shares else {}
        for path, named in chosen.items():
            yield found.get(path) or self._results_of(path, named)

    def _together(self, chosen: dict[str, bool]) -> dict[str, _Results]:
        """What several processes find out about the `chosen` files; what concerns others among them stays with this one."""
        from pytest_gbs.checking.worker_pool import WorkerPool

        launched = self.launches.of_recipe if self.launches is not None else {}
        left = iter([path for path in chosen if path not in launched])
        found: dict[str, _Results] = {}
        for path in islice(left, _FIRST):  # what the first recipe loads need not be loaded again by each process that is forked off then
            found[path] = self._results_of(path, chosen[path])
            if any(file.role == Role.RECIPE for file in found[path].files):
                break

        def share(paths: Iterator[str]) -> _Share:
            results = {path: self._results_of(path, chosen[path]) for path in paths}
            done = {path: each for path, each in results.items() if not (each.launched or each.waiting or each.suppressible)}
            return _Share(done, self.judge.parents, self.judge.doubted, self.reporting.sources, tuple(self.guard.bugs))

        pool = WorkerPool(tuple(left), share, min(self.options.jobs, len(chosen) // WORTH_SHARING + 1))
        try:
            found.update((path, self._results_of(path, named)) for path, named in chosen.items() if path in launched)
            found.update((path, self._results_of(path, chosen[path])) for path in pool.taken())
            for results, parents, doubted, sources, bugs in pool.results():
                found.update(results)
                self.guard.keep(bugs)
                self.judge.parents |= parents
                self.judge.doubted |= doubted
                self.reporting.sources.update(sources)
        finally:
            pool.close()
        return found

    def _results_of(self, path: str, named: bool) -> _Results:
        """What is found out about one file; nothing if a bug in gbs stops it."""
        return self.guard.attempt(path, partial(self._find_out, path, named), _Results((), (), ()))

    def _find_out(self, path: str, named: bool) -> _Results:
        each = tuple(self.judge.file(path, named))
        if path.endswith(NOTEBOOK):
            from pytest_gbs.checking.saved_outputs import with_outputs

            each = with_outputs(each, self.rules)
        # It matters whether others include such a file as a parent, unless it was named.
        waiting = {n: p for n, p in enumerate(each) if not p.named and finalise.needs_other_hardware(p.judgement.outcomes, self.rules)}
        return _Results(
            tuple(self.reporting.finish(result) for number, result in enumerate(each) if number not in waiting),
            tuple(bug for result in each for bug in result.judgement.internal),
            tuple(claim for result in each for claim in result.judgement.judged),
            tuple(result for result in each if result.judgement.launched),
            tuple(waiting.values()),
            any(result.suppressible is not None for result in each),
        )

    def _unless_parent(self, result: FileResult) -> FileResult:
        """What is reported of a file without what its GPUs break, where others take it in as a parent and set their own."""
        if result.path in self.judge.parents and not result.named:
            judgement = result.judgement._replace(outcomes=finalise.as_a_parent(result.judgement.outcomes, self.rules))
            return result._replace(judgement=judgement)
        return result

    def _with_dependents(self, chosen: dict[str, bool]) -> dict[str, bool]:
        """`chosen` with the recipes that launches make of the files in it that were named: parents, parts, launcher files."""
        named = {path for path, asked in chosen.items() if asked}
        if self.launches is None or not named:
            return chosen
        more = {path: False for path in self.launches.of_recipe if path not in chosen and named & self.launches.depends_on(path)}
        return dict(sorted({**chosen, **more}.items())) if more else chosen

    def _locked_batches(self) -> tuple[LockedBatches, ...]:
        """What recipes are compared with: `gbs.lock`, if there is one, and an earlier state, if one is given."""
        lock, base = self.repository.tree.read("gbs.lock"), self.options.base
        if base is None and isinstance(lock, Unreadable) and lock.reason == MISSING:
            return ()
        from pytest_gbs.history.lock import locked_batches

        return locked_batches(lock, base, what_if=bool(self.evidence.given))

    def _know_launches(self, about: frozenset[str] | None) -> None:
        """Find the launches, at no cost if there is no script; those that are not `about` these files may be out of date."""
        if self.repository.scripts is not None:
            from pytest_gbs.checking.launching_files import launches_about

            self.judge.know(launches_about(self.repository, self.options.jobs, about))

    def _know_shared_policies(self) -> None:
        """Find what is expected of recipes because most of them have it."""
        if any(expectation.shared for expectation in self.settings.expect):
            from pytest_gbs.checking.shared_policies import shared_policies

            def value(path: str, name: str) -> int | None:
                return self.guard.attempt(path, partial(self.judge.value, path, name), None)

            self.judge.shared = shared_policies(self.settings.expect, self.repository.paths, value)

    def _launching_files(self, recipes: Sequence[FileResult], asked: dict[str, bool], chosen: frozenset[str]) -> Iterator[FileResult]:
        """Yield the launching files: those that were `asked` for, and those that launch a recipe that was `chosen`."""
        if self.launches is not None:
            from pytest_gbs.checking.launching_files import LaunchingFiles

            yield from LaunchingFiles(self.repository, self.launches, self.judge, self.rules).results(recipes, asked, chosen)

    def _unlisted(self, targets: Sequence[str]) -> Iterator[FileResult]:
        """Yield the folders below `targets` that can't be listed, so that their content is unknown."""
        for path, reason in self.repository.unlisted(targets):
            judgement = judge_file(Unread(path, reason, Location(path), whole=True), self.rules, Scope.UNREAD)
            yield FileResult(path, Role.UNREADABLE, False, judgement, problem=reason)


def _advice(files: list[FileReport]) -> str:
    """The one setting that would decide claims, without its value: what would make them true is not evidence of the hardware."""
    waiting = sum(o.claim and o.missing == (Name.GPUS_PER_NODE,) for file in files for o in file.undetermined)
    if not waiting:
        return ""
    return f"set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides {counted(waiting, 'claim')}"
