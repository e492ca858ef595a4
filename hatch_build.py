"""Makes the indexes of tables, launchers and rules when a wheel is built or the checkout is installed: see tools/build_indexes.py."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = "_prebuilt"


class BuildHook(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the indexes: into the checkout if it is to be used as it is, else somewhere from which the wheel takes them."""
        root = Path(self.root)
        sys.path[:0] = [str(root / "src"), str(root)]
        from tools.build_indexes import FOLDER, write  # noqa: PLC0415 - it lies in the checkout, which is on the path from here on

        if version == "editable":
            write(FOLDER)
            return
        self._made = TemporaryDirectory()
        for path in write(Path(self._made.name), sealed=True):
            build_data["force_include"][str(path)] = f"pytest_gbs/{_FOLDER}/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - the interface's names
        """Remove what was written for the wheel."""
        if version != "editable":
            self._made.cleanup()
