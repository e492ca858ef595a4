"""JSON as all our formats write it: in ASCII, and nothing in it is a command of a CI system that prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pytest_gbs.formats._escape import neutralize_hashes


def taken(value: object, names: str) -> dict[str, Any]:
    """What `value` has under each of these names, in their order."""
    return {name: getattr(value, name) for name in names.split()}


def dump(value: Any) -> str:
    """`value` as indented JSON with a line break at the end."""
    return neutralize_hashes(json.dumps(value, indent=2), r"#\u0023") + "\n"


def lines(values: Iterable[Any]) -> str:
    """Each of `values` as JSON on a line of its own."""
    return "".join(neutralize_hashes(json.dumps(value), r"#\u0023") + "\n" for value in values)
