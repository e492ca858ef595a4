"""Writes down what can be told of tables, launchers and rules without loading them, into `src/pytest_gbs/_prebuilt`.

The build hook (hatch_build.py) runs it when a wheel is built or the checkout is installed; `python -m tools.build_indexes` does it by
hand. Nothing depends on it but the time a start takes: where a file has changed since, the tables themselves are read.
"""

from __future__ import annotations

import json

import pytest_gbs.frameworks
import pytest_gbs.launchers
import pytest_gbs.rules
from pytest_gbs.core.plugins import write_prebuilt


def main() -> None:
    """Write all indexes."""
    write_prebuilt("frameworks", pytest_gbs.frameworks.__path__, pytest_gbs.frameworks.index_lines())
    write_prebuilt("launchers", pytest_gbs.launchers.__path__, [json.dumps(entry) for entry in pytest_gbs.launchers.entries()])
    write_prebuilt("rules", pytest_gbs.rules.__path__, [json.dumps(entry) for entry in pytest_gbs.rules.entries()])


if __name__ == "__main__":
    main()
