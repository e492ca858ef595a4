"""What the plug-in costs a session that does not use it: next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = "import sys\n\ndef test_modules():\n    print('loaded:', *sorted(sys.modules))\n"


def test_unused_it_loads_two_modules_of_its_own_and_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(LOADED)
    output = pytester.runpytest_subprocess("-s", "-p", "no:randomly", "-p", "no:xdist").stdout.str()
    loaded = output.partition("loaded: ")[2].split()
    assert {name for name in loaded if name.startswith("pytest_gbs")} == {"pytest_gbs", "pytest_gbs.plugin"}
    assert not {"yaml", "ruamel", "jsonschema"} & set(loaded)


MEASURE = """
import time
import pytest
from importlib.metadata import entry_points
from _pytest.config import get_config

(entry,) = (each for each in entry_points(group="pytest11") if each.name == "gbs")
config = get_config()
start = time.perf_counter()
config.pluginmanager.register(entry.load(), "gbs")
print((time.perf_counter() - start) * 1000)
"""


def test_loading_and_registering_takes_three_milliseconds_at_most() -> None:
    fastest = min(float(subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, check=True).stdout) for _ in range(5))
    assert fastest <= 3
