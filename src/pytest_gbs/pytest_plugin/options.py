"""What pytest's command line says about a check."""

from __future__ import annotations

import pytest

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.model.hardware import CommandLineHardware
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
    if world and (world % (nodes or 1) or world % (per_node or 1) or (nodes and per_node and nodes * per_node != world)):
        asked = " ".join(f"--gbs-{flag} {number}" for flag, number in zip(flags, numbers, strict=True) if number)
        raise pytest.UsageError(f"gbs: {asked} contradict each other")
    return PluginOptions(
        config.rootpath,
        config.invocation_params.dir,
        CommandLineHardware(nodes, per_node, world),
        tuple(config.getoption("gbs_select")) or None,
        tuple(config.getoption("gbs_ignore")) or None,
        config.getoption("gbs_strict") or None,
        config.getoption("gbs_changed_since") or None,
        tuple(str(config.invocation_params.dir / path) for path in config.getoption("gbs_allow_local_rules")) or None,
        import_path(config),
    )
