"""A program that submits the command behind its `--` as a job: `python mason.py --num_nodes 2 -- accelerate launch ...`.

MASON is mason.py of allenai/open-instruct @ e6c3044aa. Of other programs it is unknown what they do with their nodes.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs import accelerate, deepspeed, python, torchrun
from pytest_gbs.launches.programs._programs import is_python, own_program
from pytest_gbs.launches.programs._slurm import within
from pytest_gbs.launches.programs._words import names, option, size, world
from pytest_gbs.model.command import Command, Word, name_of
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown

_LAUNCHERS: Final = names("accelerate torchrun deepspeed")
_ENDS: Final = ("--", "&&", "||", ";", "|")
_NODES: Final = ("--num_nodes", "--nodes", "--nnodes", "--num_machines", "--replicas")


def start(command: Command, context: LauncherContext) -> Start | None:
    """What the command behind `--` starts, on the nodes that the program asks for."""
    words = command.words
    program = 0 if name_of(words[0]).endswith(".py") else own_program(command)
    if program is None:
        return None
    dashes = next((place for place in range(program + 1, len(words)) if words[place].text == "--"), len(words))
    handed = command._replace(words=_command(words[dashes:]))
    if not handed.words:
        return None
    started = (start_of(handed, context) for start_of in (accelerate.start, torchrun.start, deepspeed.start, python.start))
    found = next((each for each in started if each is not None), None)
    if found is None:
        return None
    found, nodes = within(found, handed, context), option(words[program + 1 : dashes], *_NODES)
    if nodes is None or nodes[1].text == "1":
        return found
    return found._replace(sizes=_on(nodes, found, handed, name_of(words[program])), problems=())


def _command(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The first command of a launcher or of Python among words, up to the next command; nothing if there is none."""
    first = next((place for place, word in enumerate(words) if name_of(word) in _LAUNCHERS or is_python(word)), len(words))
    last = next((place for place in range(first, len(words)) if words[place].text in _ENDS), len(words))
    return words[first:last]


def _on(nodes: tuple[str, Word], found: Start, handed: Command, program: str) -> tuple[Quantity | Unknown, ...]:
    """The sizes of a launch that runs on `nodes`: those that it names itself, and else what the program makes of them."""
    asked = size(Name.NUM_NODES, nodes[1], nodes[0])
    given = option(handed.words, "--num_processes")
    others = tuple(each for each in found.sizes if each.name not in (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE))
    if program == "mason.py" and found.name == "accelerate launch" and given is not None:
        each = size(Name.GPUS_PER_NODE, given[1], given[0])  # MASON:533-545, make_internal_command: times the nodes
        return world(asked, each), asked, each, *others
    named = next((each for each in found.sizes if each.name == Name.NUM_NODES and isinstance(each, Quantity)), None)
    if named is not None and isinstance(asked, Quantity) and named.value == asked.value:
        return found.sizes
    return Unknown(Name.WORLD_SIZE, Reason.MISSING, nodes[1].at), *others


LAUNCHER = Launcher(
    "handed on",
    "python submit.py ... -- torchrun ...: the launcher behind `--`",
    words=(*sorted(_LAUNCHERS), "python"),
    start=start,
    elsewhere=True,
)
