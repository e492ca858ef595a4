"""srun without another launcher: each task of the step is a process that trains."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.launches.programs._programs import own_program
from pytest_gbs.launches.programs._ranks import may_train_alone
from pytest_gbs.launches.programs._slurm import Value, count, step, tasks
from pytest_gbs.launches.programs.python import one_process, visible_gpus
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Unknown


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `srun python ...` starts."""
    index, stated = own_program(command), step(command, context)
    if index is None or stated is None or any(wrapper.name == "torchrun" for wrapper in command.wrappers):
        return None
    found, words, visible = tasks(stated), command.words[index:], None
    if isinstance(found, Quantity) and found.value == 1:
        found = one_process(command)  # one process for all GPUs of the job: it may start others itself
        visible = visible_gpus(command)
    elif isinstance(found, Quantity) and may_train_alone(command, index, context):
        return Start("srun python", command.at, (Unknown(found.name, Reason.MISSING, found.at),), words)
    sizes = (found, *_others(stated))
    return Start("srun python", command.at, sizes, words, visible=visible)


def _others(stated: dict[str, Value]) -> Iterator[Quantity | Unknown]:
    for name, key in ((Name.NUM_NODES, "--nodes"), (Name.GPUS_PER_NODE, "--ntasks-per-node")):
        value = count(stated.get(key))
        if value and not (key == "--ntasks-per-node" and value == 1):
            yield Quantity(name, value, Origin.LAUNCH, at=stated[key].at, key=key, note=stated[key].note)


LAUNCHER = Launcher("srun", "srun python script.py: as many processes as tasks", words=("srun",), start=start)
