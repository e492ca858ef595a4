"""Whether a tag may be released: `python -m tools.release v1.2.3` fails unless it is the version and the changelog has it with a date."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version() -> str:
    """The version that the project has now."""
    found = re.search(r'(?m)^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def problems(tag: str) -> list[str]:
    """What keeps `tag` from being released."""
    now = version()
    wrong = [] if tag == f"v{now}" else [f"the tag is {tag}, the version is {now}"]
    heading = rf"(?m)^## \[{re.escape(now)}\] - \d{{4}}-\d{{2}}-\d{{2}}$"
    if not re.search(heading, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        wrong.append(f"CHANGELOG.md has no dated section [{now}]")
    return wrong


if __name__ == "__main__":
    found = problems(*sys.argv[1:])
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.exit(1 if found else 0)
