"""Which version of a library a recipe is for: that of the settings, else of its copy in the repository, else of the nearest pin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache, partial
from typing import Final

from pytest_gbs.frameworks.versions import (
    at_version,
    in_any_version,
    in_copy,
    in_unknown_version,
    normalised,
    parse_version,
    read_specifiers,
    undated,
)
from pytest_gbs.model.document import NOTEBOOK, Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import KeyPath, Source, Tree
from pytest_gbs.model.pins import Pin
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings.copies import Copies
from pytest_gbs.settings.requirements import LOCKS, SUBMODULES, asks_for_versions, read_installed, read_pins

# Folders whose files describe their parent folder.
_OF_THE_FOLDER_ABOVE: Final = ("requirements", "docker")


class Versions:
    """The lazy memo of what a tree says of versions; `paths` lists its files."""

    def __init__(self, tree: Tree, settings: Settings, paths: Callable[[], tuple[str, ...]]) -> None:
        self._tree = tree
        self._stated = {normalised(name): text for name, text in settings.versions}
        self._source = settings.source
        self._paths = paths
        self._pins: dict[tuple[str, str], Pin | None] = {}
        self._copies = Copies(tree, paths())
        self._fitted: dict[tuple[str, str | None, Pin | None, frozenset[KeyPath]], Framework] = {}

    def fitted(self, framework: Framework, document: Document, program: str = "") -> Framework:
        """`framework` as it is at the versions that the recipe `document` is for, removed keys with what rejects them.

        What lies near the `program` that runs it, a path, says so rather than what lies near the recipe.
        """
        path = document.source.path
        if program and (not framework.package or self.pin(framework.package, program) or self._copies.home(framework, program)):
            path = program
        found = self._at_version(framework, document, path) if framework.package else framework
        for package in sorted({era.package for era in found.eras if era.package}):
            found = at_version(found, self.pin(package, path), package)
        removals = []
        for removal in framework.removals:
            exact = self.pin(removal.package, path) if removal.key in document.keyed else None
            gone = exact is not None and exact.exact and exact.low is not None and exact.low >= (parse_version(removal.since) or ())
            removals.append(removal._replace(pin=exact) if gone else removal)
        pins = tuple(pin for package in framework.beside if (pin := self.pin(package, path)) is not None)
        return _kept_once(found._replace(removals=tuple(removals), pins=pins)) if removals or pins else found

    def _at_version(self, framework: Framework, document: Document, path: str) -> Framework:
        """`framework` as the settings say, else as its copy in the repository has it, else as the pinned versions do."""
        home = None if normalised(framework.package) in self._stated else self._copies.home(framework, path)
        set_keys = frozenset(filter(document.keyed.__contains__, _keys_of_all_eras(framework)))
        about = framework.title, home, self.pin(framework.package, path) if home is None else None, set_keys
        if about not in self._fitted:
            self._fitted[about] = self._fit(framework, home, about[2], set_keys)
        return self._fitted[about]

    def _fit(self, framework: Framework, home: str | None, pin: Pin | None, set_keys: frozenset[KeyPath]) -> Framework:
        if home is not None:
            return undated(in_copy(framework, self._copies.pin(framework, home), set_keys, partial(self._copies.says, home)))
        return in_unknown_version(framework, set_keys) if pin is None else undated(in_any_version(framework, pin, set_keys))

    def pin(self, package: str, path: str) -> Pin | None:
        """The versions of `package` that the recipe at `path` is for; None if unknown, or files contradict each other."""
        stated = self._stated.get(normalised(package))
        if stated is not None:
            pin = read_specifiers(package, stated)
            return pin._replace(origin=f"[tool.gbs.versions] of {self._source}") if pin else None
        own = self._installed(package, path) if path.endswith(NOTEBOOK) else None
        if own is not None:
            return own
        return self._nearest(package, path.rpartition("/")[0])

    def _installed(self, package: str, path: str) -> Pin | None:
        """The version of `package` that the notebook at `path` installs itself; None if none, or none that is exact."""
        if (package, path) not in self._pins:
            source = self._tree.read(path)
            found = list(read_installed(source, package)) if isinstance(source, Source) else []
            self._pins[package, path] = _agreed(found) if found else None
        return self._pins[package, path]

    def _nearest(self, package: str, folder: str) -> Pin | None:
        """What the files of `folder` say, else those of the nearest folder above it that say anything."""
        passed: list[tuple[str, str]] = []
        while (package, folder) not in self._pins:
            found = self._of_folder(package, folder)
            if found or not folder:
                self._pins[package, folder] = _agreed(found) if found else None
            else:
                passed.append((package, folder))
                folder = folder.rpartition("/")[0]
        pin = self._pins[package, folder]
        self._pins.update(dict.fromkeys(passed, pin))
        return pin

    def _of_folder(self, package: str, folder: str) -> list[Pin]:
        """What the files of a folder say of `package`, or what those in its folders `requirements` and `docker` do; else its submodules."""
        hidden = f"{folder}/{SUBMODULES}".lstrip("/")
        return self._read_pins(self._files.get(folder, ()), package) or self._read_pins((hidden,), package)

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The files that may say which versions they are for, by their folder or the one above."""
        listed: dict[str, list[str]] = {}
        for path in self._paths():
            home, _, name = path.rpartition("/")
            if asks_for_versions(name):
                above, _, last = home.rpartition("/")
                listed.setdefault(above if last in _OF_THE_FOLDER_ABOVE else home, []).append(path)
        return listed

    def _read_pins(self, paths: Iterable[str], package: str) -> list[Pin]:
        sources = (source for path in paths if isinstance(source := self._tree.read(path), Source))
        return [pin for source in sources for pin in read_pins(source, package)]


@lru_cache
def _keys_of_all_eras(framework: Framework) -> frozenset[KeyPath]:
    return frozenset(row.key for table in (framework, *(era.table for era in framework.eras)) for row in table.rows)


@lru_cache
def _kept_once(framework: Framework) -> Framework:
    """The first of equal tables: thousands of launches have the same."""
    return framework


def _agreed(found: list[Pin]) -> Pin | None:
    """The one version that is resolved or pinned, else the one range; of several, the versions from the lowest to the highest.

    None if these are all versions, and not because a commit is pinned.
    """
    commits = [pin for pin in found if pin.commit]
    narrow = [pin for pin in found if (pin.origin.endswith(LOCKS) if commits else pin.exact)]
    said = narrow or found
    if len({(pin.low, pin.high) for pin in said}) == 1:
        return said[0]
    lows, highs = ([pin.low for pin in said], [pin.high for pin in said])
    low = None if None in lows else min(low for low in lows if low)
    high = None if None in highs else max(high for high in highs if high)
    if not (low or high or commits):
        return None
    text = " or ".join(dict.fromkeys(pin.text for pin in said))
    return said[0]._replace(text=text, low=low, high=high, exact=False, commit=bool(commits))
