"""Copies of a framework that lie in a repository: its source is what runs, whatever version it calls itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pytest_gbs.frameworks.versions import read_specifiers
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import Source, Tree
from pytest_gbs.model.pins import Evidence, Pin


class Copies:
    """The lazy memo of the copies of frameworks in a tree; `paths` lists its files."""

    def __init__(self, tree: Tree, paths: Sequence[str]) -> None:
        self._tree = tree
        self._paths = paths
        self._homes: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._texts: dict[str, str | None] = {}
        self._said: dict[tuple[str, tuple[Evidence, ...]], bool | None] = {}

    def home(self, framework: Framework, path: str) -> str | None:
        """The folder of the copy that is nearest to the recipe at `path`, with a slash behind it; None if there is none, or several are.

        Of several copies the nearest is the one with which the recipe shares the longest way down the tree, then the one that lies highest.
        """
        homes = {home: (_shared(home, path), -home.count("/")) for home in self._all(framework.copies)}
        nearest = [home for home, nearness in homes.items() if nearness == max(homes.values())]
        return nearest[0] if len(nearest) == 1 else None

    def _all(self, files: tuple[str, ...]) -> tuple[str, ...]:
        if files not in self._homes:
            ends = tuple(f"/{file}" for file in files)
            found = (path for path in self._paths if path in files or path.endswith(ends))
            self._homes[files] = tuple(dict.fromkeys(_without(path, files) for path in found))
        return self._homes[files]

    def pin(self, framework: Framework, home: str) -> Pin | None:
        """The version that the copy in `home` calls itself, None if that is not a release."""
        for file in framework.copies:
            text = self._read(home + file)
            match = _version().search(text) if text else None
            if match is not None:
                numbers = match["version"] or ".".join(filter(None, (match["major"], match["minor"], match["patch"])))
                pin = read_specifiers(framework.package, f"=={numbers}")
                return pin._replace(text=numbers, origin=home + file) if pin else None
        return None

    def says(self, home: str, evidence: tuple[Evidence, ...]) -> bool | None:
        """Whether the copy in `home` has one piece of the `evidence`; None if it has none of their files."""
        if (home, evidence) not in self._said:
            texts = [(text, piece.text) for piece in evidence if (text := self._read(home + piece.file)) is not None]
            found = any("".join(wanted.split()) in _code(text) for text, wanted in texts)
            self._said[home, evidence] = found if texts else None
        return self._said[home, evidence]

    def _read(self, path: str) -> str | None:
        if path not in self._texts:
            source = self._tree.read(path)
            self._texts[path] = source.text if isinstance(source, Source) else None
        return self._texts[path]


def _code(text: str) -> str:
    """`text` without blanks, and without the lines that a comment switches off, as forks do with a check that they don't want."""
    return "".join("".join(line.split()) for line in text.splitlines() if not line.lstrip().startswith("#"))


def _without(path: str, files: tuple[str, ...]) -> str:
    """The folder in which `path` is one of `files`."""
    return next(path.removesuffix(file) for file in files if path == file or path.endswith(f"/{file}"))


def _shared(home: str, path: str) -> int:
    """How many folders from the root on `home` and `path` have in common."""
    steps = 0
    for one, other in zip(home.split("/")[:-1], path.split("/")[:-1], strict=False):
        if one != other:
            break
        steps += 1
    return steps


@cache
def _version() -> re.Pattern[str]:
    """A pattern for `__version__ = "1.2"`, for MAJOR, MINOR and PATCH, and for a file that holds a version alone."""
    number = r"[ \t]*=[ \t]*([0-9]{1,9})[^\n]{0,200}\n"
    parts = "".join(rf"{name}{number}".replace("(", f"(?P<{name.lower()}>", 1) for name in ("MAJOR", "MINOR", "PATCH"))
    return re.compile(rf"""(?m)^{parts}|(?:^__version__[ \t]*=[ \t]*["']?|\A\s*)(?P<version>[0-9][\w.+]{{0,60}})""")
