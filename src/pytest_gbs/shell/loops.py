"""Loops: each turn where the values are known and few, one turn for all where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_gbs.shell.assignments import reckon
from pytest_gbs.shell.conditions import UNKNOWN, Truth
from pytest_gbs.shell.expansion import read_fields, touching
from pytest_gbs.shell.limits import MOST_TURNS
from pytest_gbs.shell.machine import Frame, Machine
from pytest_gbs.shell.parameters import look_up
from pytest_gbs.shell.state import BREAK, CONTINUE, State, Variable, join, unknown
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node


def read_for(machine: Machine, node: Node) -> Truth:
    """Read `for x in ...` (and `select`, of which nobody knows what is chosen)."""
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if variable is None or body is None:
        return UNKNOWN
    name = machine.raw_node(variable)
    values: list[Parts] = []
    if any(child.type == "in" for child in node.children):
        for group in touching(node.children_by_field_name("value")):
            values += read_fields(machine, *group)
    else:
        values = list(look_up(machine, "@", machine.at(variable)).elements)
    doubtful = any(part.many for parts in values for part in parts)
    if doubtful or len(values) > MOST_TURNS or node.children[0].type == "select":
        pattern = next((part.pattern for parts in values for part in parts if part.pattern), "")
        at = machine.at(variable)
        if not doubtful and len(values) > MOST_TURNS:
            machine.unturned.setdefault(name, at)
        hidden = unknown(name, at)._replace(pattern=pattern if len(values) == 1 else "")
        _any_turns(machine, body, lambda: machine.state.assign(name, Variable((hidden,))))
        return UNKNOWN
    with _Loop(machine) as frame:
        for parts in values:
            machine.state.assign(name, Variable(parts))
            if not _turn(machine, body, frame):
                break
        _leave(machine, body, frame)
    return UNKNOWN


def read_counting(machine: Machine, node: Node) -> Truth:
    """Read `for ((...; ...; ...))`."""
    body = node.child_by_field_name("body")
    bounds = _semicolons(machine, node)
    if body is None or len(bounds) != 3:
        return UNKNOWN
    reckon(machine, node, *bounds[0])

    def condition() -> Truth:
        return reckon(machine, node, *bounds[1])

    def after() -> None:
        reckon(machine, node, *bounds[2])

    _repeat(machine, body, condition, after)
    return UNKNOWN


def _semicolons(machine: Machine, node: Node) -> list[tuple[int, int]]:
    """Return the spans of the three expressions between `((` and `))`."""
    opening = next((child for child in node.children if child.type == "(("), None)
    closing = next((child for child in node.children if child.type == "))"), None)
    if opening is None or closing is None:
        return []
    places = [machine.text.span(opening)[1]]
    spans = []
    for child in node.children:
        if child.type == ";" and child.start_byte < closing.start_byte:
            start, stop = machine.text.span(child)
            spans.append((places[-1], start))
            places.append(stop)
    return [*spans, (places[-1], machine.text.span(closing)[0])]


def read_while(machine: Machine, node: Node) -> Truth:
    """Read `while` or `until`."""
    from pytest_gbs.shell.statements import run_all

    body = node.child_by_field_name("body")
    asked = [child for child in node.children_by_field_name("condition") if child.is_named]
    if body is None:
        return UNKNOWN
    until = node.children[0].type == "until"

    def condition() -> Truth:
        truth = run_all(machine, asked)
        return truth.negated() if until else truth

    constant = len(asked) == 1 and machine.raw_node(asked[0]) in ("true", ":", "false", "[ 1 ]", "((1))")
    _repeat(machine, body, condition, lambda: None, 2 if constant else MOST_TURNS)
    return UNKNOWN


def _repeat(machine: Machine, body: Node, condition: Callable[[], Truth], after: Callable[[], None], most: int = MOST_TURNS) -> None:
    """Read a loop turn by turn while its condition is known, and for all turns at once from where it is not."""
    before, count = machine.state.copy(), len(machine.commands)
    with _Loop(machine) as frame:
        for _ in range(most):
            truth = condition()
            if truth.value is None or truth.default:
                break
            if not truth.value or not _turn(machine, body, frame):
                _leave(machine, body, frame)
                return
            after()
        else:
            truth = UNKNOWN
            for name in machine.state.changed(before) if most == MOST_TURNS else ():
                machine.unturned.setdefault(name, machine.at(body))
            machine.state.become(before)
            del machine.commands[count:]

    def start() -> None:
        condition()

    _any_turns(machine, body, start, after, none=truth.value is False)


class _Loop:
    """A loop around what is read."""

    __slots__ = ("frame", "machine")

    def __init__(self, machine: Machine) -> None:
        self.machine, self.frame = machine, Frame({}, [])

    def __enter__(self) -> Frame:
        self.machine.loops.append(self.frame)
        return self.frame

    def __exit__(self, *_: object) -> None:
        self.machine.loops.pop()


def _turn(machine: Machine, body: Node, frame: Frame) -> bool:
    """Read one turn and return whether another may follow."""
    from pytest_gbs.shell.statements import run

    count = len(frame.left)
    with machine.maybe(bool(frame.left)):
        run(machine, body)
    went_on = [state for state in frame.left[count:] if state.over == CONTINUE]
    frame.left[count:] = [state for state in frame.left[count:] if state.over != CONTINUE]
    if went_on:
        for state in went_on:
            state.over = ""
        ways = [(state, False) for state in (machine.state.copy(), *went_on)]
        join(machine.state, ways, machine.at(body))
    return not machine.state.over


def _leave(machine: Machine, body: Node, frame: Frame) -> None:
    """Go on behind a loop, as it ended or as a `break` left it."""
    for state in frame.left:
        state.over = "" if state.over == BREAK else state.over
    if frame.left:
        join(machine.state, [(machine.state.copy(), False), *((state, False) for state in frame.left)], machine.at(body))
    if machine.state.over == BREAK:
        machine.state.over = ""


def _any_turns(
    machine: Machine, body: Node, start: Callable[[], None], after: Callable[[], None] = lambda: None, *, none: bool = False
) -> None:
    """Read a loop of which nobody knows the turns: what changes in one is unknown in all; `none` is what happens by default."""
    before = machine.state.copy()
    changing = set[str]()
    for _ in range(3):
        end = _trial(machine, body, (start, after), before, changing)
        found = set(before.changed(end)) | changing
        if found == changing:
            break
        changing = found
    _forget(machine, changing, body)
    with _Loop(machine) as frame, machine.maybe():
        start()
        _turn(machine, body, frame)
        _leave(machine, body, frame)
    join(machine.state, [(before, none), (machine.state.copy(), False)], machine.at(body))


def _trial(machine: Machine, body: Node, around: tuple[Callable[[], None], Callable[[], None]], before: State, changing: set[str]) -> State:
    """Return how one turn leaves things, with what is done `around` it before and after, without noting any command."""
    start, after = around
    machine.muted += 1
    machine.state.become(before.copy())
    _forget(machine, changing, body)
    try:
        with _Loop(machine) as frame:
            start()
            _turn(machine, body, frame)
            after()
            _leave(machine, body, frame)
    finally:
        machine.muted -= 1
    end = machine.state.copy()
    machine.state.become(before.copy())
    return end


def _forget(machine: Machine, names: set[str], body: Node) -> None:
    at = machine.at(body)
    for name in sorted(names):
        machine.state.forget(name, at)
