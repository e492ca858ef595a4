"""The functions that a program imports from other files of its repository."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from pytest_gbs.model.limits import MOST_IMPORTED_MODULES
from pytest_gbs.model.location import Source, upwards
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import AttributePath
from pytest_gbs.readers.python.program import Program, parsed
from pytest_gbs.readers.python.scopes import Scope


def import_folders(name: str, folder: str) -> list[str]:
    """The folders in which what a file in `folder` imports as `name` may be: that one and those above it, or the one that its dots say."""
    level = len(name) - len(name.lstrip("."))
    above = [folder, *islice(upwards(folder), 1, None), ""]
    return above[level - 1 : level] if level else above


def module_paths(name: str, folder: str) -> Iterator[str]:
    """Yield the paths at which the module that a file in `folder` imports as `name` may be in its tree, also below `src`, if installed."""
    inner = name.lstrip(".").replace(".", "/")
    folders = import_folders(name, folder)
    installed = [] if name.startswith(".") else [f"{each}/src".lstrip("/") for each in folders]
    for base in (*folders, *installed):
        for each in (f"{inner}.py", f"{inner}/__init__.py") if inner else ("__init__.py",):
            yield f"{base}/{each}".lstrip("/")


def _folders_near(path: str) -> tuple[str, ...]:
    """The folder of the file at `path`, and the one above it."""
    folder = path.rpartition("/")[0]
    return tuple(dict.fromkeys((folder, folder.rpartition("/")[0])))


class Defined(NamedTuple):
    """A function and the program that defines it."""

    function: ast.FunctionDef
    program: Program


class Bound(NamedTuple):
    """A name of a module, with the program that binds it."""

    name: str
    program: Program


class Modules:
    """Finds what programs take from their `context`.

    `changed` and `handed_on` keep what was found out about the functions: which attributes of a parameter each changes, with the constant
    that it always sets one to, and what each gives to others, by scope and name; `uses` what programs do with their dictionaries.
    """

    def __init__(self, context: ProgramContext | None = None) -> None:
        self.context = context or ProgramContext()
        self.found: dict[tuple[str, str, bool], Program | None] = {}
        self.changed: dict[tuple[ast.FunctionDef, str], dict[AttributePath, ast.Constant | None]] = {}
        self.handed_on: dict[Scope, dict[tuple[Scope, str], list[tuple[ast.expr, AttributePath]]]] = {}
        self.uses: dict[Scope, Any] = {}
        self.loaded: set[tuple[str, str | None]] = set()  # YAML and JSON files that programs load, by their names and where these are

    def function(self, name: str, program: Program, depth: int = 0) -> Defined | None:
        """The function that `name` is in the module of `program`, defined there or imported; None if it can't be found."""
        bindings = program.scopes.module.names.get(name, [])
        if len(bindings) != 1 or depth > MOST_IMPORTED_MODULES:
            return None
        node = bindings[0].node
        if isinstance(node, ast.FunctionDef):
            return Defined(node, program)
        module, _, inner = program.scopes.imported.get(name, "").rpartition(".")
        found = self._module(module, program.source.path.rpartition("/")[0]) if isinstance(node, ast.ImportFrom) else None
        return self.function(inner, found, depth + 1) if found is not None else None

    def called(self, call: ast.Call, program: Program) -> Defined | None:
        """The function of the module of `program`, or of another file, that `call` calls; None if it can't be found."""
        if isinstance(call.func, ast.Name):
            return self.function(call.func.id, program)
        return self.member(program.scopes.qualified(call.func), program.source.path)

    def member(self, name: str, path: str) -> Defined | None:
        """The function that a file at `path`, which imports its module, calls `helpers.loaders`; None if it can't be found."""
        module, _, inner = name.rpartition(".")
        found = self._module(module, path.rpartition("/")[0]) if module else None
        return self.function(inner, found) if found is not None else None

    def bound(self, name: str, path: str, depth: int = 0) -> Bound | None:
        """What the file at `path` imports as `name` (`config.BATCH`), in the module that gives it a value; None if none with sizes does."""
        last = name.rpartition(".")[2]
        module = name.removesuffix(last)
        inner = module.rstrip(".") or module
        found = self._module(inner, path.rpartition("/")[0], sizes=True) if inner and depth < MOST_IMPORTED_MODULES else None
        bindings = found.scopes.module.names.get(last, ()) if found is not None else ()
        if found is None or not bindings:
            return None
        if isinstance(bindings[0].node, ast.ImportFrom) and len(bindings) == 1:
            return self.bound(found.scopes.imported[last], found.source.path, depth + 1)
        return Bound(last, found)

    def file(self, name: str, path: str) -> Program | None:
        """The Python file called `name` beside the one at `path`, or in the folder above; None if there is none.

        Folders of configurations may be as deep as they like: it is looked for in all that are above them.
        """
        within = any(each.startswith("config") for each in path.split("/")[:-1])
        for folder in (*upwards(path.rpartition("/")[0]), "") if within else _folders_near(path):
            beside = f"{folder}/{name}".lstrip("/")
            source = self.context.read(beside) if beside != path else None
            if isinstance(source, Source):
                return parsed(source)
        return None

    def beside(self, path: str, words: tuple[str, ...]) -> list[Program]:
        """The Python files beside the one at `path` whose text has all `words`, else those in the folder above."""
        for folder in _folders_near(path):
            names = (each for each in self.context.in_folder(folder) if each.endswith(".py") and each != path)
            sources = (self.context.read(each) for each in islice(names, MOST_IMPORTED_MODULES))
            fitting = [each for each in sources if isinstance(each, Source) and all(word in each.text for word in words)]
            found = [program for each in fitting if (program := parsed(each)) is not None]
            if found:
                return found
        return []

    def _module(self, name: str, folder: str, *, sizes: bool = False) -> Program | None:
        """The module called `name`, with dots in front if that is relative to `folder`; None if no file is it, or none with `sizes`."""
        if not name:
            return None
        if (name, folder, sizes) not in self.found:
            full = len(self.found) >= MOST_IMPORTED_MODULES * 10 or sum(map(bool, self.found.values())) >= MOST_IMPORTED_MODULES
            self.found[name, folder, sizes] = None if full else self._look_for(name, folder, sizes)
        return self.found[name, folder, sizes]

    def _look_for(self, name: str, folder: str, sizes: bool) -> Program | None:
        for path in module_paths(name, folder):
            source = self.context.read(path)
            if isinstance(source, Source):
                return parsed(source) if not sizes or path.endswith("/__init__.py") or _may_have_sizes(source) else None
        return None


@lru_cache(256)  # each launch of a program asks again of all that it imports
def _may_have_sizes(source: Source) -> bool:
    return _size().search(source.text) is not None


_size = lazy_pattern(r"batch|accum|class \w+\([\w., ]*(?:Arg(?:ument)?s|Config)\b", re.IGNORECASE)
