"""MindSpore's msrun: `msrun --worker_num=16 --local_worker_num=8 train.py` starts so many processes in all, and so many on this machine.

MS is mindspore/python/mindspore/parallel/cluster/run.py of mindspore-ai/mindspore v2.5.0: 8 of each, unless they are given.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs._words import asked, fallback, split
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name

_SWITCHES: Final = frozenset(("help",))
_WORKERS: Final = "--worker_num"


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What a command of msrun starts."""
    index = behind(command, ("msrun",), ())
    parts = split(command, index, _SWITCHES) if index is not None else None
    if parts is None or not parts.program:
        return None
    world = asked(Name.WORLD_SIZE, parts.own, _WORKERS) or fallback(Name.WORLD_SIZE, 8, _WORKERS, "msrun", parts.opaque)
    return Start("msrun", command.at, (world,), parts.program)


LAUNCHER = Launcher("msrun", "MindSpore's msrun", words=("msrun",), start=start)
