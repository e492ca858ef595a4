"""The values of the expressions of a program.

They are worked out in storeys, each a file that knows those below it alone: what is noted of a program (`evaluation`), its `options`,
calls of Python itself and of libraries (`library_calls`), literals and operators (`expressions`), `parameters`, `names`, `objects`,
`classes`, and here all other calls.
"""

from __future__ import annotations

import ast
from typing import Final

from pytest_gbs.readers.python.attributes import argument
from pytest_gbs.readers.python.classes import Classes
from pytest_gbs.readers.python.filled_options import RUNS
from pytest_gbs.readers.python.library_calls import BUILT_IN, ENVIRONMENT, FROM_CLI, OF_LIBRARIES, TEXT_METHODS, library_argument
from pytest_gbs.readers.python.results import NAMESPACE, Items, Known, Made, Place, Table, Value
from pytest_gbs.readers.python.scopes import Scope

_OF_THE_COMMAND: Final = "argv"
_PARSES: Final = frozenset(("parse_args_into_dataclasses", "parse_args_and_config", "parse_dict", "parse_json_file", "parse_yaml_file"))


class Evaluator(Classes):
    """The values of the expressions of one program, calls among them."""

    def _made_last(self, node: ast.expr, scope: Scope) -> ast.Call | None:
        """The call that made what `node` names where it stands: in `args = args.parse_args()`, the one that made the parser."""
        chosen = self.chosen(scope.names.get(node.id, []), node.lineno, scope) if isinstance(node, ast.Name) else None
        made = chosen[0].value if chosen is not None and len(chosen) == 1 else None
        return made if isinstance(made, ast.Call) else self.origin(node, scope)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        name = self.scopes.qualified(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else name.rpartition(".")[2]
        if name == "dict" and not node.args:
            return self.keywords(node, scope)
        found = self._of_path(name, node, scope)
        if found is None and name in BUILT_IN and node.args and not node.keywords:
            return self._builtin(name, node, scope)
        found = found or self._written(node, last, scope)
        if found is not None:
            return found
        options = self._options_elsewhere(node) if self.modules is not None and not last[:1].isupper() else None
        if options is not None:
            return Made(NAMESPACE, options, None, *self.program.span(node))
        if last in ("parse_args", "parse_known_args") and not _is_of_the_program(argument(node, "args", position=0)):
            parser = self._made_last(node.func.value, scope) if isinstance(node.func, ast.Attribute) and self.modules is not None else None
            given = self._options_elsewhere(parser, of_parser=True) if parser is not None else None
            return Made(NAMESPACE, given or Table({}, *self.program.span(node)), None, *self.program.span(node))
        if last in _PARSES and isinstance(node.func, ast.Attribute):
            return self._parsed(node.func.value, scope)
        made_of = library_argument(node) if name in OF_LIBRARIES else None
        if made_of is not None:
            return self._of_library(name, node, made_of, scope)
        if name in RUNS and node.args:
            return self._with_flags(self._made(node.args[0], scope, None), node) or self.lost(node)
        of_launch = self._from_cli(node) if name == FROM_CLI else self._world(name, node)
        if of_launch is not None:
            return of_launch
        if name in ENVIRONMENT and node.args:
            return self.of_environment(self.value(node.args[0], scope), node.args[1] if len(node.args) > 1 else None, node, scope)
        if isinstance(node.func, ast.Attribute) and last in TEXT_METHODS:
            return self._of_text(node, node.func, scope)
        if isinstance(node.func, ast.Attribute) and last == "get" and node.args:
            return self._got(node, self.value(node.func.value, scope), self.value(node.args[0], scope), scope)
        made = self._made(node.func, scope, node)
        return made if made is not None else self.lost(node)

    def _written(self, node: ast.Call, last: str, scope: Scope) -> Value | None:
        """What a function returns whose text is in the tree, None if it is another, or may return several things."""
        function = scope.bound(node.func)
        if not isinstance(function, ast.FunctionDef) or (written := self.result_of(function)) is None:
            return self._returned_elsewhere(node, scope) if not last[:1].isupper() else None
        own = self.own_arguments(function, node, scope)
        if own is None:
            return self.value(*written)
        with self.knowing(own):
            return self.value(*written)

    def _returned_elsewhere(self, node: ast.Call, scope: Scope) -> Value | None:
        """What a function of another file returns for the arguments of `node`; None if that is not known."""
        defined = self.modules.called(node, self.program) if self.modules is not None else None
        if defined is None or defined.program is self.program:
            return None
        other, function = self.evaluator_of(defined.program), defined.function
        with other.knowing(other.defaults(function) | self.handed(function, node, scope)):
            value = self._brought(other, lambda: other.returned(function), node)
        return value if isinstance(value, (Known, Table, Items, Place, Made)) else None

    def returned(self, function: ast.FunctionDef) -> Value | None:
        """What a function of this file returns; None if it may return several things."""
        found = self.result_of(function)
        return self.value(*found) if found is not None else None

    def _got(self, node: ast.Call, base: Value, key: Value, scope: Scope) -> Value:
        """What `base.get(key, default)` gives."""
        if not isinstance(base, Table) or not isinstance(key, Known) or not isinstance(key.value, str):
            return self.lost(node)
        if key.value in base.entries or base.rest is not None:
            return self._entry(base, key.value, node)
        return self.value(node.args[1], scope) if len(node.args) > 1 else Known(None, *self.program.span(node))


def _is_of_the_program(words: ast.expr | None) -> bool:
    """Whether a parser gets words that the program writes out or reads from elsewhere, instead of those of its command line."""
    if not isinstance(words, ast.Call):
        return isinstance(words, (ast.List, ast.Tuple, ast.Constant)) and getattr(words, "value", ...) is not None
    return not any(_OF_THE_COMMAND in (getattr(each, "attr", ""), getattr(each, "id", "")) for each in ast.walk(words))
