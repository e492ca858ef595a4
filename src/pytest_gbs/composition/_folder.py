"""A Hydra configuration folder: its files by group and option, read once each and never from outside the tree."""

# After hydra/_internal/config_repository.py, core_plugins/file_config_source.py and plugins/config_source.py of Hydra 1.3.

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, copy
from pytest_gbs.composition._plant import Refused, plant
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.composition.remembered import Remembered
from pytest_gbs.model.command import below
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.tree import Tree

Reader: TypeAlias = Callable[[Source], tuple[Document | Unreadable, ...]]

_HEADER: Final = 512


class Stopped(Exception):
    """Hydra would stop here; `kind` is one of `ProblemKind`."""

    def __init__(self, kind: str, message: str, at: Location) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.at = at


class Entry(NamedTuple):
    """One entry of a defaults list: `group` is None for a plain file. `value` is an option, a list of them, or None."""

    group: str | None
    value: Any
    package: str | None
    optional: bool
    override: bool
    at: Location


class Loaded(NamedTuple):
    """A file of the folder: its header's package, its values without the defaults list, and that list."""

    path: str
    package: str | None
    config: Branch | Items
    defaults: tuple[Entry, ...]


class Folder:
    """The files below `folder` of `tree`. With `legacy`, Hydra's `version_base` is below 1.2, and `.yml` files count."""

    def __init__(self, tree: Tree, read: Reader, folder: str, budget: Budget, legacy: bool = False) -> None:
        self.tree = tree
        self.read = read
        self.folder = folder
        self.budget = budget
        self.legacy = legacy
        self.sources: list[str] = []
        self._loaded: dict[str, Loaded | None] = {}
        self._paths: tuple[str, ...] | None = None
        self._folders: set[str] = set()

    @property
    def paths(self) -> tuple[str, ...]:
        """All files of the tree, listed once and only if asked for."""
        if self._paths is None:
            self._paths = self.tree.paths()
        return self._paths

    @property
    def folders(self) -> set[str]:
        """All folders of the tree that hold files."""
        if not self._folders:
            self._folders.add("")
            for path in self.paths:
                folder = path.rpartition("/")[0]
                while folder not in self._folders:
                    self._folders.add(folder)
                    folder = folder.rpartition("/")[0]
        return self._folders

    def is_group(self, name: str) -> bool:
        """Return whether `name` is a folder of options."""
        path = below(self.folder, name)
        if path is None or name.startswith("/"):
            return False
        return path in self.folders

    def options(self, group: str) -> tuple[str, ...]:
        """Return the options of `group`, sorted."""
        path = below(self.folder, group)
        prefix = f"{path}/" if path else ""
        inside = (each[len(prefix) :] for each in self.paths if each.startswith(prefix))
        return tuple(sorted(name.rpartition(".")[0] for name in inside if "/" not in name and name.endswith(".yaml")))

    def load(self, config: str) -> Loaded | None:
        """Return the file of `config` (`model/llama`), or None where there is none.

        Raises: Stopped: Hydra could not read it.
        """
        if config not in self._loaded:
            self._loaded[config] = self._load(config)
        return self._loaded[config]

    def _load(self, config: str) -> Loaded | None:
        name = config if config.endswith((".yaml", ".yml") if self.legacy else ".yaml") else f"{config}.yaml"
        path = None if config.startswith("/") else below(self.folder, name)
        source = None if path is None else self.tree.read(path)
        if source is None or (isinstance(source, Unreadable) and source.source is None and not self._listed(path)):
            return None
        assert path is not None
        whole = Location(path, 0, 0)
        if isinstance(source, Unreadable):
            raise Stopped(ProblemKind.UNREADABLE, source.reason, whole)
        self.sources.append(path)
        root = read_one(source, self.read, self.budget)
        if isinstance(root, Leaf):
            raise Stopped(ProblemKind.UNREADABLE, "neither a mapping nor a list", root.at)
        package = _header(source)
        entries: tuple[Entry, ...] = ()
        if isinstance(root, Branch) and "defaults" in root.content:
            entries = tuple(self._entries(root.content.pop("defaults")))
        return Loaded(path, package, root, entries)

    def _listed(self, path: str | None) -> bool:
        return path is not None and (self.tree.lists(path) if isinstance(self.tree, Remembered) else path in self.paths)

    def _entries(self, node: Node) -> list[Entry]:
        if not isinstance(node, Items):
            raise Stopped(ProblemKind.DEFAULTS, "the defaults list is no list", node.at)
        return [self._entry(item) for item in node.content]

    def _entry(self, item: Node) -> Entry:
        if isinstance(item, Leaf):
            if type(item.value) is not str:
                raise Stopped(ProblemKind.DEFAULTS, f"{item.text} is no entry of a defaults list", item.at)
            path, package = _split_package(item.value)
            return Entry(None, path, package, False, False, item.at)
        if isinstance(item, Items):
            raise Stopped(ProblemKind.DEFAULTS, "a list is no entry of a defaults list", item.at)
        content = dict(item.content)
        optional = False
        if self.legacy and len(content) > 1 and isinstance(old := content.get("optional"), Leaf):
            optional = bool(old.value)
            del content["optional"]
        if len(content) != 1 or type(key := next(iter(content))) is not str:
            raise Stopped(ProblemKind.DEFAULTS, "an entry of a defaults list needs one group", item.at)
        value = content[key]
        group, package = _split_package(key)
        words = group.split(" ")
        keywords = []
        for word in words[:-1]:
            if word not in ("optional", "override"):
                break
            keywords.append(word)
        if not words[-1]:
            raise Stopped(ProblemKind.DEFAULTS, "an entry of a defaults list needs a group", item.at)
        found = _option(value)
        return Entry(words[-1], found, package, optional or "optional" in keywords, "override" in keywords, value.at)


def _option(node: Node) -> Any:
    """Return the option, or the options, that an entry names."""
    if isinstance(node, Leaf) and (node.value is None or type(node.value) is str):
        return node.value
    if isinstance(node, Items) and all(isinstance(item, Leaf) and type(item.value) is str for item in node.content):
        return [item.value for item in node.content if isinstance(item, Leaf)]
    raise Stopped(ProblemKind.DEFAULTS, "an option must be text or a list of texts", node.at)


def read_one(source: Source, read: Reader, budget: Budget, loader: str = Loader.OMEGACONF) -> Node:
    """Return the tree of the one document in `source`.

    Raises: Stopped: it holds another number of documents, or can't be read.
    """
    documents = read(source)
    for document in documents:
        if isinstance(document, Unreadable):
            place = document.offset or 0
            raise Stopped(ProblemKind.UNREADABLE, document.reason, Location(source.path, place, place))
    if len(documents) > 1:
        raise Stopped(ProblemKind.UNREADABLE, "more than one document", Location(source.path, 0, 0))
    if not documents:
        return Branch(Location(source.path, 0, 0))
    document = documents[0]
    assert isinstance(document, Document)
    kept = getattr(read, "__self__", None)
    known = kept.planted(document, loader) if isinstance(kept, Remembered) else None
    if known is not None:
        return copy(known, budget)
    try:
        planted = plant(document, budget, loader)
    except Refused as refused:
        raise Stopped(ProblemKind.UNREADABLE, refused.message, refused.at) from refused
    if isinstance(kept, Remembered) and kept.keeps(document, loader):
        kept.plant(document, loader, planted)
        return copy(planted, budget)
    return planted


def _split_package(text: str) -> tuple[str, str | None]:
    name, at, package = text.partition("@")
    return name, package.partition(":")[0] if at else None


def _header(source: Source) -> str | None:
    """Return the package that the header of a file names: `# @package _global_`."""
    found: dict[str, str] = {}
    for raw in source.text[:_HEADER].splitlines():
        line = raw.strip()
        if not line:
            continue
        if not re.match(r"\s*#\s*@", line):
            break
        words = line.lstrip("#").strip().split()
        if len(words) != 2:
            start = source.text.find(raw)
            raise Stopped(ProblemKind.UNREADABLE, "a header needs a key and a value", Location(source.path, start, start + len(raw)))
        found[words[0][1:]] = words[1]
    return found.get("package")
