"""What starts training: a launcher file or a command, and the hardware it asks for."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.core.document import Document
from pytest_gbs.core.location import Location
from pytest_gbs.core.quantity import Quantity
from pytest_gbs.core.typed import Final, NamedTuple


class Kind:
    """What kind of text a launch was read from, which decides how much it may judge."""

    SCRIPT: Final = "script"
    DOCUMENT: Final = "document"
    TEST: Final = "test"
    TEMPLATE: Final = "template"


class Problem(NamedTuple):
    """Something wrong inside one launcher file: what its launcher would do, where, and the places it is about."""

    message: str
    at: Location
    related: tuple[tuple[Location, str], ...] = ()
    stops: bool = True


class LauncherFile(NamedTuple):
    """A launcher's own configuration file, an accelerate YAML say, and what it gives.

    `quantities` are the sizes it states (`world_size`, `num_nodes`, `gpus_per_node`, parallel sizes). `distributed` is false
    where it starts a single process whatever the numbers say. `problems` are contradictions within the file.
    """

    path: str
    launcher: str
    quantities: tuple[Quantity, ...]
    distributed: bool
    problems: tuple[Problem, ...] = ()


class Launcher(NamedTuple):
    """One launcher: which documents are its files, and how to read them.

    `hint` is a word that occurs in the bytes of each of its files, so that others need not be parsed.
    """

    name: str
    summary: str
    hint: str
    owns: Callable[[Document], bool]
    read: Callable[[Document], LauncherFile]


class Launch(NamedTuple):
    """A command that launches a recipe: where it stands, of which kind, and the sizes it gives."""

    at: Location
    kind: str
    command: str
    quantities: tuple[Quantity, ...]
    overrides: tuple[tuple[str, str, Location], ...] = ()
