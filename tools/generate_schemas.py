"""Write the JSON Schemas of the framework tables to schemas/recipes; a test tells when this was forgotten."""

from __future__ import annotations

from pathlib import Path

from pytest_gbs.frameworks._schema import schemas

FOLDER = Path(__file__).resolve().parent.parent / "schemas" / "recipes"


def main() -> None:
    """Make the folder hold the schema of each table and nothing else."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for stale in FOLDER.glob("*.schema.json"):
        stale.unlink()
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
