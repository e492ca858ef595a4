"""Plain Python: one process that uses whatever GPUs it sees, so that only a single visible device says how many take part."""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import own_program
from pytest_gbs.launches.programs._slurm import within
from pytest_gbs.launches.programs._words import devices
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, Start, Surroundings
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown


def start(command: Command, surroundings: Surroundings) -> Start | None:
    """What a command of Python starts; None if `srun` starts several, or the module is a launcher itself."""
    index = own_program(command)
    if index is None or any(wrapper.name == "srun" for wrapper in command.wrappers):
        return None
    return within(Start("python", command.at, (one_process(command),), command.words[index:]), command, surroundings)


def one_process(command: Command) -> Quantity | Unknown:
    """The world of one process: 1 if it sees one GPU, unknown if it may see more or start others itself."""
    visible = devices(command)
    nodes = command.machines.nodes if command.machines is not None else None
    if visible is None or (command.machines is not None and (nodes is None or nodes.value > 1)):
        return Unknown(Name.WORLD_SIZE, Reason.MISSING)
    if isinstance(visible, Quantity):
        known = visible._replace(name=Name.WORLD_SIZE)
        return known if visible.value == 1 else Unknown(Name.WORLD_SIZE, Reason.MISSING, visible.at)
    return Unknown(Name.WORLD_SIZE, visible.reason, visible.at)


LAUNCHER = Launcher("python", "python script.py, python -m module", words=("python",), start=start)
