"""A Hydra application's configuration: its folder, the defaults lists, and the overrides of a command line as one configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_gbs.composition._apply import Rejected, apply
from pytest_gbs.composition._choices import HYDRA, Choices, Given
from pytest_gbs.composition._defaults import DefaultsTree, Part
from pytest_gbs.composition._folder import Folder, Reader, Stopped
from pytest_gbs.composition._interpolation import Failed
from pytest_gbs.composition._merge import Clash, Merger
from pytest_gbs.composition._nodes import Branch, Budget, Leaf, Node, TooMuch, place_of
from pytest_gbs.composition._override_grammar import NotAnOverride, Parsed, Sweep, parse_override
from pytest_gbs.composition._present import present, without_values
from pytest_gbs.composition._resolve import Interpolations, Resolver, split_key
from pytest_gbs.composition.composed import Composed, ComposeProblem, Override, ProblemKind
from pytest_gbs.model.location import Location
from pytest_gbs.model.tree import Tree


def compose(
    tree: Tree,
    read: Reader,
    config_dir: str,
    config_name: str,
    overrides: Sequence[Override | str] = (),
    *,
    environment: Mapping[str, str] | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    legacy: bool = False,
    whole: bool = False,
) -> Composed:
    """Return the configuration that Hydra composes from `config_name` in folder `config_dir` of `tree`, with `overrides`.

    `read` reads a file's text as documents. `environment` is what is known of the environment variables; the others are
    unknown, not unset. `resolvers` are functions of numbers that the program registers. `legacy` is Hydra's version_base below
    1.2. With `whole`, a configuration with problems is not written out: it has no values. Hydra's own settings (`hydra.*`,
    `hydra/*`) are left out, as Hydra leaves them out of what the program gets.
    """
    budget = Budget()
    folder = Folder(tree, read, config_dir.strip("/"), budget, legacy)
    problems: list[ComposeProblem] = []
    groups, values = _read(overrides, folder, problems)
    root = Branch(Location(config_dir, 0, 0, ()))
    try:
        parts = _parts(folder, config_name, groups, budget, problems)
        times = Counter(id(part.loaded) for part in parts)
        for part in parts:
            _merge(root, part, merger_of(root, budget, takes=times[id(part.loaded)] == 1), problems)
        for given in values:
            _apply(root, given, budget, problems)
    except TooMuch as error:
        problems.append(ComposeProblem(ProblemKind.LIMIT, str(error), root.at))
    except Stopped as stopped:
        problems.append(ComposeProblem(stopped.kind, stopped.message, stopped.at))
    root.content.pop(HYDRA, None)
    path = folder.sources[0] if folder.sources else config_dir
    if whole and problems:
        return without_values(path, problems, folder.sources)
    return present(root, path, problems, folder.sources, environment=environment or {}, resolvers=resolvers or {})


def _read(
    overrides: Sequence[Override | str], folder: Folder, problems: list[ComposeProblem]
) -> tuple[tuple[Given, ...], tuple[Given, ...]]:
    """Return the overrides that choose options and those that set values, without those that Hydra's own settings take."""
    groups: list[Given] = []
    values: list[Given] = []
    for each in overrides:
        override = each if isinstance(each, Override) else Override(each)
        at = place_of(override)
        parsed = _parsed(override.text, at, problems)
        if parsed is None or parsed.key == HYDRA or parsed.key.startswith((f"{HYDRA}.", f"{HYDRA}/")):
            continue
        chooses = not isinstance(parsed.value, dict) and folder.is_group(parsed.key)
        (groups if chooses else values).append(Given(parsed, at))
    return tuple(groups), tuple(values)


def _parsed(text: str, at: Location, problems: list[ComposeProblem]) -> Parsed | None:
    try:
        parsed = parse_override(text)
    except NotAnOverride as error:
        problems.append(ComposeProblem(ProblemKind.OVERRIDE, f"Hydra can't parse {text[:80]!r}: {error}", at))
        return None
    if isinstance(parsed.value, Sweep):
        problems.append(ComposeProblem(ProblemKind.OVERRIDE, f"{text[:80]!r} is several runs, and needs --multirun", at))
        return None
    return parsed


def _parts(folder: Folder, name: str, groups: tuple[Given, ...], budget: Budget, problems: list[ComposeProblem]) -> list[Part]:
    choices = Choices(groups)
    grown = DefaultsTree(folder, choices, budget)
    try:
        return grown.parts(name, Location(folder.folder, 0, 0))
    finally:
        problems += [*choices.problems, *grown.problems, *choices.unused()]


def merger_of(root: Branch, budget: Budget, takes: bool = False) -> Merger:
    """Return what merges into `root`, interpolations of mappings in it followed as OmegaConf does; `takes` as `Merger` has it."""

    def dereference(leaf: Leaf) -> Node | None:
        try:
            return Interpolations(root, {}, {}, budget).node(leaf)
        except Failed:
            return None

    return Merger(budget, dereference, takes)


def _merge(root: Branch, part: Part, merger: Merger, problems: list[ComposeProblem]) -> None:
    """Merge one file into `root`, within its package."""
    config = part.loaded.config
    source: Node = config
    if part.package:
        for step in reversed(split_key(part.package)):
            outer = Branch(config.at)
            outer.content[step] = source
            source = outer
    try:
        if not isinstance(source, Branch):
            raise Clash("a list can't be merged with a mapping", source.at)
        merger.merge(root, source)
    except Clash as clash:
        problems.append(ComposeProblem(ProblemKind.MERGE, clash.message, clash.at))


def _apply(root: Branch, given: Given, budget: Budget, problems: list[ComposeProblem]) -> None:
    try:
        apply(root, given.parsed, given.at, merger_of(root, budget), Interpolations(root, {}, {}, budget))
    except Rejected as rejected:
        problems.append(ComposeProblem(ProblemKind.OVERRIDE, str(rejected), given.at))


__all__ = ["compose", "merger_of"]
