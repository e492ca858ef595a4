"""gaudi_spawn.py and xla_spawn.py, which examples of transformers bring along: so many processes of a program on one machine.

OH is optimum-habana 1d8504c6c (examples/gaudi_spawn.py, optimum/habana/distributed/distributed_runner.py), TF is transformers 4.4.2
(examples/xla_spawn.py).
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._programs import SPAWNING, python_program
from pytest_gbs.launches.programs._words import Split, asked, fallback, names, split, uses
from pytest_gbs.model.command import Command, name_of
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

# OH gaudi_spawn.py:52-57; the hosts of a file are a world of their own (OH distributed_runner.py:85-95).
_SWITCHES: Final = names("use_mpi use_deepspeed help h")
_HOSTS: Final = "--hostfile"


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `python gaudi_spawn.py --world_size 8 train.py` starts."""
    index = python_program(command)
    called = name_of(command.words[index]) if index is not None else ""
    if index is None or called not in SPAWNING:
        return None
    parts = split(command, index + 1, _SWITCHES, ())
    if not parts.program:
        return None
    return Start(called, command.at, (_processes(parts, called),), parts.program)


def _processes(parts: Split, called: str) -> Quantity | Unknown:
    """The processes that the options ask for; those of a hostfile are not known."""
    if uses(parts.own, _HOSTS):
        return Unknown(Name.WORLD_SIZE, Reason.MISSING)
    key = SPAWNING[called]
    return asked(Name.WORLD_SIZE, parts.own, key) or fallback(Name.WORLD_SIZE, 1, key, called, parts.opaque)


LAUNCHER = Launcher("spawn", "gaudi_spawn.py --world_size, xla_spawn.py --num_cores", words=tuple(SPAWNING), start=start)
