"""One check of a tree: every target read, judged and reported, and what launches it."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import islice

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.checking import finalise
from pytest_gbs.checking.evidence import HardwareLookup
from pytest_gbs.checking.file_judge import FileJudge
from pytest_gbs.checking.finalise import Launched, merged
from pytest_gbs.checking.judging import RecipeJudgement, judge_file
from pytest_gbs.checking.reporting import FileResult, Reporting
from pytest_gbs.checking.repository import WORTH_SHARING, Repository
from pytest_gbs.files.globs import matches_any
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
from pytest_gbs.model.settings import Expectation, Settings
from pytest_gbs.rules import rules

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex
    from pytest_gbs.checking.memory import Memory
    from pytest_gbs.history.lock import Base, LockedBatches

_MANY: Final = 400_000  # objects made since the collector last ran; CPython has 700
_FIRST: Final = 100  # files among which a recipe is sought before others share the work


def check(
    tree: Tree,
    targets: Sequence[str],
    settings: Settings,
    given: CommandLineHardware,
    *,
    keep_runs: bool = False,
    base: Base | None = None,
    jobs: int = 1,
    found: bool = False,
    memory: Memory | None = None,
) -> Report:
    """What is true of every recipe and launcher file at `targets` (paths relative to the tree's root; none: all of it).

    With `keep_runs` the report holds the geometry of every recipe too. `base` is an earlier state that recipes are compared with.
    Up to `jobs` processes share the work if there is enough of it; the report is the same. With `found` targets count as if their
    folders had been named: what is not a recipe is passed over, and no other recipe is reported because it rests on one of them.
    `memory` is that of earlier checks of a tree that gives the same `Source` for the same text; the report is the same.

    Raises:
        SettingsError: the lock file is broken.
        UsageError: a target does not exist, or a launcher file given on the command line is none.
    """
    repository = Repository(tree, settings, memory)
    return _rarely_collected(lambda: _Check(repository, settings, given, keep_runs, base).report(targets, jobs, found))


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

    def __init__(self, repository: Repository, settings: Settings, given: CommandLineHardware, keep_runs: bool, base: Base | None) -> None:
        self.repository, self.settings, self.keep_runs = repository, settings, keep_runs
        self.guard = repository.guard
        self.reporting = Reporting(repository, settings, keep_runs)
        self.evidence = HardwareLookup(repository, settings, given)
        self.rules = self.reporting.rules
        self.judge = FileJudge(repository, self.evidence, self.reporting, self._locked_batches(base), keep_runs)

    @property
    def launches(self) -> LaunchIndex | None:
        """The launches of the repository; None if it has no script."""
        return self.judge.launches

    def report(self, targets: Sequence[str], jobs: int, found: bool) -> Report:
        """The report on `targets`, with `jobs` processes; none of them counts as named if they were only `found`."""
        chosen = self.repository.targets(targets)
        if found:
            chosen = {path: False for path in chosen if self.repository.looks_at(path)}
        self.reporting.secondary_files.name(targets)
        scripts = self.repository.script_targets(targets)
        self.judge.know(self._index(jobs, frozenset((*chosen, *scripts)) if found else None))
        self.judge.shared = self._shared_policies()
        chosen = self._with_dependents(chosen)
        files: list[FileReport] = []
        internal: list[Bug] = []
        judged: list[NodeClaim] = []
        waiting: list[FileResult] = []
        launched: list[FileResult] = []
        for results in self._all_results(chosen, jobs):
            files.extend(results.files)
            internal.extend(results.internal)
            judged.extend(results.judged)
            launched.extend(results.launched)
            waiting.extend(results.waiting)
        others = (*self._scripts(launched, scripts, frozenset(chosen)), *self._unlisted(targets))
        for pending in (*map(self._unless_parent, waiting), *others):
            internal.extend(pending.judgement.internal if pending.role == Role.LAUNCHER else ())
            finished = self.guard.attempt(pending.path, partial(self.reporting.finish, pending), None)
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

    def _all_results(self, chosen: dict[str, bool], jobs: int) -> Iterator[_Results]:
        """Yield what is found out about each of the `chosen` files, in order."""
        found = self._together(chosen, jobs) if jobs > 1 and len(chosen) >= WORTH_SHARING and not self.keep_runs else {}
        for path, named in chosen.items():
            yield found.get(path) or self._results_of(path, named)

    def _together(self, chosen: dict[str, bool], jobs: int) -> dict[str, _Results]:
        """What `jobs` processes find out about the `chosen` files; what concerns others among them stays with this one."""
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

        pool = WorkerPool(tuple(left), share, min(jobs, len(chosen) // WORTH_SHARING + 1))
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
            from pytest_gbs.checking.saved_outputs import judge_outputs

            judge_outputs(each, self.rules)
        # It matters whether others take in such a file as a parent, unless it was named.
        waiting = tuple(p for p in each if not p.named and finalise.needs_other_hardware(p.judgement.outcomes, self.rules))
        return _Results(
            tuple(self.reporting.finish(pending) for pending in each if pending not in waiting),
            tuple(bug for pending in each for bug in pending.judgement.internal),
            tuple(claim for pending in each for claim in pending.judgement.judged),
            tuple(pending for pending in each if pending.judgement.launched),
            waiting,
            any(pending.suppressible is not None for pending in each),
        )

    def _unless_parent(self, pending: FileResult) -> FileResult:
        """What is reported of a file without what its GPUs break, where others take it in as a parent and set their own."""
        if pending.path in self.judge.parents and not pending.named:
            pending.judgement = pending.judgement._replace(outcomes=finalise.as_a_parent(pending.judgement.outcomes, self.rules))
        return pending

    def _with_dependents(self, chosen: dict[str, bool]) -> dict[str, bool]:
        """`chosen` with the recipes that launches make of the files in it that were named: parents, parts, launcher files."""
        named = {path for path, asked in chosen.items() if asked}
        if self.launches is None or not named:
            return chosen
        more = {path: False for path in self.launches.of_recipe if path not in chosen and named & self.launches.depends_on(path)}
        return dict(sorted({**chosen, **more}.items())) if more else chosen

    def _locked_batches(self, base: Base | None) -> tuple[LockedBatches, ...]:
        """What recipes are compared with: `gbs.lock`, if there is one, and an earlier state, if one is given."""
        lock = self.repository.tree.read("gbs.lock")
        if base is None and isinstance(lock, Unreadable) and lock.reason == MISSING:
            return ()
        from pytest_gbs.history.lock import locked_batches

        return locked_batches(lock, base, what_if=bool(self.evidence.given))

    def _index(self, jobs: int, about: frozenset[str] | None) -> LaunchIndex | None:
        """The launches of the repository; None, at no cost, if it has no script; those not `about` these files may be out of date."""
        if self.repository.scripts is None:
            return None
        from pytest_gbs.checking.launch_index import index_launches

        found = index_launches(self.repository, jobs=jobs, about=about)
        if found is None or about is None:
            return found
        # A reported script is compared with all launches of what it launches.
        scripts = {*found.sourced_by(about), *about}
        more = about.union(scripts, *(found.recipes_of(script) for script in scripts))
        return found if more == about else index_launches(self.repository, jobs=jobs, about=more)

    def _scripts(self, recipes: Sequence[FileResult], wanted: dict[str, bool], chosen: frozenset[str]) -> Iterator[FileResult]:
        """Yield the launching files: those that were asked for, and those that launch a recipe that was."""
        if self.launches is None:
            return
        wanted = {**dict.fromkeys(self.launches.sourced_by(wanted), False), **wanted}
        found: defaultdict[str, list[Launched]] = defaultdict(list)
        bugs: defaultdict[str, list[Bug]] = defaultdict(list)
        alone: defaultdict[str, list[Launched]] = defaultdict(list)
        others = dict.fromkeys(path for script in wanted for path in self.launches.recipes_of(script) if path not in chosen)
        unasked = [each for path in others for each in self.guard.attempt(path, partial(tuple, self.judge.file(path, named=False)), ())]
        for pending in (*recipes, *unasked):
            for each in pending.judgement.launched:
                script = each.run.launch.at.source if each.run.launch else ""
                if script in wanted or pending.path in chosen:
                    found[script].append(each)
        for script in wanted:
            for judgement in self.guard.attempt(script, partial(self.judge.alone, script), ()):
                alone[script].extend(judgement.launched)
                bugs[script].extend(judgement.internal)
        unread = {path for path in self.launches.scripts.unread if path in wanted or path in self.judge.doubted}
        mistaken = {path for path, each in self.launches.scripts.mistakes.items() if each and path in wanted}
        for script in sorted({*found, *alone, *unread, *mistaken}):
            report = partial(self._script, script, found[script], alone[script], wanted.get(script, False), tuple(bugs[script]))
            whole = self.guard.attempt(script, report, None)
            if whole is not None:
                # Launches of recipes that were not asked for are shown with the script that was.
                whole.runs += tuple(each.run for each in found[script] if each.run.path not in chosen)
                yield whole

    def _unlisted(self, targets: Sequence[str]) -> Iterator[FileResult]:
        """Yield the folders below `targets` that can't be listed, so that their content is unknown."""
        for path, reason in self.repository.unlisted(targets):
            judgement = judge_file(Unread(path, reason, Location(path), whole=True), self.rules, Scope.UNREAD)
            pending = FileResult(path, Role.UNREADABLE, False, judgement)
            pending.problem = reason
            yield pending

    def _script(self, path: str, found: list[Launched], alone: list[Launched], named: bool, bugs: tuple[Bug, ...]) -> FileResult:
        """A launching file with what its launches give."""
        outcomes = merged(*(each.outcomes for each in (*found, *alone)))
        source = self.repository.tree.read(path)
        unread = self.launches.scripts.unread.get(path) if self.launches is not None else None
        if unread is not None:
            judgement = judge_file(unread, self.rules, Scope.UNREAD)
            outcomes.update(judgement.outcomes)
            bugs += judgement.internal
        for mistake in self.launches.scripts.mistakes.get(path, ()) if self.launches is not None else ():
            judgement = judge_file(mistake, self.rules, Scope.COMMAND)
            outcomes = merged(outcomes, judgement.outcomes)
            bugs += judgement.internal
        role = Role.LAUNCHER if isinstance(source, Source) else Role.UNREADABLE
        pending = FileResult(path, role, named, RecipeJudgement(outcomes, bugs), source if isinstance(source, Source) else None)
        pending.problem = source.reason if isinstance(source, Unreadable) else ""
        pending.runs = tuple(each.run for each in alone)
        pending.launches = len({each.run.launch for each in (*found, *alone)})
        if alone:
            pending.framework = alone[0].run.framework.name
        if isinstance(source, Source) and "gbs:" in source.text and self.launches is not None:
            pending.suppressible = self.launches.document(path, source)
        return pending

    def _shared_policies(self) -> dict[str, list[Expectation]]:
        """For each recipe the policies "these recipes share one value", resolved to the value most of them have."""
        found: defaultdict[str, list[Expectation]] = defaultdict(list)
        for expectation in self.settings.expect:
            if expectation.shared:
                for path, policy in self._share(expectation):
                    found[path].append(policy)
        return dict(found)

    def _share(self, expectation: Expectation) -> Iterator[tuple[str, Expectation]]:
        values: dict[str, int] = {}
        for path in self.repository.paths:
            if matches_any(path, expectation.paths):
                value = self.guard.attempt(path, partial(self.judge.value, path, expectation.name), None)
                if value is not None:
                    values[path] = value
        if values:
            usual, number = Counter(values.values()).most_common(1)[0]
            text = f"{expectation.text}: {usual:,} in {number} of {len(values)} recipes"
            for path in values:
                yield path, expectation._replace(values=(usual,), text=text)


def _advice(files: list[FileReport]) -> str:
    """The one setting that would decide claims, without its value: what would make them true is not evidence of the hardware."""
    waiting = sum(o.claim and o.missing == (Name.GPUS_PER_NODE,) for file in files for o in file.undetermined)
    if not waiting:
        return ""
    return f"set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides {counted(waiting, 'claim')}"
