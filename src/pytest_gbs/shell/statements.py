"""Statements one after the other: lists, pipelines, groups, functions; what a script does, without doing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pytest_gbs.shell import assignments, branches, commands, conditions, loops
from pytest_gbs.shell.conditions import HOPED, UNKNOWN, YES, Truth
from pytest_gbs.shell.limits import DEEPEST, Exhausted
from pytest_gbs.shell.machine import Function, Machine
from pytest_gbs.shell.state import join

if TYPE_CHECKING:
    from tree_sitter import Node

_SILENT: Final = ("comment", "heredoc_body", "heredoc_end", "file_redirect", "word", "number")


def run(machine: Machine, node: Node) -> Truth:
    """Read one statement and return how it ends.

    Raises: Exhausted: the script asks for too much.
    """
    machine.budget.step()
    if machine.state.over:
        return UNKNOWN
    if machine.depth > DEEPEST:
        machine.state.forget_all(machine.at(node))
        machine.doubtful.append(machine.at(node))
        machine.stop(f"statements within more than {DEEPEST} others", machine.at(node))
        return UNKNOWN
    machine.depth += 1
    try:
        if node.is_error:
            return broken(machine, node)
        return _RUN.get(node.type, _children)(machine, node)
    except Exhausted as exhausted:
        exhausted.at = exhausted.at or machine.at(node)
        raise
    finally:
        machine.depth -= 1


def run_all(machine: Machine, nodes: list[Node]) -> Truth:
    """Read statements in order and return how the last one ends."""
    truth = YES
    for node in nodes:
        if node.is_named and node.type not in _SILENT:
            truth = run(machine, node)
    return truth


def _children(machine: Machine, node: Node) -> Truth:
    return run_all(machine, node.children)


def broken(machine: Machine, node: Node) -> Truth:
    """Pass over what is no syntax: what it may have assigned is unknown from here on."""
    at = machine.at(node)
    if not machine.muted:
        machine.doubtful.append(at)
    raw = machine.raw_node(node)
    assignments.forget_in(machine, raw, at)
    with machine.maybe():
        for child in node.children:
            if child.type in _RUN and not machine.state.over and child.type != "function_definition":
                run(machine, child)
                assignments.forget_in(machine, raw, at)
    machine.state.over = ""
    return UNKNOWN


def _list(machine: Machine, node: Node) -> Truth:
    """Read `a && b` or `a || b`."""
    parts = [child for child in node.children if child.is_named and child.type != "comment"]
    if len(parts) != 2 or any(part.is_error for part in parts):
        return broken(machine, node)
    wanted = any(child.type == "&&" for child in node.children)
    left = run(machine, parts[0])
    if machine.state.over:
        return left
    if left.value is not None and not left.default:
        return run(machine, parts[1]) if left.value == wanted else left
    if left.hoped and wanted:
        return run(machine, parts[1])
    skipped, count = machine.state.copy(), len(machine.commands)
    with machine.maybe(left.value is None or left.value != wanted):
        right = run(machine, parts[1])
    taken = machine.state.copy()
    likely = left.value == wanted if left.default else None
    at = machine.at(node)
    join(machine.state, [(taken, likely is True), (skipped, likely is False)], at)
    if taken.over:
        branches.survive(machine, [parts[0]] if likely else [], count, at)
    if left.hoped:
        return left
    return conditions.both(left, right) if wanted else conditions.either(left, right)


def _pipeline(machine: Machine, node: Node) -> Truth:
    """Read the commands of a pipeline, each in a shell of its own."""
    before, truth = machine.state.copy(), UNKNOWN
    for child in node.children:
        if child.is_named and child.type != "comment":
            machine.state.become(before.copy())
            truth = run(machine, child)
    machine.state.become(before)
    return HOPED if truth.hoped else UNKNOWN


def _subshell(machine: Machine, node: Node) -> Truth:
    before = machine.state.copy()
    run_all(machine, node.children)
    machine.state.become(before)
    return HOPED


def _compound(machine: Machine, node: Node) -> Truth:
    """Read `{ ...; }` or `(( ... ))`."""
    if node.children and node.children[0].type == "((":
        start, stop = machine.text.span(node)
        return assignments.reckon(machine, node, start + 2, stop - 2)
    return run_all(machine, node.children)


def _negated(machine: Machine, node: Node) -> Truth:
    truth = run_all(machine, node.children)
    return Truth(None) if truth.value is None else truth.negated()


def _function(machine: Machine, node: Node) -> Truth:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:
        machine.functions[machine.raw_node(name)] = Function(machine.text, body)
    return YES


def _redirected(machine: Machine, node: Node) -> Truth:
    body = node.child_by_field_name("body")
    redirects = node.children_by_field_name("redirect")
    if body is None:
        return YES
    return commands.redirected(machine, body, redirects)


def _command(machine: Machine, node: Node) -> Truth:
    return commands.redirected(machine, node, [])


def _test(machine: Machine, node: Node) -> Truth:
    return assignments.test(machine, node)


_RUN: Final[dict[str, Callable[[Machine, Node], Truth]]] = {
    "list": _list,
    "pipeline": _pipeline,
    "subshell": _subshell,
    "compound_statement": _compound,
    "negated_command": _negated,
    "function_definition": _function,
    "redirected_statement": _redirected,
    "command": _command,
    "test_command": _test,
    "variable_assignment": assignments.assign,
    "variable_assignments": _children,
    "declaration_command": assignments.declare,
    "unset_command": assignments.unset,
    "if_statement": branches.read_if,
    "case_statement": branches.read_case,
    "for_statement": loops.read_for,
    "c_style_for_statement": loops.read_counting,
    "while_statement": loops.read_while,
}
