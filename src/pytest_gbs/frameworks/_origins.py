"""Where a description says what its plain one, with all that is inherited and abbreviated, comes to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_gbs.frameworks._notation import Path, Plain, Raw, put_in


def stated_at(raw: Raw, plain: Plain, path: Path) -> Path | None:
    """The path at which `raw` says what `plain`, made of it, says at `path`; None where `raw` has inherited it."""
    meant: Any = plain.raw
    versions: tuple[str, ...] = ()
    if path[:1] == ("before",) and len(path) > 1:
        versions, meant, path = (str(path[1]),), meant["before"][path[1]], path[2:]
    for home, stated in _homes(raw, plain.variant, versions):
        found = _follow(stated, meant, path, plain.words)
        if found is not None:
            return (*home, *found)
    return None


def _homes(raw: Raw, variant: int | None, versions: tuple[str, ...]) -> Iterator[tuple[Path, Raw]]:
    """Yield each table of a description that may say something of a variant, and its path; what is said of a version comes first."""
    homes: list[tuple[Path, Raw]] = [] if variant is None else [(("variants", variant), raw["variants"][variant])]
    homes += [*((("parts", name), part) for name, part in raw.get("parts", {}).items()), ((), raw)]
    for version in versions:
        for path, home in homes:
            if version in home.get("before", ()):
                yield (*path, "before", version), home["before"][version]
    yield from homes


def _follow(stated: Any, meant: Any, path: Path, words: Raw) -> Path | None:
    """The path in `stated` that leads to what is at `path` in `meant`, where `words` are put in."""
    if not path:
        return ()
    here, *rest = path
    key: str | int | None = None
    if isinstance(stated, dict):
        key = next((each for each in stated if put_in(each, words) == here), None)
    elif isinstance(stated, list) and isinstance(meant, list):
        key = next((number for number, each in enumerate(stated) if put_in(each, words) == meant[int(here)]), None)
    if key is None:
        return None
    within = _follow(stated[key], meant[here], tuple(rest), words)
    return None if within is None else (key, *within)
