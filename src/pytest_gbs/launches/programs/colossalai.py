"""colossalai run: `--nproc_per_node` processes on this machine, on each `--host`, or on each line of a hostfile in the repository.

CAI is ColossalAI 4f9953b, colossalai/cli/launcher.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs._words import asked, fallback, names, note, number, option, reason, split, uses, world
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.limits import MOST_HOSTS
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Unknown

# CAI __init__.py:12-69: the options without a value; behind -m is the module, with which the options end.
_SWITCHES: Final = names("m help")
_EACH: Final = "--nproc_per_node"
_HOSTS: Final = ("--host", "-host", "-H")
_FILE: Final = "--hostfile"


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `colossalai run` starts."""
    index = behind(command, ("colossalai",))
    if index is None or len(command.words) <= index or command.words[index].text != "run":
        return None
    parts = split(command, index + 1, _SWITCHES)
    if not parts.program:
        return None
    nodes, each = _nodes(parts.own, command, context, parts.opaque), _processes(parts.own, parts.opaque)
    found = (world(nodes, each), nodes, each)
    return Start("colossalai run", command.at, found, parts.program)


def _processes(own: tuple[Word, ...], opaque: Word | None) -> Quantity | Unknown:
    """The processes on each node, without which it stops (CAI run.py, launch_multi_processes)."""
    unknown = Unknown(Name.GPUS_PER_NODE, reason(opaque), opaque.at) if opaque is not None else Unknown(Name.GPUS_PER_NODE, Reason.MISSING)
    return asked(Name.GPUS_PER_NODE, own, _EACH) or unknown


def _nodes(own: tuple[Word, ...], command: Command, context: LauncherContext, opaque: Word | None) -> Quantity | Unknown:
    """The nodes: the hosts that are named, those of the hostfile, or this machine (CAI run.py, launch_multi_processes)."""
    file, hosts = option(own, _FILE), option(own, *_HOSTS)
    if file is not None:
        return _of_file(file, own, context.text_of(file[1], command))
    if hosts is None:
        return fallback(Name.NUM_NODES, 1, _FILE, "colossalai run", opaque)
    several = (hosts[1].text or "").split(",")
    if hosts[1].text is None or not all(several):
        return Unknown(Name.NUM_NODES, reason(hosts[1]), hosts[1].at)
    return Quantity(Name.NUM_NODES, len(several), Origin.LAUNCH, at=hosts[1].value_at, key=hosts[0], note=note(hosts[1]))


def _of_file(file: tuple[str, Word], own: tuple[Word, ...], text: str | None) -> Quantity | Unknown:
    """The hosts of a hostfile, one on each line, or the first `--num_nodes` of them."""
    key, word = file
    hosts = [line for line in (text or "").splitlines() if line.strip()]
    most = option(own, "--num_nodes")
    asked = number(most[1]) if most is not None and most[1].text != "-1" else 0
    if not 0 < len(hosts) <= MOST_HOSTS or asked is None or uses(own, "--include", "--exclude"):
        return Unknown(Name.NUM_NODES, Reason.MISSING, word.at)
    count = min(asked or len(hosts), len(hosts))
    return Quantity(Name.NUM_NODES, count, Origin.LAUNCH, at=word.value_at, key=key)


LAUNCHER = Launcher("colossalai run", "colossalai run --nproc_per_node, --host, --hostfile", words=("colossalai ",), start=start)
