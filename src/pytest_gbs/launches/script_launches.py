"""What the commands of one script launch, themselves, or by other scripts that they start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.files.words import MATTERING
from pytest_gbs.launches.found_launch import FoundLaunch, kind_in
from pytest_gbs.launches.linking import linked
from pytest_gbs.launches.missing import lost_flags
from pytest_gbs.launches.named_files import names_recipe
from pytest_gbs.launches.programs import started
from pytest_gbs.launches.script_files import ScriptFiles
from pytest_gbs.launches.settings_files import invocation, misnamed, place, runner_of
from pytest_gbs.model.command import Command, Invocation, Machines, Script, Stop, name_of
from pytest_gbs.model.launch import Kind, Mistake
from pytest_gbs.model.limits import DEEPEST_STARTED, MOST_STARTED
from pytest_gbs.model.location import Location, Source
from pytest_gbs.shell import read_commands
from pytest_gbs.shell.limits import LONGEST_VALUE, MOST_TURNS, TOO_LONG, Exhausted, SharedSteps
from pytest_gbs.shell.starting import started_script

_COSTLY: Final = 20  # what a started script counts for that was not read to its end


class ScriptLaunches:
    """Finds the launches of one script of a tree with these `files`, which pays from what all scripts share.

    `stops` are what was not read of it and of what it starts, as far as was sought; `mistakes` are those of its commands.
    """

    def __init__(self, files: ScriptFiles, shared: SharedSteps) -> None:
        self._files, self._shared = files, shared
        self.stops: list[Stop] = []
        self.mistakes: list[Mistake] = []
        self._left = MOST_STARTED  # scripts that may still be started

    def of_commands(self, commands: tuple[Command, ...], script: Script, text: str) -> Iterator[FoundLaunch]:
        """Yield the launches of these commands of `script`, whose text is `text`."""
        for number, command in enumerate(commands):
            found = tuple(self.of_command(command, script, command.at, (script.path,)))
            if found and kind_in(script.path) == Kind.SCRIPT:
                lost = lost_flags(text, command, islice(commands, number + 1, None))
                self.mistakes += [*self._files.missing.of(command, script), *((lost,) if lost is not None else ())]
            yield from found

    def of_settings(self, source: Source, script: Script) -> Iterator[FoundLaunch]:
        """Yield the launches of the script beside `source` whose variables it sets, and note where its name says otherwise."""
        path = runner_of(source.path, self._files.finder.known.__contains__)
        runner = self._files.source(path) if path is not None else None
        how = invocation(source, runner, self._files.free()) if runner is not None else None
        if runner is None or how is None:
            return
        self.mistakes += misnamed(source, how.environment)
        yield from self._within(runner, how, place(source, how), (script.path,))

    def of_command(self, command: Command, script: Script, at: Location, within: tuple[str, ...]) -> Iterator[FoundLaunch]:
        """Yield what a command launches, itself or by a script; `within` are scripts that start one another, none: follow no script."""
        start = started(command, self._files.launcher_files.around(script))
        if start is not None:
            self.stops += _cut_off(command, script, at)
            yield linked(start, command, script, at, self._files)
            return
        inner = started_script(command) if within else None
        if inner is None or inner[1] == Invocation() or (self._left <= 0 and self.stops):
            return
        path = self._files.finder.started(inner[0], command, script)
        source = self._files.source(path) if path is not None and path != script.path else None
        if source is None or (len(within) > DEEPEST_STARTED and source.path in within) or self._files.idle.is_idle(source, inner[1]):
            return
        if len(within) > DEEPEST_STARTED or self._left <= 0:
            many = len(within) <= DEEPEST_STARTED
            often = f"more than {MOST_STARTED} scripts" if many else f"scripts nested more than {DEEPEST_STARTED} deep"
            self.stops.append(Stop(often, at, behind_many=many))
            return
        job = () if name_of(command.words[0]) == "sbatch" else script.directives
        yield from self._within(source, inner[1]._replace(directives=(*job, *inner[1].directives)), at, within, command.machines)

    def _within(
        self, source: Source, how: Invocation, at: Location, within: tuple[str, ...], machines: Machines | None = None
    ) -> Iterator[FoundLaunch]:
        """Yield what the script `source` launches when it is started so, at `at`."""
        self._left -= 1
        try:
            self._shared.start(len(within))
            self._shared.take_in(source.text)
        except Exhausted as exhausted:
            self.stops.append(exhausted.stop(at))
            return
        other = read_commands(source, self._files.paid_from(self._shared), how)
        if other.stopped is not None:
            self._left -= _COSTLY
            reason = f"{source.path}, which it starts, has {other.stopped.reason}"
            self.stops.append(Stop(reason, at, other.stopped.met_before))
        bare = other.bare
        for each in other.commands:
            yield from self.of_command(each._replace(machines=machines), bare, at, (*within, source.path))


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
