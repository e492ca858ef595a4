"""Makes the indexes of tables, launchers and rules when a wheel is built or the checkout is installed: see tools/build_indexes.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the names are the interface's
        """Write the indexes, and have the wheel hold them although no repository does."""
        root = Path(self.root)
        sys.path[:0] = [str(root / "src"), str(root)]
        from tools.build_indexes import main

        main()
        build_data["artifacts"].append("src/pytest_gbs/_prebuilt/*.jsonl")
