"""specforge train: it starts the processes that the recipe asks for (SpecForge a6b6b023, specforge/cli.py)."""

from __future__ import annotations

from pytest_gbs.launches.programs._sub_commands import sub_command
from pytest_gbs.launches.programs._words import option
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `specforge train` starts; a plan trains nothing, and a producer serves."""
    index = sub_command(command, ("specforge",), ("train",))
    if index is None:
        return None
    program = command.words[index:]
    config, role = option(program, "--config", "-c"), option(program, "--role")
    if config is None or any(word.text == "--plan" for word in program) or (role is not None and role[1].text == "producer"):
        return None
    return Start("specforge train", command.at, (Unknown(Name.WORLD_SIZE, Reason.MISSING),), program, (config[1],))


LAUNCHER = Launcher("specforge", "specforge train --config", words=("specforge",), start=start)
