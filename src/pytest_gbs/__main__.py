"""`python -m pytest_gbs` is `gbs`."""

import os
import sys


def _current_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # nothing may be imported yet
    except OSError:  # it is gone
        return ""


if __name__ == "__main__":
    # Python puts the current folder in front of all others: a yaml.py or a *.dist-info of the repository that is checked would count.
    if not getattr(sys.flags, "safe_path", False) and sys.path[:1] in ([""], [_current_folder()]):
        del sys.path[0]
    from pytest_gbs.cli import exit_code

    sys.exit(exit_code())  # in the usual way, so that what watches the process (a profiler, coverage) has its say
