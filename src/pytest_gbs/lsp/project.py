"""One repository as an editor shows it: the files below a folder of its workspace, with unsaved texts laid over them."""

# Paths are plain text, as everywhere in files.
# ruff: noqa: PTH120

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from pytest_gbs.api import CheckOptions, check_worktree
from pytest_gbs.checking.memory import Memory
from pytest_gbs.files.edited import EditedTree
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.root import is_root
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.frameworks import recogniser
from pytest_gbs.model.document import Document
from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Source
from pytest_gbs.model.program import NO_PROGRAM
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.readers import read
from pytest_gbs.settings import load_settings

EMPTY: Final = Report((), {}, {})
SETTINGS: Final = ("gbs.toml", "pyproject.toml")


class Answer(NamedTuple):
    """What a check of the open files found: the report, and what is wrong with the settings ("" if nothing is).

    `number` says which state of the texts it is about.
    """

    report: Report
    problem: str
    number: int


class Project:
    """A folder with settings of its own, or with no folder a single text that is on no disk; and what is known of its open files."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self.settings = Settings()
        self.problem = ""
        self.number = 0  # of the state of the texts: each change makes a new one
        self.answer = Answer(EMPTY, "", -1)
        self.known: dict[str, FileReport] = {}  # each open file as it was when it was last a recipe
        self.tree = EditedTree(None)
        self.texts: dict[str, str] = {}
        self._parsed: dict[str, tuple[Source, tuple[Document, ...]]] = {}
        self._looked = False
        self._memory = Memory()

    def put(self, path: str, text: str) -> None:
        """Keep the unsaved text of the file at `path`."""
        self.texts[path] = text
        self.tree.put(path, text)
        self.number += 1

    def drop(self, path: str) -> None:
        """Forget the text of a file that was closed."""
        self.texts.pop(path, None)
        self.tree.drop(path)
        self.known.pop(path, None)
        self._parsed.pop(path, None)
        self.number += 1

    def look_again(self) -> None:
        """Let the next check look for what changed on the disk."""
        self._looked = False
        self.number += 1

    def check(self) -> Answer:
        """What is true of the open files now; the settings are read again if the disk may have changed."""
        number = self.number
        if not self._looked:
            self._looked = True
            self._load()
        try:
            self.answer = Answer(self.recheck({}), self.problem, number)
        except GbsError as error:  # the lock or the baseline is broken
            self.answer = Answer(EMPTY, self.problem or str(error), number)
        for file in self.answer.report.files:
            if file.runs:
                self.known[file.path] = file
        return self.answer

    def recheck(self, files: Mapping[str, Source], given: CommandLineHardware = CommandLineHardware()) -> Report:  # noqa: B008
        """The report on the open files if some files of the repository were as in `files`."""
        targets = tuple(path for path in sorted(self.tree.unsaved) if self.concerns(path))
        if not targets:
            return EMPTY
        tree = OverlayTree(self.tree, files) if files else self.tree
        return check_worktree(tree, targets, self.settings, given, CheckOptions(keep_runs=True, found=True, memory=self._memory))

    def concerns(self, path: str) -> bool:
        """Whether a file is to be looked at: the settings do not exclude it."""
        return not matches_any(path, self.settings.exclude)

    def source(self, path: str) -> Source | None:
        """The text of a file as it is now; None if it can't be read."""
        found = self.answer.report.sources.get(path) or self.tree.read(path)
        return found if isinstance(found, Source) else None

    def documents(self, path: str) -> tuple[Document, ...]:
        """The documents of a file as it is now."""
        source = self.source(path)
        if source is None:
            return ()
        kept = self._parsed.get(path)
        if kept is None or kept[0] is not source:
            found = tuple(each for each in read(source, ProgramContext(self.tree.read)) if isinstance(each, Document))
            kept = self._parsed[path] = source, found
        return kept[1]

    def recognise(self, document: Document) -> Framework | None:
        """The table that a document is a recipe of, the user's own first."""
        return recogniser(self.settings.frameworks)(document, NO_PROGRAM)

    def places(self) -> Places:
        """What names places for people, from the root of the repository."""
        return Places(self.answer.report, FormatOptions())

    def _load(self) -> None:
        """Read the settings, and forget what changed on the disk; broken settings leave those before in force."""
        if self.folder is None:
            return
        try:
            self.settings = load_settings(self.folder, None)
            self.problem = ""
        except GbsError as error:
            self.problem = str(error)
        base = WorkTree(self.folder, self.settings.max_file_size, self.settings.exclude)
        if base != self.tree.base:
            self.tree = EditedTree(base)
            self.tree.look_again()
            for path, text in self.texts.items():
                self.tree.put(path, text)
        else:
            self.tree.look_again()


def project_root(path: str, folder: str) -> str:
    """The folder with settings or a git repository that is nearest above the file `path`, up to `folder` of the workspace at most."""
    found = os.path.dirname(path)
    while found != folder and found.startswith(folder.rstrip(os.sep) + os.sep):
        if is_root(found):
            return found
        found = os.path.dirname(found)
    return folder
