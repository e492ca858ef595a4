"""A Hydra defaults list worked out: which files are merged, in which order, into which packages."""

# After hydra/_internal/defaults_list.py of Hydra 1.3; names there in brackets.

from __future__ import annotations

from typing import Any

from pytest_gbs.composition._choices import HYDRA, Choices
from pytest_gbs.composition._default import Default
from pytest_gbs.composition._folder import Entry, Folder, Loaded, Stopped
from pytest_gbs.composition._interpolation import Failed
from pytest_gbs.composition._nodes import Branch, Budget, Leaf, TooMuch, from_data
from pytest_gbs.composition._resolve import Interpolations
from pytest_gbs.composition.composed import ComposeProblem, ProblemKind
from pytest_gbs.model.limits import DEEPEST_DEFAULTS, MOST_DEFAULTS
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple


class Part(NamedTuple):
    """A file to merge, and the package it goes into."""

    loaded: Loaded
    package: str


class DefaultsTree:
    """The tree of all entries under a primary configuration, as Hydra builds it [_create_defaults_tree_impl]."""

    def __init__(self, folder: Folder, choices: Choices, budget: Budget) -> None:
        self.folder = folder
        self.choices = choices
        self.budget = budget
        self.problems: list[ComposeProblem] = []
        self.count = 0

    def parts(self, config_name: str, at: Location) -> list[Part]:
        """Return what is to be merged, in order.

        Raises: Stopped: Hydra would stop, and nothing can be composed.
                TooMuch: the lists go beyond our bounds.
        """
        root = Default(Entry(None, config_name, None, False, False, at), None)
        root.place("", "")
        self._grow(root, is_root=True, deferred=False)
        found: list[Part] = []
        self._collect(root, found)
        self._check_twice(root, set())
        return found

    def _grow(self, node: Default, *, is_root: bool = False, deferred: bool) -> None:
        """Add the entries below `node`."""
        self._enter(node)
        missing = node.name == "???"
        loaded = None if missing or type(node.name) is not str else self.folder.load(node.config)
        if loaded is not None:
            self._set_header(node, loaded)
        if self.choices.deletes(node):
            node.deleted = True
            return
        self.choices.know(node)
        if node.name is None:
            return
        if missing:
            self._report_missing(node)
            return
        if loaded is None:
            self._report_absent(node, is_root)
            return
        children = self._entries(node, loaded, is_root)
        if children is None:
            return
        self._update_overrides(node, children, deferred)
        node.children = self._expand(node, children, deferred) or None

    def _enter(self, node: Default) -> None:
        self.count += 1
        if self.count > MOST_DEFAULTS:
            raise TooMuch(f"more than {MOST_DEFAULTS} entries of defaults lists")
        depth, above = 0, node.parent
        while above is not None:
            depth += 1
            if type(node.name) is str and type(above.name) is str and above.config == node.config and not above.deleted:
                raise Stopped(ProblemKind.DEFAULTS, f"the defaults list of {node.config} leads back to itself", node.at)
            above = above.parent
        if depth > DEEPEST_DEFAULTS:
            raise TooMuch(f"defaults lists nested deeper than {DEEPEST_DEFAULTS} levels")

    def _set_header(self, node: Default, loaded: Loaded) -> None:
        """Take the package of the file's header [set_package_header]."""
        package = loaded.package
        if package is None or (self.folder.legacy and package == "_group_"):
            return
        if package != "_global_" and not package.startswith("_global_."):
            package = f"_global_.{package}"
        if self.folder.legacy:
            package = package.replace("_group_", node.group_path.replace("/", ".")).replace("_name_", str(node.name))
        node.header = package

    def _report_missing(self, node: Default) -> None:
        options = ", ".join(self.folder.options(node.group_path)) if node.group is not None else ""
        message = f"an option for {node.key} must be given" + (f": {options}" if options else "")
        self.problems.append(ComposeProblem(ProblemKind.DEFAULTS, message, node.at))
        node.deleted = True

    def _report_absent(self, node: Default, is_root: bool) -> None:
        """Leave out an entry without file; only an optional one may lack it."""
        node.deleted = True
        if is_root:
            raise Stopped(ProblemKind.NOT_FOUND, f"there is no {node.config}.yaml in {self.folder.folder or 'the root'}", node.at)
        if not node.optional and not node.config.startswith(f"{HYDRA}/"):
            options = ", ".join(self.folder.options(node.group_path)) if node.group is not None else ""
            message = f"there is no {node.config}.yaml" + (f"; options are {options}" if options else "")
            self.problems.append(ComposeProblem(ProblemKind.NOT_FOUND, message, node.at))

    def _entries(self, node: Default, loaded: Loaded, is_root: bool) -> list[Default | None] | None:
        """Return the entries of the file's own list with its `_self_` (None), or None where there is no list [_validate_self]."""
        appended = [Default(entry, node, appended=True) for entry in self.choices.appended] if is_root else []
        if not loaded.defaults and not appended:
            return None
        found: list[Default | None] = []
        for entry in loaded.defaults:
            if entry.group is None and entry.value == "_self_":
                if None in found or entry.package is not None:
                    raise Stopped(ProblemKind.DEFAULTS, "_self_ stands here twice or with a package", entry.at)
                found.append(None)
            else:
                found.append(Default(entry, node))
        # Without `_self_` a file's own values come last, as in Hydra 1.1 and later for all but the primary, and for it too.
        if None not in found and (any(child is not None and not child.override for child in found) or not found):
            found.append(None)
        return [*found, *appended]

    def _update_overrides(self, node: Default, children: list[Default | None], deferred: bool) -> None:
        """Take in the `override` entries, which must come last [_update_overrides]."""
        seen = False
        for child in children:
            if child is None:
                continue
            child.place(node.group_path, node.final_package())
            legacy = self.folder.legacy and child.group is not None and not child.override and child.group.startswith(f"{HYDRA}/")
            if seen and not (child.override or child.appended or legacy):
                raise Stopped(ProblemKind.DEFAULTS, "an override entry stands before this one; overrides come last", child.at)
            if child.override:
                seen = True
                if deferred:
                    raise Stopped(ProblemKind.DEFAULTS, "an override entry below an option that is worked out", child.at)
                self.choices.add(child)

    def _expand(self, node: Default, children: list[Default | None], deferred: bool) -> list[Default | None]:
        """Return the entries as they will be merged, each with what is below it; from the last to the first, as Hydra goes."""
        found: list[Default | None] = []
        for child in reversed(children):
            if child is None:
                found.append(None)
            elif not child.override:
                self.choices.choose(child)
                if isinstance(child.value, list):
                    found += self._options(node, child, deferred)
                else:
                    if not child.interpolates:
                        self._grow(child, deferred=deferred)
                    found.append(child)
        known = self._known(children)
        for child in found:
            if child is not None and child.interpolates and child.children is None and not child.deleted:
                self._work_out(child, known)
                self._grow(child, deferred=True)
        return found[::-1]

    def _options(self, node: Default, child: Default, deferred: bool) -> list[Default | None]:
        """Return an entry for each option of a list, the last first."""
        found: list[Default | None] = []
        for option in reversed(child.value):
            if "${" in option:
                raise Stopped(ProblemKind.DEFAULTS, "an option of a list can't be worked out", child.at)
            each = Default(Entry(None, f"{child.group}/{option}", child.package, child.optional, False, child.at), node)
            each.place(node.group_path, node.final_package())
            self._grow(each, deferred=deferred)
            found.append(each)
        return found

    def _known(self, children: list[Default | None]) -> dict[str, Any]:
        entries: list[Any] = []
        for child in children:
            if child is not None:
                entries.append(child.config if child.group is None else {child.key: child.value})
        return {**self.choices.known, "defaults": entries}

    def _work_out(self, child: Default, known: dict[str, Any]) -> None:
        """Give `child` the option that its interpolation stands for [resolve_interpolation]."""
        root = from_data(known, child.at, self.budget)
        text = child.value if child.group is not None else child.config
        leaf = Leaf(text, child.at)
        assert isinstance(root, Branch)
        leaf.parent = root
        try:
            found = Interpolations(root, {}, {}, self.budget).node(leaf)
        except Failed as error:
            raise Stopped(ProblemKind.DEFAULTS, f"{text} can't be worked out: {error.message}", child.at) from error
        if not isinstance(found, Leaf) or type(found.value) is not str:
            raise Stopped(ProblemKind.DEFAULTS, f"{text} is no option", child.at)
        child.value = found.value

    def _collect(self, node: Default, found: list[Part]) -> None:
        """Add the files of `node` and of all below it to `found`, in the order of merging."""
        for child in node.children if node.children is not None else [None]:
            if child is not None:
                self._collect(child, found)
            elif not node.deleted and type(node.name) is str and (loaded := self.folder.load(node.config)) is not None:
                found.append(Part(loaded, node.final_package()))

    def _check_twice(self, node: Default, seen: set[str]) -> None:
        """Raise Stopped where one group comes twice [ensure_no_duplicates_in_list]."""
        for child in node.children or ():
            if child is None or child.deleted:
                continue
            if child.group is not None and child.name is not None and child.children is None:
                if child.key in seen:
                    raise Stopped(ProblemKind.DEFAULTS, f"{child.key} comes twice in the defaults lists", child.at)
                seen.add(child.key)
            self._check_twice(child, seen)
