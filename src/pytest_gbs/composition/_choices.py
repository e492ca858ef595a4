"""What the command line and `override` entries choose for the groups of Hydra's defaults lists."""

# After class `Overrides` in hydra/_internal/defaults_list.py of Hydra 1.3; names there in brackets.

from __future__ import annotations

from typing import Any, Final

from pytest_gbs.composition._default import Default
from pytest_gbs.composition._folder import Entry, Stopped
from pytest_gbs.composition._override_grammar import ADD, DELETE, FORCE, Parsed
from pytest_gbs.composition.composed import ComposeProblem, ProblemKind
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple

HYDRA: Final = "hydra"


class Given(NamedTuple):
    """An override of the command line that chooses an option, and where it stands."""

    parsed: Parsed
    at: Location


class Choices:
    """What the command line and `override` entries choose [Overrides]."""

    def __init__(self, given: tuple[Given, ...]) -> None:
        self.problems: list[ComposeProblem] = []
        self.chosen: dict[str, Any] = {}
        self.places: dict[str, Location] = {}
        self.external: set[str] = set()
        self.used: set[str] = set()
        self.appended: list[Entry] = []
        self.deletions: dict[str, tuple[Any, Location]] = {}
        self.deleted: set[str] = set()
        self.known: dict[str, Any] = {}
        for parsed, at in given:
            if not self._is_hydra(parsed.key) and (wrong := self._take(parsed, at)):
                self.problems.append(ComposeProblem(ProblemKind.OVERRIDE, wrong, at))

    @staticmethod
    def _is_hydra(key: str) -> bool:
        return key.startswith((f"{HYDRA}/", f"{HYDRA}."))

    def _take(self, parsed: Parsed, at: Location) -> str:
        """Take one override in; return what is wrong with it, or nothing."""
        if parsed.kind == FORCE:
            return f"++ does not work for a group: {parsed.key}"
        if parsed.kind == DELETE:
            if parsed.value is not None and type(parsed.value) is not str:
                return f"an option of {parsed.key} must be text"
            self.deletions[parsed.group_key] = parsed.value, at
            return ""
        value = parsed.value
        if not (type(value) is str or (isinstance(value, list) and all(type(item) is str for item in value))):
            return f"an option of {parsed.key} must be text or a list of texts"
        if parsed.kind == ADD:
            self.appended.append(Entry(parsed.key, value, parsed.package, False, False, at))
            return ""
        self.chosen[parsed.group_key] = value
        self.places[parsed.group_key] = at
        self.external.add(parsed.group_key)
        return ""

    def add(self, default: Default) -> None:
        """Take in an `override` entry; what was chosen before stays [add_override]."""
        key = default.key
        if key not in self.chosen:
            self.chosen[key] = default.value
            self.places[key] = default.at

    def choose(self, default: Default) -> None:
        """Give `default` the option that was chosen for it [override_default_option]."""
        if default.group is not None and (key := default.key) in self.chosen:
            default.value = self.chosen[key]
            default.at = self.places[key]
            self.used.add(key)

    def deletes(self, default: Default) -> bool:
        """Return whether the command line takes `default` away [is_deleted]."""
        if default.group is None or (key := default.key) not in self.deletions:
            return False
        wanted = self.deletions[key][0]
        if wanted is not None and wanted != default.name:
            return False
        self.deleted.add(key)
        return True

    def know(self, default: Default) -> None:
        """Remember what was chosen for a group [set_known_choice].

        Raises: Stopped: something else was chosen before.
        """
        if default.group is None:
            return
        key = default.key
        if self.known.setdefault(key, default.name) != default.name:
            message = f"{key} is both {self.known[key]} and {default.name}; without override, a group has one option"
            raise Stopped(ProblemKind.DEFAULTS, message, default.at)

    def unused(self) -> list[ComposeProblem]:
        """Return a problem for each choice that nothing took up [ensure_overrides_used, ensure_deletions_used]."""
        found = []
        for key in self.chosen:
            if key not in self.used and not self._is_hydra(key.removeprefix("/")):
                kind = ProblemKind.OVERRIDE if key in self.external else ProblemKind.DEFAULTS
                found.append(ComposeProblem(kind, f"no defaults list has {key} to override", self.places[key]))
        for key, (_, at) in self.deletions.items():
            if key not in self.deleted:
                found.append(ComposeProblem(ProblemKind.OVERRIDE, f"no defaults list has {key} to delete", at))
        return found
