"""The settings of a check, merged from `[tool.gbs]`, the pytest ini file and the command line."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_FILE_BYTES
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import Rule


class Hardware(NamedTuple):
    """Hardware stated for the recipes that match one of `paths` (globs relative to the root; ("**",) is all of them).

    `origin` says where the settings state it, for people: "gpus-per-node in [tool.gbs] of pyproject.toml". With a `name` it is that of a
    launch that no script holds: the recipes run on it as well, as an entry of their own that is called so.
    """

    paths: tuple[str, ...]
    num_nodes: int | None = None
    gpus_per_node: int | None = None
    world_size: int | None = None
    origin: str = ""
    name: str = ""

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are stated."""
        stated = {"num_nodes": self.num_nodes, "gpus_per_node": self.gpus_per_node, "world_size": self.world_size}
        return {name: value for name, value in stated.items() if value is not None}


class Expectation(NamedTuple):
    """What a team expects of the recipes matching `paths`.

    `name` is a size (`global_batch_size`, `tokens_per_step`, ...). It must be one of `values` if there are any, and lie
    between `low` and `high` (both included, None: open). With `shared` all matching recipes must have the same value. With `ran` it is what
    a job trained on, which says nothing of other launches of the recipe.
    """

    paths: tuple[str, ...]
    name: str
    values: tuple[int, ...] = ()
    low: int | None = None
    high: int | None = None
    shared: bool = False
    origin: str = ""
    text: str = ""
    ran: bool = False


class Settings(NamedTuple):
    """Everything a user can set, merged; codes and names of rules are already resolved to codes.

    `select` empty means the rules that are on by default; `extend_select` adds to them. `max_file_size` is in bytes.
    `strict` makes an undetermined claim an error; `strict_all` an unclaimed recipe too. `versions` are those of the libraries that
    the recipes are for, as ("transformers", "4.57.1"). `source` is the file the settings were read from, relative to the root, or "".

    `baseline` is the file of accepted findings, relative to the root, or "".

    `frameworks` are the tables of the user's own frameworks, and `rules` rules that are not built in; both with those of the plugins.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    hardware: tuple[Hardware, ...] = ()
    launches: tuple[Hardware, ...] = ()
    expect: tuple[Expectation, ...] = ()
    max_file_size: int = MOST_FILE_BYTES
    strict: bool = False
    strict_all: bool = False
    require_ignore_reason: bool = False
    source: str = ""
    baseline: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    frameworks: tuple[Framework, ...] = ()
    rules: tuple[Rule, ...] = ()


class Overrides(NamedTuple):
    """What the command line or the pytest options say; None if they say nothing."""

    select: Sequence[str] | None = None
    extend_select: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    strict: bool | None = None
    strict_all: bool | None = None
    exclude: Sequence[str] | None = None
    max_file_size: int | None = None
    local_rules: Sequence[str] | None = None  # files and folders of Python rules, which only the command line may name
