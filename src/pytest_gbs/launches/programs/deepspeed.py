"""deepspeed: `--num_nodes` x `--num_gpus`, the slots that `--include` lists, or those of a hostfile in the repository.

DS is DeepSpeed 2d991ba, deepspeed/launcher/runner.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._programs import DEEPSPEED_MODULES, behind
from pytest_gbs.launches.programs._words import devices, fallback, names, note, number, option, reason, size, split, uses, world
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.launch import Launcher, LauncherContext, Problem, Start
from pytest_gbs.model.limits import MOST_HOSTS
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name, Note, Origin, Quantity, Reason, Unknown

# DS parse_args: the options without a value.
_SWITCHES: Final = names(
    "module no_python no_local_rank no_ssh no_ssh_check force_multi save_pid elastic_training bind_cores_to_rank h help"
)
_EACH: Final = ("--num_gpus", "--num_accelerators", "--num_gpu")
_NODES: Final = ("--num_nodes", "--num_node")
_INCLUDE: Final = ("--include", "-i")
_EXCLUDE: Final = ("--exclude", "-e")
_FEW_HOSTS: Final = 5


def start(command: Command, context: LauncherContext) -> Start | None:
    """What a command of deepspeed starts."""
    index = behind(command, ("deepspeed",), DEEPSPEED_MODULES)
    if index is None:
        return None
    parts = split(command, index, _SWITCHES, ("--module",))
    if not parts.program:
        return None
    found = tuple(sizes(parts.own, command, parts.opaque, context))
    return Start("deepspeed", command.at, found, parts.program, problems=tuple(_problems(parts.own)))


def sizes(own: tuple[Word, ...], command: Command, opaque: Word | None, context: LauncherContext) -> Iterator[Quantity | Unknown]:
    """Yield the sizes that the options `own` of deepspeed give; `opaque` is a word that may hold others."""
    hosts = _hosts(own, command, context)
    include = option(own, *_INCLUDE)
    if uses(own, "--elastic_training") or uses(own, "--autotuning"):
        yield Unknown(Name.WORLD_SIZE, Reason.ELASTIC)
    elif include is not None:
        yield from _included(*include)
    elif uses(own, *_EXCLUDE) or opaque is not None:
        yield Unknown(Name.WORLD_SIZE, Reason.MISSING, opaque.at if opaque else None)
    elif hosts and (given := option(own, "--hostfile", "-H")) is not None:
        yield from _of_hosts(hosts, own, *given)
    else:
        nodes, each = _nodes(own), _each(own, command)
        yield from (world(nodes, each), *(one for one in (nodes, each) if isinstance(one, Quantity)))


def _hosts(own: tuple[Word, ...], command: Command, context: LauncherContext) -> list[int]:
    """The slots of each host in the hostfile, if the repository has it and every line is one that deepspeed reads (DS _parse_hostfile)."""
    given = option(own, "--hostfile", "-H")
    text = context.text_of(given[1], command) if given is not None else None
    lines = [line.strip() for line in (text or "").splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = [_host().match(line) for line in lines[: MOST_HOSTS + 1]]
    slots = {host.group(1): whole_number(host.group(2)) or 0 for host in found if host is not None}
    return list(slots.values()) if len(lines) == len(slots) <= MOST_HOSTS and all(slots.values()) else []


def _of_hosts(hosts: list[int], own: tuple[Word, ...], key: str, file: Word) -> Iterator[Quantity | Unknown]:
    """Yield the sizes of a hostfile: its first `--num_nodes` hosts, `--num_gpus` on each (DS main)."""
    nodes, each = option(own, *_NODES), option(own, *_EACH)
    asked = [number(given[1]) if given is not None and given[1].text != "-1" else 0 for given in (nodes, each)]
    if None in asked:
        yield Unknown(Name.WORLD_SIZE, Reason.INTERPOLATED, file.at)
        return
    used = [asked[1] or slots for slots in hosts[: asked[0] or len(hosts)]]
    said = Note(f"{len(used)} hosts with {' + '.join(map(str, used))} slots" if len(used) < _FEW_HOSTS else f"{len(used)} hosts")
    yield from _of_slots(used, key, file, said)


def _of_slots(slots: list[int], key: str, word: Word, said: Note) -> Iterator[Quantity]:
    """Yield the world, the nodes and, where they are the same on each, the processes of hosts with so many `slots`."""
    yield Quantity(Name.WORLD_SIZE, sum(slots), Origin.LAUNCH, at=word.value_at, key=key, note=said)
    yield Quantity(Name.NUM_NODES, len(slots), Origin.LAUNCH, at=word.value_at, key=key)
    if len(set(slots)) == 1:
        yield Quantity(Name.GPUS_PER_NODE, slots[0], Origin.LAUNCH, at=word.value_at, key=key)


_host = lazy_pattern(r"(\S+)\s+slots=(\d{1,6})(?=\s|$)")


def _nodes(own: tuple[Word, ...]) -> Quantity | Unknown:
    """The nodes: those asked for, all of the hostfile, or this one machine (DS main)."""
    given = option(own, *_NODES)
    if given is not None and given[1].text != "-1":
        return size(Name.NUM_NODES, given[1], given[0])
    hostfile = option(own, "--hostfile", "-H")
    if hostfile is not None:
        return Unknown(Name.NUM_NODES, Reason.MISSING, hostfile[1].at)
    return fallback(Name.NUM_NODES, 1, "--num_nodes", "deepspeed", None)


def _each(own: tuple[Word, ...], command: Command) -> Quantity | Unknown:
    """The processes on each node: those asked for, or the visible devices if no option says anything (DS main)."""
    given = option(own, *_EACH)
    if given is not None and given[1].text != "-1":
        return size(Name.GPUS_PER_NODE, given[1], given[0])
    visible = devices(command)
    if visible is None or uses(own, *_NODES) or uses(own, "--hostfile", "-H"):
        return Unknown(Name.GPUS_PER_NODE, Reason.MISSING)
    return visible


def _included(key: str, word: Word) -> Iterator[Quantity | Unknown]:
    """Yield the slots of `localhost:0,1@worker-1:0,2`; a host without slots has as many as the hostfile says (DS parse_node_config)."""
    slots: dict[str, set[str]] = {}
    for entry in (word.text or "").split("@"):
        host, colon, named = entry.partition(":")
        if not colon or not all(is_digits(slot.strip()) for slot in named.split(",")):
            yield Unknown(Name.WORLD_SIZE, reason(word) if word.text is None else Reason.MISSING, word.at)
            return
        slots.setdefault(host, set()).update(slot.strip() for slot in named.split(","))
    yield from _of_slots([len(of) for of in slots.values()], key, word, note(word))


def _problems(own: tuple[Word, ...]) -> Iterator[Problem]:
    """Yield what deepspeed refuses (DS main; parse_resource_filter)."""
    include, exclude = option(own, *_INCLUDE), option(own, *_EXCLUDE)
    numbers = [given for given in (option(own, *_NODES), option(own, *_EACH)) if given is not None and number(given[1]) is not None]
    chosen = include or exclude
    if include is not None and exclude is not None:
        related = ((exclude[1].value_at, exclude[0]),)
        yield Problem("--include and --exclude can't be combined; deepspeed stops", include[1].value_at, related)
    elif chosen is not None and numbers:
        related = ((chosen[1].value_at, chosen[0]),)
        yield Problem(f"{numbers[0][0]} and {chosen[0]} can't be combined; deepspeed stops", numbers[0][1].value_at, related)


LAUNCHER = Launcher("deepspeed", "deepspeed --num_nodes --num_gpus, --include", words=("deepspeed",), start=start)
