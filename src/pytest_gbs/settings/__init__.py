"""The settings of a check: `gbs.toml` or `[tool.gbs]`, merged with what the command line says."""

from __future__ import annotations

from pytest_gbs.settings.hardware import hardware_for
from pytest_gbs.settings.loading import load_settings
from pytest_gbs.settings.selection import Overrides, merge

__all__ = ["Overrides", "hardware_for", "load_settings", "merge"]
