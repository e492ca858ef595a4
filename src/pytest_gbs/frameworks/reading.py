"""What a framework makes of the values in one document: the sizes it states, and those it would stumble over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from pytest_gbs.arithmetic.schedules import read_stages
from pytest_gbs.frameworks.conditions import VARIABLE, holds
from pytest_gbs.model.document import FUNCTION, PYTHON, Alias, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.framework import Framework, Loader, Row, SameAs, Treatment, ValueReading
from pytest_gbs.model.location import Location, dotted
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.readers.scalar import COMPUTED, loader_of, resolve
from pytest_gbs.readers.value_node import value_node

# Text that Python's int() takes, and text that something else replaces before the framework sees it.
NUMBER: Final = r"\s*[+-]?[0-9]+(_[0-9]+)*\s*"
TEMPLATE: Final = VARIABLE + r"|^\?+$|^<.*>$|^‹.*›$|^\{.*\}$|^\.\.\.$|^…$|^x+$|^_*[A-Z][A-Z0-9_-]*$|[Yy]our[ _-]|[Cc]hange[ _-]?me"
# The start of a placeholder that nothing but OmegaConf fills in.
RESOLVER: Final = "${oc."
_YAML_TAG: Final = "tag:yaml.org,2002:"
# The longest number in quotes that is converted; no batch needs more digits.
LONGEST: Final = 18

WRONG: Final = frozenset((Treatment.STOPS, Treatment.STOPS_LATE, Treatment.NO_STEPS, Treatment.CONTINUES))


class Misread(NamedTuple):
    """A value that the framework does not take as a size: its row, its treatment, the value as loaded, and its place."""

    row: Row
    treatment: str
    value: object
    at: Location


def read_sizes(document: Document, framework: Framework) -> dict[str, Size]:
    """The sizes that `document` states and, for the others, the framework's defaults.

    A key whose value is not a number gives `Unknown` with the reason and its place. A key that counts as not there gives way to the
    next row of its size, then to the default. Rows that the framework does not look at here give nothing.
    """
    sizes: dict[str, Size] = {}
    absent: list[Row] = []
    for row in framework.rows:
        if row.name in sizes or (row.when and not _looked_at(row, document, framework)):
            continue
        node = value_node(document, row.key)
        size = None if node is None else _size(row, node, document, framework)
        if size is not None:
            sizes[row.name] = size
        elif (hidden := _hidden(row, document, framework)) is not None:
            sizes[row.name] = hidden
        elif row.default is not None or (document.rest is not None and node is None):
            absent.append(row)
    if document.rest is not None:
        unseen = [row for row in absent if not _is_beside(row, document)]
        sizes = {row.name: Unknown(row.name, Reason.COMPUTED, document.rest) for row in unseen} | sizes
        absent = [row for row in absent if row.default is not None and row.name not in sizes]
    late = [row for row in absent if not _take_default(row, sizes)]
    for row in late:  # a default that is another size's default, in whichever order the rows stand
        _take_default(row, sizes)
    return sizes


def _is_beside(row: Row, document: Document) -> bool:
    """Whether a function writes out all that the key of `row` would be in: it is not there, whatever else comes from elsewhere."""
    above = document.keyed.get(row.key[:-1]) if document.called == FUNCTION and len(row.key) > 1 else None
    return above is not None and type(above[1]) is Mapping and above[1].tag is None


def _hidden(row: Row, document: Document, framework: Framework) -> Unknown | None:
    """A size whose key is in something that a program computes, so that the key may be there; None if it is not there.

    What stands for the file of a companion is taken for one that does not have it, as the name of a file is.
    """
    if document.syntax != PYTHON:
        return None
    first = 2 if row.key[:1] in framework.companions else 1
    above = (document.keyed.get(row.key[:length]) for length in range(first, len(row.key)))
    found = next((entry[1] for entry in above if entry is not None and getattr(entry[1], "tag", None) == COMPUTED), None)
    return None if found is None else Unknown(row.name, Reason.COMPUTED, Location(document.source.path, found.start, found.stop, row.key))


@lru_cache
def of_a_part(framework: Framework) -> Framework:
    """A table for a document of which a part can't be seen: a key that is not there may be in that part, so nothing follows."""
    rows = tuple(row._replace(default=None) for row in framework.rows)
    return framework._replace(rows=rows, requirements=(), switches=(), feeds_gpus=None)


def misread(document: Document, framework: Framework) -> Iterator[Misread]:
    """Yield each value for a size in `document` that `framework` would stop at, or that would leave it without a step."""
    seen = set()
    for row in framework.rows:
        node = value_node(document, row.key)
        if node is None or row.key in seen or (row.when and not _looked_at(row, document, framework)):
            continue
        seen.add(row.key)
        found, value = treatment(row, node, framework, document.syntax)
        if found in WRONG:
            yield Misread(row, found, value, Location(document.source.path, node.start, node.stop, row.key))


def treatment(row: Row, node: Node, framework: Framework, syntax: str) -> tuple[str, object]:
    """The `Treatment` of the value `node` for `row`, and the value: a number where it is taken, else as the loader has it.

    The number between 0 and 1 that a ratio row takes stays a float.
    """
    target = node.target if type(node) is Alias else node
    if type(target) is not Scalar:
        found = _collection(row, target)
        items = target.items if type(target) is Sequence else ()
        return (
            _counted([item.text if type(item) is Scalar else "" for item in items], target)
            if found == Treatment.COUNTS
            else (found, target)
        )
    if target.tag is not None and target.tag != "!" and not target.tag.startswith(_YAML_TAG):
        return Treatment.TEMPLATE, target.text  # a loader with constructors of its own puts something else here
    value = resolve(target, loader_of(syntax, framework.loader))
    if type(value) is str and RESOLVER in value:
        if framework.loader == Loader.OMEGACONF_AS_READ:
            return row.reading.text, value
        if framework.loader == Loader.OMEGACONF and row.reading.quoted in WRONG and _variable().fullmatch(value):
            return row.reading.quoted, value  # whatever the variable holds, and its default too, comes as text (env in resolvers/oc)
    return treat(row, value)


def _collection(row: Row, target: Node | None) -> str:
    """The treatment of a list or mapping: a schedule is a list of stages, each a mapping, and of nothing else.

    A list of one name in capitals, `[BATCH_SIZE]`, is a placeholder, as in a document.
    """
    found = row.reading.collection
    (only,) = target.items if type(target) is Sequence and len(target.items) == 1 else (None,)
    if type(only) is Scalar and only.plain and only.text.isupper():
        return Treatment.TEMPLATE
    if found != Treatment.SCHEDULE:
        return found
    stages = type(target) is Sequence and all(type(item) in (Mapping, Alias) for item in target.items)
    return found if stages else Treatment.STOPS


def treat(row: Row, value: object) -> tuple[str, object]:
    """The `Treatment` of a value as loaded, and the number where it is taken."""
    reading = row.reading
    if type(value) is int:
        return _number(row, value)
    if type(value) is str:
        return _text(row, value)
    if type(value) is bool:
        return _number(row, int(value)) if reading.boolean == Treatment.ACCEPTS else (reading.boolean, value)
    if type(value) is float:
        return _float(row, value)
    return (reading.null if value is None else reading.collection), value


def _number(row: Row, value: int) -> tuple[str, object]:
    if value >= row.minimum:
        return Treatment.ACCEPTS, value
    for word, found in row.reading.words:
        if value == word:
            return found, value
    return (row.reading.negative if value < 0 else row.reading.zero), value


def _float(row: Row, value: float) -> tuple[str, object]:
    if row.ratio and 0 < value < 1:
        return Treatment.ACCEPTS, value
    if not value.is_integer():  # nor are infinity and not-a-number
        return row.reading.fraction, value
    if row.reading.whole_float != Treatment.ACCEPTS:
        return row.reading.whole_float, value
    return _number(row, int(value))


def _text(row: Row, value: str) -> tuple[str, object]:
    reading: ValueReading = row.reading
    for word, found in reading.words:
        if value == word:
            return found, value
    number, template = _patterns()
    if len(value) <= LONGEST and number.fullmatch(value):
        return _number(row, int(value)) if reading.quoted == Treatment.ACCEPTS else (reading.quoted, value)
    if reading.text == Treatment.COUNTS:
        return _counted(value.rstrip(", ").split(","), value)
    return (Treatment.TEMPLATE if template.search(value) else reading.text), value


def _counted(devices: list[str], value: object) -> tuple[str, object]:
    """How many devices are named by their numbers; what a name (`auto`) means is found at run time."""
    return (Treatment.ACCEPTS, len(devices)) if devices and all(map(str.isdecimal, map(str.strip, devices))) else (Treatment.AUTO, value)


_variable = lazy_pattern(r"\s*\$\{oc\.env:[^{}$]*\}\s*")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(NUMBER), re.compile(TEMPLATE)


def _looked_at(row: Row, document: Document, framework: Framework) -> bool:
    for condition in row.when:  # noqa: SIM110 - a loop rather than all(): asked of several rows for every recipe
        if not holds(condition, document, framework.loader):
            return False
    return True


def _size(row: Row, node: Node, document: Document, framework: Framework) -> Size | None:
    """The size that `node` gives, or None if its value counts as not there."""
    found, value = treatment(row, node, framework, document.syntax)
    if found == Treatment.UNSET:
        return None
    at = Location(document.source.path, node.start, node.stop, row.key)
    if found == Treatment.ACCEPTS and type(value) is int:
        return Quantity(row.name, value, Origin.FILE, row.unit, at, dotted(row.key))
    return (found == Treatment.SCHEDULE and _schedule(row, node, framework, document, at)) or Unknown(row.name, _reason(found, value), at)


def _schedule(row: Row, node: Node, framework: Framework, document: Document, at: Location) -> Quantity | None:
    """The size that a schedule ends with, and its stages; None if they are unknown."""

    def whole(scalar: Scalar) -> int | None:
        found, value = treatment(row, scalar, framework, document.syntax)
        return value if found == Treatment.ACCEPTS and type(value) is int else None

    stages = read_stages(node.target if type(node) is Alias else node, whole)
    if not stages:
        return None
    changes = stages if len(set(stages)) > 1 else ()
    return Quantity(row.name, stages[-1], Origin.FILE, row.unit, at, dotted(row.key), stages=changes)


def _reason(found: str, value: object) -> str:
    if found == Treatment.AUTO:
        return Reason.AUTO
    if found == Treatment.ELASTIC:
        return Reason.ELASTIC
    if found == Treatment.SCHEDULE:
        return Reason.SCHEDULE
    if found == Treatment.TEMPLATE:
        return Reason.COMPUTED if value == "" else Reason.INTERPOLATED if "$" in str(value) else Reason.PLACEHOLDER
    return Reason.NOT_AN_INTEGER


def _take_default(row: Row, sizes: dict[str, Size]) -> bool:
    """Add the default of `row` to `sizes`; return whether it is known."""
    default = row.default
    if default is None or row.name in sizes:
        return True
    if type(default) is int:
        sizes[row.name] = Quantity(row.name, default, Origin.DEFAULT, row.unit, key=dotted(row.key))
        return True
    assert isinstance(default, SameAs)
    if default.unless in sizes:
        return True
    base = sizes.get(default.name)
    if isinstance(base, Quantity):
        sizes[row.name] = Quantity(row.name, base.value, Origin.DEFAULT, row.unit, key=dotted(row.key), because=(base,))
    elif isinstance(base, Unknown):
        sizes[row.name] = Unknown(row.name, base.reason, base.at)
    return base is not None
