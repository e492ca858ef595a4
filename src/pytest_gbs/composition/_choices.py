"""What the command line and `override` entries choose for the groups of Hydra's defaults lists."""

# After class `Overrides` in hydra/_internal/defaults_list.py of Hydra 1.3; names there in brackets.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pytest_gbs.composition._defaults_entry import PlacedEntry
from pytest_gbs.composition._errors import CompositionError
from pytest_gbs.composition._folder import DefaultsEntry
from pytest_gbs.composition._override_grammar import ADD, DELETE, FORCE, ParsedOverride
from pytest_gbs.composition.composed import ComposeProblem, ProblemKind
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple

HYDRA: Final = "hydra"


class PlacedOverride(NamedTuple):
    """An override of the command line, and where it is written."""

    parsed: ParsedOverride
    at: Location


class Choices:
    """What the command line and `override` entries choose [Overrides]."""

    def __init__(self, given: Sequence[PlacedOverride]) -> None:
        self.problems: list[ComposeProblem] = []
        self.chosen: dict[str, tuple[Any, Location]] = {}
        self.paths: dict[str, str] = {}  # where the choices of the command line go
        self.used: set[str] = set()
        self.appended: list[DefaultsEntry] = []
        self.deletions: dict[str, tuple[Any, Location]] = {}
        self.deleted: set[str] = set()
        self.known: dict[str, Any] = {}
        for parsed, at in given:
            if wrong := self._add_override(parsed, at):
                self.problems.append(ComposeProblem(ProblemKind.OVERRIDE, wrong, at, parsed.path))

    def _add_override(self, parsed: ParsedOverride, at: Location) -> str:
        """Note one override; return what is wrong with it, or nothing."""
        key, value = parsed.group_key, parsed.value
        self.paths[key] = parsed.path
        if parsed.kind == FORCE:
            return f"++ does not work for a group: {parsed.key}"
        if parsed.kind == DELETE:
            self.deletions[key] = value, at
            return ""
        if type(value) is not str and not (isinstance(value, list) and all(type(item) is str for item in value)):
            return f"an option of {parsed.key} must be text or a list of texts"
        if parsed.kind == ADD:
            self.appended.append(DefaultsEntry(parsed.key, value, parsed.package, at))
        else:
            self.chosen[key] = value, at
        return ""

    def add(self, entry: PlacedEntry) -> None:
        """Note an `override` entry; what was chosen before stays [add_override]."""
        self.chosen.setdefault(entry.key, (entry.value, entry.at))

    def choose(self, entry: PlacedEntry) -> None:
        """Give `entry` the option that was chosen for it [override_default_option]."""
        if entry.group is not None and (key := entry.key) in self.chosen:
            entry.value, entry.at = self.chosen[key]
            self.used.add(key)

    def deletes(self, entry: PlacedEntry) -> bool:
        """Whether the command line deletes `entry` [is_deleted]."""
        if entry.group is None or (key := entry.key) not in self.deletions:
            return False
        option = self.deletions[key][0]
        if option is not None and option != entry.name:
            return False
        self.deleted.add(key)
        return True

    def know(self, entry: PlacedEntry) -> None:
        """Note what was chosen for a group [set_known_choice].

        Raises: CompositionError: something else was chosen before.
        """
        if entry.group is None:
            return
        key = entry.key
        if self.known.setdefault(key, entry.name) != entry.name:
            message = f"{key} is both {self.known[key]} and {entry.name}; without override, a group has one option"
            raise CompositionError(ProblemKind.DEFAULTS, message, entry.at)

    def unused(self) -> list[ComposeProblem]:
        """A problem for each choice that no entry uses [ensure_overrides_used, ensure_deletions_used]."""
        found = []
        for key, (_, at) in self.chosen.items():
            if key not in self.used and not key.removeprefix("/").startswith((f"{HYDRA}/", f"{HYDRA}.")):
                kind = ProblemKind.OVERRIDE if key in self.paths else ProblemKind.DEFAULTS
                found.append(ComposeProblem(kind, f"no defaults list has {key} to override", at, self.paths.get(key, "")))
        for key, (_, at) in self.deletions.items():
            if key not in self.deleted:
                found.append(ComposeProblem(ProblemKind.OVERRIDE, f"no defaults list has {key} to delete", at, self.paths[key]))
        return found
