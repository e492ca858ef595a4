"""The recipes in a program as documents: each call that sets a batch size, each dictionary, and the module's own names."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from pytest_gbs.model.document import DICTIONARY, FUNCTION, LOOP, MODULE, PYTHON, Document
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_DOCUMENTS, MOST_EVALUATED, MOST_TRAINERS
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.command_settings import CommandLine
from pytest_gbs.readers.index import follow
from pytest_gbs.readers.python.attributes import dotted
from pytest_gbs.readers.python.boosted import boosted
from pytest_gbs.readers.python.calls import batch_calls, may_be_arguments, may_set_batch
from pytest_gbs.readers.python.comments import ProgramComments
from pytest_gbs.readers.python.configurator import executed_over, overridden, simulates
from pytest_gbs.readers.python.coqui import trained_by_coqui
from pytest_gbs.readers.python.engines import initialized
from pytest_gbs.readers.python.functions import configurations
from pytest_gbs.readers.python.handed_over import handed_over
from pytest_gbs.readers.python.lazy_configs import set_of_others
from pytest_gbs.readers.python.lightning import trained_by_lightning
from pytest_gbs.readers.python.loops import training_loop
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.nodes import mapping_of
from pytest_gbs.readers.python.parents import bound, includes_others, inherited
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Found, Known, Lost, Table, Value, batch_name, placed, sets_batch, table_of, value_below
from pytest_gbs.readers.python.scopes import Branch, Scope, Scopes
from pytest_gbs.readers.python.sentences import trained_by_fit
from pytest_gbs.readers.python.trainers import given_to_trainers
from pytest_gbs.readers.python.values import Evaluator


class Started(NamedTuple):
    """A call as it is when its program is started: which values are given, and the variables of which batch sizes have the defaults."""

    document: Document
    given: dict[KeyPath, Location]
    assumed: tuple[str, ...]


class Executed(NamedTuple):
    """The names of a program with those of the files that it executes, and where each is.

    With `simulates` a single process accumulates as often as several do together.
    """

    document: Document
    places: dict[KeyPath, Location]
    simulates: bool


def read_launched(program: Program, line: CommandLine, modules: Modules) -> Iterator[Started]:
    """Yield each call of `program` that sets a batch size, as it is when started with `line`.

    Nothing if a parser gives the arguments of a framework as they are: what its table says of flags is all there is to say then.
    """
    scopes, evaluator, files = program.scopes, Evaluator(program, line, modules), [program]
    if any(evaluator.parses_imported(call, scope) for call, scope in scopes.calls):
        return
    calls = [*islice(batch_calls(scopes, evaluator), MOST_TRAINERS + 1)]
    if len(calls) > MOST_TRAINERS:
        return
    found = [*calls, *_loops(scopes, evaluator)]
    has_table = modules.context.has_table
    if not any(
        _loads_batches(table) if name == LOOP else sets_batch(table) and any(map(has_table, name.split())) for name, _, table in found
    ):
        found = list(islice(_made_elsewhere(evaluator, files), MOST_DOCUMENTS)) or found
    for document, (_, _, table) in _documents(program, found, files):
        yield Started(document, dict(_given(table, ())), tuple(dict.fromkeys(_assumed(table, evaluator))))


def _loads_batches(loop: Table) -> bool:
    """Whether it is known what a training loop goes by: itself, or the batch of its data loader."""
    return sets_batch(loop) or isinstance(value_below(loop, ("DataLoader", "batch_size")), Known)


def _made_elsewhere(evaluator: Evaluator, files: list[Program]) -> Iterator[Found]:
    """Yield the calls that set a batch size in functions and classes of other files that get options, each as one of its caller.

    So are their training loops; the files are put into `files`.
    """
    for call, other, reached in handed_over(evaluator):
        files.append(other.program)
        loops = ((LOOP, node, table) for node, table in training_loop(other.scopes, other) if _is_within(node, reached, other.scopes))
        found = (*batch_calls(other.scopes, other, reached), *loops)
        yield from ((name, call, placed(table, evaluator.program.span(call))) for name, _, table in found)


def _is_within(call: ast.AST, functions: set[ast.AST], scopes: Scopes) -> bool:
    """Whether one of `functions` has `call` in it."""
    return any(call is each and scope.node in functions for each, scope in scopes.calls)


def may_train_otherwise(program: Program, line: CommandLine) -> bool:
    """Whether an option of `line` may have a program that parses a trainer's arguments train with others, which it makes by itself."""
    scopes, evaluator = program.scopes, Evaluator(program, line)
    options, trained = dict(evaluator.each_option()), given_to_trainers(scopes)
    for call, scope in scopes.calls:
        name = scopes.qualified(call.func)
        made = may_be_arguments().search(name) is not None and not name.rpartition(".")[2].startswith("parse")
        if not made or not (call in trained or may_set_batch(call, scope, scopes)):
            continue
        starts = [call, *_calls_of(scope, scopes)]
        tested = {name for each in starts for name in _tested(scopes.done.get(each))}
        if any(_may_be_on(name, options, evaluator) for name in tested):
            return True
    return False


def set_arguments(program: Program, modules: Modules) -> Iterator[tuple[str, Location]]:
    """Yield the fields that a program may set of what its parser gives, each with where; a field called "" stands for any.

    What a trainer has as its `args` is that, too. Under which conditions it does so is not looked at.
    """
    scopes, evaluator = program.scopes, Evaluator(program, None, modules)

    def at(node: ast.expr) -> Location:
        return Location(program.source.path, *program.span(node))

    for change in (change for each in scopes.attributes.get("args", {}).values() for change in each):
        parts = (each for each in change.targets if isinstance(each, ast.Attribute) and each.value is change.target)
        yield from ((each.attr, at(each)) for each in parts if dotted(each) and not dotted(each).startswith("self."))
    parses = ((call, scope) for name, calls in scopes.called.items() if name.startswith("parse") for call, scope in calls)
    for call, scope in parses:
        for name in (name for name, bindings in scope.names.items() if any(each.value is call for each in bindings)):
            for attribute, by_name in scopes.attributes.items():
                changes = (each for each in by_name.get(name, ()) if (each.scope.find(name) or (None,))[0] is scope)
                yield from ((attribute, at(each.target)) for each in changes)
            for each in evaluator.set_otherwise(name, scope):
                yield each if isinstance(each, str) else "", at(call)


def _calls_of(scope: Scope, scopes: Scopes) -> Iterator[ast.Call]:
    """Yield the calls of the function whose inside `scope` is: `trainer.train()` calls no function `train` of a module."""
    for call, _ in scopes.called.get(getattr(scope.node, "name", ""), ()):
        if scope.class_around is not None or isinstance(call.func, ast.Name):
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
    scopes, evaluator = program.scopes, Evaluator(program, None, modules)
    found = [*islice(batch_calls(scopes, evaluator), MOST_DOCUMENTS), *islice(_dictionaries(scopes, evaluator), MOST_DOCUMENTS)]
    loops = list(_loops(scopes, evaluator))
    found = [*loops, *(each for each in found if each[0] != DICTIONARY or each[2].start not in {loop[2].start for loop in loops})]
    functions = configurations(scopes, evaluator, modules)
    found += ((FUNCTION, node, table) for node, table in functions if batch_name().search(" ".join(_keys_of(table, 0))))
    module = _module(program, evaluator, modules)
    comments = ProgramComments(program)
    found.sort(key=lambda each: each[2].start)
    alone = len(found) == 1
    for document, (called, node, table) in _documents(program, [*module, *found][:MOST_DOCUMENTS]):
        blocks = comments.of_module(document.keyed) if called == MODULE else comments.of_call(node, document.keyed, alone)
        yield document._replace(comments=blocks, unset=tuple(dict.fromkeys(_assumed(table, evaluator))))


def read_calls(program: Program, package: str) -> Iterator[Document]:
    """Yield each call of a class of `package` as a document of its keywords, at most `MOST_DOCUMENTS` of them."""
    scopes, evaluator = program.scopes, Evaluator(program)
    named = ((scopes.qualified(call.func), call, scope) for call, scope in scopes.calls)
    found = ((name, call, evaluator.keywords(call, scope)) for name, call, scope in named if name.startswith(f"{package}."))
    yield from (document for document, _ in _documents(program, islice(found, MOST_DOCUMENTS)))


def _documents(program: Program, found: Iterable[Found], files: Iterable[Program] = ()) -> Iterator[tuple[Document, Found]]:
    """Yield a document for each of `found`, without comments, as long as they are no more than is looked at.

    It imports what `files` do, or the program alone.
    """
    imported = (name for each in files or (program,) for name in (*each.scopes.imported.values(), *(star for star, _ in each.scopes.stars)))
    imports = frozenset(name.partition(".")[0] for name in imported)
    left = [MOST_EVALUATED]
    for number, (called, node, table) in enumerate(found, 1):
        root = mapping_of(table, 0, left)
        if left[0] < 0:
            return
        rest = None if table.rest is None else Location(program.source.path, table.rest.start, table.rest.stop)
        part = "" if called == MODULE else program.part(node)
        keyed = follow(root, MOST_EVALUATED)
        function = getattr(node, "name", "") if called == FUNCTION else ""
        yield Document(program.source, number, PYTHON, root, keyed, (), (), called, imports, rest, part, function), (called, node, table)


def read_executed(program: Program, files: list[Program]) -> Executed | None:
    """The names of a program that executes `files` over them, as a document; None if it executes none."""
    entries, places = executed_over(program, files)
    if not entries:
        return None
    (document, _), *_ = _documents(program, [(MODULE, program.tree, Table(entries, 0, 0))])
    return Executed(document, places, simulates(program.scopes))


def document_of_comments(program: Program, node: ast.AST) -> Document:
    """A document of nothing but the comments in and right above `node`."""
    comments = ProgramComments(program).of_call(node, {}, alone=False)
    return Document(program.source, 1, PYTHON, None, {}, comments, (), part=program.part(node))


_loader = lazy_pattern(r"batch|samples_per_gpu")


def _keys_of(table: Table, depth: int) -> Iterator[str]:
    """Yield the names of all keys of `table` and of the tables in it."""
    for name, (_, value) in table.entries.items():
        yield name
        inner = table_of(value)
        if isinstance(inner, Table) and depth < DEEPEST_DOCUMENT:
            yield from _keys_of(inner, depth + 1)


def _dictionaries(scopes: Scopes, evaluator: Evaluator) -> Iterator[Found]:
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


def _loops(scopes: Scopes, evaluator: Evaluator) -> Iterator[Found]:
    """Yield what a training loop goes by: the loader of its batches, trainers of libraries, a booster, DeepSpeed's dictionary."""
    for read in (training_loop, trained_by_lightning, trained_by_coqui, trained_by_fit, boosted):
        yield from ((LOOP, node, table) for node, table in read(scopes, evaluator))
    yield from ((LOOP, node, table) for node, table in islice(initialized(scopes, evaluator), MOST_DOCUMENTS))


def _module(program: Program, evaluator: Evaluator, modules: Modules) -> list[Found]:
    """The names that the module itself binds, as a configuration that is a Python file has them."""
    scopes, names = program.scopes, program.scopes.module.names
    has_parents = includes_others(scopes)
    others = set_of_others(program, evaluator) if "dataloader" in scopes.changes else {}
    if not (has_parents or others or batch_name().search(" ".join(names)) or _makes_loader(program.tree)):
        return []
    entries = bound(scopes, evaluator) | others
    if sys.stdlib_module_names.issuperset(name.partition(".")[0] for name in scopes.imported.values()):
        entries |= {name: entry for name, entry in overridden(program, modules) if name not in entries}
    rest = _included(program)
    whole = inherited(program, entries, modules.context) if has_parents else None
    table = Table(entries, 0, len(program.source.text), rest) if whole is None else Table(whole, 0, len(program.source.text))
    return [(MODULE, program.tree, table)] if table.entries else []


def _makes_loader(tree: ast.Module) -> bool:
    """Whether the module gives a name to a `dict(...)` with a batch size, as configurations of mmengine and mmcv do."""
    values = (each.value for each in tree.body if isinstance(each, ast.Assign))
    calls = (each for each in values if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "dict")
    return any(_loader().search(each.arg or "") for call in calls for each in call.keywords)


def _included(program: Program) -> Lost | None:
    """What takes the names of other files into a module: `_base_` of mmengine, or an import of everything."""
    scopes, base = program.scopes, program.scopes.module.names.get("_base_")
    if base is not None and isinstance(base[-1].node, ast.stmt):
        return Lost(*program.span(base[-1].node))
    return Lost(*program.span(scopes.stars[0][1])) if scopes.stars else None
