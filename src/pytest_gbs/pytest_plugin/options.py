"""What pytest's command line says about a check."""

from __future__ import annotations

import pytest

from pytest_gbs.arithmetic.admissible import MOST_GPUS, hardware
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.settings import Overrides
from pytest_gbs.pytest_plugin.checks import PluginOptions
from pytest_gbs.pytest_plugin.imports import import_path


def read_options(config: pytest.Config) -> PluginOptions:
    """What the command line says about a check.

    Raises:
        pytest.UsageError: a number makes no sense, or they contradict each other.
    """
    flags = ("nodes", "gpus-per-node", "world-size")
    nodes, per_node, world = numbers = [config.getoption(f"gbs_{flag.replace('-', '_')}") for flag in flags]
    for flag, number in zip(flags, numbers, strict=True):
        if number is not None and not 1 <= number <= MOST_GPUS:
            raise pytest.UsageError(f"gbs: --gbs-{flag} {number} is not a whole number from 1 to {MOST_GPUS:,}")
    try:
        given = hardware(nodes, per_node, world, "--gbs-")
    except UsageError as error:
        raise pytest.UsageError(f"gbs: {error}") from error
    folder = config.invocation_params.dir
    overrides = Overrides(
        select=config.getoption("gbs_select"),
        ignore=config.getoption("gbs_ignore"),
        strict=config.getoption("gbs_strict") or None,
        local_rules=[str(folder / path) for path in config.getoption("gbs_allow_local_rules")],
    )
    since = config.getoption("gbs_changed_since") or None
    return PluginOptions(config.rootpath, folder, given, overrides, since, import_path(config))
