"""`$(...)`: what a few commands print that depend on nothing but their words; all others are unknown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Folder, Part, Word, below
from pytest_gbs.model.location import Location
from pytest_gbs.shell.builtins import candidates, moved
from pytest_gbs.shell.commands import heredoc
from pytest_gbs.shell.expansion import read_value, read_words, touching
from pytest_gbs.shell.filters import filter_text, print_words
from pytest_gbs.shell.limits import LONGEST_VALUE
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.state import text_of, unknown
from pytest_gbs.shell.text import Parts
from pytest_gbs.shell.wrappers import words_of

if TYPE_CHECKING:
    from tree_sitter import Node


# Commands that are run for what they print of the machine, and start nothing.
_PRINTERS: Final = words_of(
    "awk cat command conda curl cut date df du echo expr find free getconf getent grep egrep head hostid hostname "
    "id ip jq ls lscpu mktemp nproc nvidia-smi printf ps python python3 sacct scontrol sed seq shuf sort squeue ss "
    "stat tail tr uname uniq uuidgen wc which whoami yq [ test"
)


def printed(machine: Machine, node: Node) -> Parts:
    """Return what a command substitution gives, unknown where it needs a machine to run on."""
    at, raw = machine.at(node), machine.raw_node(node)
    parts = _statement(machine, [child for child in node.children if child.is_named and child.type != "comment"], at)
    if parts is None:
        _run(machine, node)
        return (unknown(raw if len(raw) <= 60 else raw[:57] + "...", at),)
    text = text_of(parts)
    if text is None:
        return parts
    stripped = text.rstrip("\n")
    if len(parts) == 1:
        return (parts[0].cut(0, len(stripped)),) if stripped else ()
    return (Part(stripped, at, at, default=any(part.default for part in parts)),) if stripped else ()


def _run(machine: Machine, node: Node) -> None:
    """Read what runs in a substitution, in a shell of its own: `JOB=$(sbatch train.slurm)`."""
    from pytest_gbs.shell.statements import run_all

    name = next((text for text in machine.raw_node(node).lstrip("$(` \n").split() if "=" not in text), "")
    if name in _PRINTERS or name in machine.functions or name in _PATHS:
        return
    before = machine.state.copy()
    run_all(machine, node.children)
    machine.state.become(before)


def _statement(machine: Machine, nodes: list[Node], at: Location) -> Parts | None:
    if len(nodes) != 1:
        return None
    node = nodes[0]
    if node.has_error:
        return None
    if node.type == "list":
        return _gone_to(machine, node, at)
    if node.type == "pipeline":
        return _pipeline(machine, [child for child in node.children if child.is_named], at)
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        for redirect in redirects:
            if redirect.type == "heredoc_redirect" and body is not None and machine.raw_node(body) == "cat":
                return heredoc(machine, redirect) if len(redirect.children) <= 4 else None
        return _statement(machine, [body], at) if body is not None and machine.raw_node(node).endswith("/dev/null") else None
    if node.type == "command":
        return _command(machine, node, at)
    return None


def _gone_to(machine: Machine, node: Node, at: Location) -> Parts | None:
    """Return what `cd FOLDER && pwd` prints."""
    parts = [child for child in node.children if child.is_named]
    if len(parts) != 2 or not machine.raw_node(parts[1]).startswith("pwd"):
        return None
    body = parts[0].child_by_field_name("body") if parts[0].type == "redirected_statement" else parts[0]
    if body is None or body.type != "command":
        return None
    words = _words(machine, body)
    targets = [word for word in words[1:] if word.text not in ("-P", "-L", "--")]
    if words[0].text != "cd" or len(targets) != 1:
        return None
    return _path(moved(machine.state.folder, targets[0]), at)


def _path(folder: Folder, at: Location) -> Parts | None:
    """Return an absolute path of which only its place in the tree is known."""
    if folder.path is None or not folder.rooted:
        return None
    return (unknown("pwd", at)._replace(path=folder.path),)


def _words(machine: Machine, node: Node) -> tuple[Word, ...]:
    wanted = [c for c in node.children if c.is_named and c.type not in ("variable_assignment", "herestring_redirect", "file_redirect")]
    return tuple(word for group in touching(wanted) for word in read_words(machine, *group))


def _command(machine: Machine, node: Node, at: Location) -> Parts | None:
    words = _words(machine, node)
    if not words or words[0].text is None:
        return None
    feed = next((child for child in node.children if child.type == "herestring_redirect"), None)
    if feed is not None:
        text = text_of(read_value(machine, feed.children[-1]))
        out = filter_text(machine, words, text + "\n") if text is not None else None
        return None if out is None else (Part(out, at, at),)
    paths = _PATHS.get(words[0].text)
    if paths is not None:
        return paths(machine, words, at)
    if words[0].text in ("grep", "cat"):
        lines = grepped(machine, words)
        return None if lines is None else (Part(lines, at, at, note="the recipe"),)
    texts = [word.text for word in words]
    if any(text is None for text in texts):
        return _unknown_echo(words)
    out = print_words(machine, [text or "" for text in texts])
    if out is None:
        return None
    if words[0].text == "echo" and len(words) == 2:
        return words[1].parts
    return (Part(out, at, at, default=any(word.default for word in words)),)


def _unknown_echo(words: tuple[Word, ...]) -> Parts | None:
    """Return what `echo` of one word prints that is not wholly known."""
    return words[1].parts if words[0].text == "echo" and len(words) == 2 and not words[1].many else None


def _pipeline(machine: Machine, nodes: list[Node], at: Location) -> Parts | None:
    """Return what a pipeline of simple filters prints."""
    if not nodes or any(node.type != "command" for node in nodes):
        return None
    first = _command(machine, nodes[0], at)
    text = text_of(first) if first is not None else None
    if first is None or text is None:
        return None
    text = text if text.endswith("\n") else text + "\n"
    for node in nodes[1:]:
        out = filter_text(machine, _words(machine, node), text)
        if out is None:
            return None
        text = out
    return (Part(text, at, at, default=any(part.default for part in first)),)


def grepped(machine: Machine, words: tuple[Word, ...]) -> str | None:
    """Return the lines of one file of the tree that `grep` or `cat` prints; None where file or pattern are not for us."""
    flags = [word.text for word in words[1:] if word.starts_with.startswith("-")]
    rest = [word for word in words[1:] if not word.starts_with.startswith("-")]
    wanted = 1 if words[0].text == "cat" else 2
    if machine.read_file is None or len(rest) != wanted or any(flag not in ("-E", "-q", "-qE", "-Eq", "-h") for flag in flags):
        return None
    source = next((found for path in candidates(machine, rest[-1]) if (found := machine.read_file(path)) is not None), None)
    if source is None or len(source.text) > LONGEST_VALUE * 5:
        return None
    machine.budget.write(len(source.text))
    if wanted == 1:
        return source.text
    pattern = _plain_pattern(rest[0].text or "")
    if pattern is None:
        return None
    return "".join(line + "\n" for line in source.text.splitlines() if pattern.search(line[:1000]))


def _plain_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""Return the expression of a `grep` for a key: text, `^`, `$`, `\s*`, ` *`; None for any other."""
    pattern = pattern.replace("[[:space:]]", r"\s")
    if len(pattern) > 100 or pattern.count("*") > 3 or not re.fullmatch(r"\^?(?:\\s\*| \*|[\w :\"'=/-])+\$?", pattern, re.ASCII):
        return None
    return re.compile(pattern, re.ASCII)


def _basename(_machine: Machine, words: tuple[Word, ...], at: Location) -> Parts | None:
    if not 2 <= len(words) <= 3:
        return None
    parts = [part for part in words[1].parts if part.text != ""]
    last = parts[-1].text if parts else ""
    suffix = words[2].text if len(words) == 3 else ""
    if not last or suffix is None or (len(parts) > 1 and "/" not in last):
        return None
    name = last.rstrip("/").rsplit("/", 1)[-1]
    name = name.removesuffix(suffix) if name != suffix else name
    return (Part(name, at, at, default=words[1].default),)


def _dirname(_machine: Machine, words: tuple[Word, ...], at: Location) -> Parts | None:
    if len(words) != 2:
        return None
    text, named = words[1].text, words[1].path
    if text is not None:
        head = text.rstrip("/").rpartition("/")
        return (Part(head[0] or ("/" if head[1] else "."), at, at, default=words[1].default),)
    if named.path is None or not named.rooted:
        return None
    above = below(named.path, "..") if named.path else None
    return None if above is None else (unknown("dirname", at)._replace(path=above),)


def _real(_machine: Machine, words: tuple[Word, ...], at: Location) -> Parts | None:
    """Return the absolute path of the last word."""
    options = [word.text for word in words[1:-1]]
    if len(words) < 2 or any(option is None or not option.startswith("-") for option in options):
        return None
    return _path(words[-1].path, at)


def _here(machine: Machine, _words: tuple[Word, ...], at: Location) -> Parts | None:
    return _path(machine.state.folder, at)


def _git(_machine: Machine, words: tuple[Word, ...], at: Location) -> Parts | None:
    wanted = [word.text for word in words] == ["git", "rev-parse", "--show-toplevel"]
    return (unknown("git root", at)._replace(path=""),) if wanted else None


_PATHS: Final[dict[str, Callable[[Machine, tuple[Word, ...], Location], Parts | None]]] = {
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _real,
    "readlink": _real,
    "pwd": _here,
    "git": _git,
}
