"""The settings that a command line gives: `--key value`, `-k value`, `key=value`, `KEY.OF.YACS value`, Hydra's `+key=value`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_gbs.model.command import EnvironmentValue, Word
from pytest_gbs.model.framework import Arguments
from pytest_gbs.model.location import KeyPath, Location, dotted
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple

_OF_A_FILE: Final = "@"  # argparse may read more words from such a file: `@flags.txt`
# Variables that launchers give each process, whatever the script that starts them says.
OF_PROCESSES: Final = lazy_pattern(r"WORLD_SIZE$|LOCAL_|RANK$|NODE_RANK$|CUDA_|SLURM_|OMPI_|PMI_|PET_")


class CommandSetting(NamedTuple):
    """One setting: its key path, its text (None if unknown), and the word that gives it.

    `at` is the place to change for another value, `use` where the command line has it. `switch` is true if no value stands:
    the option alone means true.
    """

    path: KeyPath
    text: str | None
    at: Location
    word: Word
    switch: bool = False

    @property
    def name(self) -> str:
        """The name of its flag, without dashes in front."""
        return dotted(self.path)


class CommandLine(NamedTuple):
    """All that a command line gives a program: its `settings`, and the number of processes that start with it, None if not known.

    `environment` are the variables that the program finds there; `pairs` are words `key=value`, which it may read as settings, too.
    The line is `whole` if no word in it may be a setting that is not known, and `by_place` if it has arguments without a name.
    """

    settings: tuple[CommandSetting, ...]
    whole: bool
    by_place: bool
    world: int | None
    environment: dict[str, EnvironmentValue]
    pairs: tuple[CommandSetting, ...] = ()


def command_line(words: tuple[Word, ...], world: int | None, environment: Iterable[EnvironmentValue]) -> CommandLine:
    """What the arguments `words` give, flags with one dash too."""
    given = tuple(_flags(words, "-"))
    values = {setting.word.at for setting in given}
    others = [word for word in words if word.at not in values and not word.starts_with.startswith("-")]
    unknown = (part for word in others for part in word.parts if part.text is None)
    whole = all(part.default or part.name == "@" for part in unknown) and not any(
        word.starts_with.startswith(_OF_A_FILE) for word in others
    )
    return CommandLine(given, whole, bool(others), world, {each.name: each for each in environment}, tuple(_pairs(tuple(others))))


def settings(words: tuple[Word, ...], style: str) -> Iterator[CommandSetting]:
    """Yield the settings among the arguments of a program, in order; the last one of a key wins."""
    if style in (Arguments.FLAGS, Arguments.BOTH, Arguments.YACS):
        yield from _flags(words)
    if style == Arguments.YACS:
        keys = ((word, value) for word, value in pairwise(words) if word.text is not None and _key_of_yacs().fullmatch(word.text))
        yield from (CommandSetting(_path(word.starts_with), value.text, value.value_at, value) for word, value in keys)
    if style in (Arguments.PAIRS, Arguments.HYDRA, Arguments.BOTH):
        yield from _pairs(words)


def _flags(words: tuple[Word, ...], dashes: str = "--") -> Iterator[CommandSetting]:
    for index, word in enumerate(words):
        known = word.starts_with
        if not (known.startswith(dashes) or _is_short(known)) or known in ("-", "--") or not _is_option(word):
            continue
        name, before = _flag(known)
        if before is None and word.text is None:
            continue
        path = _path(name.lstrip("-").replace("-", "_"))
        if before is not None:
            value = word.after(before)
            yield CommandSetting(path, value.text, value.value_at, value)
        elif index + 1 < len(words) and not _is_option(words[index + 1]):
            value = words[index + 1]
            yield CommandSetting(path, value.text, value.value_at, value)
        else:
            yield CommandSetting(path, "true", word.at, word, switch=True)


def _flag(known: str) -> tuple[str, int | None]:
    """The flag that a word names, and how many of its characters come before the value; None if the next word has it."""
    if _is_short(known) and known[2:3].isdigit():
        return known[:2], 2
    name, equals, _ = known.partition("=")
    return name, len(name) + 1 if equals else None


def _is_short(known: str) -> bool:
    """Whether a word is a flag of one letter, with or without its value: `-b`, `-b=32`, `-b32`."""
    return known[:1] == "-" and known[1:2].isalpha() and (len(known) == 2 or known[2] == "=" or known[2:].isdigit())


def _is_option(word: Word) -> bool:
    known = word.starts_with
    return known.startswith("-") and not known[1:2].isdigit()


def _pairs(words: tuple[Word, ...]) -> Iterator[CommandSetting]:
    for word in words:
        known = word.starts_with
        name, equals, _ = known.partition("=")
        key = name.lstrip("+").lstrip("-").partition("@")[0]
        if not equals or not key or key.startswith("~") or not all(sign.isalnum() or sign in "._-/" for sign in key):
            continue
        value = word.after(len(name) + 1)
        yield CommandSetting(_path(key.replace("/", ".")), value.text, value.value_at, value)


_key_of_yacs = lazy_pattern(r"[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


@lru_cache
def _path(key: str) -> KeyPath:
    return tuple(step for step in key.split(".") if step)
