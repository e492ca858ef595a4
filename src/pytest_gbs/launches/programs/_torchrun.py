"""The sizes that torchrun's own options give, and those programs that hand the same options on to it.

RUN is torch/distributed/run.py of pytorch 010929f.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._words import devices, fallback, number, option, size, uses, world
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.launch import Problem
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

# RUN get_args_parser: the options without a value; `use_env` is torch/distributed/launch.py's.
SWITCHES: Final = frozenset(("standalone", "m", "module", "no_python", "run_path", "use_env", "h", "help"))
_NODES: Final = ("--nnodes", "--nnode")
_EACH: Final = ("--nproc_per_node", "--nproc_per", "--nproc")


def sizes(own: tuple[Word, ...], command: Command, opaque: Word | None, launcher: str = "torchrun") -> tuple[Quantity | Unknown, ...]:
    """The world, the nodes and the processes on each: options, `PET_` variables (RUN action=env), or 1 (RUN defaults)."""
    nodes = _read(Name.NUM_NODES, option(own, *_NODES), command.variable("PET_NNODES"), opaque, launcher)
    each = _read(Name.GPUS_PER_NODE, option(own, *_EACH), command.variable("PET_NPROC_PER_NODE"), opaque, launcher)
    visible = devices(command)
    if visible is not None and isinstance(each, Unknown) and each.reason == Reason.AUTO:
        each = visible  # RUN determine_local_world_size: as many as CUDA has devices
    return world(nodes, each), nodes, each


def _read(name: str, given: tuple[str, Word] | None, variable: Word | None, opaque: Word | None, launcher: str) -> Quantity | Unknown:
    default = "--nnodes" if name == Name.NUM_NODES else "--nproc_per_node"
    if given is None and variable is not None:
        given = f"PET_{default[2:].upper()}", variable
    if given is None:
        return fallback(name, 1, default, launcher, opaque)
    return size(name, given[1], given[0], _fixed(given[1]) if name == Name.NUM_NODES else None)


def _fixed(word: Word) -> int | None:
    """The nodes of `4` and of `4:4`; a real range is elastic (RUN parse_min_max_nnodes)."""
    least, colon, most = (word.text or "").partition(":")
    return whole_number(least) if colon and least == most else number(word)


def problems(own: tuple[Word, ...]) -> Iterator[Problem]:
    """Yield what torchrun refuses: no nodes, or no processes on a node (RUN config_from_args; WorkerSpec), and what it waits for forever.

    With `--standalone` the nodes meet on localhost (RUN run), where no other node can come.
    """
    for names, what in ((_NODES, "nodes"), (_EACH, "processes on a node")):
        given = option(own, *names)
        if given is not None and number(given[1]) == 0:
            yield Problem(f"0 {what}; torchrun stops", given[1].value_at)
    nodes = option(own, *_NODES)
    expected = _fixed(nodes[1]) if nodes is not None and uses(own, "--standalone") else None
    if nodes is not None and expected is not None and expected > 1:
        message = f"--standalone starts a group of one machine, in which torchrun waits for {expected} machines until it gives up"
        yield Problem(message, nodes[1].value_at)
