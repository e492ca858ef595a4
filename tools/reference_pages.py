"""The reference of the settings, from their JSON Schema, and of the command line, from its help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, Final

from pytest_gbs.cli import commands, main
from pytest_gbs.files.shipped import read_schema

_SETTINGS: Final = """\
<!-- Generated from schemas/settings.schema.json by tools/generate_docs.py: change the schema, then run it again. -->

# Settings

Settings are in `gbs.toml` at the root of the repository, or in `[tool.gbs]` of `pyproject.toml`.
`gbs check --show-settings` prints the settings in use, `--config FILE` uses another file. An unknown key stops the
check, and the message names the nearest known key. For editors: `gbs schema settings`.
"""
_CLI: Final = """\
<!-- Generated from the help of each command by tools/generate_docs.py: change the command, then run it again. -->

# Command line

Everything after `--` is a path. Exit codes of all commands: 0 nothing is wrong, 1 something was found (or would change,
with `--check` and `--diff`), 2 wrong usage, broken settings or a report that can't be written, 3 there is no recipe.
`pytest-gbs` and `python -m pytest_gbs` are the same as `gbs`.
"""


def settings() -> str:
    """The page of the settings: a section for each, with its keys and an example."""
    schema = json.loads(read_schema("settings"))
    parts = [_SETTINGS.rstrip("\n")]
    for name, about in schema["properties"].items():
        parts += [f"## {name}", *_setting(name, about)]
    return "\n\n".join(parts) + "\n"


def _setting(name: str, about: dict[str, Any]) -> Iterator[str]:
    default = f" Default: `{_toml(about['default'])}`." if about.get("default") not in (None, [], {}) else ""
    yield f"{about['description']}{default}"
    keys = about.get("items", {}).get("properties", {})
    if keys:
        yield "\n".join(["| key | |", "|---|---|", *(f"| `{key}` | {each['description']} |" for key, each in keys.items())])
    lines = "\n".join(_example(name, value) for value in about["examples"][:1])
    yield f"```toml\n{lines}\n```"


def _example(name: str, value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "\n".join("\n".join([f"[[{name}]]", *(f"{key} = {_toml(each)}" for key, each in entry.items())]) for entry in value)
    return f"{name} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def command_line() -> str:
    """The page of the commands: the help of each."""
    parts = [_CLI.rstrip("\n")]
    for name in commands():
        with redirect_stdout(StringIO()) as told:
            main([name, "--help"])
        parts += [f"## gbs {name}", f"```text\n{told.getvalue().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"
