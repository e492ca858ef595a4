"""axolotl train: accelerate launch unless `--launcher` says otherwise; what follows `--` is the launcher's.

AX is axolotl 018086e, src/axolotl/cli/utils/train.py.
"""

from __future__ import annotations

from pytest_gbs.launches.programs import _accelerate_launch, _torchrun
from pytest_gbs.launches.programs._sub_commands import is_recipe, sub_command
from pytest_gbs.launches.programs._words import Split, opaque_word, option, reason, uses
from pytest_gbs.launches.programs.python import one_process
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.launch import Launcher, LauncherContext, LauncherFile, Problem, Start
from pytest_gbs.model.quantity import Name, Quantity, Reason, Unknown
from pytest_gbs.model.record import NamedTuple


class _Started(NamedTuple):
    """What the launcher inside gives."""

    sizes: tuple[Quantity | Unknown, ...]
    files: tuple[LauncherFile, ...] = ()
    problems: tuple[Problem, ...] = ()


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `axolotl train X` starts."""
    index = sub_command(command, ("axolotl",), ("train",))
    if index is None:
        return None
    words = command.words[index + 1 :]
    cut = next((place for place, word in enumerate(words) if word.text == "--"), len(words))
    own, handed = words[:cut], words[cut + 1 :]
    found = _started(own, handed, command, context)
    recipes = tuple(word for word in own if not word.starts_with.startswith("-") and is_recipe(word))[:1]
    program = (command.words[index], *own)
    return Start("axolotl train", command.at, found.sizes, program, recipes, found.files, problems=found.problems)


def _started(own: tuple[Word, ...], handed: tuple[Word, ...], command: Command, context: LauncherContext) -> _Started:
    """What the launcher that AX `launch_training` picks starts."""
    launcher = option(own, "--launcher")
    if uses(own, "--cloud", "--use_ray") or (launcher is not None and launcher[1].text is None):
        at = launcher[1].at if launcher is not None else None
        return _Started((Unknown(Name.WORLD_SIZE, reason(launcher[1]) if launcher is not None else Reason.MISSING, at),))
    chosen = launcher[1].text if launcher is not None else "accelerate"
    if chosen == "torchrun":
        return _Started(_torchrun.sizes(handed, command, opaque_word(handed)), (), tuple(_torchrun.problems(handed)))
    if chosen != "accelerate" or uses(own, "--no_accelerate"):
        return _Started((one_process(command),))
    # AX _launch_accelerate_training: options of its own are handed on before those behind `--`, of which the last wins.
    inner = (*_handed_on(own), *handed)
    of = _accelerate_launch.given(Split(inner, (), opaque_word(handed)), command, context)
    files = (of.file,) if of.file is not None else ()
    return _Started(_accelerate_launch.sizes(of), files, tuple(_accelerate_launch.problems(of)))


def _handed_on(own: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of `--num-processes N`, the one size among axolotl's own options."""
    place = next((place for place, word in enumerate(own) if word.starts_with.partition("=")[0] in _PROCESSES), None)
    return () if place is None else own[place : place + 1 + ("=" not in own[place].starts_with)]


_PROCESSES = ("--num-processes", "--num_processes")
LAUNCHER = Launcher("axolotl", "axolotl train", words=("axolotl",), start=start)
