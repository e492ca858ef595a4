"""prime-rl's own commands: `rl @ run.toml` and `sft @ run.toml` start as many processes as the recipe says."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown

# The scripts of prime-rl 559b4477 (pyproject.toml, [project.scripts]).
_COMMANDS: Final = ("rl", "sft", "trainer", "orchestrator")


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What a command of prime-rl starts: its recipes follow `@`, and how many GPUs it takes is in them."""
    words = command.words
    if words[0].text not in _COMMANDS or not any(word.starts_with.startswith("@") for word in words[1:]):
        return None
    recipes = tuple(words[index + 1] for index, word in enumerate(words[:-1]) if word.text == "@")
    attached = tuple(word.after(1) for word in words[1:] if word.starts_with.startswith("@") and word.text != "@")
    world = Unknown(Name.WORLD_SIZE, Reason.MISSING)
    return Start(words[0].text, command.at, (world,), words, (*recipes, *attached))


LAUNCHER = Launcher(
    "prime-rl", "prime-rl's rl @ run.toml and sft @ run.toml", words=("rl @", "sft @", "trainer @", "orchestrator @"), start=start
)
