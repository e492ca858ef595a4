"""A repository for Python and for notebooks: `load` it, and get its recipes by path and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gbs.api import KEEP_RUNS, check_worktree
from pytest_gbs.arithmetic.admissible import hardware
from pytest_gbs.files.edited import EditedTree
from pytest_gbs.files.root import StrPath, find_root, most_searched
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._escape import escape as written
from pytest_gbs.formats._json import taken
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity
from pytest_gbs.formats._show_table import HEAD, rows
from pytest_gbs.formats._summary import headline
from pytest_gbs.formats.text import render_finding
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Position
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.recipe import Recipe, read_recipe
from pytest_gbs.settings import load_settings

if TYPE_CHECKING:
    from pandas import DataFrame


class FoundProblem(NamedTuple):
    """A finding: its rule, how bad it is, what is wrong and where; lines and columns count from 1, the end is exclusive.

    `fix` says how to fix it, "" if gbs does not know. `text` is what `gbs check` prints.
    """

    code: str
    name: str
    severity: str
    message: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    fix: str
    text: str

    def __str__(self) -> str:
        """What `gbs check` prints."""
        return self.text


class LoadedRepository(NamedTuple):
    """What is true of the recipes of a repository, frozen: it is not read again.

    `recipes` holds each recipe by its path, as seen from the folder that was asked for; further documents of one file are `path#2`,
    `path#3`. `problems` are the findings, errors first. `report` is all that gbs knows.
    """

    root: Path
    recipes: dict[str, Recipe]
    problems: tuple[FoundProblem, ...]
    report: Report
    options: FormatOptions

    def records(self) -> list[dict[str, str | int | None]]:
        """A row for each recipe and each launch of one, for tables: names, and sizes as numbers, None if they are not known."""
        return [record for recipe in self.recipes.values() for record in _records(recipe)]

    def to_pandas(self) -> DataFrame:
        """`records` as a table of pandas, its sizes whole numbers or missing.

        Raises:
            ImportError: pandas is not installed.
        """
        from pandas import DataFrame

        return DataFrame(self.records()).convert_dtypes()

    def __repr__(self) -> str:
        """The summary of `gbs check`."""
        return f"<{headline(self.report)}>"

    def _repr_html_(self) -> str:
        """A table with a row for each recipe and launch, under the summary of `gbs check`."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in HEAD)
        cells = (
            "".join(f"<td>{escape(written(cell))}</td>" for cell in row) for row in rows(self.report, Places(self.report, self.options))
        )
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{escape(headline(self.report))}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def load(
    path: StrPath = ".", *, nodes: int | None = None, gpus_per_node: int | None = None, world_size: int | None = None
) -> LoadedRepository:
    """The recipes at `path`, a folder or a file, with the settings of the repository it lies in; nothing is run, imported or written.

    Hardware is what `gbs check --nodes 8 --gpus-per-node 8` takes: it fills in what nothing else says.

    Raises:
        UsageError: there is no such path, or the hardware contradicts itself, or is none.
        SettingsError: the settings are broken.
    """
    asked = Path(path).resolve()
    if not asked.exists():
        raise UsageError(f"no such file or folder: {path}")
    root, folder = find_root(asked), asked if asked.is_dir() else asked.parent
    inner = "" if asked == root else asked.relative_to(root).as_posix()
    target = f"{inner}/" if inner and asked.is_dir() else inner
    settings = load_settings(root, None)
    most = most_searched(root.as_posix()) if target else None
    tree = WorkTree(root, settings.max_file_size, settings.exclude, frozenset((target,)), most)
    report = check_worktree(tree, (target,), settings, hardware(nodes, gpus_per_node, world_size, ""), KEEP_RUNS)
    return _loaded(root, report, FormatOptions(root=root.as_posix(), folder=folder.as_posix()))


def load_texts(
    texts: Mapping[str, str], *, nodes: int | None = None, gpus_per_node: int | None = None, world_size: int | None = None
) -> LoadedRepository:
    """The recipes among `texts`, each under the path that it would have: no file is looked at, and there are no settings.

    Raises:
        UsageError: the hardware contradicts itself, or is none.
    """
    tree = EditedTree(None)
    for path, text in texts.items():
        tree.put(path, text)
    report = check_worktree(tree, (), Settings(), hardware(nodes, gpus_per_node, world_size, ""), KEEP_RUNS)
    return _loaded(Path(), report, FormatOptions())


def _loaded(root: Path, report: Report, options: FormatOptions) -> LoadedRepository:
    places = Places(report, options)
    problems = tuple(_problem(finding, places) for finding in by_severity(report))
    return LoadedRepository(root, dict(_recipes(report, places)), problems, report, options)


def _recipes(report: Report, places: Places) -> Iterator[tuple[str, Recipe]]:
    """Yield each recipe that `report` is about, with what it is called."""
    for file in report.files:
        if file.runs:
            path = places.path(file.path)
            yield path if file.document == 1 else f"{path}#{file.document}", read_recipe(file, report, path)


def _problem(finding: Finding, places: Places) -> FoundProblem:
    rule = places.report.rules.get(finding.code)
    position = places.position(finding.at) or Position(1, 1, 1, 1)
    text = render_finding(finding, places.report, places.options)
    path = places.path(finding.at.source)
    return FoundProblem(finding.code, rule.name if rule else "", finding.severity, finding.message, path, *position, finding.holds, text)


def _records(recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Yield a row for the recipe by itself, and one for each launch of it."""
    for each in recipe.variants:
        yield {
            **taken(each, "path document framework"),
            "launch": each.launch or None,
            "verdict": each.verdict,
            "unit": each.run.framework.unit if each.run else None,
            **taken(each, "global_batch_size micro_batch_size gradient_accumulation_steps data_parallel_size world_size tokens_per_step"),
        }
