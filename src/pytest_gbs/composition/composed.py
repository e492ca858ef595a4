"""Several files as one configuration: each value with the file and span it came from, and what it overrode."""

from __future__ import annotations

from typing import Any, Final

from pytest_gbs.model.document import Document
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.scalar import Value

# The place of what was given without one.
NOWHERE: Final = Location("", 0, 0)


class Why:
    """Why a value could not be resolved."""

    MISSING: Final = "missing"  # `???`, to be given by whoever launches
    ENVIRONMENT: Final = "environment"  # an environment variable decides
    RESOLVER: Final = "resolver"  # a resolver that the program registers decides
    TO_MISSING: Final = "to-missing"  # an interpolation of a value that is `???`
    NO_SUCH_KEY: Final = "no-such-key"
    LOOP: Final = "loop"
    SYNTAX: Final = "syntax"
    TYPE: Final = "type"  # a resolver's argument, or a key, of a type that it does not take
    TOO_LARGE: Final = "too-large"  # deeper or longer than we follow; the program might


# With the other reasons the program stops once it reads the value.
OPEN: Final = frozenset((Why.MISSING, Why.ENVIRONMENT, Why.RESOLVER, Why.TOO_LARGE))


class Unresolved(NamedTuple):
    """In place of a value: why it is not known, and the place that keeps it from being known.

    `otherwise` holds, where the environment decides, the one value that holds if it does not.
    """

    reason: str
    message: str
    at: Location
    otherwise: tuple[Value, ...] = ()

    @property
    def stops(self) -> bool:
        """Tell whether the program stops once it reads the value."""
        return self.reason not in OPEN


class ComposedValue(NamedTuple):
    """A scalar of a composed configuration: its value, where it is written, and as what text.

    `overrode` are the places of what stood there before, the last one first. `through` are those of the values that an
    interpolation took in. The key path within `at` is that of its own file.
    """

    value: Value | Unresolved
    at: Location
    text: str
    overrode: tuple[Location, ...] = ()
    through: tuple[Location, ...] = ()


class ProblemKind:
    """What kind of thing keeps the files from being composed."""

    NOT_FOUND: Final = "not-found"  # no such file in the tree; the program may know it all the same, from its own code
    UNREADABLE: Final = "unreadable"
    DEFAULTS: Final = "defaults"  # the defaults list
    OVERRIDE: Final = "override"  # an override of the command line
    MERGE: Final = "merge"
    DUPLICATE: Final = "duplicate"  # two files that must not share a key do
    LIMIT: Final = "limit"  # more than we follow


class ComposeProblem(NamedTuple):
    """Something at which the program would stop while it composes (or, of kind `limit`, at which we do)."""

    kind: str
    message: str
    at: Location


class Override(NamedTuple):
    """An override of the command line in Hydra's grammar (`a.b=1`), and where it stands."""

    text: str
    at: Location = NOWHERE


class Composed(NamedTuple):
    """One configuration out of several files.

    `values` maps the key path of each scalar to it, indices of sequences included; `data` is the same as plain dicts, lists and
    scalars, with `Unresolved` in the place of what is not known. `document` is made up: a framework's table reads it like any
    other, and `locate` turns the places in it into real ones. `problems` are what the program would stop at; what could be
    composed all the same is there. `sources` are the paths of all files that were read.
    """

    values: dict[KeyPath, ComposedValue]
    data: dict[Any, Any]
    document: Document
    problems: tuple[ComposeProblem, ...]
    sources: tuple[str, ...]

    def get(self, *path: str | int) -> Value | Unresolved:
        """Return the scalar at `path`, or None where there is none."""
        found = self.values.get(path)
        return None if found is None else found.value

    def locate(self, at: Location) -> Location:
        """Return the place in a real file of `at`, a place in `document`: where the value of its key path is written."""
        found = self.values.get(at.path or ())
        if found is not None:
            return found.at
        inner = next((value.at for path, value in self.values.items() if at.path and path[: len(at.path)] == at.path), None)
        return inner or at
