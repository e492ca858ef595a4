"""Paths of files that a program puts together: `Path(__file__).parent / "run.yaml"`, `os.path.join(here, "run.yaml")`."""

from __future__ import annotations

import ast
from typing import Final

from pytest_gbs.model.limits import DEEPEST_DOCUMENT
from pytest_gbs.model.location import below
from pytest_gbs.readers.python.library_calls import LibraryCalls
from pytest_gbs.readers.python.results import Known, Place, Value
from pytest_gbs.readers.python.scopes import Scope

_JOINS: Final = frozenset(("os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"))
_KEEPS: Final = frozenset(("os.path.abspath", "os.path.realpath", "os.path.expanduser", "os.path.normpath", "os.fspath", "str"))
_KEEPING: Final = frozenset(("resolve", "absolute", "expanduser", "as_posix"))


class Paths(LibraryCalls):
    """The paths of one program."""

    def _of_path(self, name: str, node: ast.Call, scope: Scope) -> Value | None:
        """What `node` gives if it makes a path of others; None if it does something else, or with what is not a path."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _JOINS and node.args:
            return self.joined([self.value(each, scope) for each in node.args], node)
        if (name in _KEEPS or name == "os.path.dirname") and len(node.args) == 1:
            path = self.value(node.args[0], scope)
        elif method in _KEEPING or method == "joinpath":
            path = self.value(node.func.value, scope)  # type: ignore[attr-defined]
        else:
            return None
        if not isinstance(path, Place):
            return None
        if method == "joinpath":
            return self.joined([path, *(self.value(each, scope) for each in node.args)], node)
        return self.above(path, Known(0, *self.program.span(node)), node) if name == "os.path.dirname" else path

    def joined(self, parts: list[Value], node: ast.expr) -> Value:
        """The path that `parts` are one behind the other; lost if that is not known."""
        found: Place | None = None
        for part in parts:
            text = part.path if isinstance(part, Place) else part.value if isinstance(part, Known) else None
            if not isinstance(text, str) or text.startswith(("/", "~")) or (found is not None and isinstance(part, Place) and part.inside):
                return self.lost(node)
            inside = found.inside if found is not None else isinstance(part, Place) and part.inside
            whole = text if found is None else below(found.path, text) if inside else f"{found.path}/{text}"
            if whole is None:
                return self.lost(node)
            found = Place(whole, *self.program.span(node), inside)
        return found if found is not None else self.lost(node)

    def above(self, path: Value, number: Value, node: ast.expr) -> Value:
        """The folder that is `number` steps above that of `path`: `path.parents[1]`, `path.parent` with 0."""
        steps = number.value if isinstance(number, Known) and type(number.value) is int else -1
        if not isinstance(path, Place) or not 0 <= steps < DEEPEST_DOCUMENT:
            return self.lost(node)
        folder = below(path.path, "/".join([".."] * (steps + 1))) if path.inside else path.path.rpartition("/")[0] if not steps else None
        return self.lost(node) if folder is None else Place(folder, *self.program.span(node), path.inside)
