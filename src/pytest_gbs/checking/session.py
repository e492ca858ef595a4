"""One check of a tree: every target read, judged and reported, and what launches it."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_gbs.checking import finalise
from pytest_gbs.checking.evidence import Evidence
from pytest_gbs.checking.finalise import Launched, merged
from pytest_gbs.checking.reporting import FileResult, Reporting
from pytest_gbs.checking.repository import WORTH_SHARING, Repository
from pytest_gbs.checking.runs import Context, RecipeJudgement, build_runs, claimed, judge_file, judge_recipe, launch_run
from pytest_gbs.claims.grammars import SAYS_TOO_MUCH, readable
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.regular import MISSING
from pytest_gbs.frameworks.reading import of_a_part, read_sizes
from pytest_gbs.launches.deepspeed_files import Companions
from pytest_gbs.launches.programs import command_words, read_launcher_file
from pytest_gbs.model.document import NOTEBOOK, PROGRAMS, PYTHON, TAKES_IN, Document
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Framework, Loader
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.launch import Unread
from pytest_gbs.model.limits import MOST_COMMENT_CHARACTERS, MOST_STATEMENTS
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable
from pytest_gbs.model.quantity import Name, Quantity, Size
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Bug, FileReport, Report, Role
from pytest_gbs.model.rule import Scope
from pytest_gbs.model.run import NodeClaim, Policy, Run
from pytest_gbs.model.settings import Expectation, Settings
from pytest_gbs.readers.refusal import unreadable
from pytest_gbs.rules import rules

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex
    from pytest_gbs.checking.memory import Memory
    from pytest_gbs.composition.composed import ComposeProblem
    from pytest_gbs.history.lock import Base, Holdings
    from pytest_gbs.launches.resolved_launch import ResolvedLaunch
    from pytest_gbs.model.tree import Tree

_MANY: Final = 100_000  # objects made since the collector last ran; CPython has 700


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
    Up to `jobs` processes share the work where there is enough of it; the report is the same. With `found` targets count as if their
    folders had been named: what is not a recipe is passed over, and no other recipe is reported because it rests on one of them.
    `memory` is that of earlier checks of a tree that gives the same `Source` for the same text; the report is the same.

    Raises:
        SettingsError: the lock file is broken.
        UsageError: a target does not exist, or a launcher file given on the command line is none.
    """
    repository = Repository(tree, settings, memory)
    with _rare_collections():
        return _Check(repository, settings, given, keep_runs, base).report(targets, jobs, found)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the garbage collector of CPython rest: nearly all that a check makes stays, and looking through it again finds nothing."""
    if not hasattr(gc, "freeze"):
        yield
        return
    before = gc.get_threshold()
    gc.set_threshold(max(_MANY, before[0]) if before[0] else 0)
    try:
        yield
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


class _Recipe(NamedTuple):
    """A recipe as it stands in its file, and with what it takes in from others; `places` says where its values really stand then.

    With a `limit` what it takes in was too much to read.
    """

    document: Document
    whole: Document
    framework: Framework
    places: dict[KeyPath, Location] | None
    limit: ComposeProblem | None = None


class _Known(NamedTuple):
    """A document with what it takes in from others, where its values really stand then, and its table, where it is a recipe."""

    whole: Document
    places: dict[KeyPath, Location] | None
    framework: Framework | None
    limit: ComposeProblem | None = None


class _Check:
    """One running check: the only state is the repository's memo and the report being built."""

    def __init__(self, repository: Repository, settings: Settings, given: CommandLineHardware, keep_runs: bool, base: Base | None) -> None:
        self.repository, self.settings, self.keep_runs = repository, settings, keep_runs
        self.guard = repository.guard
        self.reporting = Reporting(repository, settings, keep_runs)
        self.evidence = Evidence(repository, settings, given)
        self.rules = self.reporting.rules
        self.holdings = self._holdings(base)
        self.shared: dict[str, list[Policy]] = {}
        self.launches: LaunchIndex | None = None
        self.companions = Companions(repository.tree)
        self.parents: set[str] = set()
        self.doubted: set[str] = set()  # scripts that leave open what they launch

    def report(self, targets: Sequence[str], jobs: int, found: bool) -> Report:
        """The report on `targets`, with `jobs` processes; none of them counts as named if they were only `found`."""
        chosen = self.repository.targets(targets)
        if found:
            chosen = {path: False for path in chosen if self.repository.looks_at(path)}
        self.reporting.set_aside.targets = targets
        scripts = self.repository.script_targets(targets)
        self._know(self._index(jobs, frozenset((*chosen, *scripts)) if found else None))
        self.shared = self._shared_policies()
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
        files = list(finalise.noted_once(self.reporting.compare(files, tuple(judged), internal), self.reporting.set_aside))
        files = [finalise.in_cells(file, self._cell) if file.path.endswith(NOTEBOOK) else file for file in files]
        used = {rule.code: rule for rule in (*rules(), *self.settings.rules)}
        return Report(tuple(files), self.reporting.sources, used, _advice(files), (*internal, *self.guard.bugs))

    def _cell(self, at: Location) -> str:
        """The cell of a notebook and its line at a place, as words; "" if there is none."""
        from pytest_gbs.readers.python import cell_words

        source = self.reporting.sources.get(at.source)
        return cell_words(source, at.start) if source is not None else ""

    def _failed(self, results: Container[str]) -> Iterator[FileReport]:
        """Yield reports of the files of which nothing is known because of a bug of ours."""
        for path, error in {bug.path: bug.error for bug in self.guard.bugs if bug.path not in results}.items():
            problem = Unreadable(path, f"an internal error of gbs: {error}", matters=True)
            yield self.reporting.finish(self._unreadable(path, problem, named=True))

    def _all_results(self, chosen: dict[str, bool], jobs: int) -> Iterator[_Results]:
        """Yield what is found out about each of the `chosen` files, in order."""
        found = self._together(chosen, jobs) if jobs > 1 and len(chosen) >= WORTH_SHARING and not self.keep_runs else {}
        for path, named in chosen.items():
            yield found.get(path) or self._results_of(path, named)

    def _together(self, chosen: dict[str, bool], jobs: int) -> dict[str, _Results]:
        """What `jobs` processes find out about the `chosen` files; what concerns others among them stays with this one."""
        from pytest_gbs.checking.worker_pool import WorkerPool

        launched = self.launches.of_recipe if self.launches is not None else {}

        def share(paths: Iterator[str]) -> _Share:
            results = {path: self._results_of(path, chosen[path]) for path in paths}
            done = {path: each for path, each in results.items() if not (each.launched or each.waiting or each.suppressible)}
            return _Share(done, self.parents, self.doubted, self.reporting.sources, tuple(self.guard.bugs))

        crew = WorkerPool([path for path in chosen if path not in launched], share, min(jobs, len(chosen) // WORTH_SHARING + 1))
        try:
            found = {path: self._results_of(path, named) for path, named in chosen.items() if path in launched}
            found.update((path, self._results_of(path, chosen[path])) for path in crew.taken())
            for results, parents, doubted, sources, bugs in crew.brought():
                found.update(results)
                self.guard.keep(bugs)
                self.parents |= parents
                self.doubted |= doubted
                self.reporting.sources.update(sources)
        finally:
            crew.close()
        return found

    def _results_of(self, path: str, named: bool) -> _Results:
        """What is found out about one file; nothing if a bug of ours stops it."""
        return self.guard.attempt(path, partial(self._find_out, path, named), _Results((), (), ()))

    def _find_out(self, path: str, named: bool) -> _Results:
        each = tuple(self._file(path, named))
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
        if pending.path in self.parents and not pending.named:
            pending.judgement = pending.judgement._replace(outcomes=finalise.as_a_parent(pending.judgement.outcomes, self.rules))
        return pending

    def _with_dependents(self, chosen: dict[str, bool]) -> dict[str, bool]:
        """`chosen` with the recipes that launches make of the files in it that were named: parents, parts, launcher files."""
        named = {path for path, asked in chosen.items() if asked}
        if self.launches is None or not named:
            return chosen
        more = {path: False for path in self.launches.of_recipe if path not in chosen and named & self.launches.depends_on(path)}
        return dict(sorted({**chosen, **more}.items())) if more else chosen

    def _holdings(self, base: Base | None) -> tuple[Holdings, ...]:
        """What recipes are held to: `gbs.lock`, if there is one, and an earlier state, where one is given."""
        lock = self.repository.tree.read("gbs.lock")
        if base is None and isinstance(lock, Unreadable) and lock.reason == MISSING:
            return ()
        from pytest_gbs.history.lock import holdings

        return holdings(lock, base, what_if=bool(self.evidence.given))

    def _with_locks(self, runs: Iterable[Run], document: int) -> tuple[Run, ...]:
        """The runs of one document, each with what it is held to."""
        found = tuple(runs)
        for each in self.holdings:
            found = each.attach(found, document)
        return found

    def _index(self, jobs: int, about: frozenset[str] | None) -> LaunchIndex | None:
        """The launches of the repository; None, at no cost, where it has no script; those not `about` these files may be out of date."""
        if self.repository.scripts is None:
            return None
        from pytest_gbs.checking.launch_index import index_launches

        found = index_launches(self.repository, jobs=jobs, about=about)
        if found is None or about is None:
            return found
        # A script that is reported is held against all launches of what it launches.
        scripts = {*found.sourced_by(about), *about}
        more = about.union(scripts, *(found.recipes_of(script) for script in scripts))
        return found if more == about else index_launches(self.repository, jobs=jobs, about=more)

    def _know(self, launches: LaunchIndex | None) -> None:
        self.launches = self.evidence.launches = self.reporting.launches = launches

    def _scripts(self, recipes: Sequence[FileResult], wanted: dict[str, bool], chosen: frozenset[str]) -> Iterator[FileResult]:
        """Yield the launching files: those that were asked for, and those that launch a recipe that was."""
        if self.launches is None:
            return
        wanted = {**dict.fromkeys(self.launches.sourced_by(wanted), False), **wanted}
        found: defaultdict[str, list[Launched]] = defaultdict(list)
        bugs: defaultdict[str, list[Bug]] = defaultdict(list)
        alone: defaultdict[str, list[Launched]] = defaultdict(list)
        others = dict.fromkeys(path for script in wanted for path in self.launches.recipes_of(script) if path not in chosen)
        unasked = [each for path in others for each in self.guard.attempt(path, partial(self._pending, path), ())]
        for pending in (*recipes, *unasked):
            for each in pending.judgement.launched:
                script = _script_of(each)
                if script in wanted or pending.path in chosen:
                    found[script].append(each)
        for script in wanted:
            for judgement in self.guard.attempt(script, partial(self._alone, script), ()):
                alone[script].extend(judgement.launched)
                bugs[script].extend(judgement.internal)
        unread = {path for path in self.launches.scripts.unread if path in wanted or path in self.doubted}
        mistaken = {path for path, each in self.launches.scripts.mistakes.items() if each and path in wanted}
        for script in sorted({*found, *alone, *unread, *mistaken}):
            report = partial(self._script, script, found[script], alone[script], wanted.get(script, False), tuple(bugs[script]))
            whole = self.guard.attempt(script, report, None)
            if whole is not None:
                # Launches of recipes that were not asked for are shown with the script that was.
                whole.runs += tuple(each.run for each in found[script] if each.run.path not in chosen)
                yield whole

    def _pending(self, path: str) -> tuple[FileResult, ...]:
        return tuple(self._file(path, named=False))

    def _alone(self, script: str) -> tuple[RecipeJudgement, ...]:
        """What the rules say of each launch in a script that no file is the recipe of."""
        assert self.launches is not None
        runs = _each_once(self._launch_run(resolved, None) for resolved in self.launches.alone.get(script, ()))
        return tuple(judge_recipe((run,), None, self.rules) for run in self._with_locks(runs, 1))

    def _unlisted(self, targets: Sequence[str]) -> Iterator[FileResult]:
        """Yield the folders below `targets` that can't be listed, so that their content is unknown."""
        for path, reason in self.repository.unlisted(targets):
            judgement = judge_file(Unread(path, reason, Location(path, 0, 0), whole=True), self.rules, Scope.UNREAD)
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

    def _launch_run(self, resolved: ResolvedLaunch, own: Run | None) -> Run:
        """The run of one launch, its sizes at their real places."""
        assert self.launches is not None
        sizes = {**self.companions.sizes(resolved.document, resolved.framework), **resolved.sizes()}
        run = launch_run(resolved, sizes, own, self.launches.declared(resolved))
        return self.companions.beside(run, resolved.locate)

    def _file(self, path: str, named: bool) -> Iterator[FileResult]:
        source, documents = self.repository.documents(path, named)
        if not documents and (named or not path.endswith(PROGRAMS)):
            yield FileResult(path, Role.NEITHER, named, RecipeJudgement({}, ()), source)
        if source is not None and path.endswith(PROGRAMS):
            yield from self._schedules(source, named)
        statements, characters = MOST_STATEMENTS, MOST_COMMENT_CHARACTERS
        for document in documents:
            if isinstance(document, Unreadable):
                matters = document.matters and (document.source is None or self.repository.concerns(document.source))
                yield self._unreadable(path, document._replace(matters=matters), named)
            elif statements < 0 or characters < 0:
                start = document.root.start if document.root is not None else 0
                yield self._unreadable(path, Unreadable(path, SAYS_TOO_MUCH, start, document.source, True), named)
                return
            else:
                pending = self._document(document, named)
                if pending.runs and len(documents) > 1:
                    statements -= len(pending.runs[0].declarations)
                    characters -= sum(map(readable, document.comments))
                yield pending

    def _schedules(self, source: Source, named: bool) -> Iterator[FileResult]:
        """Yield what is wrong with the learning-rate schedules of a program."""
        from pytest_gbs.readers.python import read_schedules

        for schedule, comments in read_schedules(source):
            judgement = judge_file(schedule, self.rules, Scope.SCHEDULE)
            if judgement.outcomes or judgement.internal:
                pending = FileResult(source.path, Role.NEITHER, named, judgement, source)
                pending.suppressible, pending.part = comments, comments.part
                yield pending

    def _not_all_read(self, judgement: RecipeJudgement, problem: Unreadable) -> RecipeJudgement:
        """`judgement` with the finding that a part of the file was not read."""
        finding = judge_file(problem, self.rules, Scope.UNREADABLE)
        return judgement._replace(outcomes=merged(judgement.outcomes, finding.outcomes), internal=judgement.internal + finding.internal)

    def _unreadable(self, path: str, problem: Unreadable, named: bool) -> FileResult:
        tell = named or problem.matters
        judgement = judge_file(problem, self.rules, Scope.UNREADABLE) if tell else RecipeJudgement({}, ())
        pending = FileResult(path, Role.UNREADABLE, named, judgement, problem.source)
        pending.problem = problem.reason
        return pending

    def _document(self, document: Document, named: bool) -> FileResult:
        path = document.source.path
        whole, places, framework, limit = self._whole(document)
        launched = self.launches.of_recipe.get(path, ()) if self.launches is not None else ()
        if framework is None and launched and document.number == 1:
            framework = launched[0].framework
            pending = self._composed(document, launched, named)
        elif framework is None and limit is not None:
            pending = self._unreadable(path, _too_much(document, limit), named)
        elif framework is None:
            pending = self._launcher_or_neither(document, named)
        else:
            own = tuple(r for r in launched if r.document.number == document.number)
            pending = self._recipe(_Recipe(document, whole, framework, places, limit), named, own)
        if "gbs:" in document.source.text:
            pending.suppressible = document
        pending.document = document.number
        pending.part = document.part
        self.repository.remember(path, None, document.source)
        return pending

    def _shown(self, document: Document, own: Run) -> tuple[ResolvedLaunch, ...]:
        """The launches of a recipe that its own comments show, where they are held to something or asked for."""
        wanted = self.keep_runs or own.claims or own.policies or self.holdings
        if not wanted or document.number > 1 or not _shows_command(document):
            return ()
        if self.launches is None:
            from pytest_gbs.checking.launch_index import index_launches

            self._know(index_launches(self.repository, always=True))
        return self.launches.shown_by(document, self.repository) if self.launches is not None else ()

    def _whole(self, document: Document) -> _Known:
        """`document` with what it takes in from other files and its interpolations."""
        takes_in = not TAKES_IN.isdisjoint(document.keyed)
        table = self.repository.recognise(document)
        if not takes_in and (table is None or table.loader != Loader.OMEGACONF or "${" not in document.source.text):
            return _Known(document, None, table)
        from pytest_gbs.composition.whole import whole

        found = whole(document, self.repository.document_cache, table)
        if found is None or found.limit is not None:
            return _Known(document, None, table, found.limit if found is not None else None)
        if found.unseen:
            return _Known(document, None, of_a_part(table) if table is not None else None)
        self.parents.update(source for source in found.sources if source != document.source.path)
        return _Known(found.document, found.places, self.repository.recognise(found.document))

    def _launcher_or_neither(self, document: Document, named: bool) -> FileResult:
        path = document.source.path
        file = read_launcher_file(document) if document.syntax != PYTHON else None
        if file is None:
            return FileResult(path, Role.NEITHER, named, RecipeJudgement({}, ()), document.source)
        if any(problem.unless for problem in file.problems) and not self.repository.alone:
            # The command that uses the file may give the rest.
            file = file._replace(problems=tuple(problem for problem in file.problems if not problem.unless))
        self.repository.remember(path, file, document.source)
        judgement = judge_file(file, self.rules, Scope.LAUNCHER)
        view = FileView(document, None, {q.name: q for q in file.quantities}, file, False)
        of_file = judge_file(view, self.rules, Scope.FILE)
        both = RecipeJudgement(merged(of_file.outcomes, judgement.outcomes), judgement.internal + of_file.internal)
        pending = FileResult(path, Role.LAUNCHER, named, both, document.source)
        pending.launcher = file
        return pending

    def _recipe(self, recipe: _Recipe, named: bool, launched: tuple[ResolvedLaunch, ...]) -> FileResult:
        recipe = _as_started(recipe, launched)
        document, whole, framework, places, limit = recipe
        path = document.source.path
        sizes = self._sizes(recipe)
        own = build_runs(whole, framework, sizes, self._context(path), places)
        runs = tuple(map(self.companions.beside, own))
        launched = (*launched, *self._shown(document, own[0]))
        runs = self._with_locks((*runs, *_each_once(self._launch_run(resolved, own[0]) for resolved in launched)), document.number)
        view = FileView(document, framework, sizes, None, claimed(runs))
        role = Role.COMPANION if framework.companion else Role.RECIPE
        judgement = self._doubt(self._settled(judge_recipe(runs, view, self.rules), framework), document)
        if own[0].unread is not None:
            judgement = self._not_all_read(judgement, Unreadable(path, SAYS_TOO_MUCH, own[0].unread, document.source, True))
        if limit is not None:
            judgement = self._not_all_read(judgement, _too_much(document, limit))
        pending = FileResult(path, role, named, judgement, document.source)
        pending.framework = framework.name
        pending.runs = runs
        return pending

    def _settled(self, judgement: RecipeJudgement, framework: Framework) -> RecipeJudgement:
        """`judgement` without what a program of the tree settles that starts the recipe."""
        if not any(self.rules.by_code[code].settled_by_programs for code in judgement.outcomes):
            return judgement
        from pytest_gbs.checking.overriding import without_what_programs_settle

        repository = self.repository
        settled = without_what_programs_settle(judgement.outcomes, framework, self.rules, repository.tree, repository.all_paths)
        return judgement._replace(outcomes=settled)

    def _sizes(self, recipe: _Recipe) -> dict[str, Size]:
        """The sizes that a recipe states, at their real places."""
        sizes = read_sizes(recipe.whole, recipe.framework)
        beside = self.companions.sizes(recipe.whole, recipe.framework)
        if recipe.places is None:
            return {**beside, **sizes}
        from pytest_gbs.composition.whole import really

        return {**beside, **{name: really(size, recipe.whole, recipe.places) for name, size in sizes.items()}}

    def _composed(self, document: Document, launched: tuple[ResolvedLaunch, ...], named: bool) -> FileResult:
        """The primary file of a configuration that only its launches make a recipe."""
        runs = self._with_locks(_each_once(self._launch_run(resolved, None) for resolved in launched), document.number)
        judgement = self._doubt(judge_recipe(runs, None, self.rules), document)
        pending = FileResult(document.source.path, Role.RECIPE, named, judgement, document.source)
        pending.framework = launched[0].framework.name
        pending.runs = runs
        return pending

    def _doubt(self, judgement: RecipeJudgement, document: Document) -> RecipeJudgement:
        """`judgement` with what scripts leave open that may launch the recipe and were not read, where it would be verified."""
        path = document.source.path
        unread = self.launches.unread_for(path) if self.launches is not None else ()
        verified = finalise.verification(judgement.outcomes, judgement.launched) if unread else None
        if verified is None:
            return judgement
        self.doubted.update(each.path for each in unread)
        at = verified.at if verified.at is not None and verified.at.source == path else Location(path, 0, 0)
        judged = [judge_file(each._replace(recipe=at), self.rules, Scope.UNREAD) for each in unread]
        outcomes = merged(judgement.outcomes, *(each.outcomes for each in judged))
        bugs = (bug for each in judged for bug in each.internal)
        return judgement._replace(outcomes=outcomes, internal=(*judgement.internal, *bugs))

    def _context(self, path: str) -> Context:
        return self.evidence.context(path, tuple(self.shared.get(path, ())))

    def _shared_policies(self) -> dict[str, list[Policy]]:
        """For each recipe the policies "these recipes share one value", resolved to the value most of them have."""
        found: defaultdict[str, list[Policy]] = defaultdict(list)
        for expectation in self.settings.expect:
            if expectation.shared:
                for path, policy in self._share(expectation):
                    found[path].append(policy)
        return dict(found)

    def _share(self, expectation: Expectation) -> Iterator[tuple[str, Policy]]:
        values: dict[str, int] = {}
        for path in self.repository.paths:
            if matches_any(path, expectation.paths):
                value = self.guard.attempt(path, partial(self._value, path, expectation.name), None)
                if value is not None:
                    values[path] = value
        if values:
            usual, number = Counter(values.values()).most_common(1)[0]
            text = f"{expectation.text}: {usual:,} in {number} of {len(values)} recipes"
            for path in values:
                yield path, Policy(expectation.name, None, None, (usual,), expectation.origin, text)

    def _value(self, path: str, name: str) -> int | None:
        """The number of size `name` in the last recipe of the file at `path` that has one, None if none has."""
        found: int | None = None
        for document in self.repository.readable(path):
            whole, places, framework, _ = self._whole(document)
            if framework is not None:
                sizes = self._sizes(_Recipe(document, whole, framework, places))
                value = build_runs(whole, framework, sizes, self._context(path))[0].geometry.value(name)
                found = value if value is not None else found
        return found


def _too_much(document: Document, limit: ComposeProblem) -> Unreadable:
    """Why a file is not judged with what it takes in: that is too much to read."""
    start = limit.at.start if limit.at.source == document.source.path else 0
    return unreadable(document.source, start, f"not composed with the files that it includes: {limit.message}")


def _each_once(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield the runs without those of a loop that are like one before: the same command with the same sizes."""
    seen = set()
    for run in runs:
        sizes = tuple((name, size.value) for name, size in run.geometry.stated.items() if isinstance(size, Quantity))
        same = (run.launch.at if run.launch else None, run.framework.title, sizes)
        if same not in seen:
            seen.add(same)
            yield run


def _shows_command(document: Document) -> bool:
    """Whether a line of a comment starts like a command of a launcher, in a comment that names this file."""
    name = document.source.path.rpartition("/")[2].rpartition(".")[0]
    blocks = [block.text for block in document.comments if name in block.text]
    if not blocks:
        return False
    words = tuple(word for word in command_words() if word[:1].isalpha())
    return any(line.removeprefix("$ ").startswith(words) for text in blocks for line in text.split("\n"))


def _as_started(recipe: _Recipe, launched: tuple[ResolvedLaunch, ...]) -> _Recipe:
    """`recipe` as its launches start it.

    That is as a recipe of its own, if one starts DeepSpeed's engine with it alone, and without the files that its framework compares,
    if each program leaves them uncompared.
    """
    if recipe.framework.companion and launched:
        return recipe._replace(framework=recipe.framework._replace(companion=False))
    if not recipe.framework.companions or not launched or any(each.framework.companions for each in launched):
        return recipe
    return recipe._replace(framework=recipe.framework._replace(companions=()))


def _script_of(launched: Launched) -> str:
    assert launched.run.launch is not None
    return launched.run.launch.at.source


def _advice(files: list[FileReport]) -> str:
    """The one setting that would decide claims, without its value: what would make them true is not evidence of the hardware."""
    waiting = sum(o.claim and o.missing == (Name.GPUS_PER_NODE,) for file in files for o in file.undetermined)
    if not waiting:
        return ""
    claims = "1 claim" if waiting == 1 else f"{waiting} claims"
    return f"set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides {claims}"


__all__ = ["check"]
