"""Whether a program may set any key of a configuration, other than by statements that name the key."""

from __future__ import annotations

import ast
from typing import Final

from pytest_gbs.readers.python.attributes import attribute_path, dotted
from pytest_gbs.readers.python.scopes import Scope, Scopes

_SETS: Final = ("update", "merge_with", "setattr", "__setattr__")
_LIBRARIES: Final = ("numpy.", "torch.", "collections.")
# What the classes of configurations have in their names.
_SETTINGS: Final = ("dict", "conf", "namespace", "box", "munch")
# And what objects call one that they keep.
_KEPT: Final = (*_SETTINGS, "cfg", "arg", "opt", "param", "setting", "flag")


def may_set_any(scopes: Scopes) -> bool:
    """Whether the program may change any key of a configuration by a call of `update`, `setattr` and the like."""
    return not all(_is_of_another(call, scope, scopes) for name in _SETS for call, scope in scopes.called.get(name, ()))


def set_items(scopes: Scopes) -> set[object]:
    """The keys that statements and calls of `update` set: `cfg["batch"] = 4`, `cfg.update(batch=4)`; an ellipsis if it may be any."""
    changes = (change for changes in scopes.changes.values() for change in changes)
    items = [(each.target, each.scope) for each in changes if isinstance(each.target, ast.Subscript)]
    keys = [
        node.slice
        for node, scope in items
        if not isinstance(node.slice, (ast.Tuple, ast.Slice, ast.Compare, ast.UnaryOp)) and not _is_other(node.value, scope, scopes)
    ]
    named = {each.arg for call, _ in scopes.called.get("update", ()) for each in call.keywords if each.arg is not None}
    return {each.value if isinstance(each, ast.Constant) else ... for each in keys} | named


def set_attributes(scopes: Scopes) -> set[str]:
    """The attributes that statements set or set a part of, unless an object sets its own: `self.batch_size = batch_size`."""
    paths = [attribute_path(target) for changes in scopes.changes.values() for each in changes for target in each.targets]
    return {name for path in paths if len(path) != 2 or path[0] != "self" for name in path[1:]}


def _is_of_another(call: ast.Call, scope: Scope, scopes: Scopes) -> bool:
    """Whether `call` updates anything else: a progress bar, a meter, the state of a model, a dictionary that the program writes out."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "update" or any(each.arg is None for each in call.keywords):
        return False
    owner = scopes.qualified(call.func.value)
    if owner.endswith("OmegaConf"):
        return False
    if len(call.args) != 1 or isinstance(call.args[0], ast.Constant) or owner.startswith("wandb."):
        return not any(isinstance(each, ast.Starred) for each in call.args)
    return _is_other(call.func.value, scope, scopes)


def _is_other(node: ast.expr, scope: Scope, scopes: Scopes) -> bool:
    """Whether `node` names no configuration: a dictionary that the program writes out or copies, an array, an object, a model's state."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return len(node.attr) > len("cfg") and not any(each in node.attr.lower() for each in _KEPT)
    found = scope.binding(node)
    made = found[1].value if found is not None and found[1].item < 0 else None
    if not isinstance(made, ast.Call):
        return isinstance(made, (ast.Dict, ast.DictComp, ast.List, ast.ListComp))
    name = dotted(made.func).rpartition(".")[2]
    is_class = name[:1].isupper() and not any(each in name.lower() for each in _SETTINGS)
    return is_class or name in ("dict", "state_dict", "to_container") or scopes.qualified(made.func).startswith(_LIBRARIES)
