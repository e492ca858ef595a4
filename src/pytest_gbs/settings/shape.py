"""Whether settings have the shape that one of our JSON Schemas describes: as much of JSON Schema as these use, at a fraction of its cost.

jsonschema takes longer to import than a recipe takes to check; it is asked once something is wrong, and by the tests, which compare
the two (`settings/explain.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pytest_gbs.files.shipped import read_schema


def fits(raw: Any, name: str = "settings", part: str = "") -> bool:
    """Whether the schema of that name, or the part called so in its `$defs`, accepts `raw`."""
    schema = schema_of(name)
    return _Schema(schema).accepts(raw, schema["$defs"][part] if part else schema)


@cache
def schema_of(name: str) -> Any:
    """The schema of that name: `settings`, `framework`."""
    return json.loads(read_schema(name))


class _Schema:
    """A schema, and what each of its keywords asks of a value."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def accepts(self, value: Any, schema: Any) -> bool:
        """Whether `schema`, a part of the whole one, accepts `value`."""
        if schema is False:
            return False
        for keyword, asked in schema.items():
            check = _CHECKS.get(keyword)
            if check is not None and not check(self, value, asked, schema):
                return False
        return True

    def referred(self, name: str) -> Any:
        """The part that `#/$defs/name` refers to, or the whole one."""
        return self._root if name == "#" else self._root["$defs"][name.removeprefix("#/$defs/")]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "integer": _is_whole,
    "number": _is_number,
}


def _is_one(value: Any, allowed: list[Any]) -> bool:
    """Whether `value` is one of `allowed`, none of which is a list or a table: true is not 1, and 1.0 is."""
    return any(value == each and (type(value) is bool) == (type(each) is bool) for each in allowed)


_Check = Callable[[_Schema, Any, Any, Any], bool]
_CHECKS: Final[dict[str, _Check]] = {
    "$ref": lambda schema, value, asked, _: schema.accepts(value, schema.referred(asked)),
    "type": lambda _, value, asked, __: any(_TYPES[each](value) for each in ([asked] if type(asked) is str else asked)),
    "enum": lambda _, value, asked, __: _is_one(value, asked),
    "properties": lambda schema, value, asked, _: (
        type(value) is not dict or all(schema.accepts(value[key], inner) for key, inner in asked.items() if key in value)
    ),
    "additionalProperties": lambda schema, value, asked, beside: (
        type(value) is not dict
        or all(schema.accepts(each, asked) for key, each in value.items() if key not in beside.get("properties", ()))
    ),
    "propertyNames": lambda schema, value, asked, _: type(value) is not dict or all(schema.accepts(key, asked) for key in value),
    "items": lambda schema, value, asked, _: type(value) is not list or all(schema.accepts(each, asked) for each in value),
    "required": lambda _, value, asked, __: type(value) is not dict or all(key in value for key in asked),
    "anyOf": lambda schema, value, asked, _: any(schema.accepts(value, each) for each in asked),
    "oneOf": lambda schema, value, asked, _: sum(schema.accepts(value, each) for each in asked) == 1,
    "minimum": lambda _, value, asked, __: not (_is_number(value) and value < asked),
    "maximum": lambda _, value, asked, __: not (_is_number(value) and value > asked),
    "minLength": lambda _, value, asked, __: type(value) is not str or len(value) >= asked,
    "maxLength": lambda _, value, asked, __: type(value) is not str or len(value) <= asked,
    "pattern": lambda _, value, asked, __: type(value) is not str or re.search(asked, value) is not None,
    "minItems": lambda _, value, asked, __: type(value) is not list or len(value) >= asked,
    "maxItems": lambda _, value, asked, __: type(value) is not list or len(value) <= asked,
    "minProperties": lambda _, value, asked, __: type(value) is not dict or len(value) >= asked,
    "maxProperties": lambda _, value, asked, __: type(value) is not dict or len(value) <= asked,
}
KEYWORDS: Final = frozenset(_CHECKS)
