"""Functions that only print, as those that log do: a script calls them often, and what they do changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_gbs.model.document import SCRIPTS
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.shell.text import ShellText, every_node
from pytest_gbs.shell.wrappers import words_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PRINTING: Final = words_of("echo printf")
_QUIET: Final = words_of("basename cat cut date dirname hostname id nproc pwd sed shift tee tput tr true uname wc whoami :")
PROGRAMS: Final = _PRINTING | _QUIET
_LAST: Final = ("command", "pipeline", "redirected_statement", "if_statement", "case_statement")
# What changes a shell, or decides whether a function succeeds.
_CHANGING: Final = (
    "ERROR", "function_definition", "unset_command", "heredoc_redirect", "for_statement", "c_style_for_statement", "while_statement",
    "postfix_expression", "process_substitution",
)  # fmt: skip
# `${X:=8}`, arithmetic, `printf -v X`, and a script that is written.
_changing = lazy_pattern(rf"\$\{{\w+:?=|\(\(|\bprintf\s+-v|{'|'.join(map(re.escape, SCRIPTS))}")


def only_prints(body: Node, text: ShellText) -> frozenset[str] | None:
    """The functions that one with this body in `text` calls if it does nothing else but print; None if it does."""
    statements, raw = [child for child in body.children if child.is_named and child.type != "comment"], _raw(body, text)
    if body.type != "compound_statement" or not statements or statements[-1].type not in _LAST or _changing().search(raw):
        return None
    own: set[str] = set()
    called: set[str] = set()
    for node in every_node(body):
        if node.type in _CHANGING:
            return None
        if node.type == "declaration_command":
            if not _raw(node, text).startswith("local "):
                return None
            own.update(_name(child, text) for child in node.children if child.type in ("variable_name", "variable_assignment"))
        elif node.type == "variable_assignment" and _name(node, text) not in own:
            return None
        elif node.type == "command":
            name = node.child_by_field_name("name")
            called.add(_raw(name, text) if name is not None else "")
    return frozenset(called - PROGRAMS) if called & _PRINTING or called - _QUIET else None


def _raw(node: Node, text: ShellText) -> str:
    start, stop = text.span(node)
    return text.string[start:stop]


def _name(node: Node, text: ShellText) -> str:
    return _raw(node, text).partition("=")[0].rstrip("+")
