"""The pytest hooks that are there in every session: options, which paths are collected, and `@pytest.mark.gbs_recipes`.

This module is imported by every pytest run wherever the package is installed, so it imports nothing that pytest has not
loaded already. All that recipes need is in the other modules of this folder, imported once recipes are asked for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.pytest_plugin import INSTALLED, WORKER_INPUT


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of group "gbs" and the ini option `gbs_recipes`."""
    group = parser.getgroup("gbs", "global batch size of training recipes")
    add = group.addoption
    add("--gbs-recipes", action="append", default=[], metavar="PATH", help="check the training recipes in PATH (repeatable)")
    add("--gbs-nodes", metavar="N", help="check recipes on N nodes, if they do not state it")
    add("--gbs-gpus-per-node", metavar="N", help="check recipes on nodes of N GPUs, if they do not state it")
    add("--gbs-world-size", metavar="N", help="check recipes on N GPUs in total, if they do not state it")
    add("--gbs-select", action="append", default=[], metavar="CODES", help="only these rules: codes or names, separated by commas")
    add("--gbs-ignore", action="append", default=[], metavar="CODES", help="all rules but these")
    add("--gbs-strict", action="store_true", help="fail instead of skipping if a claim can't be decided")
    add("--gbs-changed-since", metavar="REV", help="only recipes that changed since the git revision REV, or depend on a file that did")
    words = "run the Python rules in this file or folder, if you trust it: they run without a sandbox"
    add("--gbs-allow-local-rules", action="append", default=[], metavar="PATH", help=words)
    parser.addini("gbs_recipes", "files and folders of training recipes, relative to this file's folder", type="paths", default=[])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Make the paths of `--gbs-recipes` arguments of pytest, before any conftest.py is loaded for want of arguments.

    Later is too late: without a path pytest loads `tests/conftest.py`, and a gate on recipes must not import torch. A path
    given inside a recipe folder stands for that folder, so that one recipe or one node id can be asked for.
    """
    options = early_config.known_args_namespace
    if not options.gbs_recipes:
        return
    given = [_path(early_config, argument) for argument in options.file_or_dir]
    roots = [_path(early_config, text) for text in options.gbs_recipes]
    _must_exist(roots)
    apart = [root for root in roots if not any(path.is_relative_to(root) for path in given)]
    more = [str(root) for root in _uncovered(apart, given)]
    args.extend(more)
    options.file_or_dir = [*options.file_or_dir, *more]


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and, where this session is to collect recipes, what collects them."""
    config.addinivalue_line("markers", "gbs: every check of a training recipe (`-m gbs`, `-m 'not gbs'`)")
    config.addinivalue_line("markers", "gbs_recipes(glob, ...): call the test once for each matching training recipe, as fixture `recipe`")
    asked = [_path(config, text) for text in config.getoption("gbs_recipes")]
    roots = asked or [Path(os.path.normpath(path)) for path in config.getini("gbs_recipes")]
    if not roots:
        return
    _must_exist(roots)
    arguments = [_path(config, argument) for argument in config.args]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        more = _uncovered(roots, arguments)
        config.args.extend(map(str, more))
        arguments.extend(more)
    touched = [root for root in roots if any(root.is_relative_to(path) or path.is_relative_to(root) for path in arguments)]
    if touched:
        from pytest_gbs.pytest_plugin.session import RecipeSession

        alone = bool(asked) and all(any(path.is_relative_to(root) for root in roots) for path in arguments)
        config.pluginmanager.register(RecipeSession(config, touched, alone), "gbs-recipes")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Say to a worker of pytest-xdist that shares this machine's folders which of them are none of the repository."""
    if node.gateway.spec.popen:
        node.workerinput[WORKER_INPUT] = list(INSTALLED)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the fixture `recipe` of a test that is marked with `gbs_recipes`."""
    if "recipe" not in metafunc.fixturenames:
        # A module or class may be marked for those of its tests that take a recipe; a test that is marked itself must take it.
        if any(mark.name == "gbs_recipes" for mark in metafunc.definition.own_markers):
            pytest.fail(f"{metafunc.function.__name__} is marked with gbs_recipes and does not take the argument recipe", pytrace=False)
        return
    marker = metafunc.definition.get_closest_marker("gbs_recipes")
    if marker is not None:
        from pytest_gbs.pytest_plugin.marker import recipes_matching

        found = recipes_matching(metafunc.config, marker)
        metafunc.parametrize("recipe", list(found.values()), ids=list(found))


def _path(config: pytest.Config, argument: str) -> Path:
    """The absolute path of a path or a node id as given on the command line; links are not followed."""
    return Path(os.path.normpath(config.invocation_params.dir / argument.partition("::")[0]))


def _must_exist(roots: list[Path]) -> None:
    for root in roots:
        if not root.exists():
            from pytest_gbs.formats._escape import escape, neutralize

            raise pytest.UsageError(neutralize(f"gbs: no such file or folder: {escape(str(root))}"))


def _uncovered(roots: list[Path], paths: list[Path]) -> list[Path]:
    """The roots that lie below none of `paths` and below no other root: pytest 8 takes overlapping arguments badly."""
    others = {*roots, *paths}
    return [root for root in dict.fromkeys(roots) if root not in paths and not any(path in others for path in root.parents)]
