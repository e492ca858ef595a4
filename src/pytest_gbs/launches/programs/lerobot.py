"""lerobot-train: one process, unless torchrun or accelerate starts it (LeRobot 7427f3180, pyproject.toml, project.scripts)."""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs.python import one_process
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `lerobot-train --batch_size=8 ...` starts."""
    if behind(command, ("lerobot-train",)) is None:
        return None
    return Start("lerobot-train", command.at, (one_process(command),), command.words, ())


LAUNCHER = Launcher("lerobot", "lerobot-train", words=("lerobot-train",), start=start)
