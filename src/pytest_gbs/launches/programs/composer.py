"""composer: `-n` processes on this node, `--world_size` over all; every visible GPU if neither is given.

CO is composer 006ea7a, composer/cli/launcher.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs._words import Split, asked, devices, names, of_variable, reason, split
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

_SWITCHES: Final = names("version v verbose m module_mode c command_mode h help")  # CO _get_parser


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `composer train.py ...` starts; the package manager of PHP has the same name and runs no Python."""
    index = behind(command, ("composer",), ("composer.cli.launcher", "composer"))
    parts = split(command, index, _SWITCHES, ("-m", "--module_mode")) if index is not None else None
    if parts is None or not parts.program:
        return None
    first = parts.program[0]
    if first.text != "-m" and not (first.text or first.raw.strip("\"'")).endswith(".py"):
        return None
    return Start("composer", command.at, tuple(_sizes(parts, command)), parts.program)


def _sizes(parts: Split, command: Command) -> Iterator[Quantity | Unknown]:
    """Yield the world, then the processes on each node (CO _parse_args)."""
    each = asked(Name.GPUS_PER_NODE, parts.own, "--nproc", "-n") or of_variable(Name.GPUS_PER_NODE, command, "LOCAL_WORLD_SIZE")
    each = each or devices(command)
    world = asked(Name.WORLD_SIZE, parts.own, "--world_size") or of_variable(Name.WORLD_SIZE, command, "WORLD_SIZE")
    if parts.opaque is not None and world is None:
        yield Unknown(Name.WORLD_SIZE, reason(parts.opaque), parts.opaque.at)
    elif world is not None:
        yield world
    elif isinstance(each, Quantity):
        yield each._replace(name=Name.WORLD_SIZE)
    else:
        yield Unknown(Name.WORLD_SIZE, each.reason if each is not None else Reason.AUTO, each.at if each is not None else None)
    if each is not None:
        yield each


LAUNCHER = Launcher("composer", "composer train.py", words=("composer ",), start=start)
