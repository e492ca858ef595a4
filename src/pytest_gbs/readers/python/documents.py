"""The recipes in a program as documents: each call that sets a batch size, each dictionary, and the module's own names."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice

from pytest_gbs.model.document import DICTIONARY, FUNCTION, MODULE, PYTHON, CommentBlock, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_DOCUMENTS, MOST_NODES
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.readers.command_settings import CommandLine
from pytest_gbs.readers.index import follow
from pytest_gbs.readers.owners import ABOVE, HEADER, TRAILING
from pytest_gbs.readers.python.functions import configurations
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.scopes import Scope, Scopes, read_scopes
from pytest_gbs.readers.python.values import Evaluator, Items, Known, Lost, Made, Table, Value
from pytest_gbs.readers.scalar import COMPUTED


def read_launched(program: Program, scopes: Scopes, line: CommandLine) -> Iterator[tuple[Document, dict[KeyPath, Location]]]:
    """Yield each call of `program` that sets a batch size, as it is when started with `line`, and which values the line gives.

    Nothing if a parser gives the arguments of a framework as they are: what its table says of flags is all there is to say then.
    """
    evaluator = Evaluator(program, scopes, line)
    if any(evaluator.parses_imported(call, scope) for call, scope in scopes.calls):
        return
    imports = _imports(scopes)
    for number, (called, node, table) in enumerate(islice(_calls(scopes, evaluator), MOST_DOCUMENTS), 1):
        root = _mapping(table, 0, [MOST_NODES])
        rest = None if table.rest is None else Location(program.source.path, table.rest.start, table.rest.stop)
        given: dict[KeyPath, Location] = {
            (name,): value.at for name, (_, value) in table.entries.items() if isinstance(value, (Known, Lost)) and value.at is not None
        }
        keyed, part = follow(root, MOST_NODES), program.part(node)
        yield Document(program.source, number, PYTHON, root, keyed, (), (), called, imports, rest, part), given


def _imports(scopes: Scopes) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in (*scopes.imported.values(), *(name for name, _ in scopes.stars)))


def read_documents(program: Program) -> Iterator[Document]:
    """Yield the documents of `program` in the order of its text, at most `MOST_DOCUMENTS` of them."""
    scopes = read_scopes(program.tree)
    evaluator = Evaluator(program, scopes)
    found = [*_calls(scopes, evaluator), *_dictionaries(scopes, evaluator)]
    found += ((FUNCTION, node, table) for node, table in configurations(scopes, evaluator) if _batch().search(" ".join(_keys_of(table, 0))))
    module = _module(program, scopes, evaluator)
    imports = _imports(scopes)
    comments = _Comments(program)
    found.sort(key=lambda each: each[2].start)
    alone = len(found) == 1
    for number, (called, node, table) in enumerate([*module, *found][:MOST_DOCUMENTS], 1):
        root = _mapping(table, 0, [MOST_NODES])
        keyed = follow(root, MOST_NODES)
        rest = None if table.rest is None else Location(program.source.path, table.rest.start, table.rest.stop)
        blocks = comments.of_module(root) if called == MODULE else comments.of_call(node, keyed, alone)
        part = "" if called == MODULE else program.part(node)
        yield Document(program.source, number, PYTHON, root, keyed, blocks, (), called, imports, rest, part)


def document_of_comments(program: Program, node: ast.AST) -> Document:
    """A document of nothing but the comments in and right above `node`."""
    comments = _Comments(program).of_call(node, {}, alone=False)
    return Document(program.source, 1, PYTHON, None, {}, comments, (), part=program.part(node))


@cache
def _batch() -> re.Pattern[str]:
    return re.compile(r"batch|accum", re.IGNORECASE)


@cache
def _string_or_comment() -> re.Pattern[str]:
    """The pattern of strings and, as its group, comments: in a program that parses, a comment is what is not in a string."""
    triple = "|".join(rf"{sign}(?:\\.|[^\\])*?{sign}" for sign in ('"""', "'''"))
    single = "|".join(rf"{sign}(?:\\.|[^{sign}\\\n])*{sign}" for sign in ('"', "'"))
    return re.compile(rf"(#[^\r\n]*)|{triple}|{single}", re.DOTALL)


def _sets_batch(table: Table) -> bool:
    return any(_batch().search(name) for name in table.entries)


def _keys_of(table: Table, depth: int) -> Iterator[str]:
    """Yield the names of all keys of `table` and of the tables in it."""
    for name, (_, value) in table.entries.items():
        yield name
        inner = value.arguments if isinstance(value, Made) else value
        if isinstance(inner, Table) and depth < DEEPEST_DOCUMENT:
            yield from _keys_of(inner, depth + 1)


def _calls(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[str, ast.AST, Table]]:
    """Yield each call of an imported class, or of one that this file makes from it, that names a batch size."""
    for call, scope in scopes.calls:
        definition = evaluator.definition(call.func, scope)
        name = _imported(evaluator, scopes, call.func, definition)
        if not name or not name.rpartition(".")[2][:1].isupper():
            continue
        table = evaluator.keywords(call, scope)
        for each in evaluator.ancestry(definition) if definition is not None else ():
            for field in scopes.inner[each].names.values() if _batch().search(" ".join(scopes.inner[each].names)) else ():
                _add_field(table, field[0].node, each, evaluator)
        table = _with_attributes(table, call, scope, scopes, evaluator)
        if _sets_batch(table):
            yield name, call, table


def _imported(evaluator: Evaluator, scopes: Scopes, func: ast.expr, definition: ast.ClassDef | None) -> str:
    """The name under which the class that is called was imported, or the class that it is made from; "" if there is none."""
    if definition is None:
        name = evaluator.qualified(func)
        return name if "." in name and not name.startswith(".") else ""
    for each in evaluator.ancestry(definition):
        for base in each.bases:
            if evaluator.definition(base, scopes.module) is None:
                name = evaluator.qualified(base)
                if "." in name and not name.startswith("."):
                    return name
    return ""


def _add_field(table: Table, node: ast.AST, definition: ast.ClassDef, evaluator: Evaluator) -> None:
    """Add to `table` the default that a class of this file gives a field, where the call does not set it."""
    target = node.target if isinstance(node, ast.AnnAssign) else None
    if isinstance(target, ast.Name) and target.id not in table.entries:
        value = evaluator.field(definition, target.id)
        if value is not None:
            table.entries[target.id] = evaluator.program.span(target), value


def _with_attributes(table: Table, call: ast.Call, scope: Scope, scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` with the attributes that are set on what the call made: `args.gradient_accumulation_steps = 4`."""
    names = [name for name, bindings in scope.names.items() if any(each.value is call for each in bindings)]
    for name in names:
        for statement, target, where, branch in scopes.changes.get(name, ()):
            if not isinstance(target, ast.Attribute) or statement.lineno < call.lineno:
                continue
            once = len(scope.names[name]) == 1 and where is scope and not branch
            straight = once and isinstance(statement, ast.Assign) and target in statement.targets
            start = evaluator.program.span(target)
            lost = evaluator._lost(target)
            table.entries[target.attr] = (
                start,
                evaluator.value(statement.value, where) if straight and statement.value is not None else lost,
            )
    return table


def _dictionaries(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[str, ast.AST, Table]]:
    """Yield each dictionary that is written out and holds a batch size, outermost ones alone; none whose caller may change it."""
    inside: set[ast.AST] = set()
    for node, scope in scopes.dictionaries:  # an outer one comes before those in it
        if node in inside:
            continue
        if any(isinstance(key, ast.Constant) and isinstance(key.value, str) and _batch().search(key.value) for key in node.keys):
            inside.update(ast.walk(node))
            names = [name for name, bindings in scope.names.items() if any(each.value is node for each in bindings)]
            table = evaluator.value(node, scope)
            if isinstance(table, Table) and scope.returned.isdisjoint((node, *names)):
                for name in names:
                    table = evaluator.with_items(table, name, node, scope, sys.maxsize)
                yield DICTIONARY, node, table


def _module(program: Program, scopes: Scopes, evaluator: Evaluator) -> list[tuple[str, ast.AST, Table]]:
    """The names that the module itself binds, as a configuration that is a Python file has them."""
    names = scopes.module.names
    if not _batch().search(" ".join(names)):
        return []
    found = ((name, evaluator.at_end(name)) for name in names)
    table = Table({name: entry for name, entry in found if entry is not None}, 0, len(program.source.text), _taken_in(program, scopes))
    return [(MODULE, program.tree, table)] if table.entries else []


def _taken_in(program: Program, scopes: Scopes) -> Lost | None:
    """What takes the names of other files into a module: `_base_` of mmengine, or an import of everything."""
    base = scopes.module.names.get("_base_")
    if base is not None and isinstance(base[-1].node, ast.stmt):
        return Lost(*program.span(base[-1].node))
    return Lost(*program.span(scopes.stars[0][1])) if scopes.stars else None


def _mapping(table: Table, depth: int, left: list[int]) -> Mapping:
    entries = []
    for name, ((start, stop), value) in table.entries.items():
        left[0] -= 1
        if left[0] > 0 and depth < DEEPEST_DOCUMENT:
            entries.append((Scalar(start, stop, name, False), _node(value, depth + 1, left)))
    return Mapping(table.start, table.stop, tuple(entries))


def _node(value: Value, depth: int, left: list[int]) -> Node:
    """`value` as a node of a document; what the text does not fix is a scalar with the tag `COMPUTED`."""
    left[0] -= 1
    if left[0] < 0 or depth >= DEEPEST_DOCUMENT:
        return Scalar(value.start, value.stop, "", False, COMPUTED)
    if isinstance(value, Table):
        return _mapping(value, depth, left)
    if isinstance(value, Made):
        return _mapping(value.arguments, depth, left)
    if isinstance(value, Items):
        return Sequence(value.start, value.stop, tuple(_node(each, depth + 1, left) for each in value.items))
    if not isinstance(value, Known):
        return Scalar(value.start, value.stop, value.text, False, None if value.text else COMPUTED)
    return _scalar(value)


def _scalar(known: Known) -> Scalar:
    if isinstance(known.value, str):
        return Scalar(known.start, known.stop, known.value, False)
    words = {True: "true", False: "false", None: "null"}
    text = words[known.value] if known.value is None or isinstance(known.value, bool) else repr(known.value)
    return Scalar(known.start, known.stop, text, True)


class _Comments:
    """The comments of a program, each with its line, and whether it has the line to itself."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: dict[int, tuple[int, str, bool]] | None = None

    def _read(self) -> dict[int, tuple[int, str, bool]]:
        if self.found is None:
            self.found = {}
            text, lines = self.program.text, self.program.lines
            for match in _string_or_comment().finditer(text):
                if match[1]:
                    line = lines.line_of(match.start())
                    self.found[line] = match.start(), match[1], not text[lines.starts[line - 1] : match.start()].strip()
        return self.found

    def of_call(self, node: ast.AST, keyed: dict[KeyPath, tuple[Node, Node]], alone: bool) -> tuple[CommentBlock, ...]:
        """The comments within a call, right above it, behind or above what gives its values, and at the top of a file with one recipe."""
        comments = self._read()
        text = self._docstring(node)
        if not comments and not text:
            return ()
        keys = self._keys(keyed)
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", first)
        lines = {line for line in comments if first <= line <= last} | (keys.keys() & comments.keys())
        parts = {line: [line] for line in lines}
        for line in keys:  # a comment above the field or the option whose default is the value
            over = self._above(line) if not first <= line <= last else []
            parts.update({over[0]: over} if over else {})
        blocks = [self._block(each, *self._owner(each[-1], keys)) for _, each in sorted(parts.items())]
        above = self._above(first)
        if above:
            blocks.insert(0, self._block(above, None, HEADER))
        top = self._above(self._first_code()) if alone else []
        if top and top != above:
            blocks.insert(0, self._block(top, None, HEADER))
        return (*text, *blocks)

    def of_module(self, root: Mapping) -> tuple[CommentBlock, ...]:
        """All comments outside of functions, those behind a name its own."""
        keys = self._keys({(key.text,): (key, value) for key, value in root.entries if isinstance(key, Scalar)}, values=False)
        return tuple(self._block([line], *self._owner(line, keys)) for line in sorted(self._read()))

    def _docstring(self, node: ast.AST) -> tuple[CommentBlock, ...]:
        """What the docstring of a function says, as a comment above what it makes."""
        first = node.body[0] if isinstance(node, ast.FunctionDef) else None
        constant = first.value if isinstance(first, ast.Expr) else None
        if not isinstance(constant, ast.Constant) or not isinstance(constant.value, str):
            return ()
        start = self.program.offset(constant.lineno, constant.col_offset)
        stop = self.program.offset(constant.end_lineno or constant.lineno, constant.end_col_offset or 0)
        texts: list[str] = []
        pieces: list[tuple[int, int]] = []
        for line in self.program.text[start:stop].split("\n"):
            text = line.lstrip().lstrip("rRuU").lstrip("\"'") if not texts else line.lstrip()
            pieces.append((sum(map(len, texts)) + len(texts), self.program.place(start + len(line) - len(text))))
            texts.append(text.rstrip().rstrip("\"'"))
            start += len(line) + 1
        return (CommentBlock("\n".join(texts), tuple(pieces), None, HEADER),)

    def _keys(self, keyed: dict[KeyPath, tuple[Node, Node]], values: bool = True) -> dict[int, KeyPath]:
        """The last key on each line of the program, where keys or the text of their values are."""
        found: dict[int, KeyPath] = {}
        for path, (key, value) in keyed.items():
            for node in (key, value)[: 1 + values]:
                if not isinstance(node, Mapping):
                    found[self._line(node.start)] = path
        return found

    def _line(self, place: int) -> int:
        """The line of the program that holds a place of the file."""
        places = self.program.places
        number = max(0, bisect_right(places, place, key=lambda each: each[1]) - 1)
        return self.program.lines.line_of(places[number][0] + place - places[number][1])

    def _owner(self, line: int, keys: dict[int, KeyPath]) -> tuple[KeyPath | None, str]:
        if not self._read()[line][2]:
            return keys.get(line), TRAILING
        below = sorted(keys)
        number = bisect_left(below, line)
        return (keys[below[number]] if number < len(below) else None), ABOVE

    def _above(self, line: int) -> list[int]:
        """The lines of the comment that ends right above `line`."""
        comments = self._read()
        first = line
        while first - 1 in comments and comments[first - 1][2]:
            first -= 1
        return list(range(first, line))

    def _first_code(self) -> int:
        body = self.program.tree.body
        return body[0].lineno if body else 1

    def _block(self, lines: list[int], owner: KeyPath | None, placement: str) -> CommentBlock:
        texts: list[str] = []
        pieces: list[tuple[int, int]] = []
        length = 0
        for line in lines:
            offset, raw, _ = self._read()[line]
            text = raw.lstrip("#").lstrip()
            pieces.append((length, self.program.place(offset + len(raw) - len(text))))
            texts.append(text.rstrip())
            length += len(texts[-1]) + 1
        return CommentBlock("\n".join(texts), tuple(pieces), owner, placement)
