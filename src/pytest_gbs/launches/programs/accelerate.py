"""accelerate launch: its command, and the YAML that `accelerate config` writes."""

from __future__ import annotations

from pytest_gbs.launches.programs import _accelerate_launch
from pytest_gbs.launches.programs._accelerate_file import owns, read
from pytest_gbs.launches.programs._programs import ACCELERATE_CLI_MODULES, ACCELERATE_MODULES, behind
from pytest_gbs.launches.programs._words import split
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start


def start(command: Command, context: LauncherContext) -> Start | None:
    """What a command of `accelerate launch` starts."""
    index = _launch(command)
    if index is None:
        return None
    parts = split(command, index, _accelerate_launch.SWITCHES)
    if not parts.program:
        return None
    of = _accelerate_launch.given(parts, command, context)
    files = (of.file,) if of.file is not None else ()
    problems = tuple(_accelerate_launch.problems(of))
    sizes = _accelerate_launch.sizes(of)
    visible = _accelerate_launch.fed_gpus(of, command)
    return Start("accelerate launch", command.at, sizes, parts.program, (), files, problems=problems, visible=visible)


def _launch(command: Command) -> int | None:
    """The index behind `accelerate launch`, `accelerate-launch` or `python -m accelerate.commands.launch`."""
    index = behind(command, ("accelerate",), ACCELERATE_CLI_MODULES)
    if index is not None:
        return index + 1 if index < len(command.words) and command.words[index].text == "launch" else None
    return behind(command, ("accelerate-launch",), ACCELERATE_MODULES)


LAUNCHER = Launcher(
    "accelerate", "accelerate launch, the YAML file of its --config_file", "distributed_type", owns, read, ("accelerate",), start
)
