"""What a Hydra defaults list means: which files are merged, in which order, into which packages."""

# After hydra/_internal/defaults_list.py of Hydra 1.3; names there in brackets.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_gbs.composition._choices import HYDRA, Choices
from pytest_gbs.composition._defaults_entry import PlacedEntry
from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._folder import ConfigFile, ConfigFolder, DefaultsEntry
from pytest_gbs.composition._interpolations import Interpolations
from pytest_gbs.composition._nodes import MISSING, Branch, Leaf, from_data
from pytest_gbs.composition.composed import ComposeProblem, ProblemKind, Unresolved
from pytest_gbs.model.limits import DEEPEST_DEFAULTS, MOST_DEFAULTS
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple


class DefaultsPart(NamedTuple):
    """A file to merge, and the package it goes into."""

    file: ConfigFile
    package: str


class DefaultsTree:
    """The tree of all entries under a primary configuration, as Hydra builds it [_create_defaults_tree_impl].

    An entry's children are those of its file's own list; None among them is the file itself, `_self_`. A `whole` tree ends at the
    first file that is not there.
    """

    def __init__(self, folder: ConfigFolder, choices: Choices, whole: bool) -> None:
        self.folder = folder
        self.choices = choices
        self.whole = whole
        self.problems: list[ComposeProblem] = []
        self.count = 0

    def parts(self, config_name: str, at: Location) -> list[DefaultsPart]:
        """What is to be merged, in order.

        Raises: CompositionError: Hydra would stop, and nothing can be composed.
                LimitExceeded: the lists exceed a limit of gbs.
        """
        root = PlacedEntry(DefaultsEntry(None, config_name, None, at), None)
        self._grow(root)
        found: list[DefaultsPart] = []
        self._collect(root, found)
        self._check_unique(root, set())
        return found

    def _grow(self, entry: PlacedEntry) -> None:
        """Add the entries below `entry`."""
        self._check_depth(entry)
        chosen = type(entry.name) is str and entry.name != MISSING
        file = self.folder.load(entry.config) if chosen else None
        if file is not None:
            entry.set_header(file.package)
        if self.choices.deletes(entry):
            entry.deleted = True
            return
        self.choices.know(entry)
        if entry.name is None:
            return
        if file is None:
            entry.deleted = True
            self._report_absent(entry)
            return
        children = self._children(entry, file)
        self._add_overrides(entry, children)
        entry.children = self._expand(entry, children) or None

    def _check_depth(self, entry: PlacedEntry) -> None:
        self.count += 1
        if self.count > MOST_DEFAULTS:
            raise LimitExceeded(f"more than {MOST_DEFAULTS} entries of defaults lists")
        depth, above = 0, entry.parent
        while above is not None:
            depth += 1
            if type(entry.name) is str and type(above.name) is str and above.config == entry.config and not above.deleted:
                raise CompositionError(ProblemKind.DEFAULTS, f"the defaults list of {entry.config} refers back to itself", entry.at)
            above = above.parent
        if depth > DEEPEST_DEFAULTS:
            raise LimitExceeded(f"defaults lists nested deeper than {DEEPEST_DEFAULTS} levels")

    def _report_absent(self, entry: PlacedEntry) -> None:
        """Note that no option is chosen, or that its file is not there, which only an optional one may lack."""
        if entry.name == MISSING:
            kind, message = ProblemKind.DEFAULTS, f"an option for {entry.key} must be given"
        elif entry.parent is None:
            message = f"there is no {entry.config}.yaml in {self.folder.folder or 'the root'}"
            raise CompositionError(ProblemKind.NOT_FOUND, message, entry.at)
        elif entry.optional or entry.config.startswith(f"{HYDRA}/"):
            return
        elif self.whole:
            raise CompositionError(ProblemKind.NOT_FOUND, f"there is no {entry.config}.yaml", entry.at)
        else:
            kind, message = ProblemKind.NOT_FOUND, f"there is no {entry.config}.yaml"
        options = self.folder.options(entry.group_path) if entry.group is not None else ""
        self.problems.append(ComposeProblem(kind, f"{message}; options are {options}" if options else message, entry.at))

    def _children(self, entry: PlacedEntry, file: ConfigFile) -> list[PlacedEntry | None]:
        """The entries of the file's own list with its `_self_`; nothing if there is no list [_validate_self]."""
        appended = [PlacedEntry(each, entry, appended=True) for each in self.choices.appended] if entry.parent is None else []
        if not file.defaults and not appended:
            return []
        found: list[PlacedEntry | None] = []
        for each in file.defaults:
            if each.group is not None or each.value != "_self_":
                found.append(PlacedEntry(each, entry))
            elif None in found or each.package is not None:
                raise CompositionError(ProblemKind.DEFAULTS, "_self_ is repeated, or has a package", each.at)
            else:
                found.append(None)
        # Without `_self_` a file's own values come last.
        if None not in found and not (found and all(child is not None and child.override for child in found)):
            found.append(None)
        return [*found, *appended]

    def _add_overrides(self, entry: PlacedEntry, children: list[PlacedEntry | None]) -> None:
        """Note the `override` entries, which must come last [_update_overrides]."""
        seen = False
        for child in children:
            if child is None:
                continue
            child.place(entry.group_path, entry.final_package())
            if child.override:
                if entry.deferred:
                    raise CompositionError(ProblemKind.DEFAULTS, "an override entry below a computed option", child.at)
                seen = True
                self.choices.add(child)
            elif seen and not child.appended:
                raise CompositionError(ProblemKind.DEFAULTS, "an override entry precedes this one; overrides come last", child.at)

    def _expand(self, entry: PlacedEntry, children: list[PlacedEntry | None]) -> list[PlacedEntry | None]:
        """The entries as they will be merged, each with what is below it; from the last to the first, as Hydra goes."""
        found: list[PlacedEntry | None] = []
        for child in reversed(children):
            if child is None:
                found.append(None)
            elif not child.override:
                self.choices.choose(child)
                for each in self._options(entry, child) if isinstance(child.value, list) else (child,):
                    if not each.interpolates:
                        self._grow(each)
                    found.append(each)
        known = self._known(children)
        for child in found:
            if child is not None and child.interpolates and child.children is None and not child.deleted and self._computed(child, known):
                self._grow(child)
        return found[::-1]

    def _computed(self, entry: PlacedEntry, known: dict[str, Any]) -> bool:
        """Whether the option of `entry` could be computed; if it goes into a package of its own, the rest does not depend on it."""
        try:
            self._compute(entry, known)
        except CompositionError as error:
            package = entry.final_package()
            if entry.package is None or not package:
                raise
            self.problems.append(error.problem._replace(key=package))
            entry.deleted = True
        return not entry.deleted

    def _options(self, entry: PlacedEntry, child: PlacedEntry) -> Iterator[PlacedEntry]:
        """Yield an entry for each option of a list, the last first."""
        for option in reversed(child.value):
            if "${" in option:
                raise CompositionError(ProblemKind.DEFAULTS, "an option of a list can't be computed", child.at)
            each = PlacedEntry(DefaultsEntry(None, f"{child.group}/{option}", child.package, child.at, child.optional), entry)
            each.place(entry.group_path, entry.final_package())
            yield each

    def _known(self, children: list[PlacedEntry | None]) -> dict[str, Any]:
        """What an interpolation in a defaults list may refer to: the options chosen so far."""
        entries = [child.config if child.group is None else {child.key: child.value} for child in children if child is not None]
        return {**self.choices.known, "defaults": entries}

    def _compute(self, entry: PlacedEntry, known: dict[str, Any]) -> None:
        """Give `entry` the option that its interpolation refers to [resolve_interpolation]."""
        text = entry.value if entry.group is not None else entry.config
        root = from_data(known, entry.at, self.folder.budget)
        assert isinstance(root, Branch)
        leaf = Leaf(text, entry.at)
        leaf.parent = root
        found = Interpolations(root, self.folder.budget).resolve(leaf)
        if not isinstance(found, Leaf) or type(found.value) is not str:
            message = found.message if isinstance(found, Unresolved) else "it is not text"
            raise CompositionError(ProblemKind.DEFAULTS, f"{text} can't be computed: {message}", entry.at)
        entry.value = found.value
        entry.deferred = True

    def _collect(self, entry: PlacedEntry, found: list[DefaultsPart]) -> None:
        """Add the files of `entry` and of all below it to `found`, in the order of merging."""
        for child in entry.children if entry.children is not None else [None]:
            if child is not None:
                self._collect(child, found)
            elif not entry.deleted and type(entry.name) is str and (file := self.folder.load(entry.config)) is not None:
                found.append(DefaultsPart(file, entry.final_package()))

    def _check_unique(self, entry: PlacedEntry, seen: set[str]) -> None:
        """Raise CompositionError if a group comes twice [ensure_no_duplicates_in_list]."""
        for child in entry.children or ():
            if child is None or child.deleted:
                continue
            if child.group is not None and child.name is not None and child.children is None:
                if child.key in seen:
                    raise CompositionError(ProblemKind.DEFAULTS, f"{child.key} comes twice in the defaults lists", child.at)
                seen.add(child.key)
            self._check_unique(child, seen)
