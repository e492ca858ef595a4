"""What pytest's command line says about a check."""

from __future__ import annotations

import pytest

from pytest_gbs.core.given import Given
from pytest_gbs.pytest_items.checks import Options


def read_options(config: pytest.Config) -> Options:
    """Return what the command line says about a check.

    Raises:
        pytest.UsageError: a number is not positive.
    """
    numbers = {name: config.getoption(f"gbs_{name}") for name in ("nodes", "gpus_per_node", "world_size")}
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise pytest.UsageError(f"gbs: --gbs-{name.replace('_', '-')} {value}: a positive whole number is needed")
    return Options(
        config.rootpath,
        config.invocation_params.dir,
        Given(numbers["nodes"], numbers["gpus_per_node"], numbers["world_size"]),
        tuple(config.getoption("gbs_select")) or None,
        tuple(config.getoption("gbs_ignore")) or None,
        config.getoption("gbs_strict") or None,
    )
