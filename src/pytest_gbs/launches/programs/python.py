"""Plain Python: one process that uses whatever GPUs it sees, so that only a single visible device says how many take part."""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import own_program
from pytest_gbs.launches.programs._ranks import gets_rank
from pytest_gbs.launches.programs._words import devices, of_variable
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What a command of Python starts; None if `srun` or torchrun starts several, or the module is a launcher itself."""
    index = own_program(command)
    if index is None or any(wrapper.name in ("srun", "torchrun") for wrapper in command.wrappers):
        return None
    return Start("python", command.at, (one_process(command),), command.words[index:], visible=visible_gpus(command))


def one_process(command: Command) -> Quantity | Unknown:
    """The world of one process: 1 if it sees one GPU, unknown if it may see more or start others itself.

    On each of several machines with one GPU it is what the job says to it: `WORLD_SIZE` of a PyTorchJob.
    """
    visible = devices(command)
    nodes = command.machines.nodes if command.machines is not None else None
    said = of_variable(Name.WORLD_SIZE, command, "WORLD_SIZE") if isinstance(visible, Quantity) and visible.value == 1 else None
    if said is not None and nodes is not None and nodes.value > 1:
        return said
    if visible is None or (command.machines is not None and (nodes is None or nodes.value > 1)):
        return Unknown(Name.WORLD_SIZE, Reason.MISSING)
    if isinstance(visible, Quantity):
        known = visible._replace(name=Name.WORLD_SIZE)
        return known if visible.value == 1 else Unknown(Name.WORLD_SIZE, Reason.MISSING, visible.at)
    return Unknown(Name.WORLD_SIZE, visible.reason, visible.at)


def visible_gpus(command: Command) -> Quantity | None:
    """The GPUs that the one process of a command sees if these are several; None if nothing says so, or it may be one of a group."""
    visible = devices(command)
    nodes = command.machines.nodes if command.machines is not None else None
    alone = not gets_rank(command) and (command.machines is None or (nodes is not None and nodes.value == 1))
    return visible if isinstance(visible, Quantity) and visible.value > 1 and alone else None


LAUNCHER = Launcher("python", "python script.py, python -m module", words=("python",), start=start)
