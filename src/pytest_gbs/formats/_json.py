"""JSON as all our formats write it: in ASCII, and nothing in it is a command of a CI system that prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from pytest_gbs.formats._escape import neutralize_hashes

_AT_ONCE: Final = 10_000


def taken(value: object, names: str) -> dict[str, Any]:
    """What `value` has under each of these names, in their order."""
    return {name: getattr(value, name) for name in names.split()}


def dump(value: Any) -> str:
    """`value` as indented JSON with a line break at the end."""
    # `json.dumps` keeps each of its pieces, of a few signs, until it has the last.
    pieces = json.JSONEncoder(indent=2).iterencode(value)
    text = "".join(iter(lambda: "".join(islice(pieces, _AT_ONCE)), ""))
    return neutralize_hashes(text, r"#\u0023") + "\n"


def lines(values: Iterable[Any]) -> str:
    """Each of `values` as JSON on a line of its own."""
    return "".join(neutralize_hashes(json.dumps(value), r"#\u0023") + "\n" for value in values)
