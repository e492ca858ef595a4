"""The recipes in a program as documents: each call that sets a batch size, each dictionary, and the module's own names."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final, TypeAlias

from pytest_gbs.model.document import DICTIONARY, FUNCTION, LOOP, MODULE, PYTHON, CommentBlock, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_DOCUMENTS, MOST_EVALUATED
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.command_settings import CommandLine
from pytest_gbs.readers.index import Index, follow
from pytest_gbs.readers.owners import ABOVE, HEADER, TRAILING
from pytest_gbs.readers.python.boosted import boosted
from pytest_gbs.readers.python.configurator import executed_over, overridden, simulates
from pytest_gbs.readers.python.coqui import trained_by_coqui
from pytest_gbs.readers.python.engines import initialized
from pytest_gbs.readers.python.functions import configurations, dotted, placed
from pytest_gbs.readers.python.handed_over import handed_over
from pytest_gbs.readers.python.lightning import trained_by_lightning
from pytest_gbs.readers.python.loops import training_loop
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.parents import bound, inherited, takes_in
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Items, Known, Lost, Made, Table, Value, batch_name, sets_batch
from pytest_gbs.readers.python.scopes import Binding, Branch, Change, Scope, Scopes, read_scopes
from pytest_gbs.readers.python.sentences import trained_by_fit
from pytest_gbs.readers.python.trainers import given_to_trainers, own_batches
from pytest_gbs.readers.python.values import Evaluator
from pytest_gbs.readers.scalar import COMPUTED

_Found: TypeAlias = tuple[str, ast.AST, Table]  # what is called, or `DICTIONARY` and so on, where, and what it has


class Started(NamedTuple):
    """A call as it is when its program is started: which values are given, and the variables of which batch sizes have the defaults."""

    document: Document
    given: dict[KeyPath, Location]
    assumed: tuple[str, ...]


class Executed(NamedTuple):
    """The names of a program with those of the files that it executes, and where each stands.

    With `simulates` a single process accumulates as often as several do together.
    """

    document: Document
    places: dict[KeyPath, Location]
    simulates: bool


def read_launched(program: Program, scopes: Scopes, line: CommandLine, modules: Modules) -> Iterator[Started]:
    """Yield each call of `program` that sets a batch size, as it is when started with `line`.

    Nothing if a parser gives the arguments of a framework as they are: what its table says of flags is all there is to say then.
    """
    evaluator = Evaluator(program, scopes, line, modules)
    if any(evaluator.parses_imported(call, scope) for call, scope in scopes.calls):
        return
    found = [*islice(_calls(scopes, evaluator), MOST_DOCUMENTS), *_loops(scopes, evaluator)]
    if not any(sets_batch(table) for _, _, table in found):
        found = list(islice(_made_elsewhere(evaluator), MOST_DOCUMENTS)) or found
    for document, (_, _, table) in _documents(program, scopes, found):
        yield Started(document, dict(_given(table, ())), tuple(dict.fromkeys(_assumed(table, evaluator))))


def _made_elsewhere(evaluator: Evaluator) -> Iterator[_Found]:
    """Yield the calls that set a batch size in functions and classes of other files that get options, each as one of its caller."""
    for call, other, reached in handed_over(evaluator):
        yield from ((name, call, placed(table, evaluator.program.span(call))) for name, _, table in _calls(other.scopes, other, reached))


def may_train_otherwise(program: Program, scopes: Scopes, line: CommandLine) -> bool:
    """Whether an option of `line` may have a program that parses a trainer's arguments train with others, which it makes by itself."""
    evaluator = Evaluator(program, scopes, line)
    options, trained = dict(evaluator.each_option()), given_to_trainers(scopes)
    for call, scope in scopes.calls:
        name = scopes.qualified(call.func)
        made = _arguments().search(name) is not None and not name.rpartition(".")[2].startswith("parse")
        if not made or not (call in trained or _may_set_batch(call, scope, scopes)):
            continue
        starts = [call, *_calls_of(scope, scopes)]
        tested = {name for each in starts for name in _tested(scopes.done.get(each))}
        if any(_may_be_on(name, options, evaluator) for name in tested):
            return True
    return False


def _calls_of(scope: Scope, scopes: Scopes) -> Iterator[ast.Call]:
    """Yield the calls of the function whose inside `scope` is: `trainer.train()` calls no function `train` of a module."""
    in_class = scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
    for call, _ in scopes.called.get(getattr(scope.node, "name", ""), ()):
        if in_class or isinstance(call.func, ast.Name):
            yield call


def _tested(branch: Branch | None) -> Iterator[str]:
    """Yield the attributes that decide whether `branch` is taken."""
    while branch is not None:
        yield from (each.attr for each in ast.walk(branch.test) if isinstance(each, ast.Attribute)) if branch.test is not None else ()
        branch = branch.outer


def _may_be_on(name: str, options: dict[str, Value], evaluator: Evaluator) -> bool:
    """Whether the option `name`, of argparse or a field of a class of arguments, may be anything but false, none or empty."""
    if name in options:
        value = options[name]
        return not isinstance(value, Known) or bool(value.value)
    classes = [node for node, scope in evaluator.scopes.inner.items() if isinstance(node, ast.ClassDef) and name in scope.names]
    defaults = (evaluator.field(each, name) for each in classes)
    return name in evaluator.settings or any(isinstance(each, Known) and bool(each.value) for each in defaults)


def _given(table: Table, path: KeyPath) -> Iterator[tuple[KeyPath, Location]]:
    """Yield the values of `table` that a command line gives, each with its place there."""
    for name, (_, value) in table.entries.items():
        if isinstance(value, (Known, Lost)) and value.at is not None:
            yield (*path, name), value.at
        elif isinstance(value, Table):
            yield from _given(value, (*path, name))


def _assumed(table: Table, evaluator: Evaluator) -> Iterator[str]:
    """Yield the variables of the environment that are taken to be unset where `table` has a batch size from them."""
    for key, (_, value) in table.entries.items():
        if isinstance(value, Table):
            yield from _assumed(value, evaluator)
        elif isinstance(value, Known) and batch_name().search(key):
            yield from (name for start, stop, name in evaluator.unset if start < value.stop and value.start < stop)


def read_documents(program: Program, modules: Modules) -> Iterator[Document]:
    """Yield the documents of `program` in the order of its text, at most `MOST_DOCUMENTS` of them; `modules` are what it imports."""
    scopes = read_scopes(program.tree)
    evaluator = Evaluator(program, scopes, None, modules)
    found = [*islice(_calls(scopes, evaluator), MOST_DOCUMENTS), *islice(_dictionaries(scopes, evaluator), MOST_DOCUMENTS)]
    loops = list(_loops(scopes, evaluator))
    found = [*loops, *(each for each in found if each[0] != DICTIONARY or each[2].start not in {loop[2].start for loop in loops})]
    functions = configurations(scopes, evaluator, modules)
    found += ((FUNCTION, node, table) for node, table in functions if batch_name().search(" ".join(_keys_of(table, 0))))
    module = _module(program, scopes, evaluator, modules)
    comments = _Comments(program)
    found.sort(key=lambda each: each[2].start)
    alone = len(found) == 1
    for document, (called, node, _) in _documents(program, scopes, [*module, *found][:MOST_DOCUMENTS]):
        blocks = comments.of_module(document.keyed) if called == MODULE else comments.of_call(node, document.keyed, alone)
        yield document._replace(comments=blocks)


def read_calls(program: Program, package: str) -> Iterator[Document]:
    """Yield each call of a class of `package` as a document of its keywords, at most `MOST_DOCUMENTS` of them."""
    scopes = read_scopes(program.tree)
    evaluator = Evaluator(program, scopes)
    named = ((scopes.qualified(call.func), call, scope) for call, scope in scopes.calls)
    found = ((name, call, evaluator.keywords(call, scope)) for name, call, scope in named if name.startswith(f"{package}."))
    yield from (document for document, _ in _documents(program, scopes, islice(found, MOST_DOCUMENTS)))


def _documents(program: Program, scopes: Scopes, found: Iterable[_Found]) -> Iterator[tuple[Document, _Found]]:
    """Yield a document for each of `found`, without comments, as long as they are no more than is looked at."""
    imports = frozenset(name.partition(".")[0] for name in (*scopes.imported.values(), *(name for name, _ in scopes.stars)))
    left = [MOST_EVALUATED]
    for number, (called, node, table) in enumerate(found, 1):
        root = _mapping(table, 0, left)
        if left[0] < 0:
            return
        rest = None if table.rest is None else Location(program.source.path, table.rest.start, table.rest.stop)
        part = "" if called == MODULE else program.part(node)
        keyed = follow(root, MOST_EVALUATED)
        yield Document(program.source, number, PYTHON, root, keyed, (), (), called, imports, rest, part), (called, node, table)


def read_executed(program: Program, scopes: Scopes, files: list[tuple[Program, Scopes]]) -> Executed | None:
    """The names of a program that executes `files` over them, as a document; None if it executes none."""
    entries, places = executed_over(program, scopes, files)
    if not entries:
        return None
    (document, _), *_ = _documents(program, scopes, [(MODULE, program.tree, Table(entries, 0, 0))])
    return Executed(document, places, simulates(scopes))


def document_of_comments(program: Program, node: ast.AST) -> Document:
    """A document of nothing but the comments in and right above `node`."""
    comments = _Comments(program).of_call(node, {}, alone=False)
    return Document(program.source, 1, PYTHON, None, {}, comments, (), part=program.part(node))


_SETTERS = ("set_training", "set_dataloader")  # of TrainingArguments (transformers training_args.py)
_OF_DEVICE = "per_device_train_batch_size"

_TRAINER_SIZES: Final = frozenset((_OF_DEVICE, "gradient_accumulation_steps"))
_arguments = lazy_pattern(r"arg(?:ument)?s|(?:train|sft|po|reward|rloo)\w*config", re.IGNORECASE)
_loader = lazy_pattern(r"batch|samples_per_gpu")


@cache
def _string_or_comment() -> re.Pattern[str]:
    """The pattern of strings and, as its group, comments: in a program that parses, a comment is what is not in a string."""
    triple = "|".join(rf"{sign}(?:\\.|[^\\])*?{sign}" for sign in ('"""', "'''"))
    single = "|".join(rf"{sign}(?:\\.|[^{sign}\\\n])*{sign}" for sign in ('"', "'"))
    return re.compile(rf"(#[^\r\n]*)|{triple}|{single}", re.DOTALL)


def _keys_of(table: Table, depth: int) -> Iterator[str]:
    """Yield the names of all keys of `table` and of the tables in it."""
    for name, (_, value) in table.entries.items():
        yield name
        inner = value.arguments if isinstance(value, Made) else value
        if isinstance(inner, Table) and depth < DEEPEST_DOCUMENT:
            yield from _keys_of(inner, depth + 1)


def _calls(scopes: Scopes, evaluator: Evaluator, within: set[ast.AST] | None = None) -> Iterator[_Found]:
    """Yield each call of an imported class, or of one that this file makes from it, that names a batch size or is given to a trainer.

    Only those `within` some of the file's functions, if they are given.
    """
    held = _held(scopes)
    trained, own = given_to_trainers(scopes), own_batches(scopes, evaluator)
    for call, scope in scopes.calls:
        func, bound_before = evaluator.partials(call.func, scope)
        name = scopes.qualified(func)
        if not name.rpartition(".")[2][:1].isupper() or (within is not None and scope.node not in within):
            continue
        if evaluator.line is not None and evaluator.runs(scopes.done.get(call), scope) is False:
            continue
        told = bool(bound_before) or call in trained or call in held or _may_set_batch(call, scope, scopes)
        table = evaluator.keywords(call, scope) if told else Table({}, *evaluator.program.span(call))
        elsewhere = call in trained or not _TRAINER_SIZES.isdisjoint(table.entries) or _arguments().search(name) is not None
        names, fields, sets = evaluator.ancestor(func, scope, elsewhere=elsewhere)
        if not names and evaluator.program.cells and "." not in name and scope.find(name) is None:
            names = _unbound(name, scopes)
        evaluator.left -= len(fields)
        if fields and evaluator.left < 0:
            return
        if not names or ((fields or name not in names) and _is_in_method(scope) and not sets_batch(table)):
            continue  # such as the arguments that a trainer makes itself if it gets none
        if not told:  # most classes have nothing to do with batches: what their calls say takes long to find out
            if not sets and not any(map(batch_name().search, fields)):
                continue
            table = evaluator.keywords(call, scope)
        place, lost = evaluator.program.span(func), evaluator.lost(func)
        if table.rest is not None:
            fields = {}  # `**more` may give any of them
        table = table._replace(entries={**fields, **table.entries, **dict.fromkeys(sets, (place, lost))})
        table = _with_attributes(table, call, scope, scopes, evaluator)
        table = _without_changed(table, held.get(call, ()), scopes, evaluator)
        if sets_batch(table) or call in trained:
            if call in own:
                table.entries[_OF_DEVICE] = own[call]
            yield " ".join(names), call, table


def _may_set_batch(call: ast.Call, scope: Scope, scopes: Scopes) -> bool:
    """Whether the words of a call say a batch size, or may, or what it makes is changed later."""
    names = [each.arg or "batch" for each in call.keywords]
    return any(map(batch_name().search, names)) or not scopes.changes.keys().isdisjoint(scope.named.get(call, ()))


def _unbound(name: str, scopes: Scopes) -> tuple[str, ...]:
    """What a name of a notebook may be that no cell binds, as one that its reader imported with the others does."""
    packages = dict.fromkeys(each.partition(".")[0] for each in scopes.imported.values())
    return tuple(f"{package}.{name}" for package in packages if package) if not scopes.stars else ()


def _is_in_method(scope: Scope) -> bool:
    return scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)


def _with_attributes(table: Table, call: ast.Call, scope: Scope, scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` with the attributes that are set on what the call made: `args.gradient_accumulation_steps = 4`.

    What one of its methods sets (`args.set_dataloader(train_batch_size=16)`) is not known.
    """
    for setter in _SETTERS:
        bases = (other.func.value for other, _ in scopes.called.get(setter, ()) if isinstance(other.func, ast.Attribute))
        if any(isinstance(base, ast.Name) and base.id in scope.named.get(call, ()) for base in bases):
            table = table._replace(rest=table.rest or evaluator.lost(call))
    for name in scope.named.get(call, ()):
        for change in scopes.changes.get(name, ()):
            if isinstance(change.target, ast.Attribute) and change.statement.lineno >= call.lineno:
                made = _changed_by(change, name, scope, evaluator.program)
                if made is not None and made.value is not call:
                    continue
                given = _assigned(change, made, scope)
                value = evaluator.value(given, scope) if given is not None else evaluator.lost(change.target)
                table.entries[change.target.attr] = evaluator.program.span(change.target), value
    return table


def _changed_by(change: Change, name: str, scope: Scope, program: Program) -> Binding | None:
    """The binding of `name` that made what `change` sets an attribute of; None if it may be of several."""
    bindings = scope.names[name]
    if len(bindings) == 1:
        return bindings[0]
    if change.scope is not scope or not program.cells:
        return None
    cell, line = program.cell(change.statement), change.statement.lineno
    before = [each for each in bindings if program.cell(each.node) == cell and getattr(each.node, "lineno", line) < line]
    return before[-1] if before and (before[-1].branch is None or before[-1].branch is change.branch) else None


def _assigned(change: Change, made: Binding | None, scope: Scope) -> ast.expr | None:
    """What `change` always sets where `made` is made; None if that is not plain."""
    if made is None:
        return None
    together = made.branch is not None and made.branch is change.branch
    return (change._replace(branch=None) if together else change).assigned(scope, sys.maxsize)


def _without_changed(table: Table, holders: Iterable[tuple[str, str]], scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` without what is set through another one that holds it, by name and key: `config.train.batch_size = 32`."""
    for name, key in holders:
        changes = scopes.changes.get(name, ())
        evaluator.left -= len(changes)
        for change in changes if evaluator.left > 0 else ():
            for target in change.statement.targets if isinstance(change.statement, ast.Assign) else [change.statement.target]:
                if isinstance(target, ast.Attribute) and dotted(target.value) == f"{name}.{key}":
                    table.entries[target.attr] = evaluator.program.span(target), evaluator.lost(target)
    return table


def _held(scopes: Scopes) -> dict[ast.AST, list[tuple[str, str]]]:
    """What calls are handed to others by name, with the names of what these make: `config = Config(train=Train(...))`."""
    found: dict[ast.AST, list[tuple[str, str]]] = {}
    for scope in dict.fromkeys(scope for _, scope in scopes.calls):
        for outer, names in scope.named.items():
            for keyword in outer.keywords if isinstance(outer, ast.Call) else ():
                if keyword.arg is not None and isinstance(keyword.value, ast.Call):
                    found.setdefault(keyword.value, []).extend((name, keyword.arg) for name in names)
    return found


def _dictionaries(scopes: Scopes, evaluator: Evaluator) -> Iterator[_Found]:
    """Yield each dictionary that is written out and holds a batch size, outermost ones alone; none whose caller may change it."""
    inside: set[ast.AST] = set()
    for node, scope in scopes.dictionaries:  # an outer one comes before those in it
        if node in inside:
            continue
        if any(isinstance(key, ast.Constant) and isinstance(key.value, str) and batch_name().search(key.value) for key in node.keys):
            inside.update(ast.walk(node))
            names = scope.named.get(node, ())
            table = evaluator.value(node, scope)
            if isinstance(table, Table) and scope.returned.isdisjoint((node, *names)):
                for name in names:
                    table = evaluator.with_items(table, name, node, scope, sys.maxsize)
                yield DICTIONARY, node, table


def _loops(scopes: Scopes, evaluator: Evaluator) -> Iterator[_Found]:
    """Yield what a training loop goes by: the loader of its batches, trainers of libraries, a booster, DeepSpeed's dictionary."""
    yield from ((LOOP, node, table) for node, table in training_loop(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in trained_by_lightning(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in trained_by_coqui(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in trained_by_fit(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in boosted(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in islice(initialized(scopes, evaluator), MOST_DOCUMENTS))


def _module(program: Program, scopes: Scopes, evaluator: Evaluator, modules: Modules) -> list[_Found]:
    """The names that the module itself binds, as a configuration that is a Python file has them."""
    names = scopes.module.names
    has_parents = takes_in(scopes)
    if not (has_parents or batch_name().search(" ".join(names)) or _makes_loader(program.tree)):
        return []
    entries = bound(scopes, evaluator)
    if sys.stdlib_module_names.issuperset(name.partition(".")[0] for name in scopes.imported.values()):
        entries |= {name: entry for name, entry in overridden(program, modules) if name not in entries}
    rest = _taken_in(program, scopes)
    whole = inherited(program, scopes, entries, modules.context.read) if has_parents else None
    table = Table(entries, 0, len(program.source.text), rest) if whole is None else Table(whole, 0, len(program.source.text))
    return [(MODULE, program.tree, table)] if table.entries else []


def _makes_loader(tree: ast.Module) -> bool:
    """Whether the module gives a name to a `dict(...)` with a batch size, as configurations of mmengine and mmcv do."""
    values = (each.value for each in tree.body if isinstance(each, ast.Assign))
    calls = (each for each in values if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "dict")
    return any(_loader().search(each.arg or "") for call in calls for each in call.keywords)


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
    return Mapping(table.start, table.stop, tuple(entries), COMPUTED if depth and table.rest is not None else None)


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


def as_text(value: Value) -> str | None:
    """`value` as a word of a command line gives it, None if it is not known or no number, text or switch."""
    known = isinstance(value, Known) and value.value is not None
    return _scalar(value).text if known and isinstance(value, Known) else None


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
        self.numbers: list[int] = []  # of the lines with a comment, ascending

    def _read(self) -> dict[int, tuple[int, str, bool]]:
        if self.found is None:
            self.found = {}
            text, lines = self.program.text, self.program.lines
            for match in _string_or_comment().finditer(text):
                if match[1]:
                    line = lines.line_of(match.start())
                    self.found[line] = match.start(), match[1], not text[lines.starts[line - 1] : match.start()].strip()
            self.numbers = list(self.found)
        return self.found

    def of_call(self, node: ast.AST, keyed: Index, alone: bool) -> tuple[CommentBlock, ...]:
        """The comments within a call, right above it, behind or above what gives its values, and at the top of a file with one recipe."""
        comments = self._read()
        text = (*self._prose(node), *self._docstring(node))
        if not comments and not text:
            return ()
        keys = self._keys(keyed)
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", first)
        within = self.numbers[bisect_left(self.numbers, first) : bisect_right(self.numbers, last)]
        lines = {*within, *(keys.keys() & comments.keys())}
        parts = {line: [line] for line in lines}
        for line in keys:  # a comment above the field or the option whose default is the value
            over = self._above(line) if not first <= line <= last else []
            parts.update({over[0]: over} if over else {})
        below = sorted(keys)
        blocks = [self._block(each, *self._owner(each[-1], keys, below)) for _, each in sorted(parts.items())]
        above = self._above(first)
        if above:
            blocks.insert(0, self._block(above, None, HEADER))
        top = self._above(self._first_code()) if alone else []
        if top and top != above:
            blocks.insert(0, self._block(top, None, HEADER))
        return (*text, *blocks)

    def of_module(self, keyed: Index) -> tuple[CommentBlock, ...]:
        """All comments outside of functions, those behind a name its own."""
        keys = self._keys({path: entry for path, entry in keyed.items() if len(path) == 1}, values=False)
        below = sorted(keys)
        return tuple(self._block([line], *self._owner(line, keys, below)) for line in self._read())

    def _prose(self, node: ast.AST) -> tuple[CommentBlock, ...]:
        """The text of the cell right above the one of `node`, in a notebook, as a comment above it."""
        text, places = self.program.prose.get(self.program.cell(node), ("", ())) if self.program.cells else ("", ())
        return (CommentBlock(text, places, None, HEADER),) if places else ()

    def _docstring(self, node: ast.AST) -> tuple[CommentBlock, ...]:
        """What the docstring of a function says, as a comment above what it makes; examples of calls and commands say nothing of it.

        Nor does what it says of one value of an argument (`stage="sft": batch 256`), with the lines that are indented below it.
        """
        first = node.body[0] if isinstance(node, ast.FunctionDef) else None
        cases = tuple(f"{each.arg}=" for each in (*node.args.args, *node.args.kwonlyargs)) if isinstance(node, ast.FunctionDef) else ()
        constant = first.value if isinstance(first, ast.Expr) else None
        if not isinstance(constant, ast.Constant) or not isinstance(constant.value, str):
            return ()
        start = self.program.offset(constant.lineno, constant.col_offset)
        stop = self.program.offset(constant.end_lineno or constant.lineno, constant.end_col_offset or 0)
        texts: list[str] = []
        pieces: list[tuple[int, int]] = []
        length, case = 0, -1
        for line in self.program.text[start:stop].split("\n"):
            text = line.lstrip().lstrip("rRuU").lstrip("\"'") if not texts else line.lstrip()
            pieces.append((length, self.program.place(start + len(line) - len(text))))
            indent = len(line) - len(text)
            case = indent if text.startswith(cases) else case if not text or 0 <= case < indent else -1
            texts.append("" if case >= 0 or text.startswith((">>>", "...", "$")) else text.rstrip().rstrip("\"'"))
            length += len(texts[-1]) + 1
            start += len(line) + 1
        return (CommentBlock("\n".join(texts), tuple(pieces), None, HEADER),)

    def _keys(self, keyed: Index, values: bool = True) -> dict[int, KeyPath]:
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

    def _owner(self, line: int, keys: dict[int, KeyPath], below: list[int]) -> tuple[KeyPath | None, str]:
        if not self._read()[line][2]:
            return keys.get(line), TRAILING
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
