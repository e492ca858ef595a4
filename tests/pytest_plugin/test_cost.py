"""What the plug-in costs a session that does not use it: next to nothing."""

import pytest

LOADED = "import sys\n\ndef test_modules():\n    print('loaded:', *sorted(sys.modules))\n"


def test_unused_it_loads_its_hooks_alone_and_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(LOADED)
    output = pytester.runpytest_subprocess("-s", "-p", "no:randomly", "-p", "no:xdist").stdout.str()
    loaded = output.partition("loaded: ")[2].split()
    assert {name for name in loaded if name.startswith("pytest_gbs")} == {
        "pytest_gbs",
        "pytest_gbs.pytest_plugin",
        "pytest_gbs.pytest_plugin.hooks",
    }
    assert not {"yaml", "ruamel", "jsonschema"} & set(loaded)
