"""Attributes, the fields of classes, and what their calls make, here and in other files of the repository."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.readers.python.arguments import CLASSES, argument_classes
from pytest_gbs.readers.python.attributes import attribute_path, is_unpacked
from pytest_gbs.readers.python.changed_items import CHANGING
from pytest_gbs.readers.python.filled_options import FLAGS
from pytest_gbs.readers.python.names import Names
from pytest_gbs.readers.python.results import CONFIGURATION, NAMESPACE, Items, Known, Lost, Made, Place, Table, Value, at_span, value_below
from pytest_gbs.readers.python.scopes import Binding, Scope

if TYPE_CHECKING:
    from typing import Self


# Decorators that fill a class from the command line and hand it to their function, and the option of both that names a file which
# fills it too (draccus 0.11.5, wrappers and argparsing.py; pyrallis 0.3.1, utils.py CONFIG_ARG).
_WRAPS: Final = frozenset(("draccus.wrap", "pyrallis.wrap"))
_OF_A_FILE: Final = "config_path"
_WITHOUT_FIELDS: Final = frozenset(("object", "typing.NamedTuple", "abc.ABC"))


class Objects(Names):
    """The values of the objects of one program."""

    def _parameter(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        """What a parameter is: an instance of its class if a command line fills that, else what `Parameters` says."""
        function = binding.parameter
        calls = (each for each in function.decorator_list if isinstance(each, ast.Call)) if function is not None else ()
        wrapped = next((each for each in calls if self.scopes.qualified(each.func) in _WRAPS), None)
        if wrapped is None or function is None or function.args.args[:1] != [binding.node]:
            return super()._parameter(binding, scope, node)
        of, around = function.args.args[0].annotation, scope.parent
        if of is None or around is None or wrapped.args or wrapped.keywords or _OF_A_FILE in self.settings:
            return self.lost(node)
        return self._with_flags(self._made(of, around, None), node) or self.lost(node)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        own = self._of_self(node, scope) or self._of_built(node, scope)
        if own is not None:
            return own
        base = self.value(node.value, scope)
        if isinstance(base, Place):
            return self.above(base, Known(0, *self.program.span(node)), node) if node.attr == "parent" else self.lost(node)
        if isinstance(base, Lost) and isinstance(node.value, ast.Name):
            definition = self.definition(node.value, scope)
            base = (
                Made(node.value.id, Table({}, base.start, base.stop), definition, base.start, base.stop) if definition is not None else base
            )
        if not isinstance(base, Made):
            return self._of_imported(node, scope) if isinstance(base, Lost) else self.lost(node)
        before = self._is_set_later(node, scope)
        changed = (None if before else self._changed(node, scope)) or self._processes(base, node.attr, node)
        if changed is not None:
            return changed
        if base.name == NAMESPACE:
            return self._of_namespace(base, node.attr, node, before=before)
        return self._as_set_otherwise(self._of_made(base, node), node, scope)

    def _of_made(self, base: Made, node: ast.Attribute) -> Value:
        """What an attribute is of `base`, an object or a configuration, as it was made."""
        if base.name == CONFIGURATION:
            return self._of_configuration(base, node.attr, node)
        if node.attr in base.arguments.entries:
            return base.arguments.entries[node.attr][1]
        if base.arguments.rest is not None:
            return self.lost(node)
        given = self.given_by_place(base, node.attr)
        if given is not None:
            return given
        found = self.field(base.definition, node.attr) if base.definition is not None else self._default_elsewhere(base, node)
        return found if found is not None else self.lost(node)

    def _of_built(self, node: ast.Attribute, scope: Scope) -> Value | None:
        """What an attribute is of the configuration that its function is making, as the statements before set it; else None."""
        path = attribute_path(node) or ("",)
        return value_below(self.built.get((scope, path[0])), path[1:]) if self.built else None

    def _of_self(self, node: ast.Attribute, scope: Scope) -> Value | None:
        """What `self.batch_size` is in a method, or `self.hparams.batch_size`, if only `__init__` of the class gives it; else None."""
        around = scope.parent if isinstance(scope.node, ast.FunctionDef) else None
        made = around.names.get("__init__", ()) if around is not None and isinstance(around.node, ast.ClassDef) else ()
        if around is None or len(made) != 1 or not isinstance(made[0].node, ast.FunctionDef):
            return None
        inner = self.scopes.inner[made[0].node]
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            sets = self.scopes.attributes.get(node.attr, {})
            here = [each for each in sets.get("self", ()) if each.scope.parent is around]
            given = here[0].assigned(inner, sys.maxsize) if len(here) == 1 and len(sets) == 1 else None
            return self.value(given, inner) if given is not None else None
        if not _is_hparams(node.value) or "save_hyperparameters" not in self.scopes.called:
            return None
        bindings = inner.names.get(node.attr, [])
        if len(bindings) == 1 and bindings[0].parameter is not None:
            return self._bound(bindings[0], inner, node)
        kept = [call.args for call, where in self.scopes.called["save_hyperparameters"] if where is inner and len(call.args) == 1]
        base = self.value(kept[0][0], inner) if len(kept) == 1 and isinstance(kept[0][0], ast.Name) else None
        return self._of_namespace(base, node.attr, node) if isinstance(base, Made) and base.name == NAMESPACE else None

    def _is_set_later(self, node: ast.Attribute, scope: Scope) -> bool:
        """Whether the program sets an attribute, but only after `node`, in a function that is called at one place.

        Many take the file of DeepSpeed away from their arguments once they have read it: `args.deepspeed_config = None`.
        """
        sets = [change for each in self.scopes.attributes.get(node.attr, {}).values() for change in each]
        is_once = scope is self.scopes.module or len(self.scopes.called.get(getattr(scope.node, "name", ""), ())) == 1
        return bool(sets) and is_once and all(each.follows(scope, node.lineno) for each in sets)

    def _changed(self, node: ast.Attribute, scope: Scope) -> Value | None:
        """What an attribute was set to before, None if it never is."""
        if not isinstance(node.value, ast.Name):
            return None
        sets = self.scopes.attributes.get(node.attr, {}).get(node.value.id)
        if sets is None:
            return None
        return self.set_to(sets, scope, node.lineno, node)

    def _as_set_otherwise(self, value: Value, node: ast.Attribute, scope: Scope) -> Value:
        """The `value` of an attribute, unless the program sets it by other means than its name: `fill(config, **flags)`."""
        found = self.set_otherwise(node.value.id, scope) if isinstance(node.value, ast.Name) else set()
        if ... in found or node.attr in found or (FLAGS in found and any(each.endswith(f".{node.attr}") for each in self.settings)):
            return self.lost(node)
        return self.from_command_line((node.attr,), value, node) if FLAGS in found else value

    def field(self, definition: ast.ClassDef, name: str) -> Value | None:
        """The default of a field of a class of this file, its bases in this file included; None if it has none, or is of another file."""
        if definition not in self.scopes.inner:
            return None
        for each in self.ancestry(definition):
            inner = self.scopes.inner[each]
            bindings = inner.names.get(name, [])
            if len(bindings) == 1 and bindings[0].value is not None and bindings[0].item < 0:
                return self._default(bindings[0].value, inner)
            if bindings:
                return self.lost(bindings[-1].value) if bindings[-1].value is not None else Lost(0, 0)
        for each in self.ancestry(definition):
            made = self._set_by_init(each, name)
            if made is not None:
                return made
        for each in self.ancestry(definition):
            for base in each.bases:
                found = self._field_elsewhere(base, name, base) if self.definition(base, self.scopes.module) is None else None
                if found is not None:
                    return found
        return None

    def _set_by_init(self, definition: ast.ClassDef, name: str) -> Value | None:
        """What `__init__` of a class sets an attribute to; None if no method does, lost if another does."""
        around = self.scopes.inner[definition]
        sets = [each for each in self.scopes.attributes.get(name, {}).get("self", ()) if each.scope.parent is around]
        if not sets:
            return None
        is_init = isinstance(sets[0].scope.node, ast.FunctionDef) and sets[0].scope.node.name == "__init__"
        return self.set_to(sets if is_init else [], sets[0].scope, sys.maxsize, sets[0].target)

    def given_by_place(self, made: Made, name: str) -> Value | None:
        """What a call gives an attribute by the place of the argument; None if it gives that none."""
        class_ = (self, made.definition) if made.definition is not None else self.class_elsewhere(made.func) if made.func else None
        order = class_[0].taken(class_[1]) if class_ is not None and made.by_place else []
        return made.by_place[order.index(name)] if name in order[: len(made.by_place)] else None

    def taken(self, definition: ast.ClassDef) -> list[str]:
        """The names of the arguments that a class of this file takes by their place, in order; none if that is not known."""
        above = self.ancestry(definition)
        bases = (base for each in above for base in each.bases if self.definition(base, self.scopes.module) is None)
        if not _WITHOUT_FIELDS.issuperset(self.scopes.qualified(each) for each in bases):
            return []
        inits = (each for class_ in above for each in class_.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
        init = next(inits, None)
        if init is not None:
            return [each.arg for each in (*init.args.posonlyargs, *init.args.args)][1:]
        fields = (each.target for class_ in reversed(above) for each in class_.body if isinstance(each, ast.AnnAssign))
        return list(dict.fromkeys(each.id for each in fields if isinstance(each, ast.Name)))

    def _made(self, func: ast.expr, scope: Scope, call: ast.Call | None) -> Made | None:
        """What a call of the class that `func` names gives, None if it does not name a class."""
        func = self.partials(func, scope)[0]
        definition = self.definition(func, scope)
        name = self.scopes.qualified(func)
        if definition is None and not name.rpartition(".")[2][:1].isupper():
            return None
        node = call if call is not None else func
        arguments = self.keywords(call, scope) if call is not None else Table({}, *self.program.span(node))
        by_place = tuple(self.value(each, scope) for each in call.args) if call is not None and not is_unpacked(call) else ()
        return Made(name, arguments, definition, *self.program.span(node), func, by_place)

    def _parsed(self, parser: ast.expr, scope: Scope) -> Value:
        """What `HfArgumentParser((A, B)).parse_args_into_dataclasses()` gives: one value of each class, with its defaults."""
        made = self.origin(parser, scope)
        classes = argument_classes(made) if made is not None else []
        if not classes:
            return self.lost(parser)
        found = [self._with_flags(self._made(each, scope, None), parser) or self.lost(each) for each in classes]
        return Items(tuple(found), *self.program.span(parser))

    def _with_flags(self, made: Made | None, node: ast.expr) -> Made | None:
        """`made`, an instance that a parser makes of a class, with the fields that the command line gives."""
        if made is None or self.line is None:
            return made
        span = self.program.span(node)
        if made.definition is None:
            return made._replace(arguments=made.arguments._replace(rest=Lost(*span)))
        entries = dict(made.arguments.entries)
        steps = {str(step) for setting in self.line.settings for step in setting.path}
        names = {name for each in self.ancestry(made.definition) for name in self.scopes.inner[each].names}
        for name in sorted(names | steps):  # those of classes of other files, too
            given = self.from_command_line((name,), Lost(*span), node)
            if isinstance(given, Known) or name in steps:
                entries[name] = span, given
        rest = None if self.line.whole else Lost(*span)
        return made._replace(arguments=made.arguments._replace(entries=entries, rest=rest))

    def _default_elsewhere(self, made: Made, node: ast.Attribute) -> Value | None:
        """What an attribute is of something that a class of another file makes, which its call does not give."""
        return self._field_elsewhere(made.func, node.attr, node) if made.func is not None else None

    def _of_imported(self, node: ast.Attribute, scope: Scope) -> Value:
        """What an attribute of a name is that is imported: of a module, or the default of a field of a class."""
        bound = scope.bound(node.value)
        if self.modules is None or not isinstance(bound, (ast.Import, ast.ImportFrom)) or "setattr" in self.scopes.called:
            return self.lost(node)
        changed = self._changed(node, scope)
        field = self._field_elsewhere(node.value, node.attr, node) if changed is None else changed
        result = field if field is not None else self._imported(node)
        if isinstance(result, Table) and self._may_change(node):
            return self.lost(node)
        return self._as_set_otherwise(result, node, scope)

    def _may_change(self, node: ast.Attribute) -> bool:
        """Whether the program may change what an attribute holds: `config.TRAINING["steps"] = 2`, `config.TRAINING.update(more)`."""
        calls = (call.func for method in CHANGING for call, _ in self.scopes.called.get(method, ()))
        methods = (func.value for func in calls if isinstance(func, ast.Attribute))
        in_place = any(isinstance(each, ast.Attribute) and each.attr == node.attr for each in methods)
        return in_place or (isinstance(node.value, ast.Name) and node.value.id in self.scopes.changes)

    def _field_elsewhere(self, definition: ast.expr, name: str, node: ast.expr) -> Value | None:
        """The default of a field of a class that is imported; None if it has none."""
        found = self.class_elsewhere(definition)
        return self._brought(found[0], lambda: found[0].field(found[1], name), node) if found is not None else None

    def class_elsewhere(self, func: ast.expr) -> tuple[Self, ast.ClassDef] | None:
        """The class of another file of the repository that `func` names, with what evaluates that file."""
        found = self._elsewhere(func)
        bindings = found[1].scopes.module.names[found[0]] if found is not None else []
        class_ = bindings[0].node if len(bindings) == 1 else None
        return (found[1], class_) if found is not None and isinstance(class_, ast.ClassDef) else None

    def _options_elsewhere(self, call: ast.Call, of_parser: bool = False) -> Table | None:
        """What `_read_options` finds, once for each call."""
        if (call, of_parser) not in self.brought:
            self.brought[call, of_parser] = self._read_options(call, of_parser)
        return self.brought[call, of_parser]

    def _read_options(self, call: ast.Call, of_parser: bool) -> Table | None:
        """The options that a function of another file gives: what argparse returns there, or `of_parser` a parser; else None."""
        found = self._function_elsewhere(call.func)
        if found is None:
            return None
        (other, function), span = found, self.program.span(call)
        returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value is not None][:MOST_BINDINGS]
        given = (self._returned_by(other, each, function) for each in returned)
        if not returned or not all(isinstance(each, Made) and (each.name == NAMESPACE or of_parser) for each in given):
            return None
        return Table({name: (span, at_span(value, span)) for name, value in other.each_option()}, *span)

    def _function_elsewhere(self, func: ast.expr) -> tuple[Self, ast.FunctionDef] | None:
        """The function of another file that `func` names, or the method of an object of one of its classes, `options.parse`."""
        found = self._elsewhere(func)
        node = found[1].scopes.module.names[found[0]][0].node if found is not None else None
        if found is not None:
            return (found[1], node) if isinstance(node, ast.FunctionDef) else None
        made = self.origin(func.value, self.scopes.module) if isinstance(func, ast.Attribute) else None
        class_ = self.class_elsewhere(made.func) if made is not None else None
        if class_ is None or not isinstance(func, ast.Attribute):
            return None
        methods = (each for parent in class_[0].ancestry(class_[1]) for each in parent.body if isinstance(each, ast.FunctionDef))
        method = next((each for each in methods if each.name == func.attr), None)
        return (class_[0], method) if method is not None else None

    def _returned_by(self, other: Self, value: ast.expr, function: ast.FunctionDef) -> Value:
        depth = other.depth
        other.depth = max(depth, self.depth)
        try:
            return other.value(value, other.scopes.inner[function])
        finally:
            other.depth = depth

    def parses_imported(self, call: ast.Call, scope: Scope) -> bool:
        """Whether `call` makes a parser of argument classes, one of which is a framework's or made from one."""
        named = self.scopes.qualified(call.func).endswith(("ArgumentParser", "TrlParser"))
        if not named and all(each.arg != CLASSES for each in call.keywords):
            return False
        made = self._parsed(call, scope)
        items = made.items if isinstance(made, Items) else ()
        return any(isinstance(each, Made) and self._is_of_framework(each) for each in items)


def _is_hparams(node: ast.expr) -> bool:
    """Whether `node` is `self.hparams`, where Lightning's `save_hyperparameters` keeps the arguments of `__init__`."""
    return isinstance(node, ast.Attribute) and node.attr == "hparams" and isinstance(node.value, ast.Name) and node.value.id == "self"
