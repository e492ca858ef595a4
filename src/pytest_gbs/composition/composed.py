"""One configuration made of several files: its values, where each is written, and what kept others from being known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_gbs.model.document import Document
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.record import NamedTuple

# The place of an override that was given without one.
NOWHERE: Final = Location("")
# The text of a value that an override would set that the program refuses or gbs does not read.
NOT_APPLIED: Final = "$(not applied)"


class UnresolvedReason:
    """Why a value is not known."""

    MISSING: Final = "missing"  # `???`, which a launch must give
    ENVIRONMENT: Final = "environment"  # an environment variable decides
    RESOLVER: Final = "resolver"  # a resolver that the program registers decides
    UNSUPPORTED: Final = "unsupported"  # syntax that OmegaConf reads and gbs does not
    TO_MISSING: Final = "to-missing"  # an interpolation of a value that is `???`
    NO_SUCH_KEY: Final = "no-such-key"
    LOOP: Final = "loop"
    SYNTAX: Final = "syntax"
    TYPE: Final = "type"  # a resolver's argument, or a key, of a type that it does not take
    TOO_LARGE: Final = "too-large"  # deeper or longer than gbs follows; the program might


class Unresolved(NamedTuple):
    """In place of a value: why it is not known, as one of `UnresolvedReason`, and the place that keeps it from being known."""

    reason: str
    message: str
    at: Location


class ProblemKind:
    """What kind of thing keeps the files from being composed."""

    NOT_FOUND: Final = "not-found"  # no such file in the tree; the program's own code may still provide it
    UNREADABLE: Final = "unreadable"
    DEFAULTS: Final = "defaults"  # the defaults list
    OVERRIDE: Final = "override"  # an override of the command line
    MERGE: Final = "merge"
    DUPLICATE: Final = "duplicate"  # two files that must not share a key do
    LIMIT: Final = "limit"  # more than gbs follows


class ComposeProblem(NamedTuple):
    """Something at which the program would stop while it composes (or, of kind `limit`, at which gbs does).

    `key` is what an override would set, with dots.
    """

    kind: str
    message: str
    at: Location
    key: str = ""


class Override(NamedTuple):
    """An override of the command line in Hydra's grammar (`a.b=1`), and where it is written."""

    text: str
    at: Location = NOWHERE


class Composed(NamedTuple):
    """One configuration out of several files.

    `data` has the values as plain dicts, lists and scalars, with `Unresolved` in place of what is not known. `document` says
    the same as a made-up file, which a framework's table reads like any other; `places` maps the key path of each scalar, list
    indices included, to the place in a real file where it is written. `problems` are what the program would stop at; what could
    be composed all the same is there, and what a refused override would set is `NOT_APPLIED`. `sources` are the paths of all
    files that were read.
    """

    data: dict[Any, Any]
    document: Document
    places: Mapping[KeyPath, Location]
    problems: tuple[ComposeProblem, ...]
    sources: tuple[str, ...]
