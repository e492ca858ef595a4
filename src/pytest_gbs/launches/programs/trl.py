"""trl sft, dpo, grpo ...: accelerate launch with a script of TRL, its profile named by `--accelerate_config`.

TRL is trl f2cd577 (1.10.0.dev0).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._accelerate_launch import AccelerateCommand, problems, sizes
from pytest_gbs.launches.programs._in_recipe import document_of, option_at
from pytest_gbs.launches.programs._sub_commands import sub_command
from pytest_gbs.launches.programs._words import opaque_word, option
from pytest_gbs.model.command import Command, Option, Word, options
from pytest_gbs.model.launch import Launcher, LauncherContext, LauncherFile, Start
from pytest_gbs.model.quantity import Name, Note, Origin, Quantity, Reason, Unknown

# TRL cli/main.py and trl/scripts: the trainers.
_TRAINERS: Final = ("sft", "dpo", "grpo", "kto", "reward", "rloo", "orpo", "cpo", "ppo", "bco", "gkd")
# TRL trl/accelerate_configs/NAME.yaml: distributed_type, each with 8 processes on one machine; zero1 states accumulation 1.
_PROFILES: Final = {
    "fsdp1": "FSDP",
    "fsdp2": "FSDP",
    "multi_gpu": "MULTI_GPU",
    "single_gpu": "NO",
    "zero1": "DEEPSPEED",
    "zero2": "DEEPSPEED",
    "zero3": "DEEPSPEED",
}
_IN_PROFILE: Final = 8
_IN_RECIPE: Final = ("accelerate_config", "config_file", "num_processes", "num_machines")


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `trl sft ...` starts."""
    index = sub_command(command, ("trl",), _TRAINERS)
    if index is None:
        return None
    own = command.words[index + 1 :]
    recipe = option(own, "--config")
    document = document_of(recipe[1] if recipe is not None else None, command, context)
    # Both go to accelerate, the command line behind the recipe, so that it wins (TRL cli/commands/training.py:58-72).
    in_recipe = tuple(word for key in _IN_RECIPE for word in option_at(document, key)) if document is not None else ()
    of = _given((*in_recipe, *_handed_on(own)), command, context)
    found = tuple(_or_in_recipe(sizes(of), recipe is not None and document is None))
    files = (of.file,) if of.file is not None and of.file.path else ()
    return Start(
        f"trl {command.words[index].text}",
        command.at,
        found,
        command.words[index:],
        (recipe[1],) if recipe is not None else (),
        files,
        problems=tuple(problems(of)),
    )


def _handed_on(own: tuple[Word, ...]) -> Iterator[Word]:
    """Yield the words that accelerate may get: the accumulation is an option of the script, which takes it first."""
    taken = {place for each in options(own, "--gradient_accumulation_steps") for place in _span(each)}
    yield from (word for place, word in enumerate(own) if place not in taken)


def _span(each: Option) -> range:
    """The places of an option and its value."""
    return range(each.place, each.place + 1 + ("=" not in each.name.starts_with and each.value is not None))


def _given(own: tuple[Word, ...], command: Command, context: LauncherContext) -> AccelerateCommand:
    """What accelerate gets: a profile's file in the tree, or one that TRL ships (TRL cli/accelerate_config.py)."""
    named = option(own, "--accelerate_config") or option(own, "--config_file")
    if named is None:
        return AccelerateCommand(own, opaque_word(own), None, None)
    file = context.launcher_file(named[1], command) or _profile(named[1])
    return AccelerateCommand(own, opaque_word(own), named[1], file)


def _profile(word: Word) -> LauncherFile | None:
    """A profile that TRL ships, under no path of the tree."""
    kind = _PROFILES.get(word.text or "")
    if kind is None:
        return None
    return LauncherFile("", "accelerate", tuple(_shipped(word, kind)), kind != "NO", kind=kind)


def _shipped(word: Word, kind: str) -> Iterator[Quantity]:
    note = Note(f"{word.text} of TRL's own profiles")
    if kind == "NO":
        yield Quantity(Name.WORLD_SIZE, 1, Origin.LAUNCH, at=word.value_at, key="--accelerate_config", note=Note("a single process"))
        return
    for name, value in ((Name.WORLD_SIZE, _IN_PROFILE), (Name.NUM_NODES, 1), (Name.GPUS_PER_NODE, _IN_PROFILE)):
        yield Quantity(name, value, Origin.LAUNCH, at=word.value_at, key="--accelerate_config", note=note)
    if word.text == "zero1":
        yield Quantity(Name.GRADIENT_ACCUMULATION_STEPS, 1, Origin.LAUNCH, at=word.value_at, key="--accelerate_config", note=note)


def _or_in_recipe(found: tuple[Quantity | Unknown, ...], recipe: bool) -> Iterator[Quantity | Unknown]:
    """Yield the sizes; the options that accelerate would get may be in a recipe that is not here."""
    for size in found:
        open_to_recipe = recipe and size.name == Name.WORLD_SIZE and isinstance(size, Unknown) and size.reason == Reason.AUTO
        yield Unknown(size.name, Reason.MISSING) if open_to_recipe else size


LAUNCHER = Launcher("trl", "trl sft, dpo, grpo, kto, reward, rloo", words=("trl ",), start=start)
