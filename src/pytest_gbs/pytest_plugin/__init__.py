"""Training recipes in pytest: one check of all of them, items for each file, a summary.

Here are the folders that Python imports from by itself, noted before pytest adds folders of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

WORKER_INPUT: Final = "gbs_import_path"


def _installed() -> tuple[str, ...]:
    """The folders that Python imports from, without the current one, which `python -m pytest` puts in front of all others."""
    is_current = not getattr(sys.flags, "safe_path", False) and sys.path[:1] in ([""], [str(Path.cwd())])
    return tuple(sys.path[1:] if is_current else sys.path)


# Taken before pytest adds folders of the repository, for its conftest.py or the ini option `pythonpath`.
INSTALLED: Final = _installed()
