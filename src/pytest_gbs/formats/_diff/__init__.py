"""How the changes between two states are written down: one file for each format, found by listing this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_gbs.files.plugins import module
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.model.difference import Differences
from pytest_gbs.model.errors import UsageError

if TYPE_CHECKING:
    from typing import TypeAlias

    Render: TypeAlias = Callable[[Differences, FormatOptions], str]


def names() -> tuple[str, ...]:
    """The names of the formats."""
    from pkgutil import iter_modules

    return tuple(sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_")))


def find(name: str) -> Render:
    """What writes changes in format `name`.

    Raises:
        UsageError: there is no such format.
    """
    if name not in names():
        raise UsageError(f"gbs diff has no format '{name}'; its formats are {', '.join(names())}")
    render: Render = module(f"{__name__}.{name}").render
    return render


__all__ = ["find", "names"]
