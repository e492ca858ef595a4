"""All that a client has open: which text belongs to which file of which repository, and how it is shown."""

# Paths are plain text, as everywhere in files.
# ruff: noqa: PTH100

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pygls.uris import from_fs_path, to_fs_path

from pytest_gbs.lsp.positions import Cell, PositionMap, file_positions, notebook_positions
from pytest_gbs.lsp.project import Project, project_root
from pytest_gbs.model.record import NamedTuple

# What a text that is on no disk is called, by its language.
_ENDINGS: Final = {
    "yaml": ".yaml",
    "json": ".json",
    "jsonc": ".json",
    "toml": ".toml",
    "python": ".py",
    "shellscript": ".sh",
    "sh": ".sh",
    "bash": ".sh",
    "zsh": ".sh",
    "slurm": ".slurm",
    "makefile": ".mk",
    "markdown": ".md",
    "jupyter": ".ipynb",
}


class OpenFile(NamedTuple):
    """A file that is open: its repository, its path there, how the client shows it, and the version of its text (None for cells)."""

    project: Project
    path: str
    positions: PositionMap
    version: int | None


class OpenFiles:
    """The folders of a workspace and the files that are open, by the address of each text."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self.folders: list[str] = []
        self.projects: dict[str, Project] = {}
        self.opened: dict[str, OpenFile] = {}  # by address: of a notebook that of the notebook, and of each of its cells
        self._positions: dict[tuple[Project, str], tuple[str, PositionMap]] = {}

    def set_folders(self, addresses: Iterable[str]) -> None:
        """Take the folders of the workspace; files that are open are put where they belong now."""
        paths = (to_fs_path(address) for address in addresses)
        self.folders = sorted({os.path.abspath(path) for path in paths if path}, key=len, reverse=True)

    def open(self, address: str, text: str, version: int | None, language: str = "") -> OpenFile:
        """Keep a text that is open, new or changed."""
        before = self.opened.get(address)
        project, path = (before.project, before.path) if before is not None else self._place(address, language)
        project.put(path, text)
        self.opened[address] = OpenFile(project, path, file_positions(address, text.removeprefix("\ufeff"), self.encoding), version)
        return self.opened[address]

    def open_notebook(self, address: str, cells: Sequence[Cell]) -> OpenFile:
        """Keep a notebook that is open, new or changed."""
        before = self.opened.get(address)
        project, path = (before.project, before.path) if before is not None else self._place(address, "jupyter")
        text, positions = notebook_positions(cells, self.encoding)
        project.put(path, text)
        found = OpenFile(project, path, positions, None)
        self._drop_cells(project, path)
        self.opened.update({address: found, **{cell.uri: found for cell in cells}})
        return found

    def close(self, address: str) -> Project | None:
        """Forget a text that was closed; the repository that it belonged to, None if it was not open."""
        found = self.opened.pop(address, None)
        if found is None:
            return None
        self._drop_cells(found.project, found.path)
        found.project.drop(found.path)
        if found.project.folder is None:
            self.projects.pop(address, None)
        return found.project

    def move(self) -> list[Project]:
        """Put the files that are open where they belong, now that the folders have changed; all repositories that have files now."""
        every = dict(self.opened)
        self.projects = {}
        self.opened = {}
        placed: dict[tuple[Project, str], OpenFile] = {}
        for address, old in every.items():
            found = placed.get((old.project, old.path))
            if found is None:
                project, path = self._place(address, "")
                path = path if project.folder is not None else old.path.rpartition("/")[2]
                project.put(path, old.project.texts[old.path])
                found = placed[old.project, old.path] = old._replace(project=project, path=path)
            self.opened[address] = found
        return list(self.projects.values())

    def positions(self, project: Project, path: str) -> PositionMap | None:
        """How the client shows a file of a repository, or would show it; None if it can't be read."""
        for opened in self.opened.values():
            if opened.project is project and opened.path == path:
                return opened.positions
        source = project.source(path)
        if project.folder is None or source is None:
            return None
        kept = self._positions.get((project, path))
        if kept is None or kept[0] is not source.text:
            address = from_fs_path(os.path.join(project.folder, *path.split("/")))  # noqa: PTH118
            kept = self._positions[project, path] = source.text, file_positions(address or "", source.text, self.encoding)
        return kept[1]

    def versions(self) -> Mapping[str, int | None]:
        """The version of each text that is open."""
        return {address: opened.version for address, opened in self.opened.items()}

    def _drop_cells(self, project: Project, path: str) -> None:
        """Forget every address that shows the file at `path`."""
        for address in [each for each, opened in self.opened.items() if opened.project is project and opened.path == path]:
            del self.opened[address]

    def _place(self, address: str, language: str) -> tuple[Project, str]:
        """The repository of a text and its path there; one of its own, on no disk, if it lies in no folder of the workspace."""
        path = to_fs_path(address) if address.startswith("file:") else None
        path = os.path.abspath(path) if path else None
        folder = next((each for each in self.folders if path and path.startswith(each.rstrip(os.sep) + os.sep)), None)
        if path is None or folder is None:
            name = address.rstrip("/").replace("\\", "/").rpartition("/")[2].rpartition(":")[2] or "untitled"
            ending = _ENDINGS.get(language, "")
            project = self.projects.setdefault(address, Project(None))
            return project, name if "." in name or not ending else name + ending
        root = project_root(path, folder)
        project = self.projects.setdefault(root, Project(root))
        return project, os.path.relpath(path, root).replace(os.sep, "/")
