"""The files that a command names and that may be its recipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.launches.missing import HYDRA
from pytest_gbs.launches.path_finder import PathFinder
from pytest_gbs.model.command import Command, Script, Word, Written, written_at
from pytest_gbs.model.launch import Start
from pytest_gbs.model.record import NamedTuple

RECIPE_ENDS: Final = (".yaml", ".yml", ".toml")  # of the names of recipes that a command names
# Parts of options that name a recipe: --config, --config_file, --train-config, --cfg, --recipe, --yaml.
_NAMES_RECIPES: Final = ("conf", "cfg", "recipe", "yaml", "yml", "toml", "file")
# Other options behind which one may be: `-b` and `--base` are those of latent-diffusion, `-opt` is that of BasicSR, `--fname` of JEPA.
_OPTIONS: Final = ("", "-c", "-b", "--base", "-opt", "--opt", "--fname")


class NamedFiles(NamedTuple):
    """The files that a command names and that may be its recipes, each with the word that names it.

    `recipes` are files of the tree, and `written` files that the script writes itself. `unknown` is a word that names a file by an
    unknown variable, and `missing` is true if the tree has no such file.
    """

    recipes: tuple[tuple[str, Word], ...]
    written: tuple[tuple[Written, Word], ...]
    unknown: Word | None
    missing: bool


def named_files(start: Start, command: Command, script: Script, finder: PathFinder) -> NamedFiles:
    """The files that may be recipes of what a command starts."""
    found: list[tuple[str, Word]] = []
    written: list[tuple[Written, Word]] = []
    unknown: Word | None = None
    missing = False
    for word in start.recipes or _may_be_recipes(start.program[1:]):
        known = word.starts_with
        value = word.after(known.index("=") + 1) if "=" in known and not known.startswith("=") else word
        value = value.after(1) if value.starts_with.startswith("@") else value
        path = finder.find(value, command, script) if start.recipes else finder.configuration(value, command, script)
        path = path or finder.of_function(value, command, script)
        if path is None and start.own_recipes and value.text is not None and value.text.isidentifier():
            path = finder.only_one(f"{value.text}.py", start.own_recipes)
        own = written_at(value, script.written) if path is None else None
        if path is not None:
            found.append((path, word))
        elif own is not None:
            written.append((own, word))
        elif value.text is None and (start.recipes or (value.parts[-1].text or "").endswith(RECIPE_ENDS)):
            unknown = value
        elif start.recipes or (value.text or "").endswith(RECIPE_ENDS):
            missing = True
    return NamedFiles(tuple(found), tuple(written), unknown, missing)


def _may_be_recipes(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of a program that may name a recipe: those by themselves, and behind options that say so.

    Not those that name a Hydra program's primary configuration, nor what else programs read: data in YAML, the value of a setting
    within a recipe (`rollout.tools=tools.yaml`), say.
    """
    before = ""
    for word in words:
        name, equals, _ = word.starts_with.partition("=")
        option = name if equals and name.startswith("-") else before
        if equals and not before and _is_setting(name):
            continue
        if not {name, before} & HYDRA and names_recipe(option):
            yield word
        before = name if name.startswith("-") and not equals else ""


def executed(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of a program that name a file for it to execute, or may: its settings have an equals sign."""
    before = ""
    for word in words:
        if not (before.startswith("-") or word.starts_with.startswith("-")) and (word.text is None or word.text.endswith(".py")):
            yield word
        before = "" if "=" in word.starts_with else word.starts_with


def names_recipe(option: str) -> bool:
    """Whether what is behind an option may be a recipe; behind none, it may."""
    return option in _OPTIONS or any(part in option for part in _NAMES_RECIPES)


def _is_setting(name: str) -> bool:
    """Whether `name`, before an equals sign, is a key deeper in a configuration, so that it names no recipe."""
    return not name.startswith("-") and (name.startswith(("+", "~")) or any(sign in name for sign in ".@/"))
