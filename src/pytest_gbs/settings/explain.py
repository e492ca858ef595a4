"""Mistakes in the shape of settings, found with the schema; imported only if there is one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator

from pytest_gbs.arithmetic.wording import listing
from pytest_gbs.model.location import KeyPath, dotted, grouped
from pytest_gbs.settings.meaning import MOST_PROBLEMS, Raw, SettingsProblem
from pytest_gbs.settings.places import key_lines, line_holding, line_of
from pytest_gbs.settings.shape import schema_of

_LONGEST: Final = 60
_HUGE: Final = 10**18
_ENTRIES: Final = ("hardware", "launch", "expect")
_TABLES: Final = ("severity", "per-file-ignores", "versions")
_DESCRIBED: Final = "frameworks"  # a table in a table
_MANY: Final = 20
_PLURAL: Final = {"string": "texts", "integer": "whole numbers", "object": "tables", "array": "lists"}


def problems(raw: Raw, name: str = "settings", part: str = "") -> list[SettingsProblem]:
    """What the schema of that name refuses in `raw`: everything, or the first hundred if there is more.

    `part` is the name of one in its `$defs` that is asked in place of the whole schema.
    """
    schema = schema_of(name)
    validator = Draft202012Validator(schema)
    asked = validator.evolve(schema=schema["$defs"][part]) if part else validator
    found = (problem for error in asked.iter_errors(_shortened(raw)) for problem in _problems(error, schema))
    return list(islice(_once(found), MOST_PROBLEMS))


def _once(found: Iterable[SettingsProblem]) -> Iterator[SettingsProblem]:
    reported: set[SettingsProblem] = set()
    for problem in found:
        if problem not in reported:
            reported.add(problem)
            yield problem


def without(raw: Raw, wrong: Iterable[SettingsProblem]) -> Raw:
    """`raw` without what `wrong` is about, so that the rest can be looked at."""
    pruned: Raw = _copy(raw)
    for problem in sorted(wrong, key=lambda problem: [str(part).zfill(9) for part in problem.path], reverse=True):
        home: Any = pruned
        try:
            for part in problem.path[:-1]:
                home = home[part]
            del home[problem.path[-1]]
        except (KeyError, IndexError, TypeError):  # it went with something around it
            continue
    return pruned


def show(value: Any) -> str:
    """`value` as TOML writes it, cut short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        text = f"{{{', '.join(f'{key} = {show(each)}' for key, each in list(value.items())[:9])}}}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(show, value[:9]))}]"
    elif isinstance(value, str):
        text = json.dumps(value[:_LONGEST], ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def sentences(wrong: Iterable[SettingsProblem], file: str, text: str, table: KeyPath) -> list[str]:
    """A line for each problem, with its place in `text`, in the order of the file."""
    lines = key_lines(text)
    placed = [(_line(problem, text, lines, table), problem) for problem in islice(wrong, MOST_PROBLEMS)]
    placed.sort(key=lambda pair: pair[0])
    reported = ((line, " ".join(filter(None, (*_place_of(problem.path, table), problem.text)))) for line, problem in placed)
    return [f"{file}:{line}: {_on_one_line(text)}" for line, text in reported]


def _on_one_line(text: str) -> str:
    """`text` with what would break the line, or do something to a terminal, written as an escape."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _line(problem: SettingsProblem, text: str, lines: dict[KeyPath, int], table: KeyPath) -> int:
    line = line_of(lines, (*table, *problem.path))
    quoted = problem.text.split('"')
    inside_list = problem.text.startswith("contains ") and len(quoted) > 2
    return line_holding(text, quoted[1], line) if inside_list else line


def _place_of(path: KeyPath, table: KeyPath) -> tuple[str, str]:
    """The header of the table that a key is in, and the key: `[[tool.gbs.hardware]]`, `num-nodes`."""
    entry = path[0] in _ENTRIES and isinstance(path[1], int) if len(path) > 1 else False
    inner = len(path) > 1 and path[0] == _DESCRIBED and isinstance(path[1], str)
    depth = 2 if entry or inner else int(len(path) > 1 and path[0] in (*_TABLES, _DESCRIBED))
    header = dotted((*table, *path[: 2 if inner else 1]) if depth else table)
    key = ".".join(str(part) for part in path[depth:] if not isinstance(part, int))
    return (f"[[{header}]]" if entry else f"[{header}]" if header else ""), key


def _problems(error: Any, schema: Any) -> Iterator[SettingsProblem]:
    """Yield what one `jsonschema.ValidationError` is about, in our words."""
    path, keyword = tuple(error.absolute_path), error.validator
    if error.validator_value == "null":
        yield SettingsProblem(path, "is not allowed here")
    elif keyword == "additionalProperties":
        known = error.schema["properties"]
        yield from (SettingsProblem((*path, key), _unknown(key, known)) for key in error.instance if key not in known)
    elif keyword == "required" and isinstance(error.validator_value, list):
        for key in error.validator_value:
            if key not in error.instance:
                yield SettingsProblem(path, f"has no {key}: expected {wanted(_property(error.schema, key, schema), schema)}")
    elif keyword == "anyOf" and "required" in error.validator_value[0]:
        ways = (" and ".join(each["required"]) for each in error.validator_value)
        yield SettingsProblem(path, f"is empty: expected {listing(ways)}")
    elif keyword in ("maxItems", "maxProperties"):
        yield SettingsProblem(path, f"has more than {error.validator_value:,} entries")
    elif keyword == "oneOf" and (within := _meant_branch(error)):
        for each in within:
            yield from _problems(each, schema)
    elif error.parent is None and _is_name(error):
        yield SettingsProblem((*path, error.instance), f"is not a valid name: expected {wanted(error.schema, schema, 'string')}")
    else:
        verb = "contains" if path and isinstance(path[-1], int) else "is"
        written = ", in double brackets" if path and path[-1] in _ENTRIES else ""
        meant = _close(error.instance, error.schema, schema)
        yield SettingsProblem(path, f"{verb} {show(error.instance)}: expected {wanted(error.schema, schema)}{written}{meant}")


def _property(part: Any, key: str, schema: Any) -> Any:
    """The schema of a key of a table, which a part of the schema or what that refers to describes."""
    while key not in part.get("properties", ()) or part["properties"][key].keys() <= {"anyOf", "additionalProperties"}:
        part = _referred(part, schema)
    return part["properties"][key]


def _meant_branch(error: Any) -> list[Any]:
    """What is wrong with the one alternative that has the right type, so that its contents are reported; nothing if none has."""
    branches = grouped((each.schema_path[0], each) for each in error.context)
    inside = [found for found in branches.values() if not any(_is_of_another_kind(each) for each in found)]
    return inside[0] if len(inside) == 1 else []


def _is_of_another_kind(error: Any) -> bool:
    """Whether the value as a whole is not what an alternative is about, rather than something in it being wrong."""
    if error.path:
        return False
    asked = error.validator_value
    return error.validator in ("type", "enum", "pattern") or (error.validator in ("anyOf", "oneOf") and "required" not in asked[0])


def _close(value: Any, part: Any, schema: Any) -> str:
    """The word that was meant by `value`, where one of many is wanted."""
    words = [word for each in part.get("oneOf", [part]) for word in _resolved(each, schema).get("enum", ())]
    close = get_close_matches(value[:100], words, 1) if isinstance(value, str) and len(words) > _MANY else []
    return f"; did you mean {close[0]}?" if close else ""


def _resolved(part: Any, schema: Any) -> Any:
    while "$ref" in part:
        part = _referred(part, schema)
    return part


def _referred(part: Any, schema: Any) -> Any:
    return schema if part["$ref"] == "#" else schema["$defs"][part["$ref"].rpartition("/")[2]]


def _unknown(key: str, known: Iterable[str]) -> str:
    if key == "tool":
        return "is not a setting; gbs.toml has no [tool.gbs] level"
    close = get_close_matches(key[:100].replace("_", "-").lower(), list(known), 1)
    return f"is not a setting; did you mean {close[0]}?" if close else f"is not a setting; there are {listing(sorted(known), 'and')}"


def _is_name(error: Any) -> bool:
    return "propertyNames" in error.absolute_schema_path


def wanted(part: Any, schema: Any, kind: str = "") -> str:
    """What a part of the schema accepts, for people."""
    if "title" in part:
        return str(part["title"])
    if "$ref" in part:
        return wanted(_referred(part, schema), schema)
    if "enum" in part:
        return listing(map(show, part["enum"]))
    if "oneOf" in part:
        return listing(wanted(each, schema) for each in part["oneOf"])
    kind = kind or part["type"]
    if kind == "integer":
        return f"a whole number from {part['minimum']:,} to {part['maximum']:,}"
    if kind == "string":
        some = "text that is not empty" if "minLength" in part else "text"
        printable = "printable " * ("pattern" in part)
        return f"text of 1 to {part['maxLength']:,} {printable}characters" if "maxLength" in part else some
    if kind == "array":
        items = _resolved(part["items"], schema)
        inner = _PLURAL[items["type"]] if isinstance(items.get("type"), str) else "values"
        return f"a list of {'one or more ' * ('minItems' in part)}{inner}"
    if kind == "object" and "properties" in part:
        return f"{{{', '.join(f'{key} = ...' for key in part['properties'])}}}" if len(part["properties"]) < 4 else "a table"
    return {"boolean": "true or false", "object": "a table"}[kind]


def _shortened(value: Any) -> Any:
    """`value` with numbers that are too long to print cut to size: jsonschema prints what it refuses."""
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    return max(-_HUGE, min(_HUGE, value)) if type(value) is int else value


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value
