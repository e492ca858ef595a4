"""litgpt: `litgpt finetune_full --config X` starts as many processes as the recipe says, or the command line in its place.

LG is commit 26857050 of Lightning-AI/litgpt, litgpt/__main__.py (PARSER_DATA).
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._sub_commands import config_of, sub_command
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown

# LG PARSER_DATA: the sub-commands that train; `finetune` is `finetune_lora`.
_TRAINS: Final = ("finetune", "finetune_lora", "finetune_full", "finetune_adapter", "finetune_adapter_v2", "pretrain")


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What a command of litgpt starts: how many GPUs it takes is in `devices` and `num_nodes` of what it reads."""
    index = sub_command(command, ("litgpt",), _TRAINS)
    if index is None:
        return None
    program = command.words[index:]
    world = Unknown(Name.WORLD_SIZE, Reason.MISSING)
    return Start(f"litgpt {program[0].text}", command.at, (world,), program, config_of(program, "--config"))


LAUNCHER = Launcher("litgpt", "litgpt finetune, litgpt pretrain", words=("litgpt",), start=start)
