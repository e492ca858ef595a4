"""What functions of other files of the repository return."""

from __future__ import annotations

import ast

from pytest_gbs.readers.python.classes import Classes
from pytest_gbs.readers.python.results import Items, Known, Place, Table, Value
from pytest_gbs.readers.python.scopes import Scope


class ImportedFunctions(Classes):
    """The results of the functions that one program imports."""

    def _returned_elsewhere(self, node: ast.Call, scope: Scope) -> Value | None:
        """What a function of another file returns for the arguments of `node`; None if that is not known."""
        defined = self.modules.called(node, self.program) if self.modules is not None else None
        if defined is None or defined.program is self.program:
            return None
        other, function = self.evaluator_of(defined.program), defined.function
        with other.knowing(other.defaults(function) | self.handed(function, node, scope)):
            value = self._brought(other, lambda: other.returned(function), node)
        return value if isinstance(value, (Known, Table, Items, Place)) else None

    def returned(self, function: ast.FunctionDef) -> Value | None:
        """What a function of this file returns; None if it may return several things."""
        found = self.result_of(function)
        return self.value(*found) if found is not None else None
