"""The launcher files, and other files, that launchers look into while they read a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pytest_gbs.launches.path_finder import PathFinder
from pytest_gbs.launches.programs import read_launcher_file
from pytest_gbs.model.command import Command, Script, Word, written_at
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import LauncherContext, LauncherFile
from pytest_gbs.model.location import Location, Source
from pytest_gbs.readers import read


class LauncherFiles:
    """The files that launchers look into, each parsed once; `source` reads one, None if that can't be read."""

    def __init__(self, finder: PathFinder, source: Callable[[str], Source | None]) -> None:
        self._finder, self._source = finder, source
        self._launcher_files: dict[str, LauncherFile | None] = {}
        self._read_documents: dict[str, tuple[Document, ...]] = {}
        # How a launcher file is looked into: what is in it never decides which recipe is launched.
        self.lightly: Callable[[Callable[[], Any]], Any] = lambda look: look()

    def around(self, script: Script) -> LauncherContext:
        """What the launchers of a command in `script` may ask."""

        def launcher_file(word: Word, command: Command) -> LauncherFile | None:
            file: LauncherFile | None = self.lightly(partial(self._launcher_file, word, command, script))
            return file

        def document(word: Word, command: Command) -> Document | None:
            path = self._finder.find(word, command, script)
            if path is None:
                return None
            is_launcher_file = self._launcher_files.get(path) is not None
            return next(iter(self.lightly(partial(self._documents, path)) if is_launcher_file else self._documents(path)), None)

        def text(word: Word, command: Command) -> str | None:
            path = self._finder.find(word, command, script) if written_at(word, script.written) is None else None
            if path is None:
                return None
            source = self._source(path)
            return source.text if source is not None else ""

        return LauncherContext(script, launcher_file, document, text)

    def _launcher_file(self, word: Word, command: Command, script: Script) -> LauncherFile | None:
        path = self._finder.find(word, command, script)
        if path is not None and self._source(path) is not None:
            if path not in self._launcher_files:
                self._launcher_files[path] = _first_launcher_file(self._documents(path))
            return self._launcher_files[path]
        written = written_at(word, script.written)
        if written is None:
            return None
        text = "".join(part.text if part.text is not None else f"$({part.name})" for part in written.text.parts)
        file = _first_launcher_file(each for each in read(Source(script.path, text)) if isinstance(each, Document))
        return _shifted_to(file, written.at) if file is not None else None

    def _documents(self, path: str) -> tuple[Document, ...]:
        """The documents of the file at `path` that launchers look into, parsed once."""
        source = self._source(path)
        if path not in self._read_documents:
            found = read(source) if source is not None else ()
            self._read_documents[path] = tuple(document for document in found if isinstance(document, Document))
        return self._read_documents[path]


def _first_launcher_file(documents: Iterable[Document]) -> LauncherFile | None:
    return next((file for document in documents if (file := read_launcher_file(document)) is not None), None)


def _shifted_to(file: LauncherFile, at: Location) -> LauncherFile:
    """`file`, which a script writes, with all of it at the place where the script does so."""
    problems = tuple(problem._replace(at=at, related=()) for problem in file.problems)
    return file._replace(quantities=tuple(size._replace(at=at) for size in file.quantities), problems=problems)
