"""The names of a program by scope: what each is bound to, and whether only sometimes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from pytest_gbs.model.location import grouped
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import attribute_path

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def _kinds(*bases: type[ast.AST]) -> frozenset[type[ast.AST]]:
    """The kinds of nodes that are one of `bases`; a node's own type is looked up in them, which takes a third of `isinstance`."""
    return frozenset(each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, bases))


_LEAVES: Final = (ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.alias, ast.type_ignore)
_INNER: Final = _kinds(ast.AST) - _kinds(*_LEAVES)
# What may bind a name or leave a function; every other node is looked at for what is in it.
_BINDS: Final = _kinds(ast.stmt, ast.NamedExpr, ast.comprehension, ast.withitem, ast.ExceptHandler)
_SCOPES: Final = frozenset((*_FUNCTIONS, ast.ClassDef, ast.Lambda))
_BRANCHES: Final = frozenset((ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.ExceptHandler, ast.Match))


class Branch(NamedTuple):
    """Where a statement is that may not run, or run several times: where `test` is `taken`; None: a loop, a `try`, a `match`.

    It is `open` if it is in one of these, where the order of the text is not that of the run.
    """

    test: ast.expr | None
    taken: bool
    outer: Branch | None
    open: bool


OPEN: Final = Branch(None, True, None, True)
# What ends a `try` that goes well, or opens the file of which it returns the contents.
_RESULTS: Final = (ast.Return, ast.With)


class Binding(NamedTuple):
    """What binds a name at `node`: the expression `value`, or None if no single expression gives it (a loop, `with`).

    `item` is the position in a tuple that is unpacked, -1 if nothing is. `parameter` is the function of which it is one.
    """

    node: ast.AST
    value: ast.expr | None
    item: int = -1
    parameter: Function | None = None
    branch: Branch | None = None


class Change(NamedTuple):
    """A statement that sets an attribute or an item of a name: `target`, or what is in it."""

    statement: ast.Assign | ast.AugAssign | ast.AnnAssign
    target: ast.Attribute | ast.Subscript
    scope: Scope
    branch: Branch | None

    @property
    def targets(self) -> list[ast.expr]:
        """All that the statement sets."""
        return self.statement.targets if isinstance(self.statement, ast.Assign) else [self.statement.target]

    def continues(self, attribute: str) -> bool:
        """Whether it computes an attribute from what it was: `args.batch = args.batch // ranks`."""
        if isinstance(self.statement, ast.AugAssign):
            return True
        nodes = ast.walk(self.statement.value) if self.statement.value is not None else ()
        return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in nodes)

    def follows(self, scope: Scope, line: int) -> bool:
        """Whether it happens in `scope` after `line`, where nothing leads back there."""
        return self.scope is scope and self.branch is None and self.statement.lineno > line

    def assigned(self, scope: Scope, line: int) -> ast.expr | None:
        """What `target` is set to, if that always happens in `scope` before `line`; else None."""
        straight = self.scope is scope and self.branch is None and self.statement.lineno < line
        return (
            self.statement.value if straight and isinstance(self.statement, ast.Assign) and self.target in self.statement.targets else None
        )


class Scope:
    """One module, function or class: its `names`, and the scope around it."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node, self.parent = node, parent
        self.names: dict[str, list[Binding]] = {}
        self.named: dict[ast.AST, list[str]] = {}  # calls and dictionaries, with the names that they are bound to
        self.outer: set[str] = set()  # declared global or nonlocal
        self.returned: set[ast.AST | str] = set()  # what is returned, by its name if it has one
        self.results: list[tuple[ast.expr | None, Branch | None]] = []  # what each `return` returns, and where it is

    @property
    def class_around(self) -> ast.ClassDef | None:
        """The class of which it is the inside of a method; None if it is of none."""
        node = self.parent.node if self.parent is not None else None
        return node if isinstance(node, ast.ClassDef) else None

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding of `name`, to the module where it is declared global."""
        scope = self
        while name in scope.outer and scope.parent is not None:
            scope = scope.parent
        scope.names.setdefault(name, []).append(binding if scope is self else binding._replace(branch=OPEN))
        if isinstance(binding.value, (ast.Call, ast.Dict)):
            scope.named.setdefault(binding.value, []).append(name)

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds `name` as seen from here, with its bindings; a function does not see the class around it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                return scope, scope.names[name]
            scope = scope.parent
        return None

    def binding(self, node: ast.expr) -> tuple[Scope, Binding] | None:
        """The one binding of the name that `node` is, with the scope that has it; None if it has several, or `node` is not a name."""
        found = self.find(node.id) if isinstance(node, ast.Name) else None
        return (found[0], found[1][0]) if found is not None and len(found[1]) == 1 else None

    def bound(self, node: ast.expr) -> ast.AST | None:
        """What alone binds the name that `node` is: a definition, an import, a statement."""
        found = self.binding(node)
        return found[1].node if found is not None else None


class Scopes(NamedTuple):
    """All that a program binds and calls: `calls` and `dictionaries` that are written out, each with its scope.

    `called` are the calls by the last name of what they call. `changes` are the attributes and items that are set later, by the name
    that has them, `attributes` those that are attributes, by the attribute too. `stars` are the modules of which everything is imported,
    those of the same package with a dot in front, each with its import. `done` are the calls that are a whole statement, or all that one
    assigns, with where they are. `names` are the dotted names that were asked for: each launch of a program asks for all of them again.
    """

    module: Scope
    imported: dict[str, str]
    stars: tuple[tuple[str, ast.ImportFrom], ...]
    calls: tuple[tuple[ast.Call, Scope], ...]
    called: dict[str, list[tuple[ast.Call, Scope]]]
    dictionaries: tuple[tuple[ast.Dict, Scope], ...]
    inner: dict[ast.AST, Scope]
    changes: dict[str, list[Change]]
    attributes: dict[str, dict[str, list[Change]]]
    done: dict[ast.AST, Branch | None]
    names: dict[ast.AST, str]

    def qualified(self, node: ast.expr) -> str:
        """The dotted name of what is called, as imported (`trl.SFTConfig`); "" if it is not a plain name."""
        name = self.names.get(node)
        if name is None:
            name = self.names[node] = self._put_together(node)
        return name

    def _put_together(self, node: ast.expr) -> str:
        name, *rest = attribute_path(node) or ("",)
        first = self.imported.get(name, name)
        known = name in self.imported or name in self.module.names
        if not known and len(self.stars) == 1 and not hasattr(builtins, name):
            first = f"{self.stars[0][0]}.{name}"
        return ".".join((first, *rest)) if name else ""


def read_scopes(tree: ast.Module) -> Scopes:
    """What `tree` binds; walked with a list instead of recursion, so that depth costs nothing."""
    module = Scope(tree, None)
    imported: dict[str, str] = {}
    inner_scopes: dict[ast.AST, Scope] = {}
    changes: dict[str, list[Change]] = {}
    calls: list[tuple[ast.Call, Scope]] = []
    dictionaries: list[tuple[ast.Dict, Scope]] = []
    kept: dict[type[ast.AST], list[Any]] = {ast.Call: calls, ast.Dict: dictionaries}
    stars: list[tuple[str, ast.ImportFrom]] = []
    done: dict[ast.AST, Branch | None] = {}
    pending: list[tuple[ast.AST, Scope, Branch | None]] = [(each, module, None) for each in reversed(tree.body)]
    while pending:
        node, scope, branch = pending.pop()
        kind = type(node)
        if kind in kept:
            kept[kind].append((node, scope))
        if kind not in _BINDS:
            pass
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            stars.extend(_bind_import(node, scope, imported))
        elif isinstance(node, ast.Return):
            scope.returned.add(node.value.id if isinstance(node.value, ast.Name) else node.value or node)
            scope.results.append((node.value, branch))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outer.update(node.names)
        else:
            if isinstance(node, (ast.Expr, ast.Assign)):
                done[node.value] = branch
                imported.update(_loaded(node))
            for name, binding in _bindings(node, branch):
                scope.bind(name, binding)
            for name, target in _changed(node):
                changes.setdefault(name, []).append(Change(node, target, scope, branch))  # type: ignore[arg-type]
        inner = scope
        if kind in _SCOPES:
            inner, branch = Scope(node, scope), None
            inner_scopes[node] = inner
            for name, binding in _parameters(node):
                inner.bind(name, binding)
        sides = _sides if kind in _BRANCHES and not _is_main(node) else _together
        pending += [(each, inner, below) for each, below in sides(node, branch)]
    called, attributes = _by_name(calls), _by_attribute(changes)
    return Scopes(module, imported, tuple(stars), tuple(calls), called, tuple(dictionaries), inner_scopes, changes, attributes, done, {})


def _by_name(calls: list[tuple[ast.Call, Scope]]) -> dict[str, list[tuple[ast.Call, Scope]]]:
    called = ((each[0].func, each) for each in calls)
    return grouped((func.id if isinstance(func, ast.Name) else getattr(func, "attr", ""), each) for func, each in called)


def _by_attribute(changes: dict[str, list[Change]]) -> dict[str, dict[str, list[Change]]]:
    found: dict[str, dict[str, list[Change]]] = {}
    for name, several in changes.items():
        for change in several:
            if isinstance(change.target, ast.Attribute):
                found.setdefault(change.target.attr, {}).setdefault(name, []).append(change)
    return found


def _inside(node: ast.AST) -> list[ast.AST]:
    """What is right below a node and may hold more, the last first; as `ast.iter_child_nodes`, which takes three times as long."""
    found: list[ast.AST] = []
    for field in reversed(node._fields):
        value = getattr(node, field, None)
        if type(value) is list:
            found += [each for each in reversed(value) if type(each) in _INNER]
        elif type(value) in _INNER:
            found.append(value)  # type: ignore[arg-type]
    return found


def _together(node: ast.AST, branch: Branch | None) -> list[tuple[ast.AST, Branch | None]]:
    """What is right below a node, all of which runs where this does; the last first."""
    return [(each, branch) for each in _inside(node)]


def _sides(node: ast.AST, branch: Branch | None) -> list[tuple[ast.AST, Branch | None]]:
    """What is right below a statement that may not run all that is in it, and under which condition it runs; the last first."""
    if not isinstance(node, ast.If):
        below = Branch(None, True, branch, True)
        runs = _RESULTS if isinstance(node, ast.Try) and _only_reports(node) else ()
        return [(each, branch if isinstance(each, runs) else below) for each in _inside(node)]
    found: list[tuple[ast.AST, Branch | None]] = []
    for statements, taken in ((node.orelse, False), (node.body, True)):
        below = Branch(node.test, taken, branch, branch is not None and branch.open)
        found += [(each, below) for each in reversed(statements)]
    return [*found, (node.test, branch)]


def _only_reports(node: ast.Try) -> bool:
    """Whether nothing comes of a `try` but what it does itself: what fails is printed or raised, as where a file is loaded and returned."""
    return all(isinstance(each, (ast.Expr, ast.Raise, ast.Pass)) for handler in node.handlers for each in handler.body)


def _is_main(node: ast.AST) -> bool:
    """Whether `node` is `if __name__ == "__main__":`, which holds when the file is run."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )


def _bind_import(node: ast.Import | ast.ImportFrom, scope: Scope, imported: dict[str, str]) -> Iterator[tuple[str, ast.ImportFrom]]:
    """Note the qualified name of what an import binds; yield the modules of which everything is taken."""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        if isinstance(node, ast.Import):
            whole = alias.name if alias.asname else name
        elif alias.name == "*":
            yield "." * node.level + (node.module or ""), node
            continue
        else:
            whole = "." * node.level + f"{node.module or ''}.{alias.name}"
        imported[name] = whole
        scope.bind(name, Binding(node, None))


def _loaded(node: ast.Expr | ast.Assign) -> Iterator[tuple[str, str]]:
    """Yield the name of a module beside the file that its path gives: `imp.load_source("base", join(dirname(__file__), "base.py"))`."""
    call, targets = node.value, getattr(node, "targets", ())
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "load_source" and call.args):
        return
    inside = list(ast.walk(call.args[-1]))
    file = [each.value for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if any(isinstance(each, ast.Name) and each.id == "__file__" for each in inside) and len(file) == 1 and file[0].endswith(".py"):
        yield from ((each.id, f".{file[0].removesuffix('.py')}") for each in targets if isinstance(each, ast.Name))


def _bindings(node: ast.AST, branch: Branch | None) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(node, target, node.value, branch)
    elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
        yield from _targets(node, node.target, node.value, branch)
    elif isinstance(node, ast.AugAssign):
        yield from _targets(node, node.target, _augmented(node), branch)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _targets(node, node.target, None, branch)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _targets(node, node.optional_vars, None, branch)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name:
        yield node.name, Binding(node, None, branch=branch)


def _augmented(node: ast.AugAssign) -> ast.BinOp:
    """What `n *= m` gives its name: `n * m`, with the `n` of before."""
    before = ast.copy_location(ast.Name(node.target.id if isinstance(node.target, ast.Name) else "", ast.Load()), node.target)
    return ast.copy_location(ast.BinOp(before, node.op, node.value), node)


def _targets(node: ast.AST, target: ast.expr, value: ast.expr | None, branch: Branch | None) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Binding(node, value, branch=branch)
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = False
        for number, each in enumerate(target.elts):
            starred = starred or isinstance(each, ast.Starred)
            if isinstance(each, ast.Name):
                yield each.id, Binding(node, None if starred else value, number, branch=branch)
            else:
                yield from _targets(node, each.value if isinstance(each, ast.Starred) else each, None, branch)


def _changed(node: ast.AST) -> Iterator[tuple[str, ast.Attribute | ast.Subscript]]:
    """Yield the names of which `node` sets an attribute or an item, or what is in one: `a.deepspeed` for `a.deepspeed["x"] = 1`."""
    for target in (
        node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []
    ):
        part = target
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            if isinstance(part.value, ast.Name):
                yield part.value.id, part
            part = part.value


def _parameters(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    if isinstance(node, ast.ClassDef):
        return
    arguments = node.args  # type: ignore[attr-defined]
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults, *arguments.kw_defaults]
    function = node if isinstance(node, _FUNCTIONS) else None
    for argument, default in zip((*plain, *arguments.kwonlyargs), defaults, strict=False):
        yield argument.arg, Binding(argument, default, parameter=function, branch=OPEN if function is None else None)
    for argument in filter(None, (arguments.vararg, arguments.kwarg)):
        yield argument.arg, Binding(argument, None, parameter=function if argument is arguments.kwarg else None)
