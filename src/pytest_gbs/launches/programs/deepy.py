"""deepy.py of GPT-NeoX: `python deepy.py train.py -d configs 125M.yml local_setup.yml`, on the slots of the hostfile that these name.

NX is commit ea7aefd8 of EleutherAI/gpt-neox, megatron/neox_arguments/arguments.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._in_recipe import document_of, word_at
from pytest_gbs.launches.programs._programs import DEEPY, python_program
from pytest_gbs.launches.programs._words import option
from pytest_gbs.model.command import Command, Part, Word, name_of
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.limits import MOST_DEEPY_FILES
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason, Unknown

_TRAINS: Final = ("train.py", "pretrain_gpt2.py")
_FOLDER: Final = ("--conf_dir", "-d")
_ENDINGS: Final = (".yml", ".json")
# Keys that take some of the hosts' GPUs, or say otherwise how many there are.
_CHOOSES: Final = ("num_gpus", "num_nodes", "include", "exclude", "global_num_gpus")


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `deepy.py train.py X Y` starts; its files are read together, in their order."""
    index = 0 if name_of(command.words[0]) == DEEPY else python_program(command)
    if index is None or name_of(command.words[index]) != DEEPY:
        return None
    program = command.words[index + 1 :]
    if not program or name_of(program[0]) not in _TRAINS:
        return None
    recipes = tuple(_files(program))
    if len(recipes) > MOST_DEEPY_FILES:
        return None
    sizes = tuple(_sizes(program, recipes, command, context))
    return Start(DEEPY, command.at, sizes, program, recipes, together=True)


def _files(program: tuple[Word, ...]) -> Iterator[Word]:
    """Yield the files by position, in the folder that `-d` names and with the ending that may be left out (NX consume_deepy_args)."""
    folder = option(program, *_FOLDER)
    is_value = False
    for word in program[1:]:
        is_option = word.starts_with.startswith("-")
        if not is_option and not is_value:
            yield _placed(word, folder[1] if folder is not None else None)
        is_value = is_option and "=" not in word.starts_with


def _placed(word: Word, folder: Word | None) -> Word:
    before = (*folder.parts, Part("/", word.at, word.at)) if folder is not None else ()
    after = () if (word.text or "").endswith(_ENDINGS) else (Part(_ENDINGS[0], word.at, word.at),)
    parts = (*before, *word.parts, *after)
    texts = [part.text for part in parts]
    return word._replace(pieces=parts, text=None if None in texts else "".join(text or "" for text in texts))


def _sizes(
    program: tuple[Word, ...], recipes: tuple[Word, ...], command: Command, context: LauncherContext
) -> Iterator[Quantity | Unknown]:
    """Yield the slots of the hostfile, where the tree has it and nothing chooses among them (NX calculate_derived)."""
    documents = [document for word in recipes if (document := document_of(word, command, context)) is not None]
    given = option(program, "--hostfile", "-H")
    named = [given[1]] if given is not None else [word for each in documents if (word := word_at(each, ("hostfile",))) is not None]
    chosen = any((key,) in each.keyed for each in documents for name in _CHOOSES for key in (name, name.replace("_", "-")))
    hostfile = document_of(named[-1], command, context) if named and len(documents) == len(recipes) and not chosen else None
    slots = _slots(hostfile) if hostfile is not None else ()
    if not slots:
        yield Unknown(Name.WORLD_SIZE, Reason.MISSING)
        return
    at = named[-1].value_at
    yield Quantity(Name.WORLD_SIZE, sum(slots), Origin.LAUNCH, at=at, key="slots of the hostfile")
    yield Quantity(Name.NUM_NODES, len(slots), Origin.LAUNCH, at=at, key="hosts of the hostfile")
    if len(set(slots)) == 1:
        yield Quantity(Name.GPUS_PER_NODE, slots[0], Origin.LAUNCH, at=at, key="slots of each host")


def _slots(hostfile: Document) -> tuple[int, ...]:
    """The slots of each host, in order; nothing if a line is none (deepspeed 2d991ba, launcher/runner.py _parse_hostfile)."""
    lines = [line.partition("#")[0].strip() for line in hostfile.source.text.splitlines()]
    found = [re.fullmatch(r"\S{1,300}\s+slots=([1-9][0-9]{0,5})", line) for line in lines if line]
    return tuple(int(match[1]) for match in found if match is not None) if all(found) else ()


LAUNCHER = Launcher("deepy", "GPT-NeoX's deepy.py train.py -d configs X Y", words=(DEEPY,), start=start)
