"""The recipes of `@pytest.mark.gbs_recipes("glob")`, for a team's own tests."""

from __future__ import annotations

import pytest

from pytest_gbs.files.globs import matches
from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.report import Role
from pytest_gbs.pytest_plugin.checks import in_words, open_repository
from pytest_gbs.pytest_plugin.options import read_options
from pytest_gbs.recipe import Recipe, read_recipe

_KNOWN = pytest.StashKey[dict[str, dict[str, Recipe]]]()


def recipes_matching(config: pytest.Config, marker: pytest.Mark) -> dict[str, Recipe]:
    """The recipes that match the globs of a marker `gbs_recipes`, by their paths relative to pytest's root folder.

    Raises:
        pytest.fail.Exception: the marker has no glob, or the settings are broken.
    """
    globs = [glob for glob in marker.args if isinstance(glob, str) and glob]
    if not globs or len(globs) < len(marker.args) or marker.kwargs:
        pytest.fail(
            'gbs_recipes takes globs relative to pytest\'s root folder: @pytest.mark.gbs_recipes("recipes/**/*.yaml")', pytrace=False
        )
    known = config.stash.setdefault(_KNOWN, {})
    found: dict[str, Recipe] = {}
    for glob in globs:
        if glob not in known:
            known[glob] = _read(config, glob)
        found.update(known[glob])
    return dict(sorted(found.items()))


def _read(config: pytest.Config, glob: str) -> dict[str, Recipe]:
    """The recipes that match one glob, and the files that match, look like one, and can't be read."""
    try:
        repository = open_repository(config.rootpath, read_options(config))
    except GbsError as error:
        pytest.fail(in_words(error), pytrace=False)
    base = config.rootpath.relative_to(repository.root).as_posix().removeprefix(".")
    pattern = f"{base}/{glob if '/' in glob else f'**/{glob}'}".removeprefix("/")
    target = repository.inside(repository.root / _fixed_part(pattern))
    if not (repository.root / target).exists():
        return {}
    report = repository.check([target], keep_runs=True)
    recipes: dict[str, Recipe] = {}
    for file in report.files:
        if matches(file.path, pattern) and (file.role == Role.RECIPE or (file.role == Role.UNREADABLE and file.rules)):
            path = file.path.removeprefix(f"{base}/") if base else file.path
            recipes[path if file.document == 1 else f"{path}#{file.document}"] = read_recipe(file, report, path)
    return recipes


def _fixed_part(pattern: str) -> str:
    """The path in front of the first part of `pattern` that has a wildcard."""
    parts = pattern.split("/")
    wild = next((number for number, part in enumerate(parts) if any(sign in part for sign in "*?[{")), len(parts))
    return "/".join(parts[:wild])
