"""llamafactory-cli train: torchrun by environment variables, one process per visible GPU if they say nothing.

LF is LLaMA-Factory src/llamafactory/launcher.py:44-75 (pinned in hf-family as 0.9.4). Version 1 starts in the same way, by `train` or `sft`
(LLaMA-Factory 1905a0f3, src/llamafactory/v1/launcher.py:31, 62-68, 137-142).
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._sub_commands import is_recipe, sub_command
from pytest_gbs.launches.programs._words import devices, fallback, of_variable, world
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

_ON: Final = ("true", "y", "1")  # LF extras/misc.py is_env_enabled


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `llamafactory-cli train X` starts, `sft` in version 1."""
    index = sub_command(command, ("llamafactory-cli", "lmf"), ("train", "sft"))
    if index is None:
        return None
    recipes = tuple(word for word in command.words[index + 1 : index + 2] if is_recipe(word))
    return Start(f"llamafactory-cli {command.words[index].text}", command.at, _sizes(command), command.words[index:], recipes)


def _sizes(command: Command) -> tuple[Quantity | Unknown, ...]:
    visible = devices(command)
    for name, why in (("USE_RAY", Reason.MISSING), ("USE_KT", Reason.MISSING), ("RDZV_ID", Reason.ELASTIC)):
        word = command.variable(name)
        if word is not None and (name == "RDZV_ID" or _is_on(word) is not False):
            return (Unknown(Name.WORLD_SIZE, why, word.at),)
    forced = [_is_on(command.variable(name)) for name in ("FORCE_TORCHRUN", "USE_MCA")]
    several = isinstance(visible, Quantity) and visible.value > 1
    if True in forced or several:
        return _torchrun(command, visible)
    if None in forced or not isinstance(visible, Quantity):
        at = visible.at if isinstance(visible, Unknown) else None
        return (Unknown(Name.WORLD_SIZE, Reason.AUTO, at),)
    return (visible._replace(name=Name.WORLD_SIZE), visible)


def _is_on(word: Word | None) -> bool | None:
    """Whether a variable is switched on, None if it is unknown; one that the script does not set is off."""
    if word is None:
        return False
    return word.text.lower() in _ON if word.text is not None else None


def _torchrun(command: Command, visible: Quantity | Unknown | None) -> tuple[Quantity | Unknown, ...]:
    """`NNODES` (1) x `NPROC_PER_NODE` (the visible GPUs), as LF hands them to torchrun."""
    nodes = of_variable(Name.NUM_NODES, command, "NNODES") or fallback(Name.NUM_NODES, 1, "NNODES", "LLaMA-Factory", None)
    each = of_variable(Name.GPUS_PER_NODE, command, "NPROC_PER_NODE") or visible or Unknown(Name.GPUS_PER_NODE, Reason.AUTO)
    return world(nodes, each), nodes, each


LAUNCHER = Launcher("llamafactory", "llamafactory-cli train", words=("llamafactory", "lmf "), start=start)
