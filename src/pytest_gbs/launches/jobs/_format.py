"""What a format of job files is, and what all of them read: nodes as texts, words and sizes that know their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pytest_gbs.model.command import Assignment, Job, Part, Word
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import Document, Node, Scalar, Sequence, followed
from pytest_gbs.model.document import Mapping as MappingNode
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.fields import make_word
from pytest_gbs.shell.limits import MOST_JOB_ITEMS, Exhausted
from pytest_gbs.shell.script import masked
from pytest_gbs.shell.state import unknown
from pytest_gbs.shell.text import Parts, replaced

Documents: TypeAlias = tuple[Document, ...]
_NULL: Final = ("", "~", "null", "Null", "NULL")


class JobFormat(NamedTuple):
    """A format of job files. `hint` is a pattern that each of its files has in its text, so that others need not be parsed.

    `read` yields the jobs of a document, nothing if it is of another format, and is given all documents of the file. If Python programs
    describe the jobs, each call of a class of `package` is a document.
    """

    name: str
    summary: str
    hint: str
    read: Callable[[Document, Documents], Iterator[Job]]
    package: str = ""


def child(node: Node | None, *keys: str) -> Node | None:
    """What a mapping has below `keys`, aliases followed; None if there is nothing."""
    for key in keys:
        node = dict(entries(node)).get(key)
    return node


def entries(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Yield the entries of a mapping, aliases followed; nothing for other nodes."""
    if isinstance(node, MappingNode):
        for key, value in node.entries:
            found = followed(value)
            if isinstance(key, Scalar) and found is not None:
                yield key.text, found


def items(node: Node | None) -> tuple[Node, ...]:
    """The items of a sequence, aliases followed; nothing for other nodes.

    Raises: Exhausted: there are too many.
    """
    if not isinstance(node, Sequence):
        return ()
    if len(node.items) > MOST_JOB_ITEMS:
        raise Exhausted(f"more than {MOST_JOB_ITEMS:,} items of a list")
    return tuple(each for each in map(followed, node.items) if each is not None)


def text(node: Node | None) -> str | None:
    """The text of a scalar; None for other nodes, and for null."""
    return node.text if isinstance(node, Scalar) and not (node.plain and node.text in _NULL) else None


def size(document: Document, node: Node | None, name: str, key: str) -> Quantity | None:
    """The size that a scalar states as a number above 0, at its digits; None for anything else."""
    number = whole_number(text(node) or "")
    if not number or not isinstance(node, Scalar):
        return None
    return Quantity(name, number, Origin.LAUNCH, at=_digits(document, node), key=key)


def node_count(document: Document, of: Node | None, key: str) -> Quantity | None:
    """The machines that a mapping states at `key`, one if it has no such key; None if it is not there, or states no number above 0."""
    if of is None:
        return None
    stated = child(of, key)
    return size(document, stated, Name.NUM_NODES, key) if stated is not None else one_node(key)


def one_node(key: str) -> Quantity:
    """The machine of a job that does not state at `key` how many it has."""
    return Quantity(Name.NUM_NODES, 1, Origin.DEFAULT, key=key)


def _digits(document: Document, node: Scalar) -> Location:
    """The digits at the end of what a scalar has between its quotes."""
    match = _last_digits().search(document.source.text[node.start : node.stop])
    start, stop = match.span(1) if match is not None else (0, node.stop - node.start)
    return Location(document.source.path, node.start + start, node.start + stop)


_last_digits = lazy_pattern(r"([0-9]+)[\"']?$")


def assignment(document: Document, name: str, node: Node | None, *, default: bool = False) -> Assignment:
    """A variable with the value of a scalar, unknown if it is none; `default`: a user can set another one without editing the file."""
    found = word(document, node) if isinstance(node, Scalar) and text(node) is not None else None
    if found is None:
        start, stop = (node.start, node.stop) if node is not None else (0, 0)
        found = _word(document, (unknown(name, Location(document.source.path, start, stop)),), start, stop)
    parts = tuple(part._replace(default=part.default or default) for part in found.parts)
    return Assignment(name, found._replace(pieces=parts))


def variables(document: Document, *nodes: Node | None, default: bool = False) -> Iterator[Assignment]:
    """Yield the variables that mappings of names and values set; `default` is that of `assignment`.

    Raises: Exhausted: there are too many.
    """
    found = [entry for node in nodes for entry in entries(node)]
    if len(found) > MOST_JOB_ITEMS:
        raise Exhausted(f"more than {MOST_JOB_ITEMS:,} variables")
    for name, value in found:
        yield assignment(document, name, value, default=default)


def listed(document: Document, node: Node | None, key: str = "name") -> Iterator[Assignment]:
    """Yield the variables that a list sets, whose items have the name of one at `key`, and its `value`."""
    for each in items(node):
        name = text(child(each, key))
        if name:
            yield assignment(document, name, child(each, "value"))


def stated(name: str, value: str, size: Quantity, note: str) -> Assignment:
    """A variable that a system sets itself, because of the `size` that a job states; `note` says of what.

    A size that the job leaves to the system's default can be set otherwise when the job is submitted.
    """
    at, default = size.at or Location(""), size.origin == Origin.DEFAULT
    part = Part(value, at, at, name, default, note="" if default else note)
    return Assignment(name, Word(value, value, at, (part,)))


def word(document: Document, node: Scalar) -> Word:
    """A scalar as one word of a command."""
    return _word(document, parts(document, node), node.start, node.stop)


def _word(document: Document, found: Parts, start: int, stop: int) -> Word:
    return make_word(found, document.source.text[start:stop], Location(document.source.path, start, stop))


def command(document: Document, nodes: tuple[Node, ...], variables: Mapping[str, Word]) -> tuple[Word, ...]:
    """The words of a command as a list has them, `$(NAME)` filled in as Kubernetes does; nothing if one of them is not a scalar."""
    if not all(isinstance(node, Scalar) for node in nodes):
        return ()
    found = (word(document, node) for node in nodes if isinstance(node, Scalar))
    return tuple(make_word(_filled(each.parts, variables), each.raw, each.at) for each in found)


def _filled(found: Parts, variables: Mapping[str, Word]) -> Parts:
    return replaced(found, _reference(), lambda _, match: variables[match[1]].parts if match[1] in variables else None)


_reference = lazy_pattern(r"(?<!\$)\$\(([A-Za-z_]\w{0,100})\)")


def parts(document: Document, node: Scalar) -> Parts:
    """The text of a scalar whose characters know where they are in the file; unknown if they can't be found there."""
    path, whole = document.source.path, document.source.text
    found: list[Part] = []
    try:
        for start, stop, behind in _pieces(whole, node):
            found += masked(path, whole, start, stop)
            if behind:
                place = Location(path, stop, stop)
                found.append(Part(behind, place, place))
    except (Exhausted, _NotFoundError):
        return (unknown("text", Location(path, node.start, node.stop)),)
    return tuple(found)


class _NotFoundError(Exception):
    """A scalar has characters that are not written as they are."""


def _pieces(whole: str, node: Scalar) -> Iterator[tuple[int, int, str]]:
    """Yield the span of each line of a scalar, and what folding puts behind it.

    Raises: _NotFoundError: an escape, say, makes other characters of those in the file.
    """
    content, place = node.text, 0
    block = whole[node.start : node.start + 1] in ("|", ">")
    quoted = not block and whole[node.start : node.start + 1] in ("'", '"')
    start, last = node.start + quoted, node.stop - quoted
    if block:
        start = whole.find("\n", start, last) + 1 or last
    indent = None
    while start < last and place < len(content):
        stop = whole.find("\n", start, last)
        stop = last if stop < 0 else stop
        line = whole[start:stop].rstrip("\r")
        if block and indent is None and line.strip():
            indent = (
                len(line.rstrip()) - len(content[place:].lstrip("\n").partition("\n")[0].rstrip())
                if whole[node.start] == "|"
                else len(line) - len(line.lstrip())
            )
        left = min(indent or 0, len(line)) if block else len(line) - len(line.lstrip())
        line = line[left:] if block and (line.strip() or len(line) > left) else line.strip()
        begin = start + left
        if not content.startswith(line, place):
            raise _NotFoundError
        place += len(line)
        behind = content[place : place + 1] if content[place : place + 1] in ("\n", " ") else ""
        place += len(behind)
        exact = behind == "\n" and whole[begin + len(line) : begin + len(line) + 1] == "\n"
        yield begin, begin + len(line) + exact, "" if exact else behind
        start = stop + 1
    if content[place:].strip():  # blanks at the end of the file are not in the span
        raise _NotFoundError
