"""What a Python file imports, and which settings its own classes define: read as syntax, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from pytest_gbs.frameworks import describes
from pytest_gbs.model.limits import MOST_IMPORTED_PATHS, MOST_THIN_STATEMENTS
from pytest_gbs.model.location import KeyPath, Source
from pytest_gbs.model.program_context import Read
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python import read_class, read_parsed, read_tree
from pytest_gbs.readers.python.attributes import attribute_path
from pytest_gbs.readers.python.modules import import_folders, module_paths

# Modules whose parsers of arguments have nothing to do with a framework, and parsers of frameworks.
_PARSERS: Final = frozenset(
    ("argparse", "fire", "click", "typer", "tyro", "absl", "simple_parsing", "jsonargparse", "docopt", "configargparse")
)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_OF_FRAMEWORKS: Final = (
    "HfArgumentParser",
    "TrlParser",
    "H4ArgumentParser",
    "ArgumentParserPlus",
    "sat.get_args",
    "SwissArmyTransformer.get_args",
)


class PythonFile(NamedTuple):
    """What a file imports: dotted names, with dots in front where they are relative, and the fields that its classes give a value.

    `parses_itself` is true if it reads its arguments with a parser that is not a framework's. A `thin` file does little but
    start another one.
    """

    imports: frozenset[str]
    fields: frozenset[str]
    parses_itself: bool
    thin: bool

    def together(self, other: PythonFile) -> PythonFile:
        """What this file and one that it imports have together."""
        return PythonFile(self.imports | other.imports, self.fields | other.fields, self.parses_itself or other.parses_itself, False)


@lru_cache(64)
def read_imports(source: Source) -> PythonFile | None:
    """What a Python file imports, and the fields of its classes; None if Python's parser refuses it."""
    tree = read_tree(source)
    if tree is None:
        return None
    nodes = tuple(ast.walk(tree))
    modules = {each.asname or each.name.partition(".")[0]: each for node in nodes if isinstance(node, ast.Import) for each in node.names}
    named = {name: each.name if each.asname else name for name, each in modules.items()}
    imports = frozenset((*(each.name for each in modules.values()), *_taken(nodes), *_looked_up(nodes, named)))
    fields = frozenset(_fields(nodes))
    roots = {name.partition(".")[0] for name in imports}
    parses_itself = not _PARSERS.isdisjoint(roots) and not names_parser(imports)
    thin = sum(isinstance(node, ast.stmt) for node in nodes) <= MOST_THIN_STATEMENTS
    return PythonFile(imports, fields, parses_itself, thin)


def names_parser(imports: frozenset[str]) -> bool:
    """Whether one of `imports` is a framework's parser of arguments."""
    return any(name.endswith(_OF_FRAMEWORKS) for name in imports)


def _taken(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the names of `from module import name`."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (f"{node.module}." if node.module else "")
            yield from (f"{module}{each.name}" for each in node.names)


def _looked_up(nodes: tuple[ast.AST, ...], named: dict[str, str]) -> Iterator[str]:
    """Yield the names that are looked up in a module: `transformers.Trainer`."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
            yield f"{named[node.value.id]}.{node.attr}"


def _fields(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the fields of classes that have a value of their own: `per_device_train_batch_size: int = 4`."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (
                each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and each.value and isinstance(each.target, ast.Name)
            )


@lru_cache(64)
def assigned_keys(source: Source) -> frozenset[KeyPath]:
    """The keys of a configuration, whatever the program calls it, that a Python file assigns: `config.data.batch = n`, without `config`."""
    return _assigned(ast.walk(read_tree(source) or ast.Module([], [])))


@lru_cache(64)
def always_assigned_keys(source: Source) -> frozenset[KeyPath]:
    """Those of them that it assigns wherever its function is called, whatever the configuration says."""
    tree = read_tree(source) or ast.Module([], [])
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    return _assigned(statement for body in (tree.body, *bodies) for statement in body)


def _assigned(nodes: Iterable[ast.AST]) -> frozenset[KeyPath]:
    targets = (target for node in nodes if isinstance(node, ast.Assign) for target in node.targets)
    return frozenset(path[1:] for target in targets if len(path := attribute_path(target)) > 1)


def parsed_into(source: Source, words: Iterable[str | None]) -> tuple[str, ...] | None:
    """The classes into which a program parses a command line of `words`; None if the sub-command that these name has none."""
    parsed = read_parsed(source)
    command = next((word for word in words if word in parsed), None) or ""
    names = parsed.get("", ()) + (parsed[command] if command else ())
    return names if names or not any(parsed) else None


def are_own(source: Source, classes: tuple[str, ...]) -> bool:
    """Whether `classes` are of the file itself, each with fields."""
    return bool(classes) and all(read_class(source, name)[1] for name in classes)


def read_arguments(source: Source, classes: tuple[str, ...], read: Read) -> PythonFile | None:
    """The `classes` into which a program parses its command line, with those that they are made from in other files of its tree.

    None if it parses into no class that it imports, or if a parser of its own does. `read` gives a file of the tree.
    """
    pending = [(source, name) for name in classes]
    found: set[tuple[str, str]] = set()
    names: set[str] = set()
    fields: frozenset[str] = frozenset()
    while pending and len(found) < MOST_IMPORTED_PATHS:
        file, name = pending.pop()
        if (file.path, name) in found:
            continue
        found.add((file.path, name))
        module, _, last = name.rpartition(".")
        if module:
            names.add(name)
            if describes(name):
                continue  # a table says what its arguments are, those above it included
            files = (read(path) for path in module_paths(module, file.path.rpartition("/")[0]))
            inner = next((each for each in files if isinstance(each, Source)), None)
            pending += [(inner, last)] if inner is not None else []
        else:
            above, own = read_class(file, name)
            fields |= own
            pending += [(file, each) for each in above]
    return PythonFile(frozenset(names), fields, False, False) if names else None


def imported_paths(file: PythonFile, path: str) -> tuple[str, ...]:
    """The paths at which the modules that `file`, at `path`, imports may be in its tree: beside it, and below folders above it."""
    folder = path.rpartition("/")[0]
    found = (each for name in sorted(file.imports) for each in paths_of(name, folder))
    return tuple(islice(dict.fromkeys(found), MOST_IMPORTED_PATHS))


def paths_of(name: str, folder: str) -> Iterator[str]:
    """Yield the paths at which what a file in `folder` imports as `name` may be: a module, or something that a module has."""
    inner = name.lstrip(".").replace(".", "/")
    for base in import_folders(name, folder):
        for each in (inner, inner.rpartition("/")[0]):
            if each:
                yield f"{base}/{each}.py".lstrip("/")
