"""xtuner train: one process on one GPU, torchrun where `NNODES` or `NPROC_PER_NODE` asks for more, tasks of Slurm with `--launcher slurm`.

XT is commit b934f46 of InternLM/xtuner, xtuner/entry_point.py:296-330 and xtuner/tools/train.py:145-156.
"""

from __future__ import annotations

from pytest_gbs.launches.programs._slurm import step, tasks
from pytest_gbs.launches.programs._sub_commands import sub_command
from pytest_gbs.launches.programs._words import option, processes, reason, uses
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

_OWN = "xtuner/configs/"  # XT configs/__init__.py: a name without suffix is that of a file there


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `xtuner train CONFIG` starts; None if the command line changes the configuration, or leaves it out."""
    index = sub_command(command, ("xtuner",), ("train",))
    words = command.words[index + 1 :] if index is not None else ()
    if index is None or not words or words[0].starts_with.startswith("-") or uses(words, "--cfg-options"):
        return None
    sizes = _sizes(command, context, index)
    return Start("xtuner train", command.at, sizes, command.words[index : index + 2], words[:1], own_recipes=_OWN)


def _sizes(command: Command, context: LauncherContext, index: int) -> tuple[Quantity | Unknown, ...]:
    """`NNODES` x `NPROC_PER_NODE`, 1 for one that is not set; the tasks of Slurm if the command line asks for them."""
    launcher = option(command.words[index:], "--launcher")
    if launcher is not None and launcher[1].text not in ("none", "slurm"):
        return (Unknown(Name.WORLD_SIZE, reason(launcher[1]), launcher[1].at),)
    if launcher is not None and launcher[1].text == "slurm":
        stated = step(command, context)
        return (tasks(stated) if stated is not None else Unknown(Name.WORLD_SIZE, Reason.MISSING, launcher[1].at),)
    return processes(command.variable("NNODES"), command.variable("NPROC_PER_NODE"), "xtuner")


LAUNCHER = Launcher("xtuner", "xtuner train", words=("xtuner ",), start=start)
