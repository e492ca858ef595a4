"""The commands of a repository that launch training: read from its scripts, Makefiles and documents, linked to what they run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain, islice
from typing import Final

from pytest_gbs.files.decode import NOT_TEXT
from pytest_gbs.files.regular import LARGER, NOT_THERE, OUTSIDE
from pytest_gbs.files.words import MATTERING
from pytest_gbs.launches.default_recipe import default_recipe
from pytest_gbs.launches.idle_scripts import IdleScripts
from pytest_gbs.launches.jobs import read_job_file
from pytest_gbs.launches.launcher_files import LauncherFiles
from pytest_gbs.launches.missing import MissingFiles, lost_flags
from pytest_gbs.launches.named_files import executed, named_files, names_recipe
from pytest_gbs.launches.path_finder import PathFinder
from pytest_gbs.launches.programs import command_words, first_words, started
from pytest_gbs.launches.settings_files import invocation, misnamed, place, runner_of
from pytest_gbs.launches.unread_scripts import UnreadScripts
from pytest_gbs.model.command import Command, EnvironmentValue, Invocation, Machines, OtherFiles, Script, Stop, Word, Written, name_of
from pytest_gbs.model.document import DOCUMENTS, NOTEBOOK, SCRIPTS, holds_commands
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.launch import Grep, Kind, Launch, Mistake, Start, Unread
from pytest_gbs.model.limits import DEEPEST_STARTED, MOST_GREPPED, MOST_LAUNCHED_VALUES, MOST_LAUNCHES, MOST_STARTED
from pytest_gbs.model.location import Location, Source, Tree, Unreadable
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python import executes_files
from pytest_gbs.readers.refusal import conflict
from pytest_gbs.shell import read_commands
from pytest_gbs.shell.limits import LEAST_SHARED, LONGEST_VALUE, MOST_LAUNCHED, MOST_SEARCHES, MOST_TURNS, TOO_LONG, Exhausted, SharedSteps
from pytest_gbs.shell.starting import started_script

_TESTS: Final = frozenset(("tests", "test", "ci", ".github"))
_MANY: Final = f"more than {MOST_LAUNCHED:,} launches in all scripts together"
_COSTLY: Final = 20  # what a started script counts for that was not read to its end


class FoundLaunch(NamedTuple):
    """A launch as a script has it: what it starts, the files it names that may be recipes, and the program's own file.

    `template` is true if a recipe is named by an unknown variable, and `candidates` are the files that it may name
    then; `missing` is true if the tree has no such file. `written` are those that the script writes itself, each with
    the word that names it. `environment` holds the variables that the script sets.
    """

    launch: Launch
    start: Start
    script: Script
    recipes: tuple[tuple[str, Word], ...]
    program: str | None
    template: bool
    missing: bool
    candidates: tuple[str, ...] = ()
    environment: tuple[EnvironmentValue, ...] = ()
    written: tuple[tuple[Written, Word], ...] = ()


class ReadScript(NamedTuple):
    """What reading one script came to, and how many of the steps and nested scripts that all scripts share it took."""

    found: tuple[FoundLaunch, ...]
    script: Script | None
    unread: Unread | None
    mistakes: tuple[Mistake, ...]
    shared: int
    nested: int


class Scripts:
    """The lazy memo of what the scripts of one tree launch, each read at most once.

    `left_out` are those of `paths` that are not read; `named` are scripts that are read although the tree leaves them out, and `jobs`
    are the files that may describe jobs. `for_all` gives files that all scripts are judged by.
    `unread` are those that were not read to their end, as far as they may launch training or were named.
    """

    def __init__(
        self,
        tree: Tree,
        paths: Sequence[str],
        left_out: Callable[[str], bool],
        named: Iterable[str] = (),
        jobs: frozenset[str] = frozenset(),
        *,
        for_all: Tree | None = None,
    ) -> None:
        self.tree = tree
        self._for_all = for_all or tree
        self._all = paths
        self._finder = PathFinder(tree, paths)
        self._named = frozenset(named)
        self._jobs = jobs
        self._left_out = left_out
        self._found: dict[str, tuple[FoundLaunch, ...]] = {}
        self.scripts: dict[str, Script] = {}
        self.unread: dict[str, Unread] = {}
        self.mistakes: defaultdict[str, list[Mistake]] = defaultdict(list)  # in each script or document
        self._stops: list[Stop] = []  # of the script at hand
        self._started = MOST_STARTED
        self._shared = SharedSteps(self._length)
        self._offered: Mapping[str, ReadScript] = {}
        self.launcher_files = LauncherFiles(self._finder, self._source)
        self._idle = IdleScripts(self._source, self._finder.named)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files of the tree whose names say that they may hold command lines."""
        listed = tuple(path for path in self._all if (holds_commands(path) or path in self._jobs) and not self._left_out(path))
        return tuple(sorted({*listed, *self._named})) if self._named else listed

    def launches(self, path: str) -> tuple[FoundLaunch, ...]:
        """The launches of the script at `path`, in order."""
        known = self.launches_known(path)
        if known is not None:
            return known
        source = self._readable(path)
        if isinstance(source, Unreadable):
            self._found[path] = ()
            self._refused(source)
        elif not self._is_worth_reading(source):
            self._found[path] = ()
        elif self._shared.launched > MOST_LAUNCHED and "gbs:" not in source.text:  # nothing in it may silence that
            self._found[path] = ()
            if self.unread_scripts.may_launch(path):
                self.unread[path] = Unread(path, _MANY, Location(path, 0, 0), whole=True, met_before=True)
        else:
            self._found[path] = self._read(source)
        return self._found[path]

    def _is_worth_reading(self, source: Source) -> bool:
        """Whether a script may launch anything, itself or by what it names, or others may do so with its settings."""
        if source.path in self._jobs or runner_of(source.path, self._finder.known.__contains__):
            return True
        return _may_start(source.text) and not self._idle.is_idle(source)

    def read_script(self, path: str) -> ReadScript:
        """What reading the script at `path` comes to, for another process."""
        shared = self._shared
        steps, nested = shared.spent, shared.nested
        found, mistakes = self.launches(path), tuple(self.mistakes.get(path, ()))
        script, unread = self.scripts.get(path), self.unread.get(path)
        return ReadScript(found, script, unread, mistakes, shared.spent - steps, shared.nested - nested)

    def read_some(self, paths: Iterable[str], processes: int) -> dict[str, ReadScript]:
        """What reading these scripts comes to for one of several processes, until it has taken its part of what all share."""
        found: dict[str, ReadScript] = {}
        for path in paths:
            read = Guard().attempt(path, partial(self.read_script, path), None)
            if self._shared.is_too_much():
                break
            found.update({path: read} if read is not None else {})
            if self._shared.spent * processes > LEAST_SHARED and self._shared.spent * processes > self._shared.most:
                break
        return found

    def launches_known(self, path: str) -> tuple[FoundLaunch, ...] | None:
        """The launches of the script at `path`, if it has been read."""
        offered = self._offered.get(path) if path not in self._found else None
        if offered is not None and not self._shared.is_too_much(offered.shared, offered.nested, len(offered.found)):
            self._take(path, offered)
        return self._found.get(path)

    def offer(self, read_scripts: Mapping[str, ReadScript]) -> bool:
        """Forget all; these results are taken as the scripts come up, as far as they fit into what scripts share; whether all do.

        Those that come up behind are read, since the order in which scripts share what there is matters.
        """
        self._found, self.scripts, self.unread, self.mistakes = {}, {}, {}, defaultdict(list)
        self._shared, self._offered = SharedSteps(self._length), read_scripts
        every = read_scripts.values()
        launched = sum(len(each.found) for each in every)
        return not self._shared.is_too_much(sum(each.shared for each in every), sum(each.nested for each in every), launched)

    def _take(self, path: str, read_script: ReadScript) -> None:
        self._found[path], script, unread, mistakes, steps, nested = read_script
        self.scripts.update({path: script} if script is not None else {})
        self.unread.update({path: unread} if unread is not None else {})
        self.mistakes[path] += mistakes
        self._shared.spent += steps
        self._shared.nested += nested
        self._shared.launched += len(read_script.found)

    def _length(self) -> int:
        """The characters of all scripts."""
        read = map(self._for_all.read, self.paths)
        return sum(len(source.text) for source in read if isinstance(source, Source))

    def _refused(self, problem: Unreadable) -> None:
        """Note a script that can't be read, unless its bytes show that it launches nothing, or there is nothing to read."""
        path, seen = problem.path, problem.reason.startswith((LARGER, *NOT_TEXT))
        elsewhere = problem.reason in NOT_THERE or (problem.reason == OUTSIDE and path.lower().endswith(DOCUMENTS))
        launches = self.unread_scripts.may_launch(path) if problem.source else problem.matters if seen else not elsewhere
        if launches or path in self._named:
            at = problem.offset or 0
            self.unread[path] = Unread(path, problem.reason, Location(path, at, at), whole=True)

    def failed(self, path: str) -> None:
        """Note a script that could not be read because of a bug in gbs."""
        self._found[path] = ()
        self.unread[path] = Unread(path, "an internal error of gbs", Location(path), whole=True)

    def stop(self, path: str, at: Location, *, met_before: bool) -> None:
        """Note a script of whose launches those from `at` on are not composed any more."""
        reason = f"more than {MOST_LAUNCHED_VALUES:,} values in the recipes of all launches together"
        self.unread.setdefault(path, Unread(path, reason, at, met_before=met_before, behind_many=True))

    def in_comments(self, source: Source) -> Iterator[FoundLaunch]:
        """Yield the launches of a recipe that its own comments show: commands that name this very file."""
        text = _commented(source.text)
        if text is None:
            return
        script = read_commands(Source(source.path, text), OtherFiles(self._source, self._has))
        for command in script.commands:
            for found in self._command(command, script, command.at, ()):
                own = tuple((path, word) for path, word in found.recipes if path == source.path)
                if own:
                    yield found._replace(launch=found.launch._replace(kind=Kind.DOCUMENT), recipes=own)

    def _read(self, source: Source) -> tuple[FoundLaunch, ...]:
        self._shared.begin(source.text)
        self._finder.conflicts.clear()
        script = read_job_file(source, self._others) if source.path in self._jobs else read_commands(source, self._others)
        if script is None:
            return ()
        commands, script = script.commands, script._replace(commands=())  # they are not used again
        self.scripts[source.path] = script
        self._started, self._stops = MOST_STARTED, []
        launches = chain(self._launching(commands, script, source.text), self._of_settings(source, script))
        found = tuple(islice(launches, MOST_LAUNCHES + 1))
        if len(found) > MOST_LAUNCHES:
            self._stops.append(Stop(f"more than {MOST_LAUNCHES} launches", found[-1].launch.at, behind_many=True))
        found = found[:MOST_LAUNCHES]
        room = self._shared.launch(len(found))
        if room < len(found):
            self._stops.append(Stop(_MANY, found[room].launch.at, self._shared.met_before, behind_many=True))
        self._note(source, script)
        return found[:room]

    def _launching(self, commands: tuple[Command, ...], script: Script, text: str) -> Iterator[FoundLaunch]:
        for number, command in enumerate(commands):
            found = tuple(self._command(command, script, command.at, (script.path,)))
            if found and _kind(script.path) == Kind.SCRIPT:
                lost = lost_flags(text, command, islice(commands, number + 1, None))
                self.mistakes[script.path] += [*self._missing.of(command, script), *((lost,) if lost is not None else ())]
            yield from found

    def _of_settings(self, source: Source, script: Script) -> Iterator[FoundLaunch]:
        """Yield the launches of the script beside `source` whose variables it sets, and note where its name says otherwise."""
        path = runner_of(source.path, self._finder.known.__contains__)
        runner = self._source(path) if path is not None else None
        started = invocation(source, runner, OtherFiles(self._source, self._has)) if runner is not None else None
        if runner is None or started is None:
            return
        self.mistakes[source.path] += misnamed(source, started.environment)
        yield from self._within(runner, started, place(source, started), (script.path,))

    def _note(self, source: Source, script: Script) -> None:
        """Note the first part of a script that was not read, if it may launch training."""
        stops = [*((script.stopped,) if script.stopped else ()), *self._stops, *self._unsourced(script), *self._without_image(source)]
        if stops and self.unread_scripts.may_launch(source.path):
            reason, at, met_before, behind_many = stops[0]
            # Where nothing behind it launches anything, what was not read are further turns of what was.
            turns = stops[0] is script.stopped and script.unread is not None and not self.unread_scripts.launches(script.unread)
            if turns and _kind(source.path) == Kind.DOCUMENT:
                return
            self.unread[source.path] = Unread(source.path, reason, at, met_before=met_before, behind_many=behind_many or turns)

    def _unsourced(self, script: Script) -> Iterator[Stop]:
        """Yield the files that a script sources and that can't be read; those that are scripts by name say so themselves."""
        for path, at in script.unsourced:
            problem = self._readable(path)
            if isinstance(problem, Unreadable) and problem.reason not in NOT_THERE and not holds_commands(path):
                yield Stop(f"it sources {path}, {problem.reason}", at)

    def _without_image(self, source: Source) -> Iterator[Stop]:
        """Yield the Dockerfiles that would say what a command of a script finds in its container, and that can't be read."""
        for path, problem in self._finder.conflicts.items():
            yield Stop(f"{path}, which says what its container has, has a {problem}", Location(source.path))

    def may_be_launched(self, recipe: str) -> Iterator[Unread]:
        """Yield the scripts that were not read to their end and that may launch `recipe`, with an unknown batch.

        Of those that met a limit which others met before, which may be thousands, one is enough.
        """
        some = False
        for path, unread in self.unread.items():
            if not (some and unread.met_before) and _kind(path) == Kind.SCRIPT and self.unread_scripts.may_name(path, recipe):
                some = True
                yield unread

    @cached_property
    def unread_scripts(self) -> UnreadScripts:
        """What scripts may launch, judged by their texts; worked out only for those that were not read."""
        return UnreadScripts(self._for_all, self._all, self.paths)

    def _readable(self, path: str) -> Source | Unreadable:
        """The file at `path`, or why it can't be read; what git marked in a document is for readers to see."""
        found = self.tree.read(path)
        marked = conflict(found.text) if isinstance(found, Source) and not path.lower().endswith(DOCUMENTS) else None
        return Unreadable(path, marked[1], marked[0], found) if marked is not None and isinstance(found, Source) else found

    def _source(self, path: str) -> Source | None:
        found = self._readable(path)
        return found if isinstance(found, Source) else None

    @property
    def _others(self) -> OtherFiles:
        return OtherFiles(self._sourced, self._has, self._shared.pay)

    def _has(self, path: str) -> bool:
        return path in self._finder.known or self._source(path) is not None

    def _sourced(self, path: str) -> Source | None:
        """A file that a script sources, None if it can't be read.

        Raises: Exhausted: all scripts together have too much.
        """
        source = self._source(path)
        if source is not None:
            self._shared.take_in(source.text)
        return source

    def _command(self, command: Command, script: Script, at: Location, within: tuple[str, ...]) -> Iterator[FoundLaunch]:
        """Yield what a command launches, itself or by a script; `within` are scripts that start one another, none: follow no script."""
        start = started(command, self.launcher_files.around(script))
        if start is not None:
            yield self._linked(start, command, script, at)
            return
        inner = started_script(command) if within else None
        if inner is None or inner[1] == Invocation() or (self._started <= 0 and self._stops):
            return
        path = self._finder.started(inner[0], command, script)
        source = self._source(path) if path is not None and path != script.path else None
        if source is None or (len(within) > DEEPEST_STARTED and source.path in within) or self._idle.is_idle(source, inner[1]):
            return
        if len(within) > DEEPEST_STARTED or self._started <= 0:
            many = len(within) <= DEEPEST_STARTED
            often = f"more than {MOST_STARTED} scripts" if many else f"scripts nested more than {DEEPEST_STARTED} deep"
            self._stops.append(Stop(often, at, behind_many=many))
            return
        job = () if name_of(command.words[0]) == "sbatch" else script.directives
        yield from self._within(source, inner[1]._replace(directives=(*job, *inner[1].directives)), at, within, command.machines)

    def _within(
        self, source: Source, how: Invocation, at: Location, within: tuple[str, ...], machines: Machines | None = None
    ) -> Iterator[FoundLaunch]:
        """Yield what the script `source` launches when it is started so, at `at`."""
        self._started -= 1
        try:
            self._shared.start(len(within))
            self._shared.take_in(source.text)
        except Exhausted as exhausted:
            self._stops.append(exhausted.stop(at))
            return
        other = read_commands(source, self._others, how)
        if other.stopped is not None:
            self._started -= _COSTLY
            reason = f"{source.path}, which it starts, has {other.stopped.reason}"
            self._stops.append(Stop(reason, at, other.stopped.met_before))
        bare = other._replace(commands=())
        for each in other.commands:
            yield from self._command(each._replace(machines=machines), bare, at, (*within, source.path))

    def _linked(self, start: Start, command: Command, script: Script, at: Location) -> FoundLaunch:
        self._stops += _cut_off(command, script, at)
        in_document = _kind(script.path) == Kind.DOCUMENT
        path = self._finder.program(start.program, command, script, further_down=in_document) if start.program else None
        source = self._source(path) if path is not None and not start.recipes else None
        if source is not None and executes_files(source):
            start = start._replace(recipes=tuple(executed(start.program[1:])))
        recipes, written, unknown, missing = named_files(start, command, script, self._finder)
        template = unknown is not None
        if path is not None and not (recipes or written or template or missing or start.recipes):
            recipes = tuple(self._by_default(path, start))
        quantities = tuple(size for size in start.sizes if isinstance(size, Quantity))
        kind = Kind.TEMPLATE if template else _kind(at.source)
        launch = Launch(at, kind, start.name, quantities, open=command.ends_with_args, start=start, meant=command.meant)
        candidates = () if unknown is None else tuple(self._finder.candidates(unknown))
        if unknown is not None and candidates:
            launch = launch._replace(greps=tuple(self._greps(unknown, candidates[:MOST_GREPPED], script)))
        variables = ((each.name, each.value) for each in command.environment)
        environment = tuple(EnvironmentValue(name, word.text, word.default, word.value_at) for name, word in variables)
        return FoundLaunch(launch, start, script, recipes, path, template, missing, candidates, environment, written)

    def _by_default(self, program: str, start: Start) -> Iterator[tuple[str, Word]]:
        """Yield the recipe that a program reads if its command line names none, with the word that names the program."""
        source = self._source(program)
        found = default_recipe(source, start.program[1:], self._has) if source is not None else None
        if found is not None:
            yield found, start.program[0]

    def _greps(self, recipe: Word, candidates: tuple[str, ...], script: Script) -> Iterator[Grep]:
        """Yield the searches of a script for a batch key in its recipe, each with the recipes in which it goes wrong."""
        named = recipe.raw.strip('"').replace("{", "").replace("}", "")
        counted: dict[str, dict[str, int]] = {}
        searches = (match for match in _grep().finditer(self._text(script.path)) if f"${match.group(2)}" == named)
        for match in islice(searches, MOST_SEARCHES):
            key = match.group(1)
            if key not in counted:
                counted[key] = {path: sum(key in line for line in self._text(path).splitlines()) for path in candidates}
            lines = counted[key]
            at = Location(script.path, match.start(), match.end())
            without = tuple(path for path, number in lines.items() if number == 0)
            several = tuple(path for path, number in lines.items() if number > 1)
            yield Grep(match.group(1), at, without, several, len(lines))

    def _text(self, path: str) -> str:
        source = self._source(path)
        return source.text if source is not None else ""

    @cached_property
    def _missing(self) -> MissingFiles:
        return MissingFiles(self.tree, self._finder.known, self._finder.places)


def _cut_off(command: Command, script: Script, at: Location) -> Iterator[Stop]:
    """Yield what is not known of a launch because it is too long, or because a loop has too many turns."""
    loops, before = dict(script.not_converted), ""
    for word in command.words:
        name, equals, _ = word.starts_with.partition("=")
        option = name if equals else before
        lost = [each for each in word.unknowns if each == TOO_LONG or each in loops]
        if lost and (names_recipe(option) or any(part in option.replace("-", "_") for part in MATTERING)):
            if TOO_LONG in lost:
                yield Stop(f"a word of more than {LONGEST_VALUE:,} characters", at)
            turns = [each for each in lost if each in loops]
            if turns:
                yield Stop(f"a loop of more than {MOST_TURNS} turns", loops[turns[0]])
        before = name if name.startswith("-") and not equals else ""


def _commented(text: str) -> str | None:
    """`text` with nothing left, each at its place, but the commands that its comments show; None if there are none."""
    kept: list[str] = []
    found = goes_on = False
    for line in text.splitlines(keepends=True):
        body = line.lstrip().lstrip("#").strip().removeprefix("$ ")
        own = line.lstrip().startswith("#") and (goes_on or body.startswith(first_words()))
        sign = line.find(body) if body else 0
        end = len(line.rstrip("\r\n"))
        kept.append(" " * sign + line[sign:] if own else " " * end + line[end:])
        found = found or own
        goes_on = own and body.endswith("\\")
    return "".join(kept) if found else None


def _may_start(text: str) -> bool:
    """Whether a launcher is in `text`, or it starts another script, which it names, or it sources a file."""
    return any(word in text for word in (*command_words(), *SCRIPTS)) or _sourcing().search(text) is not None


_sourcing = lazy_pattern(r"(?m)(?:^|[;&|({])[ \t]*(?:source|\.)[ \t]+\S")


@cache
def _grep() -> re.Pattern[str]:
    keys = "gradient_accumulation_steps|per_device_train_batch_size|train_batch_size|micro_batch_size"
    return re.compile(rf"grep[ \t]++(?:-\w++[ \t]++){{0,9}}+['\"]?((?:{keys}):?)[ \t]{{0,9}}['\"]?[ \t]++\"?\$\{{?(\w+)\}}?\"?")


def _kind(path: str) -> str:
    """The kind of the launches in the file at `path`."""
    if not _TESTS.isdisjoint(path.lower().split("/")[:-1]):
        return Kind.TEST
    return Kind.DOCUMENT if path.lower().endswith((*DOCUMENTS, NOTEBOOK)) else Kind.SCRIPT
