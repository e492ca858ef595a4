"""The numbers of a recipe that follow its hardware, and the smallest edits that change them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.fixes.current_batch import RANK_COUNTS
from pytest_gbs.fixes.editing import Read
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.document import Mapping as MappingNode
from pytest_gbs.model.framework import Framework, Row
from pytest_gbs.model.location import Location, Source, dotted, grouped
from pytest_gbs.model.outcome import Edit
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity, Size
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import ScaleChange, What

# What marks a key that scaling has put in, so that scaling back takes it out again.
ADDED: Final = "# added by gbs scale"
_WRITTEN: Final = (Origin.FILE, Origin.LAUNCH)

Values: TypeAlias = "Mapping[str, int]"


class EditableNumber(NamedTuple):
    """A number that can be changed: the size it is, its value, the span of its digits, and the key it is behind."""

    name: str
    value: int
    at: Location
    key: str

    def to(self, value: int, what: str) -> ScaleChange:
        """The change of this number to `value`."""
        return ScaleChange(self.name, what, self.key, self.value, value, self.at, Edit(self.at, str(self.value), str(value)))


class InsertionPoint(NamedTuple):
    """A key that is not there, counts as `default`, and can be put in: the edit is an insertion at `at` with `text` around the number."""

    name: str
    default: int
    at: Location
    key: str
    text: str

    def to(self, value: int) -> ScaleChange:
        """The insertion of the key with `value`."""
        return ScaleChange(self.name, What.SETTING, self.key, 0, value, self.at, Edit(self.at, "", self.text.format(value)))


def editable_number(size: Size, read: Read) -> EditableNumber | None:
    """The one written number that `size` is, or None: it follows from several, or nothing can be changed where it is."""
    if not isinstance(size, Quantity):
        return None
    written = [leaf for leaf in leaves(size) if leaf.origin in _WRITTEN]
    if len(written) != 1 or written[0].value != size.value or written[0].at is None:
        return None
    leaf = written[0]
    at = digits_at(leaf.at, leaf.value, read) if leaf.at else None
    return None if at is None else EditableNumber(leaf.name, leaf.value, at, leaf.key or leaf.name)


def digits_at(at: Location, value: int, read: Read) -> Location | None:
    """The span of the digits of `value` in the text at `at`: all of it, or what is left of quotes or of `gpu:` before it."""
    source = read(at.source)
    if not isinstance(source, Source):
        return None
    match = _number().fullmatch(source.text[at.start : at.stop])
    if match is None or match.group(1) != str(value):
        return None
    return at._replace(start=at.start + match.start(1), stop=at.start + match.end(1))


_number = lazy_pattern(r"""["']?(?:[\w.:-]*[:=])?(\d{1,9})["']?""")


def gap(run: Run, read: Read) -> InsertionPoint | None:
    """Where the accumulation can be put into a YAML or TOML recipe that leaves it to the framework's default."""
    size = run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    row = _row(run.framework, run.document)
    source = read(run.path)
    plain = run.launch is None and run.places is None and run.document.syntax in ("yaml", "toml")
    if not plain or row is None or not isinstance(size, Quantity) or size.origin != Origin.DEFAULT or not isinstance(source, Source):
        return None
    found = _neighbour(run.document, row)
    key = str(row.key[-1])
    if found is None or not key.isidentifier():
        return None
    line, indent = found
    sign = " = " if run.document.syntax == "toml" else ": "
    end = re.search(r"\r\n|\n|\r", source.text)
    text = f"{end.group() if end else chr(10)}{indent}{key}{sign}{{}}  {ADDED}"
    return InsertionPoint(row.name, size.value, Location(run.path, line.stop, line.stop, row.key), key, text)


def key_of_accumulation(run: Run) -> str:
    """The key that holds the accumulation of `run`, or would: in words."""
    size = run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    if isinstance(size, Quantity) and size.at is not None:
        return f"{size.key or size.name} in {size.at.source}"
    row = _row(run.framework, run.document)
    return f"{dotted(row.key)} has its default" if row else "its framework has no key for it here"


def _row(framework: Framework, document: Document) -> Row | None:
    """The row of the accumulation that the framework takes its default from; none whose key means something else at times."""
    rows = (row for row in framework.rows if row.name == Name.GRADIENT_ACCUMULATION_STEPS and row.key and "acc" in str(row.key[-1]))
    left_out = (row for row in rows if type(row.default) is int and row.key not in document.keyed)
    return next((row for row in left_out if all(holds(condition, document, framework.loader) for condition in row.when)), None)


def _neighbour(document: Document, row: Row) -> tuple[Location, str] | None:
    """The line of a number in the mapping that `row` belongs to, and its indentation: micro batch first, else any."""
    if _is_flow(document, row.key[:-1]):
        return None
    text = document.source.text
    beside = [path for path in document.keyed if path[:-1] == row.key[:-1]]
    beside.sort(key=lambda path: "batch" not in str(path[-1]))
    for path in beside:
        node = document.keyed[path][1]
        line = _line(text, node.start)
        match = _entry().match(text, line.start, line.stop)
        if isinstance(node, Scalar) and node.text.isdigit() and line.start <= document.keyed[path][0].start and match:
            return line, match.group(1)
    return None


def _is_flow(document: Document, path: tuple[str | int, ...]) -> bool:
    node = document.root if not path else document.get(*path)
    return not isinstance(node, MappingNode) or document.source.text[node.start : node.start + 1] == "{"


_entry = lazy_pattern(r"([ \t]*)[\w\"'-]+[ \t]*[:=][ \t]")


def _line(text: str, offset: int) -> Location:
    """The span of the line at `offset`, without its line break."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    stops = [place for sign in "\n\r" if (place := text.find(sign, offset)) >= 0]
    return Location("", start, min(stops, default=len(text)))


def without(found: EditableNumber, read: Read) -> ScaleChange | None:
    """The change that takes out a key which scaling has put in; None if gbs did not write it."""
    source = read(found.at.source)
    if not isinstance(source, Source):
        return None
    line = _line(source.text, found.at.start)
    text = source.text[line.start : line.stop]
    if not text.endswith(f"{found.value}  {ADDED}") or line.start == 0:
        return None
    before = 2 if source.text[line.start - 2 : line.start] == "\r\n" else 1
    at = Location(found.at.source, line.start - before, line.stop, found.at.path)
    return ScaleChange(found.name, What.SETTING, found.key, found.value, 0, at, Edit(at, source.text[at.start : at.stop], ""))


def hardware_numbers(run: Run, read: Read, *, per_node: bool) -> Iterator[EditableNumber | Quantity]:
    """Yield each number of the recipe or its launch that says on how many GPUs it runs; what can't be changed as it is.

    A number that is both all processes and those of each node, on a single one, is the latter if `per_node`.
    """
    own = read_sizes(run.document, run.framework)
    stated = [size for name in (*HARDWARE, *RANK_COUNTS) if isinstance(size := own.get(name), Quantity) and size.at is not None]
    sizes = [size._replace(at=run.real(size.at)) for size in stated if size.at is not None]
    start = run.launch.start if run.launch is not None else None
    if start is not None:
        given = [size for size in (*start.sizes, start.allocated) if isinstance(size, Quantity)]
        sizes += [leaf for size in given for leaf in leaves(size) if leaf.name in HARDWARE]
    written = (size for size in sizes if size.origin in (*_WRITTEN, Origin.LAUNCHER))
    places = grouped((size.at, size) for size in written if size.at is not None)
    if start is not None:
        yield from _job_nodes(start.at.source, run.geometry.value(Name.NUM_NODES), {at._replace(path=None) for at in places}, read)
    for at, meant in places.items():
        meant.sort(key=lambda size: (size.name == Name.GPUS_PER_NODE) != per_node)
        yield _hardware_number(at, meant, run.geometry.value(Name.NUM_NODES), read) or meant[0]


def _job_nodes(path: str, nodes: int | None, known: set[Location], read: Read) -> Iterator[EditableNumber]:
    """Yield the nodes that a Slurm script asks for beside those that its launcher is given."""
    source = read(path)
    if not isinstance(source, Source):
        return
    for match in _nodes_directive().finditer(source.text):
        at = Location(path, match.start(1), match.end(1))
        if match.group(1) == str(nodes) and at not in known:
            yield EditableNumber(Name.NUM_NODES, int(match.group(1)), at, "#SBATCH --nodes")


_nodes_directive = lazy_pattern(r"(?m)^#SBATCH[ \t]+(?:--nodes[ =]|-N[ \t]*)(\d{1,5})[ \t]*(?:#.*)?$")


def _hardware_number(at: Location, meant: list[Quantity], nodes: int | None, read: Read) -> EditableNumber | None:
    """The number at `at` as the size of `meant` that it is; a total over all nodes may be written as the part of each."""
    for size in meant:
        found = digits_at(at, size.value, read)
        if found is not None:
            return EditableNumber(size.name, size.value, found, size.key or size.name)
    for size in meant:
        if size.name == Name.WORLD_SIZE and nodes and size.value % nodes == 0:
            found = digits_at(at, size.value // nodes, read)
            if found is not None:
                return EditableNumber(Name.GPUS_PER_NODE, size.value // nodes, found, size.key or size.name)
    return None


def merged(changes: Iterable[ScaleChange]) -> tuple[ScaleChange, ...] | str:
    """`changes` once each, or in words that two of them want one number to be different."""
    found: dict[Location, ScaleChange] = {}
    for change in changes:
        at = change.at._replace(path=None)
        other = found.setdefault(at, change)
        if other.edit.replacement != change.edit.replacement:
            return f"{change.key} is {other.name.replace('_', ' ')} and {change.name.replace('_', ' ')} at once"
    return tuple(found.values())
