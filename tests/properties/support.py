"""What the properties share: files in memory, what `gbs show --format json` says of them, and recipes written in several languages."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from pytest_gbs import Given
from pytest_gbs.formats import json as json_format
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from tests.support import check, in_memory

Recipe = Mapping[str, Any]


def reported(files: Mapping[str, str], world_size: int | None = None) -> Report:
    """The report on files in memory."""
    return check(in_memory(files), (), Settings(), Given(world_size=world_size), keep_runs=True)


def shown(files: Mapping[str, str], world_size: int | None = None, examples: int = 0) -> list[dict[str, Any]]:
    """The entries of `gbs show --format json`, for a data set of so many examples."""
    found: list[dict[str, Any]] = json.loads(json_format.show(reported(files, world_size), FormatOptions(examples=examples)))["recipes"]
    return found


def sizes(entry: Mapping[str, Any]) -> dict[str, int]:
    """The sizes that an entry of `gbs show` knows, those that really run in place of the stated ones."""
    known = {name: size["value"] for name, size in entry["quantities"].items() if size["status"] == "known"}
    return known | {name: size["value"] for name, size in entry["realised"].items()}


def as_yaml(recipe: Recipe) -> str:
    """A recipe as YAML, its keys in the order of the recipe."""
    return yaml.safe_dump(dict(recipe), sort_keys=False)


def as_json(recipe: Recipe) -> str:
    """A recipe as JSON."""
    return json.dumps(recipe, indent=2)


def as_toml(recipe: Recipe) -> str:
    """A recipe as TOML: its tables behind its values."""
    return "".join(_toml(recipe, ""))


def _toml(table: Recipe, name: str) -> list[str]:
    values = [f"{key} = {json.dumps(value)}\n" for key, value in table.items() if not isinstance(value, dict)]
    tables = [(f"{name}{key}", value) for key, value in table.items() if isinstance(value, dict)]
    return [*values, *(line for key, value in tables for line in (f"[{key}]\n", *_toml(value, f"{key}.")))]


def as_python(recipe: Recipe, called: str) -> str:
    """A recipe as a call of class `called` in a Python program."""
    module, _, name = called.rpartition(".")
    return f"from {module} import {name}\n\nargs = {name}({', '.join(f'{key}={value!r}' for key, value in recipe.items())})\n"
