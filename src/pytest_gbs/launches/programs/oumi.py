"""oumi train: one process for all GPUs that it sees; `oumi distributed torchrun` takes nodes and GPUs from the cluster.

OU is oumi d8ed07778, src/oumi/cli; `OU distributed_run.py:174` is a line of it.
"""

from __future__ import annotations

from pytest_gbs.launches.programs import accelerate, torchrun
from pytest_gbs.launches.programs._sub_commands import config_of, sub_command
from pytest_gbs.launches.programs._words import world
from pytest_gbs.launches.programs.python import one_process
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `oumi train -c X` and `oumi distributed LAUNCHER ...` start."""
    index = sub_command(command, ("oumi",), ("train", "distributed"))
    if index is None:
        return None
    words = command.words[index:]
    if words[0].text == "distributed":
        return _distributed(command._replace(words=words[1:]), context) if len(words) > 1 else None
    return Start("oumi train", command.at, (one_process(command),), words, config_of(words, "--config", "-c"))


def _distributed(command: Command, context: LauncherContext) -> Start | None:
    """What a launcher starts with nodes and processes of the cluster in front of its own options (OU distributed_run.py:174-184, 502)."""
    found = torchrun.start(command, context) or accelerate.start(command, context)
    if found is None:
        return None
    nodes, each = (command.machines.nodes, command.machines.gpus_per_node) if command.machines is not None else (None, None)
    known = (world(nodes, each), nodes, each) if nodes is not None and each is not None else (Unknown(Name.WORLD_SIZE, Reason.MISSING),)
    return found._replace(sizes=known, problems=())


LAUNCHER = Launcher("oumi", "oumi train -c X, oumi distributed torchrun -m oumi train -c X", words=("oumi ",), start=start)
