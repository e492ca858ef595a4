"""Files that come with this package: the JSON Schemas."""

from __future__ import annotations

from pathlib import Path
from pkgutil import get_data

import pytest_gbs


def read_schema(name: str) -> str:
    """Return the text of `<name>.schema.json` (`settings`, `report`), from the installed package or from the checkout.

    Raises:
        FileNotFoundError: there is no such schema.
    """
    part = f"schemas/{name}.schema.json"
    checkout = Path(pytest_gbs.__file__).parents[2] / part
    if checkout.is_file():
        return checkout.read_text(encoding="utf-8")
    data = get_data("pytest_gbs", part)
    if data is None:
        raise FileNotFoundError(part)
    return data.decode("utf-8")
