"""Simple commands: their words, what they get fed, and who runs them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word, Written, hull, name_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import builtins, calls
from pytest_gbs.shell.assignments import read_assignment
from pytest_gbs.shell.conditions import HOPED, NO, UNKNOWN, YES, Truth
from pytest_gbs.shell.expansion import read_region, read_value, read_words, touching
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.state import Variable
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

_REDIRECTS: Final = ("file_redirect", "heredoc_redirect", "herestring_redirect")
# Commands that ask a question; all others are meant to succeed.
_ASKING: Final = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "command",
        "which",
        "type",
        "hash",
        "diff",
        "cmp",
        "test",
        "[",
        "pgrep",
        "nvidia-smi",
        "nc",
        "curl",
        "ping",
    ]
)


class Input(NamedTuple):
    """What a command is fed by a heredoc or a herestring, and the file its output goes to."""

    text: Parts | None = None
    file: Word | None = None


def redirected(machine: Machine, body: Node, redirects: list[Node]) -> Truth:
    """Read a statement with its redirections."""
    from pytest_gbs.shell.statements import run

    if body.type != "command":
        truth = run(machine, body)
        for redirect in redirects:
            _behind_heredoc(machine, redirect)
        return truth
    feed = _feed(machine, [*redirects, *(child for child in body.children if child.type in _REDIRECTS)])
    before = _assignments(machine, body)
    words = (*_words(machine, body), *_displaced(machine, redirects))
    while before and words and _assigning().match(words[0].raw):  # behind `X=$A/$B/c` the grammar takes an assignment for a command
        machine.state.forget(words[0].raw.split("=")[0].rstrip("+"), words[0].at)
        words = words[1:]
    at = _place(words, machine.at(body))
    _note_written(machine, words, feed, at)
    machine.statement = body
    truth = _run(machine, words, before, feed, at)
    for redirect in redirects:
        _behind_heredoc(machine, redirect)
    return truth


def _place(words: tuple[Word, ...], at: Location) -> Location:
    """Return where a command at `at` begins to stand: at its first word, where others come from variables set before (`$CMD $ARGS`)."""
    first = words[0].at if words else at
    if first.source != at.source or all(word.at.start >= first.start for word in words if word.at.source == at.source):
        return at
    return hull([word.at for word in words if word.at.source == at.source and word.at.start >= first.start]) or at


@cache
def _assigning() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)


def _words(machine: Machine, body: Node) -> tuple[Word, ...]:
    named = [child for child in body.children if child.is_named and child.type not in (*_REDIRECTS, "comment")]
    words: list[Word] = []
    for group in touching(named):
        if group[0].type != "variable_assignment":
            words += read_words(machine, *group)
    return tuple(words)


def _displaced(machine: Machine, redirects: list[Node]) -> tuple[Word, ...]:
    """Return the words that the grammar takes for more targets of `>` or more of a heredoc's: arguments behind them."""
    words: list[Word] = []
    for redirect in redirects:
        extra = redirect.children_by_field_name("destination")[1:] if redirect.type == "file_redirect" else []
        if redirect.type == "heredoc_redirect":
            extra = redirect.children_by_field_name("argument")
        line = redirect.start_point.row
        for node in extra:
            if redirect.type == "file_redirect" and node.prev_sibling is not None and node.prev_sibling.end_byte == node.start_byte:
                continue
            if node.start_point.row != line and "\\\n" not in machine.raw_node(redirect):
                break
            words += read_words(machine, node)
    return tuple(words)


def _assignments(machine: Machine, body: Node) -> tuple[tuple[str, Variable], ...]:
    found: list[tuple[str, Variable]] = []
    for group in touching([child for child in body.children if child.is_named]):
        if group[0].type == "variable_assignment":
            name, variable = read_assignment(machine, *group)
            if name:
                found.append((name, variable))
    return tuple(found)


def _feed(machine: Machine, redirects: list[Node]) -> Input:
    """Return what the redirections feed and where the output goes."""
    text: Parts | None = None
    file: Word | None = None
    for redirect in redirects:
        if redirect.type == "heredoc_redirect":
            text = heredoc(machine, redirect)
            inside = [child for child in redirect.children if child.type == "file_redirect"]
            file = _target(machine, inside) or file
        elif redirect.type == "herestring_redirect":
            named = [child for child in redirect.children if child.is_named]
            text = read_value(machine, named[-1]) if named else None
        else:
            file = _target(machine, [redirect]) or file
    return Input(text, file)


def _target(machine: Machine, redirects: list[Node]) -> Word | None:
    """Return the file that standard output goes to."""
    for redirect in redirects:
        signs = [child.type for child in redirect.children if not child.is_named]
        destination = redirect.child_by_field_name("destination")
        descriptor = redirect.child_by_field_name("descriptor")
        if destination is not None and descriptor is None and signs[:1] in ([">"], [">>"], [">|"], ["&>"]):
            return machine.word(read_value(machine, destination), machine.at(destination))
    return None


def heredoc(machine: Machine, redirect: Node) -> Parts | None:
    """Return the text of a heredoc, expanded unless its mark is quoted."""
    mark = next((child for child in redirect.children if child.type == "heredoc_start"), None)
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    if mark is None:
        return None
    if body is None:
        return ()
    start, stop = machine.text.span(body)
    if any(sign in machine.raw_node(mark) for sign in "'\"\\"):
        return machine.text.slice(start, stop)
    return read_region(machine, body, start, stop, quoted=True)


def _behind_heredoc(machine: Machine, redirect: Node) -> None:
    """Read what stands behind the mark of a heredoc: `cat <<EOF | bash`, `cat <<EOF && run`."""
    from pytest_gbs.shell.statements import run

    if redirect.type != "heredoc_redirect":
        return
    for child in redirect.children:
        if child.is_named and child.type in ("pipeline", "list", "command", "redirected_statement") and not machine.state.over:
            run(machine, child)


def _note_written(machine: Machine, words: tuple[Word, ...], feed: Input, at: Location) -> None:
    """Note the file that `cat > FILE <<EOF` or `tee FILE <<EOF` writes."""
    if feed.text is None or not words or machine.muted:
        return
    name = name_of(words[0])
    target = feed.file if name == "cat" and len(words) == 1 else words[1] if name == "tee" and len(words) == 2 else None
    if target is not None:
        machine.written.append(Written(target, machine.word(feed.text, None, at), at, machine.state.folder))


def _run(machine: Machine, words: tuple[Word, ...], before: tuple[tuple[str, Variable], ...], feed: Input, at: Location) -> Truth:
    """Do what a command does to the shell, or note it as one that runs."""
    if not words:
        for name, variable in before:
            machine.state.assign(name, variable)
        return YES
    known = words[0].text or ""
    if known in machine.functions:
        return calls.call(machine, machine.functions[known], words[1:], before)
    builtin = builtins.TABLE.get(known)
    if builtin is not None:
        return builtin(machine, words, before, feed.text)
    environment = tuple((key, machine.word(variable.scalar, None, at)) for key, variable in before)
    calls.launch(machine, words, environment, feed.text, at)
    if known == "exec" and len(words) > 1:
        machine.state.over = "exit"
    if known == "grep":
        from pytest_gbs.shell.substitution import grepped

        lines = grepped(machine, words)
        return UNKNOWN if lines is None else YES if lines else NO
    return UNKNOWN if name_of(words[0]) in _ASKING else HOPED
