"""A Hydra application's configuration: its folder, the defaults lists, and the overrides of a command line as one configuration."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gbs.composition._choices import HYDRA, Choices, PlacedOverride
from pytest_gbs.composition._defaults import DefaultsPart, DefaultsTree
from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._folder import ConfigFolder
from pytest_gbs.composition._interpolations import Interpolations, Resolvers, split_key
from pytest_gbs.composition._merge import Merger
from pytest_gbs.composition._nodes import Branch, Budget, Node
from pytest_gbs.composition._override_grammar import parse_override
from pytest_gbs.composition._overrides import apply_override, mark_not_applied
from pytest_gbs.composition._to_document import to_document, without_values
from pytest_gbs.composition._tokens import GrammarError, UnsupportedSyntax
from pytest_gbs.composition.composed import Composed, ComposeProblem, Override, ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.location import KeyPath, Location


def compose(
    cache: DocumentCache,
    config_dir: str,
    config_name: str,
    overrides: Sequence[Override] = (),
    *,
    resolvers: Resolvers | None = None,
    environment: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    whole: bool = False,
) -> Composed:
    """The configuration that Hydra 1.2 and later composes from `config_name` in folder `config_dir`, with `overrides`.

    `resolvers`, `environment` and `variables` are those of `Interpolations`. With `whole`, a configuration with problems has no
    values, and composing ends at the first file that is not there. Hydra's own settings (`hydra.*`, `hydra/*`) are left out, as Hydra
    leaves them out of what the program gets.
    """
    budget = Budget(cache.most_composed)
    folder = ConfigFolder(cache, config_dir.strip("/"), budget)
    folder.search_as(config_name)
    problems: list[ComposeProblem] = []
    root = Branch(Location(config_dir, 0, 0, ()))
    groups, values = _parsed(overrides, folder, problems)
    try:
        _merge_parts(root, _parts(folder, config_name, groups, problems, whole), budget, problems)
        # A file that is not there may have any key.
        partial = any(problem.kind == ProblemKind.NOT_FOUND for problem in problems)
        for each in values:
            try:
                apply_override(root, each.parsed, each.at, budget, partial=partial)
            except CompositionError as error:
                problems.append(ComposeProblem(ProblemKind.OVERRIDE, error.problem.message, each.at, each.parsed.path))
    except LimitExceeded as error:
        problems.append(ComposeProblem(ProblemKind.LIMIT, str(error), root.at))
    except CompositionError as error:
        problems.append(error.problem)
    for problem in problems:
        if problem.key:
            mark_not_applied(root, problem.key, problem.at)
    root.content.pop(HYDRA, None)
    path = folder.sources[0] if folder.sources else config_dir
    if whole and problems:
        return without_values(path, problems, folder.sources)
    return to_document(root, path, problems, folder.sources, Interpolations(root, Budget(), resolvers, environment, variables))


def given_to_program(composed: Composed, script: str = "") -> tuple[dict[Any, Any], dict[KeyPath, Location]] | None:
    """What a program gets, with the places of what a command line in `script` gives; None if not all of it could be composed."""
    given = {path: at for path, at in composed.places.items() if script and at.source == script}
    return None if composed.problems or not composed.sources else (composed.data, given)


def _parsed(
    overrides: Sequence[Override], folder: ConfigFolder, problems: list[ComposeProblem]
) -> tuple[list[PlacedOverride], list[PlacedOverride]]:
    """The overrides that choose options and those that set values, without those of Hydra's own settings."""
    groups: list[PlacedOverride] = []
    values: list[PlacedOverride] = []
    for text, at in overrides:
        try:
            parsed = parse_override(text)
        except (GrammarError, UnsupportedSyntax) as error:
            reads = "gbs does not read" if isinstance(error, UnsupportedSyntax) else "Hydra can't parse"
            problems.append(ComposeProblem(ProblemKind.OVERRIDE, f"{reads} {text[:80]!r}: {error}", at, _path(text)))
            continue
        if parsed.key == HYDRA or parsed.key.startswith((f"{HYDRA}.", f"{HYDRA}/")):
            continue
        chooses = not isinstance(parsed.value, dict) and folder.is_group(parsed.key)
        (groups if chooses else values).append(PlacedOverride(parsed, at))
    return groups, values


def _path(text: str) -> str:
    """What an override that can't be read would set, with dots; nothing if its key can't be read either."""
    match = re.match(r"[+~]*([\w./-]+)(?:@[\w.-]*)?=", text)
    return match.group(1).replace("/", ".").strip(".") if match else ""


def _parts(
    folder: ConfigFolder, name: str, groups: Sequence[PlacedOverride], problems: list[ComposeProblem], whole: bool
) -> list[DefaultsPart]:
    choices = Choices(groups)
    defaults = DefaultsTree(folder, choices, whole)
    try:
        return defaults.parts(name, Location(folder.folder))
    finally:
        problems += [*choices.problems, *defaults.problems, *choices.unused()]


def _merge_parts(root: Branch, parts: Sequence[DefaultsPart], budget: Budget, problems: list[ComposeProblem]) -> None:
    """Merge each file into `root`, within its package."""
    times = Counter(id(part.file) for part in parts)
    for part in parts:
        source: Node = part.file.values
        at = source.at
        for step in reversed(split_key(part.package)) if part.package else ():
            outer = Branch(at)
            outer.content[step] = source
            source = outer
        try:
            if not isinstance(source, Branch):
                raise CompositionError(ProblemKind.MERGE, "a list can't be merged with a mapping", at)
            Merger(root, budget, takes=times[id(part.file)] == 1).merge(root, source)
        except CompositionError as error:
            problems.append(error.problem)
