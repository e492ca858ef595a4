"""The output formats: one file each, found by listing this folder; only the one that is asked for is imported."""

from __future__ import annotations

from pytest_gbs.files import plugins
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.model.errors import UsageError


def names() -> tuple[str, ...]:
    """The names of all formats: those of the modules in this folder."""
    return plugins.names(__path__)


def find(name: str) -> Format:
    """The format `name`.

    Raises:
        UsageError: there is no such format.
    """
    if name != "text" and name not in names():
        from pytest_gbs.arithmetic.near_miss import suggestion

        raise UsageError(f"no format '{name}'; {suggestion(name, names())}the formats are {', '.join(names())}")
    found: Format = plugins.module(f"{__name__}.{name}").FORMAT
    return found


def formats() -> tuple[Format, ...]:
    """Every format, by name."""
    return tuple(find(name) for name in names())


__all__ = ["Format", "FormatOptions", "find", "formats", "names"]
