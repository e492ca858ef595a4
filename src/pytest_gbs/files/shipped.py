"""Files that come with this package: the JSON Schemas."""

from __future__ import annotations

from pytest_gbs.files.plugins import read_beside


def read_schema(name: str) -> str:
    """The text of `<name>.schema.json` (`settings`, `framework`, `report`, ...), from the installed package or from the checkout.

    Raises:
        FileNotFoundError: there is no such schema.
    """
    file = f"schemas/{name}.schema.json"
    data = read_beside("pytest_gbs", file) or read_beside("pytest_gbs", f"../../{file}")
    if data is None:
        raise FileNotFoundError(file)
    return data.decode("utf-8")
