"""What pytest's command line says about a check."""

from __future__ import annotations

import pytest

from pytest_gbs.arithmetic.admissible import MOST_GPUS, hardware
from pytest_gbs.formats._escape import escape
from pytest_gbs.model.digits import whole_number
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
    texts = [config.getoption(f"gbs_{flag.replace('-', '_')}") for flag in flags]
    nodes, per_node, world = numbers = [None if text is None else whole_number(text) for text in texts]
    for flag, text, number in zip(flags, texts, numbers, strict=True):
        if text is not None and not 1 <= (number or 0) <= MOST_GPUS:
            raise pytest.UsageError(f"gbs: --gbs-{flag} {escape(text[:40])} is not a whole number from 1 to {MOST_GPUS:,}")
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
