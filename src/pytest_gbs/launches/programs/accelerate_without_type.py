"""A file of `accelerate config` from which `distributed_type` is missing: accelerate refuses it.

ACC is accelerate 1.15.0; `ACC commands/config/config_args.py:106` is a line of src/accelerate.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import Launcher, LauncherFile, Problem
from pytest_gbs.model.location import Location

# Keys that `accelerate config` writes beside it and that nothing else has together.
_BESIDE: Final = ("main_training_function", "machine_rank", "downcast_bf16", "same_network")


def owns(document: Document) -> bool:
    """Whether `document` has what a file of accelerate has, but for the one key that it must have."""
    if ("distributed_type",) in document.keyed or ("compute_environment",) not in document.keyed:
        return False
    return ("num_processes",) in document.keyed and sum((key,) in document.keyed for key in _BESIDE) >= 2


def read(document: Document) -> LauncherFile:
    """A launcher file whose one problem is that accelerate stops with it (ACC commands/config/config_args.py:106)."""
    at = document.locate(("compute_environment",)) or Location(document.source.path)
    problem = Problem("no distributed_type: accelerate launch stops", at)
    return LauncherFile(document.source.path, "accelerate", (), False, (problem,))


LAUNCHER = Launcher("accelerate config", "a file of accelerate config without distributed_type", "compute_environment", owns, read)
