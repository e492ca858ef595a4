"""The settings of a check: `gbs.toml` or `[tool.gbs]`, merged with what the command line says."""

from __future__ import annotations

from pytest_gbs.model.settings import Overrides
from pytest_gbs.settings.loading import load_settings

__all__ = ["Overrides", "load_settings"]
