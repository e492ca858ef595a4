"""What is true of each file of a tree: its documents as recipes, as launcher files, or neither, with what launches them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_gbs.checking import finalise
from pytest_gbs.checking.evidence import HardwareLookup
from pytest_gbs.checking.judging import NOTHING_FOUND, RecipeJudgement, judge_file, judge_recipe
from pytest_gbs.checking.reporting import FileResult, Reporting
from pytest_gbs.checking.repository import Repository
from pytest_gbs.checking.runs import BATCH, Context, build_runs
from pytest_gbs.claims.grammars import SAYS_TOO_MUCH, readable
from pytest_gbs.frameworks.reading import of_a_part, read_sizes
from pytest_gbs.launches.deepspeed_files import Companions
from pytest_gbs.launches.programs import first_words, read_launcher_file
from pytest_gbs.model.document import INCLUDES, PROGRAMS, PYTHON, Document
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Framework, Loader
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.limits import MOST_COMMENT_CHARACTERS, MOST_STATEMENTS
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable
from pytest_gbs.model.quantity import Quantity, Size, Unknown
from pytest_gbs.model.record import TYPE_CHECKING, NamedTuple
from pytest_gbs.model.report import Role
from pytest_gbs.model.rule import Scope
from pytest_gbs.model.run import Claim, Run
from pytest_gbs.model.settings import Expectation
from pytest_gbs.readers.refusal import unreadable

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex
    from pytest_gbs.composition.composed import ComposeProblem
    from pytest_gbs.history.lock import LockedBatches
    from pytest_gbs.launches.resolved_launch import ResolvedLaunch


class _Recipe(NamedTuple):
    """A recipe as it is in its file, and with what it includes from others; `places` says where its values really stand then.

    With a `limit` what it includes was too much to read.
    """

    document: Document
    whole: Document
    framework: Framework
    places: Mapping[KeyPath, Location] | None
    limit: ComposeProblem | None = None


class _Known(NamedTuple):
    """A document with what it includes from others, where its values really stand then, and its table, where it is a recipe."""

    whole: Document
    places: Mapping[KeyPath, Location] | None
    framework: Framework | None
    limit: ComposeProblem | None = None


class FileJudge:
    """Reads and judges one file after the other.

    `parents` are the files that others were found to include, `doubted` the scripts that leave open what they launch; `launches` are
    those of the repository, None if it has no script, and `shared` the policies that several recipes share. No person named the files
    if they are `listed`.
    """

    def __init__(
        self,
        repository: Repository,
        evidence: HardwareLookup,
        reporting: Reporting,
        locked_batches: tuple[LockedBatches, ...],
        *,
        listed: bool = False,
    ) -> None:
        self._listed = listed
        self._repository, self._evidence, self._reporting = repository, evidence, reporting
        self._locked_batches, self._rules = locked_batches, reporting.rules
        self._companions = Companions(self._repository.tree)
        self.shared: dict[str, list[Expectation]] = {}
        self.launches: LaunchIndex | None = None
        self.parents: set[str] = set()
        self.doubted: set[str] = set()

    def file(self, path: str, named: bool) -> Iterator[FileResult]:
        """Yield what is found out about each document of the file at `path`."""
        # What launches make a recipe need not have a key of any table: all may be in its parents, and on the command line.
        source, documents = self._repository.documents(path, named or bool(self._launched(path)))
        if not documents and (named or not path.endswith(PROGRAMS)):
            yield FileResult(path, Role.NEITHER, named, NOTHING_FOUND, source)
        if source is not None and path.endswith(PROGRAMS):
            yield from self._schedules(source, named)
            yield from self._settings_in_program(source, named) if not documents else ()
        statements, characters = MOST_STATEMENTS, MOST_COMMENT_CHARACTERS
        for document in documents:
            if isinstance(document, Unreadable):
                text = None if path.endswith(PROGRAMS) else document.source
                matters = document.matters and (text is None or self._repository.concerns(text))
                yield self.unreadable(path, document._replace(matters=matters), named)
            elif statements < 0 or characters < 0:
                start = document.root.start if document.root is not None else 0
                yield self.unreadable(path, Unreadable(path, SAYS_TOO_MUCH, start, document.source, True), named)
                return
            else:
                result = self._document(document, named)
                if result.runs and len(documents) > 1:
                    statements -= len(result.runs[0].declarations)
                    characters -= sum(map(readable, document.comments))
                yield result

    def alone(self, script: str) -> tuple[RecipeJudgement, ...]:
        """What the rules say of each launch in a script that no file is the recipe of."""
        assert self.launches is not None
        runs = _turns(self._launch_run(resolved, self._of_program(resolved)) for resolved in self.launches.alone.get(script, ()))
        return tuple(judge_recipe((run,), None, self._rules) for run in self._with_locks(runs, 1))

    def _of_program(self, resolved: ResolvedLaunch) -> Run | None:
        """The one recipe of the program that a script starts, which gives all of its batch; None if the script gives a part."""
        path = resolved.sources[0] if len(resolved.sources) == 1 else ""
        sizes = resolved.sizes()
        batch = [size for name in BATCH if isinstance(size := sizes.get(name), (Quantity, Unknown))]
        given = any(size.at is not None and size.at.source != path for size in batch)
        if given or not path.endswith(PROGRAMS) or resolved.found.launch.kind != Kind.SCRIPT:
            return None
        known = [(each, table) for each in self._repository.readable(path) if (table := self._repository.recognise(each)) is not None]
        if len(known) != 1 or known[0][1].name != resolved.framework.name:
            return None
        document, framework = known[0]
        recipe = _Recipe(document, document, framework, None)
        return build_runs(document, framework, self._sizes(recipe), self._context(path))[0]._replace(policies=())

    def value(self, path: str, name: str) -> int | None:
        """The number of size `name` in the last recipe of the file at `path` that has one, None if none has."""
        found: int | None = None
        for document in self._repository.readable(path):
            whole, places, framework, _ = self._whole(document)
            if framework is not None:
                sizes = self._sizes(_Recipe(document, whole, framework, places))
                value = build_runs(whole, framework, sizes, self._context(path))[0].geometry.value(name)
                found = value if value is not None else found
        return found

    def know(self, launches: LaunchIndex | None) -> None:
        """Judge recipes with these launches from now on."""
        self.launches = self._evidence.launches = self._reporting.launches = launches

    def _schedules(self, source: Source, named: bool) -> Iterator[FileResult]:
        """Yield what is wrong with the learning-rate schedules of a program, on more than the one process with which scripts start it."""
        from pytest_gbs.readers.python import read_schedules

        found = read_schedules(source)
        if found and self.launches is not None and self.launches.runs_in_one_process(source.path):
            return
        for schedule, comments in found:
            judgement = judge_file(schedule, self._rules, Scope.SCHEDULE)
            if judgement.outcomes or judgement.internal:
                yield FileResult(source.path, Role.NEITHER, named, judgement, source, suppressible=comments, part=comments.part)

    def _launched(self, path: str) -> tuple[ResolvedLaunch, ...]:
        return self.launches.of_recipe.get(path, ()) if self.launches is not None else ()

    def _document(self, document: Document, named: bool) -> FileResult:
        path = document.source.path
        whole, places, framework, limit = self._whole(document)
        launched = self._launched(path)
        if framework is None and launched and document.number == 1:
            framework = launched[0].framework
            result = self._composed(document, launched, named)
        elif framework is None and limit is not None:
            result = self.unreadable(path, _too_much(document, limit), named)
        elif framework is None:
            result = self._launcher_or_neither(document, named)
        else:
            own = tuple(r for r in launched if r.document.number == document.number)
            result = self._recipe(_Recipe(document, whole, framework, places, limit), named, own)
        self._repository.remember(path, None, document.source)
        suppressible = document if "gbs:" in document.source.text else None
        return result._replace(suppressible=suppressible, document=document.number, part=document.part)

    def _recipe(self, recipe: _Recipe, named: bool, launched: tuple[ResolvedLaunch, ...]) -> FileResult:
        recipe = _as_started(recipe, launched)
        document, whole, framework, places, limit = recipe
        path = document.source.path
        sizes = self._sizes(recipe)
        own = build_runs(whole, framework, sizes, self._context(path), places)
        runs = tuple(map(self._companions.beside, own))
        launched = (*launched, *self._shown(document, own[0]))
        started = tuple(_turns(self._launch_run(resolved, own[0]) for resolved in launched))
        runs = self._with_locks((*_as_launched(runs, started), *started), document.number)
        view = FileView(document, framework, sizes, None)
        role = Role.COMPANION if framework.companion else Role.RECIPE
        judgement = self._doubt(self._settled(judge_recipe(runs, view, self._rules), framework), document)
        if own[0].unread is not None:
            judgement = self._not_all_read(judgement, Unreadable(path, SAYS_TOO_MUCH, own[0].unread, document.source, True))
        if limit is not None:
            judgement = self._not_all_read(judgement, _too_much(document, limit))
        return FileResult(path, role, named, judgement, document.source, framework.name, runs)

    def _composed(self, document: Document, launched: tuple[ResolvedLaunch, ...], named: bool) -> FileResult:
        """The primary file of a configuration that only its launches make a recipe."""
        runs = self._with_locks(_turns(self._launch_run(resolved, None) for resolved in launched), document.number)
        judgement = self._doubt(judge_recipe(runs, None, self._rules), document)
        return FileResult(document.source.path, Role.RECIPE, named, judgement, document.source, launched[0].framework.name, runs)

    def _launcher_or_neither(self, document: Document, named: bool) -> FileResult:
        path = document.source.path
        file = read_launcher_file(document) if document.syntax != PYTHON else None
        if file is None:
            return FileResult(path, Role.NEITHER, named, self._own_settings(document), document.source)
        if any(problem.unless for problem in file.problems) and not self._repository.alone:
            # The command that uses the file may give the rest.
            file = file._replace(problems=tuple(problem for problem in file.problems if not problem.unless))
        self._repository.remember(path, file, document.source)
        judgement = judge_file(file, self._rules, Scope.LAUNCHER)
        view = FileView(document, None, {q.name: q for q in file.quantities}, file)
        of_file = judge_file(view, self._rules, Scope.FILE)
        return FileResult(path, Role.LAUNCHER, named, of_file.along_with(judgement), document.source, launcher=file)

    def _own_settings(self, document: Document) -> RecipeJudgement:
        """What the rules say of settings whose trainer no table knows: nothing unless they name an accumulation beside comments."""
        if document.syntax == PYTHON or not document.comments or "accum" not in document.source.text:
            return NOTHING_FOUND
        from pytest_gbs.checking.own_settings import runs_of_own_settings

        runs = runs_of_own_settings(document, self._context(document.source.path), self._trains_alone)
        return NOTHING_FOUND.along_with(*(judge_file(run, self._rules, Scope.SETTINGS) for run in runs))

    def _settings_in_program(self, source: Source, named: bool) -> Iterator[FileResult]:
        """Yield what is wrong with the comments beside the numbers of a program in which no table knows a recipe."""
        if "accum" not in source.text and "ACCUM" not in source.text:
            return
        from pytest_gbs.checking.own_settings import runs_of_programs

        for run in runs_of_programs(source, self._context(source.path), self._trains_alone):
            judgement = judge_file(run, self._rules, Scope.SETTINGS)
            if judgement.outcomes or judgement.internal:
                yield FileResult(source.path, Role.NEITHER, named, judgement, source, suppressible=run.document, part=run.document.part)

    def snippets(self, path: str) -> RecipeJudgement:
        """What the rules say of settings in the code blocks of the document at `path`."""
        from pytest_gbs.checking.snippets import runs_of_snippets

        source = self._repository.tree.read(path)
        runs = runs_of_snippets(source, self._context(path)) if isinstance(source, Source) else ()
        return NOTHING_FOUND.along_with(*(judge_file(run, self._rules, Scope.SETTINGS) for run in runs))

    def _trains_alone(self) -> bool:
        from pytest_gbs.checking.own_settings import is_one_process

        repository = self._repository
        return repository.document_cache.once("trains alone", lambda: is_one_process(repository.tree, repository.all_paths))

    def unreadable(self, path: str, problem: Unreadable, named: bool) -> FileResult:
        """What is said of a file that can't be read: nothing, if it neither matters nor was named by a person."""
        reported = problem.matters or (named and not self._listed)
        judgement = judge_file(problem, self._rules, Scope.UNREADABLE) if reported else NOTHING_FOUND
        return FileResult(path, Role.UNREADABLE, named, judgement, problem.source, problem=problem.reason)

    def _not_all_read(self, judgement: RecipeJudgement, problem: Unreadable) -> RecipeJudgement:
        """`judgement` with the finding that a part of the file was not read."""
        return judgement.along_with(judge_file(problem, self._rules, Scope.UNREADABLE))

    def _whole(self, document: Document) -> _Known:
        """`document` with what it includes from other files and its interpolations."""
        includes_others = not INCLUDES.isdisjoint(document.keyed)
        table = self._repository.recognise(document)
        if not includes_others and (table is None or table.loader != Loader.OMEGACONF or "${" not in document.source.text):
            return _Known(document, None, table)
        from pytest_gbs.composition.whole import whole

        found = whole(document, self._repository.document_cache, table)
        if found is None or found.limit is not None:
            return _Known(document, None, table, found.limit if found is not None else None)
        if found.unseen:
            return _Known(document, None, of_a_part(table) if table is not None else None)
        self.parents.update(source for source in found.sources if source != document.source.path)
        return _Known(found.document, found.places, self._repository.recognise(found.document))

    def _sizes(self, recipe: _Recipe) -> dict[str, Size]:
        """The sizes that a recipe states, at their real places."""
        sizes = read_sizes(recipe.whole, recipe.framework)
        beside = self._companions.sizes(recipe.whole, recipe.framework)
        if recipe.places is None:
            return {**beside, **sizes}
        from pytest_gbs.composition.whole import really

        return {**beside, **{name: really(size, recipe.whole, recipe.places) for name, size in sizes.items()}}

    def _with_locks(self, runs: Iterable[Run], document: int) -> tuple[Run, ...]:
        """The runs of one document, each with its lock entry."""
        found = tuple(runs)
        for each in self._locked_batches:
            found = each.attach(found, document)
        return found

    def _launch_run(self, resolved: ResolvedLaunch, own: Run | None) -> Run:
        """The run of one launch, its sizes at their real places."""
        from pytest_gbs.checking.launch_run import launch_run

        assert self.launches is not None
        framework, start = resolved.framework, resolved.found.start
        of_launcher = self._companions.of_launcher(start.files, framework)
        sizes = {**of_launcher, **self._companions.sizes(resolved.document, framework), **resolved.sizes()}
        run = launch_run(resolved, sizes, own, self.launches.declared(resolved))
        return self._companions.beside(run, resolved.locate)

    def _shown(self, document: Document, own: Run) -> tuple[ResolvedLaunch, ...]:
        """The launches of a recipe that its own comments show, if they have a lock entry or were asked for."""
        wanted = self._reporting.keep_runs or own.claims or own.policies or self._locked_batches
        if not wanted or document.number > 1 or not _shows_command(document):
            return ()
        if self.launches is None:
            from pytest_gbs.checking.launch_index import index_launches

            self.know(index_launches(self._repository, always=True))
        return self.launches.shown_by(document, self._repository) if self.launches is not None else ()

    def _settled(self, judgement: RecipeJudgement, framework: Framework) -> RecipeJudgement:
        """`judgement` without what a program of the tree settles that starts the recipe."""
        if not any(self._rules.by_code[code].settled_by_programs for code in judgement.outcomes):
            return judgement
        from pytest_gbs.checking.overriding import without_what_programs_settle

        repository = self._repository
        settled = without_what_programs_settle(judgement.outcomes, framework, self._rules, repository.tree, repository.all_paths)
        return judgement._replace(outcomes=settled)

    def _doubt(self, judgement: RecipeJudgement, document: Document) -> RecipeJudgement:
        """`judgement` with what scripts leave open that may launch the recipe and were not read, where it would be verified."""
        path = document.source.path
        unread = self.launches.unread_for(path) if self.launches is not None else ()
        verified = finalise.verification(judgement.outcomes, judgement.launched) if unread else None
        if verified is None:
            return judgement
        self.doubted.update(each.path for each in unread)
        at = verified.at if verified.at is not None and verified.at.source == path else Location(path)
        return judgement.along_with(*(judge_file(each._replace(recipe=at), self._rules, Scope.UNREAD) for each in unread))

    def _context(self, path: str) -> Context:
        return self._evidence.context(path, tuple(self.shared.get(path, ())))


def _too_much(document: Document, limit: ComposeProblem) -> Unreadable:
    """Why a file is not judged with what it includes: that is too much to read."""
    start = limit.at.start if limit.at.source == document.source.path else 0
    return unreadable(document.source, start, f"not composed with the files that it includes: {limit.message}")


def _turns(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield the runs, those of a loop once each, without claims that only another turn of the same loop fulfils: it is about that one."""
    once = tuple(_each_once(runs))
    fulfilled = {(run.launch.at, claim.declaration.at) for run in once if run.launch for claim in run.claims if _holds(claim)}
    for run in once:
        at = run.launch.at if run.launch else None
        claims = tuple(each for each in run.claims if _holds(each) or (at, each.declaration.at) not in fulfilled)
        yield run if len(claims) == len(run.claims) else run._replace(claims=claims)


def _as_launched(runs: tuple[Run, ...], started: tuple[Run, ...]) -> Iterator[Run]:
    """Yield the runs of a recipe, each claim that is false of it by itself and true of a launch of it as that launch has it."""
    for run in runs:
        claims = tuple(next(_fulfilled(claim, started), claim) if claim.judgement.finding is not None else claim for claim in run.claims)
        yield run if claims == run.claims else run._replace(claims=claims)


def _fulfilled(claim: Claim, started: Iterable[Run]) -> Iterator[Claim]:
    """Yield what is claimed as each launch has it that has that batch, and no other number for anything that the claim names."""
    for run in started:
        sizes = ((run.geometry.said(name), value) for name, value in claim.declaration.conditions)
        if all(size.value == value for size, value in sizes if isinstance(size, Quantity)):
            yield from (each for each in run.claims if _holds(each) and each.declaration.at == claim.declaration.at)


def _holds(claim: Claim) -> bool:
    return bool(claim.judgement.readings) and claim.judgement.readings[0].holds is True


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
    return any(line.removeprefix("$ ").startswith(first_words()) for text in blocks for line in text.split("\n"))


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
