"""Lightning Fabric: `fabric run --devices 8 --num-nodes 2 train.py`, or `lightning run model`, starts torchrun on each of its nodes.

FC is lightning/fabric/cli.py of Lightning-AI/pytorch-lightning 021e6b11; Fabric stops if the program makes it for other devices
(lightning/fabric/connector.py, _argument_from_env).
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._sub_commands import sub_command
from pytest_gbs.launches.programs._words import Split, asked, fallback, named_devices, option, split, world
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Unknown

_SWITCHES: Final = frozenset(("help",))
_DEVICES: Final = "--devices"
_NODES: Final = ("--num_nodes", "--num-nodes")


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `fabric run [model] OPTIONS PROGRAM` starts."""
    index = sub_command(command, ("fabric",), ("run",)) or sub_command(command, ("lightning",), ("run",))
    if index is None:
        return None
    words = command.words[index + 1 :]
    parts = split(command, index + 1 + (bool(words) and words[0].text == "model"), _SWITCHES, ())
    if not parts.program or not (parts.program[0].text or "").endswith(".py"):
        return None
    return Start("fabric run", command.at, _sizes(parts), parts.program)


def _sizes(parts: Split) -> tuple[Quantity | Unknown, ...]:
    """The world, the nodes and the processes on each, one unless asked for more (FC _run, _torchrun_launch)."""
    given = option(parts.own, _DEVICES)
    each = asked(Name.GPUS_PER_NODE, parts.own, _DEVICES) or fallback(Name.GPUS_PER_NODE, 1, _DEVICES, "fabric", parts.opaque)
    if given is not None and "," in (given[1].text or ""):
        each = named_devices(given[1], given[0])
    nodes = asked(Name.NUM_NODES, parts.own, *_NODES) or fallback(Name.NUM_NODES, 1, _NODES[0], "fabric", parts.opaque)
    return world(nodes, each), nodes, each


LAUNCHER = Launcher("fabric", "fabric run, lightning run model", words=("fabric run", "lightning run"), start=start)
