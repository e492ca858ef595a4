"""Know the global batch size of every LLM training recipe, where each number came from, and what breaks it."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any

    from pytest_gbs.api import check
    from pytest_gbs.loading import FoundProblem, LoadedRepository, load, load_texts
    from pytest_gbs.model.hardware import CommandLineHardware as Given
    from pytest_gbs.model.settings import Settings
    from pytest_gbs.recipe import Recipe, Stated

# The public names, all of them: docs/python-api.md describes each.
__all__ = ["FoundProblem", "Given", "LoadedRepository", "Recipe", "Settings", "Stated", "__version__", "check", "load", "load_texts"]
__version__ = "0.1.0"

# pytest imports this package whenever it is installed: nothing may be imported until it is used.
_HOMES = {
    "FoundProblem": ("pytest_gbs.loading", "FoundProblem"),
    "LoadedRepository": ("pytest_gbs.loading", "LoadedRepository"),
    "Recipe": ("pytest_gbs.recipe", "Recipe"),
    "Stated": ("pytest_gbs.recipe", "Stated"),
    "check": ("pytest_gbs.api", "check"),
    "load": ("pytest_gbs.loading", "load"),
    "load_texts": ("pytest_gbs.loading", "load_texts"),
    "Given": ("pytest_gbs.model.hardware", "CommandLineHardware"),
    "Settings": ("pytest_gbs.model.settings", "Settings"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return list(__all__)
