"""The launches of a repository, read from its scripts, Makefiles and documents: each is read once, and all share what may be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from typing import Final

from pytest_gbs.files.decode import NOT_TEXT
from pytest_gbs.files.regular import LARGER, NOT_THERE, OUTSIDE
from pytest_gbs.launches.found_launch import FoundLaunch, kind_in
from pytest_gbs.launches.jobs import read_job_file
from pytest_gbs.launches.programs import command_words, first_words
from pytest_gbs.launches.script_files import ScriptFiles
from pytest_gbs.launches.script_launches import ScriptLaunches
from pytest_gbs.launches.settings_files import runner_of
from pytest_gbs.launches.unread_scripts import UnreadScripts
from pytest_gbs.model.command import Script, Stop
from pytest_gbs.model.document import DOCUMENTS, SCRIPTS, holds_commands
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.launch import Kind, Mistake, Unread
from pytest_gbs.model.limits import MOST_LAUNCHED_VALUES, MOST_LAUNCHES
from pytest_gbs.model.location import Location, Source, Tree, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import read_commands
from pytest_gbs.shell.limits import LEAST_SHARED, MOST_LAUNCHED, SharedSteps

_MANY: Final = f"more than {MOST_LAUNCHED:,} launches in all scripts together"


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
        self.files = ScriptFiles(tree, paths)
        self._for_all = for_all or tree
        self._all = paths
        self._named = frozenset(named)
        self._jobs = jobs
        self._left_out = left_out
        self._found: dict[str, tuple[FoundLaunch, ...]] = {}
        self.scripts: dict[str, Script] = {}
        self.unread: dict[str, Unread] = {}
        self.mistakes: defaultdict[str, list[Mistake]] = defaultdict(list)  # in each script or document
        self._shared = SharedSteps(self._length)
        self._offered: Mapping[str, ReadScript] = {}

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
        source = self.files.readable(path)
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
        if source.path in self._jobs or runner_of(source.path, self.files.finder.known.__contains__):
            return True
        return _may_start(source.text) and not self.files.idle.is_idle(source)

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
        script = read_commands(Source(source.path, text), self.files.free())
        launches = ScriptLaunches(self.files, self._shared)
        for command in script.commands:
            for found in launches.of_command(command, script, command.at, ()):
                own = tuple((path, word) for path, word in found.recipes if path == source.path)
                if own:
                    yield found._replace(launch=found.launch._replace(kind=Kind.DOCUMENT), recipes=own)

    def _read(self, source: Source) -> tuple[FoundLaunch, ...]:
        self._shared.begin(source.text)
        self.files.finder.conflicts.clear()
        others = self.files.paid_from(self._shared)
        script = read_job_file(source, others) if source.path in self._jobs else read_commands(source, others)
        if script is None:
            return ()
        commands, script = script.commands, script.bare
        self.scripts[source.path] = script
        launches = ScriptLaunches(self.files, self._shared)
        every = chain(launches.of_commands(commands, script, source.text), launches.of_settings(source, script))
        found = tuple(islice(every, MOST_LAUNCHES + 1))
        stops = launches.stops
        if len(found) > MOST_LAUNCHES:
            stops.append(Stop(f"more than {MOST_LAUNCHES} launches", found[-1].launch.at, behind_many=True))
        found = found[:MOST_LAUNCHES]
        room = self._shared.launch(len(found))
        if room < len(found):
            stops.append(Stop(_MANY, found[room].launch.at, self._shared.met_before, behind_many=True))
        self.mistakes[source.path] += launches.mistakes
        self._note(source, script, stops)
        return found[:room]

    def _note(self, source: Source, script: Script, stops: list[Stop]) -> None:
        """Note the first part of a script that was not read, if it may launch training; `stops` are those of its commands."""
        stops = [*((script.stopped,) if script.stopped else ()), *stops, *self._unsourced(script), *self._without_image(source)]
        if stops and self.unread_scripts.may_launch(source.path):
            reason, at, met_before, behind_many = stops[0]
            # Where nothing behind it launches anything, what was not read are further turns of what was.
            turns = stops[0] is script.stopped and script.unread is not None and not self.unread_scripts.launches(script.unread)
            if turns and kind_in(source.path) == Kind.DOCUMENT:
                return
            self.unread[source.path] = Unread(source.path, reason, at, met_before=met_before, behind_many=behind_many or turns)

    def _unsourced(self, script: Script) -> Iterator[Stop]:
        """Yield the files that a script sources and that can't be read; those that are scripts by name say so themselves."""
        for path, at in script.unsourced:
            problem = self.files.readable(path)
            if isinstance(problem, Unreadable) and problem.reason not in NOT_THERE and not holds_commands(path):
                yield Stop(f"it sources {path}, {problem.reason}", at)

    def _without_image(self, source: Source) -> Iterator[Stop]:
        """Yield the Dockerfiles that would say what a command of a script finds in its container, and that can't be read."""
        for path, problem in self.files.finder.conflicts.items():
            yield Stop(f"{path}, which says what its container has, has a {problem}", Location(source.path))

    def may_be_launched(self, recipe: str) -> Iterator[Unread]:
        """Yield the scripts that were not read to their end and that may launch `recipe`, with an unknown batch.

        Of those that met a limit which others met before, which may be thousands, one is enough.
        """
        some = False
        for path, unread in self.unread.items():
            if not (some and unread.met_before) and kind_in(path) == Kind.SCRIPT and self.unread_scripts.may_name(path, recipe):
                some = True
                yield unread

    @cached_property
    def unread_scripts(self) -> UnreadScripts:
        """What scripts may launch, judged by their texts; worked out only for those that were not read."""
        return UnreadScripts(self._for_all, self._all, self.paths)


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
