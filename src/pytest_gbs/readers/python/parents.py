"""What a configuration that is a Python module includes from others, as mmengine reads it: `_base_ = ["a.py"]`, or `with read_base():`."""

# mmengine/config/config.py, Config._file2dict, _merge_a_into_b and _parse_lazy_import, MMEngine 2543429 (0.10.7).

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from pytest_gbs.model.limits import DEEPEST_DOCUMENT, DEEPEST_PARENTS, MOST_PARENTS
from pytest_gbs.model.location import Source, below
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.program import Program, parsed
from pytest_gbs.readers.python.results import Entry, Items, Known, Lost, Table, Value, at_span, table_of
from pytest_gbs.readers.python.scopes import Scopes
from pytest_gbs.readers.python.values import Evaluator

BASE: Final = "_base_"
_REPLACES: Final = "_delete_"
_READS: Final = "read_base"
# mmengine/config/utils.py:100-112 (_get_external_cfg_base_path): a package is installed with the `configs` of its repository.
_Path: TypeAlias = tuple[str, ...]
_Span: TypeAlias = tuple[int, int]
_Entries: TypeAlias = dict[str, Entry]


class _Parent(NamedTuple):
    """A file that another includes: its path, None if it is not in the tree; where it is named; which names are taken, None for all."""

    path: str | None
    at: _Span
    names: frozenset[str] | None = None


class _Named(NamedTuple):
    """The parents that a module names, and whether its values are merged into theirs, or replace them."""

    parents: tuple[_Parent, ...]
    merges: bool


class _Module(NamedTuple):
    """What a module binds by itself, the parents that it names (None: unknown), and what it may change of theirs."""

    entries: _Entries
    named: _Named | None
    changed: tuple[_Path, ...]


def includes_others(scopes: Scopes) -> bool:
    """Whether a module has parents."""
    bases = scopes.module.names.get(BASE, ())
    return any(isinstance(each.node, ast.stmt) for each in bases) or any(_reads_base(each) for each in _withs(scopes))


def inherited(program: Program, entries: _Entries, context: ProgramContext) -> _Entries | None:
    """`entries`, what a module binds, with what it includes, at the place where that is named.

    None if one of the files can't be read, or it is too much.
    """
    family = _Family(context)
    return family.merged(_described(program, entries), (program.source.path,))


class _Family:
    """The files that one module includes, each looked at once."""

    def __init__(self, context: ProgramContext) -> None:
        self.read = context.read
        self.left = MOST_PARENTS
        self.values = context.most_composed()
        self.known: dict[str, _Entries | None] = {}

    def merged(self, module: _Module, descendants: tuple[str, ...]) -> _Entries | None:
        """What `module` has with its parents; `descendants` lead to it, itself the last."""
        if module.named is None or len(descendants) > DEEPEST_PARENTS:
            return None
        base = Table({}, 0, 0)
        for parent in module.named.parents:
            path = self._own(parent.path) if parent.path is not None else None
            found = self._of(path, descendants) if path is not None else None
            if found is None:
                return None
            taken = [(name, entry) for name, entry in found.items() if parent.names is None or name in parent.names]
            self.values -= sum(_count(value) for _, (_, value) in taken)
            if self.values < 0:
                return None
            base.entries.update((name, (parent.at, at_span(value, parent.at))) for name, (_, value) in taken)
        for keys in module.changed:
            _lose(base, keys)
        own = {name: value for name, value in module.entries.items() if name != BASE}
        return _merge(Table(own, 0, 0), base).entries if module.named.merges else base.entries | own

    def _own(self, path: str) -> str | None:
        """The path of the tree that `path` is: `mmpose::_base_/run.py` is one below `configs` in the repository of mmpose itself."""
        package, sign, inner = path.partition("::")
        if not sign:
            return path
        return f"configs/{inner}" if isinstance(self.read(f"{package}/__init__.py"), Source) else None

    def _of(self, path: str, descendants: tuple[str, ...]) -> _Entries | None:
        if path not in self.known:
            self.left -= 1
            source = self.read(path) if self.left >= 0 and path not in descendants else None
            module = _loaded(source) if isinstance(source, Source) else None
            self.known[path] = self.merged(module, (*descendants, path)) if module is not None else None
        return self.known[path]


def _count(value: Value) -> int:
    """How many values `value` is of."""
    inner = table_of(value)
    within = (each for _, each in inner.entries.values()) if isinstance(inner, Table) else value.items if isinstance(value, Items) else ()
    return 1 + sum(map(_count, within))


@lru_cache(256)
def _loaded(source: Source) -> _Module | None:
    """The module in `source`, which many others may include; None if Python's parser refuses it."""
    program = parsed(source) if source.path.endswith(".py") else None
    return None if program is None else _described(program, bound(program.scopes, Evaluator(program)))


def bound(scopes: Scopes, evaluator: Evaluator) -> _Entries:
    """The names that a module binds, each with its place and its value once all of the module has run."""
    found = ((name, evaluator.at_end(name)) for name in scopes.module.names)
    return {name: entry for name, entry in found if entry is not None}


def _described(program: Program, entries: _Entries) -> _Module:
    scopes, named = program.scopes, _named(program)
    unclear = {name: ((0, 0), Lost(0, 0)) for name in scopes.module.names if name not in entries and _is_value(name, scopes)}
    roots = frozenset((BASE,)) if named is None or named.merges else None
    return _Module(entries | unclear, named, tuple(_changed(scopes, roots)) if named is not None and named.parents else ())


def _is_value(name: str, scopes: Scopes) -> bool:
    """Whether a name is bound by something other than an import or a definition, which mmengine leaves out."""
    left_out = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(not isinstance(each.node, left_out) for each in scopes.module.names[name])


def _named(program: Program) -> _Named | None:
    """The parents of a module, None if unknown."""
    scopes, folder = program.scopes, program.source.path.rpartition("/")[0]
    bases = scopes.module.names.get(BASE, [])
    if bases:
        texts = _texts(bases[0].value) if len(bases) == 1 and bases[0].branch is None else None
        return None if texts is None else _Named(tuple(_Parent(_file(folder, each.value), program.span(each)) for each in texts), True)
    imports = [each for node in _withs(scopes) if _reads_base(node) for each in node.body]
    stars = {node for _, node in scopes.stars}
    if not stars.issubset(imports) or not all(isinstance(each, ast.ImportFrom) for each in imports):
        return None
    return _Named(tuple(_imported(each, folder, program) for each in imports if isinstance(each, ast.ImportFrom)), False)


def _texts(node: ast.expr | None) -> list[ast.Constant] | None:
    """The text or texts that `node` is, None if it is anything else."""
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    texts = [each for each in items if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return texts if len(texts) == len(items) else None


def _file(folder: str, text: object) -> str | None:
    """The path of the tree that `text` is in `folder`, or that of a package (`mmdet::...`)."""
    if not isinstance(text, str) or text.startswith("/"):
        return None
    return text if "::" in text else below(folder, text)


def _imported(node: ast.ImportFrom, folder: str, program: Program) -> _Parent:
    inner = f"{(node.module or '').replace('.', '/')}.py"
    path = below(folder, "../" * (node.level - 1) + inner) if node.level else inner
    names = frozenset(each.name for each in node.names)
    plain = all(each.asname is None for each in node.names)
    return _Parent(path if plain else None, program.span(node), None if "*" in names else names)


def _withs(scopes: Scopes) -> list[ast.With]:
    body = scopes.module.node.body if isinstance(scopes.module.node, ast.Module) else []
    return [each for each in body if isinstance(each, ast.With)]


def _reads_base(node: ast.With) -> bool:
    call = node.items[0].context_expr
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == _READS


def _changed(scopes: Scopes, roots: frozenset[str] | None) -> Iterator[_Path]:
    """Yield the keys of what is included that a module may change: what it sets, calls a method of, or gives another name.

    With `roots` (`_base_`) the keys are those behind one of these names.
    """
    inside: set[ast.AST] = set()
    for node in ast.walk(scopes.module.node):  # an outer one comes before those in it
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Name)) and node not in inside:
            path = _chain(node, inside)
            if roots is None and path:
                yield path
            elif roots is not None and path and path[0] in roots and not (len(path) == 1 and isinstance(node.ctx, ast.Store)):
                yield path[1:]


def _chain(node: ast.expr, inside: set[ast.AST]) -> _Path:
    """The name and the keys behind it that `node` is, as far as they are plain: `a.b["c"][0].d` is `a`, `b`, `c`."""
    keys: list[str | None] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        key = node.attr if isinstance(node, ast.Attribute) else node.slice.value if isinstance(node.slice, ast.Constant) else None
        keys.append(key if isinstance(key, str) else None)
        node = node.value
        inside.add(node)
    if not isinstance(node, ast.Name):
        return ()
    plain = [node.id, *reversed(keys)]
    found = plain[: plain.index(None)] if None in plain else plain
    return tuple(each for each in found if each is not None)


def _lose(base: Table, path: _Path) -> None:
    """Make what `base` has at `path` unknown; behind a key that it does not have may be a method of what is above."""
    table = base
    for number, key in enumerate(path):
        place, value = table.entries.get(key, (None, None))
        inner = table_of(value)
        if place is None or value is None:
            return
        below_it = path[number + 1] if number + 1 < len(path) else None
        if not isinstance(inner, Table) or below_it is None or below_it not in inner.entries:
            table.entries[key] = place, Lost(value.start, value.stop)
            return
        table = inner
    for key, (place, value) in base.entries.items():
        base.entries[key] = place, Lost(value.start, value.stop)


def _merge(child: Table, base: Table, depth: int = 0) -> Table:
    """`child` over `base`: mappings key by key, except for one with `_delete_`; all else replaced."""
    if depth > DEEPEST_DOCUMENT:
        return child
    entries = dict(base.entries)
    for key, (place, value) in child.entries.items():
        under = base.get(key)
        entries[key] = place, _over(value, under, depth) if isinstance(value, Table) and under is not None else value
    return Table(entries, child.start, child.stop, child.rest or base.rest)


def _over(child: Table, under: Value, depth: int) -> Table:
    """`child` over what its parent has under the same key."""
    replaces = child.get(_REPLACES)
    if isinstance(replaces, Known) and replaces.value:
        return child
    if isinstance(under, Table) and replaces is None:
        return _merge(child, under, depth + 1)
    return child._replace(rest=Lost(child.start, child.stop))
