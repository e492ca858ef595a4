"""A Hydra configuration folder: its files by group and option, none of them outside the tree."""

# After hydra/_internal/config_repository.py, core_plugins/file_config_source.py and plugins/config_source.py of Hydra 1.3.

from __future__ import annotations

import re
from typing import Any, Final

from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node
from pytest_gbs.composition._search_path import searched_folders
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location, Source, Unreadable, below
from pytest_gbs.model.record import NamedTuple

_HEADER: Final = 512


class DefaultsEntry(NamedTuple):
    """One entry of a defaults list: `group` is None for a plain file. `value` is an option, a list of them, or None."""

    group: str | None
    value: Any
    package: str | None
    at: Location
    optional: bool = False
    override: bool = False


class ConfigFile(NamedTuple):
    """A file of the folder: its header's package, its values without the defaults list, and that list."""

    package: str | None
    values: Branch | Items
    defaults: tuple[DefaultsEntry, ...]


class ConfigFolder:
    """The files below `folder` of a tree, or else below the folders that it adds to search, each read at most once."""

    def __init__(self, cache: DocumentCache, folder: str, budget: Budget) -> None:
        self.cache = cache
        self.folder = folder
        self.budget = budget
        self.sources: list[str] = []
        self._loaded: dict[str, ConfigFile | None] = {}
        self._folders: tuple[str, ...] = (folder,)

    def search_as(self, primary: str) -> None:
        """Look for files in the other folders too that the file of `primary` names."""
        try:
            file = self.load(primary)
        except (CompositionError, LimitExceeded):  # raised again where it is merged
            return
        hydra = file.values.content.get("hydra") if file is not None and isinstance(file.values, Branch) else None
        self._folders += searched_folders(hydra, self.folder, self.cache)

    def is_group(self, name: str) -> bool:
        """Whether `name` is a folder of options."""
        return any(self.cache.has_folder(path) for path in self._paths(name))

    def options(self, group: str) -> str:
        """The options of `group`, sorted and separated by commas."""
        prefixes = tuple(f"{path}/" if path else "" for path in self._paths(group))
        inside = (each[len(prefix) :] for prefix in prefixes for each in self.cache.paths() if each.startswith(prefix))
        return ", ".join(sorted({name.rpartition(".")[0] for name in inside if "/" not in name and name.endswith(".yaml")}))

    def _paths(self, name: str) -> list[str]:
        """The places in which a file or group is looked for."""
        found = (below(folder, name) for folder in self._folders) if not name.startswith("/") else ()
        return [path for path in found if path is not None]

    def load(self, config: str) -> ConfigFile | None:
        """The file of `config` (`model/llama`), or None if there is none.

        Raises: CompositionError: Hydra could not read it.
        """
        if config not in self._loaded:
            paths = self._paths(config if config.endswith(".yaml") else f"{config}.yaml")
            self._loaded[config] = next((file for path in paths if (file := self._load(path)) is not None), None)
        return self._loaded[config]

    def _load(self, path: str) -> ConfigFile | None:
        if self.cache.lacks(path):
            return None
        source = self.cache.read(path)
        if isinstance(source, Unreadable):
            raise CompositionError(ProblemKind.UNREADABLE, source.reason, Location(path))
        self.sources.append(path)
        root = self.cache.nodes(source, self.budget, Loader.OMEGACONF)
        if isinstance(root, Leaf):
            raise CompositionError(ProblemKind.UNREADABLE, "neither a mapping nor a list", root.at)
        package = _header_package(source)
        listed = root.content.pop("defaults", None) if isinstance(root, Branch) else None
        return ConfigFile(package, root, _entries(listed) if listed is not None else ())


def split_package(text: str) -> tuple[str, str | None]:
    """What is before the `@` of a group or file, and the package behind it."""
    name, at, package = text.partition("@")
    return name, package.partition(":")[0] if at else None


def _entries(listed: Node) -> tuple[DefaultsEntry, ...]:
    if not isinstance(listed, Items):
        raise CompositionError(ProblemKind.DEFAULTS, "the defaults list is not a list", listed.at)
    return tuple(map(_entry, listed.content))


def _entry(item: Node) -> DefaultsEntry:
    if isinstance(item, Leaf) and type(item.value) is str:
        path, package = split_package(item.value)
        return DefaultsEntry(None, path, package, item.at)
    if not isinstance(item, Branch) or len(item.content) != 1 or type(key := next(iter(item.content))) is not str:
        raise CompositionError(ProblemKind.DEFAULTS, "an entry of a defaults list is a file, or a group with an option", item.at)
    value = item.content[key]
    name, package = split_package(key)
    *keywords, group = name.split(" ")
    if not group:
        raise CompositionError(ProblemKind.DEFAULTS, "an entry of a defaults list needs a group", item.at)
    return DefaultsEntry(group, _option(value), package, value.at, "optional" in keywords, "override" in keywords)


def _option(node: Node) -> Any:
    """The option, or the options, that an entry names."""
    if isinstance(node, Leaf) and (node.value is None or type(node.value) is str):
        return node.value
    if isinstance(node, Items) and all(isinstance(item, Leaf) and type(item.value) is str for item in node.content):
        return [item.value for item in node.content if isinstance(item, Leaf)]
    raise CompositionError(ProblemKind.DEFAULTS, "an option must be text or a list of texts", node.at)


def _header_package(source: Source) -> str | None:
    """The package that the header of a file names: `# @package _global_`."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, source.text[:_HEADER].splitlines())):
        if not re.match(r"#\s*@", line):
            break
        words = line.lstrip("#").split()
        if len(words) != 2:
            raise CompositionError(ProblemKind.UNREADABLE, "a header needs a key and a value", Location(source.path))
        found[words[0][1:]] = words[1]
    return found.get("package")
