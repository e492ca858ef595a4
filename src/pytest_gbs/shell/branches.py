"""`if` and `case`: the branch that is taken where that is known, all of them where it is not."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.conditions import UNKNOWN, YES, Truth
from pytest_gbs.shell.expansion import read_value
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.patterns import matches
from pytest_gbs.shell.state import EXIT, RETURN, State, join, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class _Clause(NamedTuple):
    """A condition (none: `else`) and what is done under it."""

    condition: list[Node]
    body: list[Node]


def read_if(machine: Machine, node: Node) -> Truth:
    """Read an `if` with its `elif` and `else`."""
    clauses = [_clause(node)]
    for child in node.children:
        if child.type == "elif_clause":
            clauses.append(_clause(child))
        elif child.type == "else_clause":
            clauses.append(_Clause([], child.children))
    _choose(machine, node, clauses)
    return UNKNOWN


def _clause(node: Node) -> _Clause:
    """Return the condition, which stands before `then`, and the body, which ends at the next clause."""
    condition: list[Node] = []
    body: list[Node] = []
    target = condition
    for child in node.children:
        if child.type == "then":
            target = body
        elif child.type not in ("elif_clause", "else_clause"):
            target.append(child)
    return _Clause(condition, body)


def _choose(machine: Machine, node: Node, clauses: list[_Clause]) -> None:
    """Read the clauses that may be taken, and go on as any of them may have left things."""
    from pytest_gbs.shell.statements import run_all

    ends: list[tuple[State, bool]] = []
    ended: list[Node] = []
    count, dead = len(machine.commands), False
    doubt, decided = False, False  # whether an earlier condition is open; whether one is met, unless somebody sets something
    for clause in clauses:
        truth = run_all(machine, clause.condition) if clause.condition else YES
        if machine.state.ended():
            break
        if truth.value is False and not truth.default:
            continue
        otherwise = machine.state.copy()
        taken = truth.value is True and not decided and not doubt
        sure = taken and not truth.default
        with machine.maybe(not taken):
            run_all(machine, clause.body)
        ends.append((machine.state.copy(), taken and (truth.default or bool(ends))))
        decided = decided or taken
        dead = dead or (machine.state.ended() and len(machine.commands) > count)
        if machine.state.over in (EXIT, RETURN) and taken and truth.default:
            ended += clause.condition
        if truth.value is True and not truth.default:
            _finish(machine, node, ends, sure and len(ends) == 1)
            return
        doubt = doubt or truth.value is None
        machine.state.become(otherwise)
    ends.append((machine.state.copy(), not doubt and not decided and bool(ends)))
    _finish(machine, node, ends, alone=len(ends) == 1)
    survive(machine, ended, count if dead else len(machine.commands), machine.at(node))


def survive(machine: Machine, condition: list[Node], count: int, at: Location) -> None:
    """Go on behind a branch that ended the script: what its condition asked for was given, so its default does not hold.

    Where the branch noted commands (there are more than `count`), what follows may not run.
    """
    if machine.state.over:
        return
    for node in condition:
        for name in dict.fromkeys(_names().findall(machine.raw_node(node))):
            variable = machine.state.variables.get(name)
            if variable is None or all(part.default for part in variable.scalar):
                machine.state.forget(name, at)
    machine.state.unlikely = machine.state.unlikely or len(machine.commands) > count


@cache
def _names() -> re.Pattern[str]:
    return re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)


def _finish(machine: Machine, node: Node, ends: list[tuple[State, bool]], alone: bool) -> None:
    if alone:
        machine.state.become(ends[0][0])
    else:
        join(machine.state, ends, machine.at(node))


def read_case(machine: Machine, node: Node) -> Truth:
    """Read a `case`."""
    from pytest_gbs.shell.statements import run_all

    value = node.child_by_field_name("value")
    if value is None:
        return UNKNOWN
    parts = read_value(machine, value)
    text, default = text_of(parts), any(part.default for part in parts)
    ends: list[tuple[State, bool]] = []
    open_, decided, total = text is None, False, False
    for item in (child for child in node.children if child.type == "case_item"):
        fits = None if text is None else _fits(machine, item, text)
        every = _fits(machine, item, "\x00") is True
        total = total or every
        if fits is False and not default:
            continue
        before = machine.state.copy()
        taken = fits is True and not open_ and not decided
        with machine.maybe(not taken):
            run_all(machine, _body(item))
        ends.append((machine.state.copy(), taken and (default or bool(ends))))
        decided, open_ = decided or taken, open_ or fits is None
        machine.state.become(before)
        if (fits is True and not default) or every:
            break
    if not total and not (decided and not default):
        ends.append((machine.state.copy(), not open_ and not decided and bool(ends)))
    if ends:
        _finish(machine, node, ends, alone=len(ends) == 1)
    return UNKNOWN


def _body(item: Node) -> list[Node]:
    """Return the statements behind the patterns."""
    children = item.children
    closing = next((number for number, child in enumerate(children) if child.type == ")"), len(children))
    return children[closing + 1 :]


def _fits(machine: Machine, item: Node, text: str) -> bool | None:
    """Return whether one of the patterns of `item` matches `text`."""
    found: list[bool | None] = []
    for node in item.children_by_field_name("value"):
        pattern = text_of(read_value(machine, node))
        if node.type in ("string", "raw_string"):
            found.append(None if pattern is None else pattern == text)
        else:
            machine.budget.step(1 + len(text) // 50)
            found.append(None if pattern is None else matches(pattern, text))
    if True in found:
        return True
    return None if None in found else False
