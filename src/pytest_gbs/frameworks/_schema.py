"""JSON Schemas for editors, made from the tables: what a table lets pass as a size, its schema lets pass, and nothing else.

A schema can't distinguish `8.0` from `8`, and where a framework can, it is laxer than the table by that much. It lets every interpolation
pass, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pytest_gbs.arithmetic.wording import called
from pytest_gbs.frameworks.reading import LONGEST, NUMBER, TEMPLATE, WRONG
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.framework import Framework, Row, SameAs, Treatment
from pytest_gbs.model.location import KeyPath
from pytest_gbs.readers.value_node import EACH

Schema = dict[str, Any]

_POSITIVE: Final = r"^\s*\+?(?=[0-9_]*[1-9])[0-9]+(_[0-9]+)*\s*$"
_NEGATIVE: Final = r"^\s*-(?=[0-9_]*[1-9])[0-9]+(_[0-9]+)*\s*$"
_ZERO: Final = r"^\s*[+-]?0+(_0+)*\s*$"
_ANY: Final = f"^{NUMBER}$"


def text(table: Framework, address: str) -> str:
    """The text of the JSON Schema of the sizes in a recipe of `table`, which lies at `address`."""
    whole = schema(table)
    return json.dumps({"$schema": whole.pop("$schema"), "$id": address, **whole}, indent=1) + "\n"


def schema(table: Framework) -> Schema:
    """The JSON Schema of the sizes in a recipe of `table`."""
    plain: Schema = {"type": "object", "properties": {}}
    conditional = []
    for row in table.rows:
        if row.when:
            conditions = [_condition(condition) for condition in row.when]
            conditional.append({"if": {"allOf": conditions}, "then": _nested(row.key, {"anyOf": list(_values(row))}, required=False)})
            _place(plain, row.key, _description(row))
        else:
            _place(plain, row.key, {**_description(row), "anyOf": list(_values(row))})
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Batch sizes of a recipe for {table.title}",
        "description": f"Made from the tables of pytest-gbs; from {table.version}.",
    }
    return {**head, **plain, **({"allOf": conditional} if conditional else {})}


def _place(schema: Schema, key: KeyPath, leaf: Schema) -> None:
    """Put `leaf` at `key` of `schema`, whose mappings on the way are made; the first of several stays."""
    for part in key[:-1]:
        schema = schema.setdefault("items", {}) if part == EACH else schema.setdefault("properties", {}).setdefault(str(part), {})
    if key[-1] == EACH:
        schema.setdefault("items", leaf)
        return
    found = schema.setdefault("properties", {}).setdefault(str(key[-1]), {})
    if found.keys() <= {"items"}:  # nothing, or what its items are
        found.update(leaf)


def _nested(key: KeyPath, leaf: Schema, required: bool) -> Schema:
    """The schema of documents whose value at `key` is a `leaf`, and which have one if `required`."""
    for part in reversed(key):
        if part == EACH:
            leaf = {"items": leaf, **({"type": "array", "minItems": 1} if required else {})}
            continue
        leaf = {"properties": {str(part): leaf}}
        if required:
            leaf = {"type": "object", **leaf, "required": [str(part)]}
    return leaf


def _condition(condition: Condition) -> Schema:
    """The schema of the documents of which `condition` is true."""
    matches = [_nested(condition.key, each, required=True) for each in _alike(condition.values)]
    if condition.default in condition.values:
        matches.append({"not": _nested(condition.key, {}, required=True)})
    found: Schema = {"anyOf": matches}
    return {"not": found} if condition.negated else found


def _alike(values: tuple[object, ...]) -> Iterator[Schema]:
    """Yield schemas of `values`, whole numbers and floats distinguished as by the loaders: JSON Schema takes 1.0 for 1."""
    numbers = [value for value in values if type(value) is int]
    floats = [value for value in values if type(value) is float]
    rest = [value for value in values if type(value) not in (int, float)]
    if rest:
        yield {"enum": rest}
    if numbers:
        yield {"type": "integer", "enum": numbers}
    if floats:
        yield {"not": {"type": "integer"}, "enum": floats}


def _description(row: Row) -> Schema:
    default = row.default
    says: Schema = {"description": f"{called(row.name)} ({row.source})"}
    if isinstance(default, SameAs):
        says["description"] += f"; the same as {called(default.name)} by default"
    elif default is not None:
        says["default"] = default
    return says


def _values(row: Row) -> Iterator[Schema]:
    """Yield a schema for each kind of value that passes; together they are the values that `treatment` has no complaint about."""
    reading = row.reading
    yield from _numbers(row)
    if reading.boolean == Treatment.ACCEPTS:
        yield {"enum": [True] if reading.zero in WRONG and row.minimum > 0 else [True, False]}
    elif reading.boolean not in WRONG:
        yield {"type": "boolean"}
    if reading.null not in WRONG:
        yield {"type": "null"}
    if reading.collection == Treatment.SCHEDULE:
        yield {"type": "array", "items": {"type": "object"}}
    elif reading.collection not in WRONG:
        yield {"type": ["array", "object"]}
    yield from _texts(row)


def _numbers(row: Row) -> Iterator[Schema]:
    reading = row.reading
    whole: Schema = {"type": "number", "multipleOf": 1} if reading.whole_float == Treatment.ACCEPTS else {"type": "integer"}
    yield {**whole, "minimum": row.minimum}
    if reading.whole_float not in (*WRONG, Treatment.ACCEPTS):  # the number itself does not matter
        yield {"type": "number", "multipleOf": 1, "not": {"type": "integer"}}
    if reading.zero not in WRONG:
        yield {**whole, "minimum": 0, "maximum": row.minimum - 1}
    if reading.negative not in WRONG:
        yield {**whole, "maximum": -1}
    if reading.fraction not in WRONG:
        yield {"type": "number", "not": {"multipleOf": 1}}
    elif row.ratio:
        yield {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def _texts(row: Row) -> Iterator[Schema]:
    """Yield what text passes: numbers in quotes, placeholders, and whatever else the framework takes or leaves."""
    reading = row.reading
    if reading.words:
        yield {"enum": [word for word, found in reading.words if found not in WRONG]}
    stops = {"not": {"enum": [word for word, found in reading.words if found in WRONG]}} if reading.words else {}
    number = {"type": "string", "maxLength": LONGEST}
    if reading.quoted == Treatment.ACCEPTS:
        yield {**number, "pattern": _POSITIVE}
        if reading.zero not in WRONG:
            yield {**number, "pattern": _ZERO}
        if reading.negative not in WRONG:
            yield {**number, "pattern": _NEGATIVE}
        yield from ({**number, "pattern": _spelling(word)} for word, found in reading.words if type(word) is int and found not in WRONG)
    elif reading.quoted not in WRONG:
        yield {**number, "pattern": _ANY}
    if reading.text in WRONG:
        yield {"type": "string", "pattern": TEMPLATE, **stops}
    else:
        other = {"type": "string", "not": {"pattern": _ANY, "maxLength": LONGEST}}
        yield {"allOf": [other, stops]} if stops else other


def _spelling(word: int) -> str:
    """The pattern of texts that Python reads as `word`: `-1`, ` -0_1`."""
    sign = "-" if word < 0 else r"\+?"
    return rf"^\s*{sign}(?:0_?)*{'_?'.join(str(abs(word)))}\s*$"
