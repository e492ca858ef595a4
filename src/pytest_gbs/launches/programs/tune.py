"""tune run: torchrun's options, then the name of a recipe; a recipe for a single device runs as one process.

TT is torchtune bd2a0fc: `TT run.py` is torchtune/_cli/run.py, `TT registry` torchtune/_recipe_registry.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs import _torchrun
from pytest_gbs.launches.programs._sub_commands import config_of, sub_command
from pytest_gbs.launches.programs._words import split
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.launch import Launcher, LauncherContext, Problem, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

# TT recipes/dev/async_grpo_full_finetune_distributed.py: one process that starts workers with Ray, as many as its recipe says.
_BY_RAY: Final = ("dev/async_grpo_full_finetune_distributed",)
# TT registry: recipes that do not train.
_NO_TRAINING: Final = ("generate", "quantize", "eleuther_eval", "dev/generate_v2", "dev/generate_v2_distributed")


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `tune run RECIPE --config X` starts."""
    index = sub_command(command, ("tune",), ("run",))
    if index is None:
        return None
    parts = split(command, index + 1, _torchrun.SWITCHES)
    if not parts.program or parts.program[0].text in _NO_TRAINING:
        return None
    found: tuple[Quantity | Unknown, ...] = _torchrun.sizes(parts.own, command, parts.opaque, "tune run")
    if parts.program[0].text in _BY_RAY:
        found = (Unknown(Name.WORLD_SIZE, Reason.MISSING),)
    problems = (*_torchrun.problems(parts.own), *_alone(parts.own, parts.program[0]))
    return Start("tune run", command.at, found, parts.program, config_of(parts.program, "--config"), problems=problems)


def _alone(own: tuple[Word, ...], recipe: Word) -> Iterator[Problem]:
    """Yield that options of torchrun are refused for a recipe of a single device (TT run.py `_run_cmd`; registry)."""
    if own and own[0].text is not None and (recipe.text or "").endswith("_single_device") and "/" not in (recipe.text or ""):
        yield Problem(f"{recipe.text} does not support distributed training; tune run stops at {own[0].text}", own[0].at)


LAUNCHER = Launcher("tune", "tune run RECIPE --config X", words=("tune run",), start=start)
