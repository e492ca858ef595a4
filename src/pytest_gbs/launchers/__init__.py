"""The launchers: one file each, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.command import Command
from pytest_gbs.core.document import Document
from pytest_gbs.core.launch import Launcher, LauncherFile, Start, Surroundings
from pytest_gbs.core.plugins import modules


@cache
def launchers() -> tuple[Launcher, ...]:
    """Return every launcher, by module name."""
    return tuple(module.LAUNCHER for module in modules(__name__, __path__))


@cache
def hints() -> tuple[str, ...]:
    """Return words of which one occurs in the text of each launcher file."""
    return tuple(launcher.hint for launcher in launchers() if launcher.hint)


@cache
def command_words() -> tuple[str, ...]:
    """Return words of which one occurs in each script that starts training with a launcher of ours."""
    return tuple(sorted({word for launcher in launchers() for word in launcher.words}))


def read_launcher_file(document: Document) -> LauncherFile | None:
    """Return what `document` gives as a launcher file, or None where it is none."""
    for launcher in launchers():
        if launcher.owns and launcher.read and launcher.hint in document.source.text and launcher.owns(document):
            return launcher.read(document)
    return None


def started(command: Command, surroundings: Surroundings) -> Start | None:
    """Return what `command` starts, or None where no launcher of ours takes it for its own.

    Of several that do, the one that gives a size beats those that only run a program (`python`).
    """
    found: Start | None = None
    for launcher in launchers():
        start = launcher.start(command, surroundings) if launcher.start else None
        if start is not None and (found is None or (start.sizes and not found.sizes)):
            found = start
    return found
