"""A whole script: its directives, its commands, its comments."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Directive, Invocation, Part, Script, Stop
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.shell import slurm
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.limits import MOST_PIECES, Budget, Exhausted
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.state import State, Variable, unknown
from pytest_gbs.shell.statements import run_all
from pytest_gbs.shell.text import Parts, Text, parse, whole

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_PARSED: Final = 8


def read_script(source: Source, read: Callable[[str], Source | None] | None, started: Invocation | None = None) -> Script:
    """Return what a script runs."""
    machine = Machine(source, read)
    try:
        text, root, machine.directives, comments = _parsed(source)
    except Exhausted as exhausted:
        return Script(source.path, (), stopped=Stop(str(exhausted), machine.at_start))
    state = State(machine.budget)
    if started is not None:
        state.arguments = tuple(word.parts for word in started.arguments)
        for name, value in started.environment:
            state.variables[name] = Variable(value.parts, exported=True)
        machine.directives += started.directives
    run(machine, text, root, machine.directives, state)
    return machine.script(source.path, comments)


@lru_cache(maxsize=_MOST_PARSED)
def _parsed(source: Source) -> tuple[Text, Node, tuple[Directive, ...], tuple[CommentBlock, ...]]:
    """Return what is the same however a script is started; others start it often, each time with other arguments."""
    text = Text(masked(source.path, source.text, 0, len(source.text)))
    root = parse(text, Budget())
    return text, root, slurm.read_directives(text, root), read_comments(text, root)


def run(machine: Machine, text: Text, root: Node, directives: tuple[Directive, ...] = (), state: State | None = None) -> bool:
    """Read `text`, of which `root` is the tree, in a fresh shell, or in the state given; return whether more can be read."""
    machine.text, machine.state, machine.functions = text, state or State(machine.budget), {}
    machine.calls, machine.loops, machine.wrappers = [], [], ()
    machine.depth = machine.shells = machine.uncertain = machine.muted = machine.meant = 0
    machine.slurm = bool(directives)
    slurm.set_variables(machine.state, directives)
    try:
        run_all(machine, [root])
    except Exhausted as exhausted:
        machine.stopped = machine.stopped or Stop(str(exhausted), exhausted.at or machine.at_start)
        return False
    except RecursionError:  # names that hold names that hold brackets nest deeper than any of them
        machine.stopped = machine.stopped or Stop("names within names without end", machine.at_start)
    return True


def masked(path: str, text: str, start: int, stop: int, placeholders: bool = False) -> Parts:
    """Return the text of a file between two offsets, holes where a template will be filled in.

    With `placeholders` also for words such as `<NUM_GPUS>`, as documents have them.

    Raises: Exhausted: there are too many.
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
        if len(found) > MOST_PIECES:
            raise Exhausted(f"more than {MOST_PIECES:,} placeholders")
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
