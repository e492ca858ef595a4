"""A whole script: its directives, its commands, its comments."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from pytest_gbs.core.command import Directive, Invocation, Part, Script
from pytest_gbs.core.location import Location, Source
from pytest_gbs.parsing.shell import slurm
from pytest_gbs.parsing.shell.comments import read_comments
from pytest_gbs.parsing.shell.limits import Exhausted
from pytest_gbs.parsing.shell.machine import Machine
from pytest_gbs.parsing.shell.state import State, Variable, unknown
from pytest_gbs.parsing.shell.statements import run_all
from pytest_gbs.parsing.shell.text import Parts, Text, parse, whole


def read_script(source: Source, read: Callable[[str], Source | None] | None, started: Invocation | None = None) -> Script:
    """Return what a script runs."""
    text = Text(masked(source.path, source.text, 0, len(source.text)))
    machine = Machine(source, read)
    root = parse(text)
    machine.directives = slurm.read_directives(text, root)
    state = State()
    if started is not None:
        state.arguments = tuple(word.parts for word in started.arguments)
        for name, value in started.environment:
            state.variables[name] = Variable(value.parts, exported=True)
        machine.directives += started.directives
    complete = run(machine, text, machine.directives, state)
    return Script(
        source.path,
        tuple(machine.commands),
        machine.directives,
        read_comments(text, root),
        tuple(machine.written),
        complete,
        tuple(machine.doubtful),
    )


def run(machine: Machine, text: Text, directives: tuple[Directive, ...] = (), state: State | None = None) -> bool:
    """Read `text` in a fresh shell, or in the state given; return whether it was read to its end."""
    machine.text, machine.state, machine.functions = text, state or State(), {}
    machine.calls, machine.loops, machine.wrappers = [], [], ()
    machine.depth = machine.shells = machine.uncertain = machine.muted = 0
    machine.slurm = bool(directives)
    slurm.set_variables(machine.state, directives)
    try:
        run_all(machine, [parse(text)])
    except Exhausted:
        return False
    return True


def masked(path: str, text: str, start: int, stop: int, placeholders: bool = False) -> Parts:
    """Return the text of a file between two offsets, holes where a template will be filled in.

    With `placeholders` also for words such as `<NUM_GPUS>`, as documents have them.
    """
    found: list[Part] = []
    place = start
    for match in (_placeholder() if placeholders else _template()).finditer(text, start, stop):
        at = Location(path, match.start(), match.end())
        if match.start() > place:
            found.append(whole(path, text, place, match.start()))
        if not match.group().startswith(("{%", "{#")):
            found.append(unknown(match.group(), at))
        place = match.end()
    if place < stop:
        found.append(whole(path, text, place, stop))
    return tuple(found)


@cache
def _template() -> re.Pattern[str]:
    return re.compile(r"(?<!\$)\{\{[^{}\n]{0,200}\}\}|\{%[^%\n]{0,200}%\}")


@cache
def _placeholder() -> re.Pattern[str]:
    return re.compile(
        r"(?<!\$)\{\{[^{}\n]{0,200}\}\}|\{%[^%\n]{0,200}%\}|(?<![<&])<[A-Za-z][\w ./:|-]{0,60}>(?!>)|(?<![$\\{])\{[A-Za-z_]\w{0,40}\}(?!\})"
    )
