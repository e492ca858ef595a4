"""The files that launch something: which of them a check is about, and what is true of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from pytest_gbs.checking.file_judge import FileJudge
from pytest_gbs.checking.finalise import Launched, merged
from pytest_gbs.checking.judging import NOTHING_FOUND, RecipeJudgement, judge_file
from pytest_gbs.checking.launch_index import LaunchIndex, index_launches
from pytest_gbs.checking.reporting import FileResult
from pytest_gbs.checking.repository import Repository
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.model.document import DOCUMENTS
from pytest_gbs.model.location import Unreadable
from pytest_gbs.model.report import Role
from pytest_gbs.model.rule import Scope


def launches_about(repository: Repository, jobs: int, about: frozenset[str] | None) -> LaunchIndex | None:
    """The launches of a repository, None if it has none; those that are not `about` these files may be out of date."""
    found = index_launches(repository, jobs=jobs, about=about)
    if found is None or about is None:
        return found
    # A reported script is compared with all launches of what it launches.
    scripts = {*found.sourced_by(about), *about}
    more = about.union(scripts, *(found.recipes_of(script) for script in scripts))
    return found if more == about else index_launches(repository, jobs=jobs, about=more)


class LaunchingFiles:
    """Judges the files that launch something, once the recipes are judged."""

    def __init__(self, repository: Repository, launches: LaunchIndex, judge: FileJudge, rules: Rulebook) -> None:
        self._repository, self._launches, self._judge, self._rules = repository, launches, judge, rules
        self._guard = repository.guard

    def results(self, recipes: Sequence[FileResult], asked: dict[str, bool], chosen: frozenset[str]) -> Iterator[FileResult]:
        """Yield what is true of the scripts that were `asked` for (True: by their names), and of those that launch a `chosen` recipe.

        `recipes` are the results of the chosen files that something launches.
        """
        asked = {**dict.fromkeys(self._launches.sourced_by(asked), False), **asked}
        found: defaultdict[str, list[Launched]] = defaultdict(list)
        others = dict.fromkeys(path for script in asked for path in self._launches.recipes_of(script) if path not in chosen)
        unasked = [each for path in others for each in self._guard.attempt(path, partial(tuple, self._judge.file(path, named=False)), ())]
        for result in (*recipes, *unasked):
            for each in result.judgement.launched:
                script = each.run.launch.at.source if each.run.launch else ""
                if script in asked or result.path in chosen:
                    found[script].append(each)
        alone = {script: self._guard.attempt(script, partial(self._judge.alone, script), ()) for script in asked}
        scripts = self._launches.scripts
        unread = {path for path in scripts.unread if path in asked or path in self._judge.doubted}
        mistaken = {path for path, each in scripts.mistakes.items() if each and path in asked}
        documents = (path for path in asked if path.lower().endswith(DOCUMENTS))
        shown = {path: self._guard.attempt(path, partial(self._judge.snippets, path), NOTHING_FOUND) for path in documents}
        wrong = {path for path, each in shown.items() if each.outcomes or each.internal}
        for script in sorted({*found, *(path for path, judgements in alone.items() if judgements), *unread, *mistaken, *wrong}):
            find = partial(self._result, script, found[script], alone.get(script, ()), asked.get(script, False))
            whole = self._guard.attempt(script, find, None)
            if whole is not None:
                judgement = whole.judgement.along_with(*((shown[script],) if script in wrong else ()))
                # Launches of recipes that were not asked for are shown with the script that was.
                runs = (*whole.runs, *(each.run for each in found[script] if each.run.path not in chosen))
                yield whole._replace(judgement=judgement, runs=runs)

    def _result(self, path: str, found: list[Launched], alone: Sequence[RecipeJudgement], named: bool) -> FileResult:
        """A launching file with what its launches give: those of recipes that were `found`, and those of no file."""
        own = [each for judgement in alone for each in judgement.launched]
        bugs = tuple(bug for judgement in alone for bug in judgement.internal)
        judgement = RecipeJudgement(merged(*(each.outcomes for each in (*found, *own))), bugs)
        scripts = self._launches.scripts
        problems = [(scripts.unread.get(path), Scope.UNREAD), *((mistake, Scope.COMMAND) for mistake in scripts.mistakes.get(path, ()))]
        judgement = judgement.along_with(*(judge_file(problem, self._rules, scope) for problem, scope in problems if problem is not None))
        source = self._repository.tree.read(path)
        if isinstance(source, Unreadable):
            result = FileResult(path, Role.UNREADABLE, named, judgement, problem=source.reason)
        else:
            suppressible = self._launches.document(path, source) if "gbs:" in source.text else None
            result = FileResult(path, Role.LAUNCHER, named, judgement, source, suppressible=suppressible)
        framework = own[0].run.framework.name if own else None
        launches = len({each.run.launch for each in (*found, *own)})
        return result._replace(runs=tuple(each.run for each in own), framework=framework, launches=launches)
