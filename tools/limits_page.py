"""The page of the limits, `docs/limits.md`, from the constants of `model/limits.py` and `shell/limits.py` and the comments there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from pytest_gbs.rules import named

_HEAD: Final = """\
<!-- Generated from model/limits.py and shell/limits.py by tools/generate_docs.py: change a constant or its comment there. -->

# Limits

A recipe, a script or a settings file may come from a stranger. Each file gets a result or a clear finding, within
2 seconds and 200 MB, even if it is hostile; the limits below ensure that. No known real recipe comes near one of them.
GBS001 is [unreadable-file](rules/gbs001.md): the check fails and names the limit and the place. A usage error ends the
check with exit code 2.
"""
_MODULES: Final = (("pytest_gbs.model.limits", ""), ("pytest_gbs.shell.limits", "Shell scripts, Makefiles and Markdown"))
_CONSTANT: Final = re.compile(r"(?P<name>[A-Z][A-Z_]+)(?:: Final)? = .*?(?:  # (?P<comment>.+))?")
# What stands for the code of a rule in the comments.
_RULES: Final = {"UNREADABLE": "unreadable-file", "UNREAD": "unread-script"}
_MARK: Final = re.compile(r"\b(?:UNREADABLE|UNREAD)\b")
_HEADING: Final = re.compile(r"# (?P<heading>.+)")


class Limit(NamedTuple):
    """A bound: the table of the page that it stands in, its constant, its value, what is counted, and what happens beyond it."""

    table: str
    name: str
    value: int
    counts: str
    beyond: str


def _code(mark: re.Match[str]) -> str:
    return named(_RULES[mark.group()]).code


def limits() -> Iterator[Limit]:
    """Yield every limit in the order of the modules."""
    for name, heading in _MODULES:
        table = heading
        module = import_module(name)
        assert module.__file__ is not None
        for line in Path(module.__file__).read_text(encoding="utf-8").splitlines():
            if above := _HEADING.fullmatch(line):
                table = above["heading"]
            elif (found := _CONSTANT.fullmatch(line)) and isinstance(value := getattr(module, found["name"]), int):
                counts, _, beyond = (found["comment"] or "").partition("; ")
                yield Limit(table, found["name"], value, counts, beyond)


def page() -> str:
    """The page: a table for each group of constants."""
    lines, last = [_HEAD.rstrip("\n")], ""
    for limit in limits():
        if limit.table != last:
            last = limit.table
            lines += ["", f"## {last}", "", "| at most | of what | beyond that |", "|---:|---|---|"]
        lines.append(f"| {limit.value:,} | {limit.counts} | {_MARK.sub(_code, limit.beyond)} |")
    return "\n".join(lines) + "\n"
