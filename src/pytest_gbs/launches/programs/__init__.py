"""The launchers: one file each, found by listing this folder, loaded when a file or a command may be theirs."""

from __future__ import annotations

from functools import cache, lru_cache

from pytest_gbs.files.plugins import module, modules, prebuilt
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import Launcher, LauncherContext, LauncherFile, Start
from pytest_gbs.model.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_gbs.model.command import Command


class LauncherEntry(NamedTuple):
    """What is known of a launcher without loading it: its module, the word in all of its files, the words in its scripts."""

    module: str
    hint: str
    words: tuple[str, ...]


@cache
def launchers() -> tuple[Launcher, ...]:
    """Every launcher, loaded, by module name."""
    return tuple(found.LAUNCHER for found in modules(__name__, __path__))


def entries() -> tuple[LauncherEntry, ...]:
    """What is known of every launcher, read from the launchers themselves."""
    found = modules(__name__, __path__)
    return tuple(LauncherEntry(each.__name__.rpartition(".")[2], each.LAUNCHER.hint, each.LAUNCHER.words) for each in found)


@cache
def _known() -> tuple[LauncherEntry, ...]:
    written = prebuilt("launchers", __path__)
    return entries() if written is None else tuple(map(LauncherEntry._make, written))


@cache
def hints() -> tuple[str, ...]:
    """Words of which one occurs in the text of each launcher file."""
    return tuple(entry.hint for entry in _known() if entry.hint)


@cache
def command_words() -> tuple[str, ...]:
    """Words of which one occurs in each script that starts training with a launcher that gbs knows."""
    return tuple(sorted({word for entry in _known() for word in entry.words}))


@cache
def first_words() -> tuple[str, ...]:
    """Words with one of which a command line of such a script starts."""
    return tuple(word for word in command_words() if word[:1].isalpha())


def read_launcher_file(document: Document) -> LauncherFile | None:
    """What `document` gives as a launcher file, or None if it is none."""
    for entry in _known():
        if entry.hint and entry.hint in document.source.text:
            launcher: Launcher = module(f"{__name__}.{entry.module}").LAUNCHER
            if launcher.owns and launcher.read and launcher.owns(document):
                return launcher.read(document)
    return None


def started(command: Command, context: LauncherContext) -> Start | None:
    """What `command` starts, or None if it is not a command of a launcher that gbs knows.

    Of several that do, the one that gives a size beats those that only run a program (`python`).
    """
    from pytest_gbs.launches.programs._slurm import within
    from pytest_gbs.model.command import name_of

    if not command.wrappers and not _may_launch(name_of(command.words[0])):
        return None
    found: Start | None = None
    text = _text(command)
    for entry in _known():
        if any(word in text for word in _first_words(entry)):
            launcher: Launcher = module(f"{__name__}.{entry.module}").LAUNCHER
            start = launcher.start(command, context) if launcher.start else None
            if start is not None and (found is None or (start.sizes and not found.sizes)):
                found = start if launcher.elsewhere else within(start, command, context)
    return found


def _text(command: Command) -> str:
    """What is known of a command and of those that run it."""
    words = (*command.words, *(word for wrapper in command.wrappers for word in wrapper.words))
    return " ".join(word.text if word.text is not None else "".join(part.text or "" for part in word.parts) for word in words)


@lru_cache(100)
def _first_words(entry: LauncherEntry) -> tuple[str, ...]:
    """Words of which one is in each command of a launcher; Python runs a file that is a program itself, too."""
    return (*(word.split()[0] for word in entry.words), *((".py",) if "python" in entry.words else ()))


@lru_cache(1_000)
def _may_launch(name: str) -> bool:
    """Whether a program of this name is a launcher, or runs one, if nothing runs it in its turn."""
    return name.endswith(".py") or any(word.split()[0] in name for word in command_words())
