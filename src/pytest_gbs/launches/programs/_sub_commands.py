"""Programs whose first argument says what they do: `trl sft`, `tune run`, `axolotl train`."""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._programs import SUB_COMMAND_MODULES, behind
from pytest_gbs.launches.programs._words import option
from pytest_gbs.model.command import Command, Word

_RECIPES: Final = (".yaml", ".yml", ".json")


def sub_command(command: Command, names: tuple[str, ...], wanted: tuple[str, ...]) -> int | None:
    """The index of the sub-command of a program, one of `wanted`; None if it is another program or another one."""
    index = behind(command, names, SUB_COMMAND_MODULES.get(names[0], ()))
    if index is None or index >= len(command.words) or command.words[index].text not in wanted:
        return None
    return index


def config_of(words: tuple[Word, ...], *keys: str) -> tuple[Word, ...]:
    """The recipe that an option names, alone; nothing if it is not used."""
    found = option(words, *keys)
    return (found[1],) if found is not None else ()


def is_recipe(word: Word) -> bool:
    """Whether a word ends as the name of a configuration does, or is an unknown in such a place."""
    last = word.parts[-1].text if word.parts else None
    return (word.text or last or "").endswith(_RECIPES)
