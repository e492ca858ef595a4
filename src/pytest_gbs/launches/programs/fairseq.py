"""fairseq-train and fairseq-hydra-train: a process on each GPU that the machine shows, or as many as are asked for.

FS is commit 3d262bb2 of facebookresearch/fairseq: setup.py (console_scripts), fairseq/dataclass/configs.py:257-262. What
fairseq-hydra-train asks for is a setting of its recipe.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs._words import asked, devices
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

_NAME: Final = "fairseq-train"
_HYDRA: Final = "fairseq-hydra-train"
_ASKED: Final = "--distributed-world-size"


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `fairseq-train data-bin --arch transformer` starts."""
    name = next((each for each in (_NAME, _HYDRA) if behind(command, (each,)) is not None), None)
    if name is None or len(command.words) < 2:
        return None
    processes = _processes(command) if name == _NAME else Unknown(Name.WORLD_SIZE, Reason.MISSING)
    return Start(name, command.at, (processes,), command.words)


def _processes(command: Command) -> Quantity | Unknown:
    """The processes that are asked for, or one for each GPU that is visible (FS configs.py:257, torch.cuda.device_count)."""
    given = asked(Name.WORLD_SIZE, command.words[1:], _ASKED)
    if given is not None:
        return given
    visible = devices(command) if command.machines is None else None
    return visible._replace(name=Name.WORLD_SIZE) if visible is not None else Unknown(Name.WORLD_SIZE, Reason.MISSING)


LAUNCHER = Launcher("fairseq", _NAME, words=(_NAME, _HYDRA), start=start)
