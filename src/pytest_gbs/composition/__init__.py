"""Several configuration files as one, each value still knowing where it came from: Hydra, parents, files given together."""

from __future__ import annotations

from pytest_gbs.composition.arguments import Resolvers, with_settings
from pytest_gbs.composition.hydra import compose
from pytest_gbs.composition.parents import MMENGINE, NEMO_RL, NEMO_RL_RESOLVERS, Style, inherit
from pytest_gbs.composition.remembered import Remembered
from pytest_gbs.composition.together import Shared, combine

__all__ = [
    "MMENGINE",
    "NEMO_RL",
    "NEMO_RL_RESOLVERS",
    "Remembered",
    "Resolvers",
    "Shared",
    "Style",
    "combine",
    "compose",
    "inherit",
    "with_settings",
]
