"""torchrun, and `python -m torch.distributed.run` and `launch`: so many processes on each of so many nodes."""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import TORCHRUN_MODULES, behind, own_program
from pytest_gbs.launches.programs._torchrun import SWITCHES, problems, sizes
from pytest_gbs.launches.programs._words import opaque_word, split
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What a command of torchrun starts."""
    index = behind(command, ("torchrun",), TORCHRUN_MODULES)
    if index is None:
        return _around(command)
    parts = split(command, index, SWITCHES)
    if not parts.program:
        return None
    found = sizes(parts.own, command, parts.opaque)
    return Start("torchrun", command.at, found, parts.program, problems=tuple(problems(parts.own)))


def _around(command: Command) -> Start | None:
    """What Python starts in each process of the torchrun around it: `torchrun --no-python bash run.sh`."""
    around = next((wrapper.words[1:] for wrapper in reversed(command.wrappers) if wrapper.name == "torchrun"), None)
    index = own_program(command) if around is not None else None
    if around is None or index is None:
        return None
    found = sizes(around, command, opaque_word(around))
    return Start("torchrun", command.at, found, command.words[index:], problems=tuple(problems(around)))


LAUNCHER = Launcher("torchrun", "torchrun, python -m torch.distributed.run", words=("torchrun", "torch.distributed"), start=start)
