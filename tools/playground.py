"""The playground of the documentation site: `python -m tools.playground FOLDER MODULES` writes the page and what it runs on to FOLDER.

MODULES is where npm put what `playground/package.json` names: `npm install --ignore-scripts --prefix playground`, then
`playground/node_modules`. gbs comes as the wheel of this checkout, PyYAML as the Python part of the one that is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ("index.html", "playground.css", "playground.js", "glue.py")
# What the page loads, by the package of npm that has it.
ENGINE: Final = {
    "pyodide": ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"),
    "web-tree-sitter": ("tree-sitter.js", "tree-sitter.wasm"),
    "tree-sitter-bash": ("tree-sitter-bash.wasm",),
}
_YAML: Final = f"pyyaml-{yaml.__version__}.zip"


def write_page(folder: Path) -> None:
    """Write the page to `folder`; without an engine beside it, it says that there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        copy(ROOT / "playground" / name, folder / name)


def write_engine(folder: Path, modules: Path, wheel: Path) -> None:
    """Write what the page runs on to `folder`: what npm put into `modules`, a wheel of gbs, and PyYAML."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, names in ENGINE.items():
        for name in names:
            copy(modules / package / name, folder / name)
    copy(wheel, folder / wheel.name)
    with ZipFile(folder / _YAML, "w", ZIP_DEFLATED) as packed:
        for file in sorted(Path(yaml.__file__).parent.glob("*.py")):
            packed.write(file, f"yaml/{file.name}")
    (folder / "packages.json").write_text(json.dumps([wheel.name, _YAML]), encoding="utf-8")


def build(folder: str, modules: str) -> None:
    """Write the page and its engine to `folder`, with a wheel made of this checkout."""
    write_page(Path(folder))
    with TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, str(ROOT)], check=True)
        (wheel,) = Path(made).glob("*.whl")
        write_engine(Path(folder) / "engine", Path(modules), wheel)


if __name__ == "__main__":
    build(*sys.argv[1:])
