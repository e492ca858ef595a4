"""arctic_training CONFIG: deepspeed with what follows of options, or ray.

AT is commit b28638e of snowflakedb/ArcticTraining, arctic_training_cli.py.
"""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import behind
from pytest_gbs.launches.programs._sub_commands import is_recipe
from pytest_gbs.launches.programs._words import opaque_word, uses
from pytest_gbs.launches.programs.deepspeed import sizes
from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown

_NAME = "arctic_training"


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `arctic_training CONFIG` starts; its mode `process-data` trains nothing."""
    index = behind(command, (_NAME,), ())
    if index is None:
        return None
    words = command.words[index:]
    recipes = tuple(word for word in words if not word.starts_with.startswith("-") and is_recipe(word))[:1]
    if not recipes or words[0].text == "process-data":
        return None
    chosen = uses(words, "--launcher") or command.variable("USE_RAY") is not None
    found = (Unknown(Name.WORLD_SIZE, Reason.MISSING),) if chosen else tuple(sizes(words, command, opaque_word(words), context))
    return Start(_NAME, command.at, found, command.words[index - 1 :], recipes)


LAUNCHER = Launcher(_NAME, "arctic_training CONFIG --num_gpus", words=(_NAME,), start=start)
