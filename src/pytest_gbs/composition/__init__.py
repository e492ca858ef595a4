"""Several configuration files as one, each value with its place: Hydra trees, parents, files given together, overrides."""

from pytest_gbs.composition._interpolations import Resolvers
from pytest_gbs.composition.arguments import lay_over, with_settings
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.composition.hydra import compose
from pytest_gbs.composition.merge_files import merge_files
from pytest_gbs.composition.parents import DETECTRON2, MMENGINE, NEMO_RL, NEMO_RL_RESOLVERS, QUININE, RTDETR, ParentStyle, inherit

__all__ = [
    "DETECTRON2",
    "MMENGINE",
    "NEMO_RL",
    "NEMO_RL_RESOLVERS",
    "QUININE",
    "RTDETR",
    "DocumentCache",
    "ParentStyle",
    "Resolvers",
    "compose",
    "inherit",
    "lay_over",
    "merge_files",
    "with_settings",
]
