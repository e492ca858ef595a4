"""How the changes between two states are written down: one file for each format, found by listing this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_gbs.files.plugins import module, names
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.model.difference import Differences
from pytest_gbs.model.errors import UsageError

Render: TypeAlias = Callable[[Differences, FormatOptions], str]


def find(name: str) -> Render:
    """What writes changes in format `name`.

    Raises:
        UsageError: there is no such format.
    """
    known = names(__path__)
    if name not in known:
        raise UsageError(f"gbs diff has no format '{name}'; its formats are {', '.join(known)}")
    render: Render = module(f"{__name__}.{name}").render
    return render
