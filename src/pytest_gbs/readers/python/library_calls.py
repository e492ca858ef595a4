"""Calls of Python itself and of libraries whose results are known: files that are loaded, copies, text, the number of processes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.limits import MOST_IMPORTED_MODULES
from pytest_gbs.model.location import KeyPath, Location, below
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.readers.command_settings import OF_PROCESSES
from pytest_gbs.readers.python.data_files import composed, configuration, loaded, merged
from pytest_gbs.readers.python.options import Options, setting_value
from pytest_gbs.readers.python.results import Known, Lost, Made, Place, Table, Value
from pytest_gbs.readers.python.scopes import Binding, Function, Scope

_LOADS: Final = frozenset(("yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "json.loads", "omegaconf.OmegaConf.load"))
_COPIES: Final = frozenset(("dataclasses.replace", "copy.copy", "copy.deepcopy", "copy.replace"))
# What makes the keys of a dictionary attributes, those of dictionaries in it too.
_OPENS: Final = frozenset(
    (
        *("munch.munchify", "munch.Munch", "easydict.EasyDict", "addict.Dict", "attrdict.AttrDict", "box.Box", "dotmap.DotMap"),
        *("omegaconf.OmegaConf.create", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict"),
    )
)
# Settings that a launch gives behind the name of a file, with what each is by default.
_SETTINGS: Final = "big_vision.configs.common.parse_arg"
_MERGES: Final = frozenset(("omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge"))
OF_LIBRARIES: Final = _LOADS | _COPIES | _OPENS | _MERGES | {"vars", _SETTINGS}
FROM_CLI: Final = "omegaconf.OmegaConf.from_cli"
_HYDRA: Final = "hydra.main"
_WORLD_SIZES: Final = frozenset(("torch.distributed.get_world_size", "dist.get_world_size"))
ENVIRONMENT: Final = ("os.environ.get", "os.getenv")
BUILT_IN: Final[dict[str, Callable[..., Any]]] = {each.__name__: each for each in (int, float, bool, str, max, min, round)}
_OF_TEXT: Final[dict[str, Callable[[str], str]]] = {"lower": str.lower, "upper": str.upper, "strip": str.strip}
_ASKS_TEXT: Final[dict[str, Callable[[str, str], bool]]] = {"startswith": str.startswith, "endswith": str.endswith}
TEXT_METHODS: Final = _OF_TEXT.keys() | _ASKS_TEXT.keys()


# Variables that may say on how many devices a program runs, which what starts it knows.
_counts = lazy_pattern(r"GPU|NODE|NPROC|NTASKS|DEVICE|WORLD", re.IGNORECASE)
# What gives one a value, or may give any; cells of notebooks quote by backslashes.
_QUOTED: Final = r"""\s{0,99}\\?["']([^"'\\]{1,99})\\?["']"""
_sets = lazy_pattern(
    rf"environ(?:\[{_QUOTED}\s{{0,99}}\]\s{{0,99}}=(?!=)|\.setdefault\({_QUOTED}|\.update\(|\s{{0,99}}\|=)|putenv\(|%(?:set_)?env (\w+)"
)


def library_argument(call: ast.Call) -> ast.expr | None:
    """What a function of a library makes something of: its first argument, or the dictionary that ml_collections takes by name."""
    given = (*call.args[:1], *(each.value for each in call.keywords if each.arg == "initial_dictionary"))
    return given[0] if given else None


class LibraryCalls(Options):
    """The values of what one program calls of libraries."""

    def _loaded(self, name: str, node: ast.Call, file: ast.expr, scope: Scope) -> Value | None:
        """What `yaml.safe_load(open("run.yaml"))` gives, or `with open("run.yaml") as file`; None if it is not known which file that is."""
        opened = _opened(file, scope) if not name.endswith("OmegaConf.load") else file
        table = self._of_file(self.value(opened, scope), self.program.span(node)) if opened is not None else None
        return configuration(table) if table is not None and name.endswith("OmegaConf.load") else table

    def _of_file(self, path: Value, span: tuple[int, int]) -> Table | None:
        """The mapping in the file at `path`; None if it is not known which file that is."""
        if isinstance(path, Known) and isinstance(path.value, str):
            path = Place(path.value, path.start, path.stop, inside=False)
        if self.modules is None or not isinstance(path, Place):
            return None
        named = path.path, None if path.inside else self.home
        self.modules.loaded.add(named)
        return loaded(*named, self.modules.context.read, span) if len(self.modules.loaded) <= MOST_IMPORTED_MODULES else None

    def leaves_open(self, path: Value, keys: tuple[str, ...]) -> bool:
        """Whether a configuration of DeepSpeed at `path` says "auto" of `keys`, or nothing."""
        table = self._of_file(path, (path.start, path.stop))
        given = [table.entries[key][1] for key in keys if key in table.entries] if table is not None else []
        return table is not None and all(isinstance(each, Known) and each.value == "auto" for each in given)

    def _of_configuration(self, base: Made, name: str, node: ast.expr) -> Value:
        """What a configuration that is loaded from a file has under `name`, unless the program may set that."""
        if self.may_set or name in self.attributes_set or name in self.items_set or ... in self.items_set:
            return self.lost(node)
        found, (start, stop) = self._entry(base.arguments, name, node), self.program.span(node)
        return found._replace(start=start, stop=stop) if isinstance(found, (Known, Lost)) else found

    def _copied(self, node: ast.Call, original: ast.expr, scope: Scope) -> Value:
        """What a copy has: what the first argument is, with what `dataclasses.replace` gives anew."""
        value = self.value(original, scope)
        if not isinstance(value, Made) or not node.keywords:
            return value if not node.keywords else self.lost(node)
        given = self.keywords(node, scope)
        return value._replace(
            arguments=value.arguments._replace(entries=value.arguments.entries | given.entries, rest=given.rest or value.arguments.rest)
        )

    def _of_library(self, name: str, node: ast.Call, made_of: ast.expr, scope: Scope) -> Value:
        """What functions give that load files, copy, or make a dictionary of options or of a dictionary something with attributes."""
        if name in _LOADS:
            return self._loaded(name, node, made_of, scope) or self.lost(node)
        if name == _SETTINGS:
            return configuration(self.keywords(node, scope))
        if name in _COPIES:
            return self._copied(node, made_of, scope)
        if name in _MERGES:
            return merged([self.value(each, scope) for each in node.args], self.program.span(node)) or self.lost(node)
        value = self.value(made_of, scope)
        return value if name not in _OPENS else configuration(value) if isinstance(value, Table) else self.lost(node)

    def _from_cli(self, node: ast.Call) -> Value:
        """The configuration of the words `key=value` of a command line, which a program may hand over, or leave to OmegaConf to find."""
        span, line, data, places = self.program.span(node), self.line, dict[str, Any](), dict[KeyPath, Location]()
        if line is None or node.keywords or any(isinstance(each, (ast.List, ast.Tuple, ast.Starred)) for each in node.args):
            return self.lost(node)
        for setting in line.pairs:
            inner, path = data, tuple(map(str, setting.path))
            for step in path[:-1]:
                if not isinstance(inner.get(step), dict):
                    inner[step] = {}
                inner = inner[step]
            inner[path[-1]], places[path] = "$" if setting.text is None else setting_value(setting), setting.at
        found = composed(data, places, span)
        return found._replace(arguments=found.arguments._replace(rest=None if line.whole else Lost(*span)))

    def _of_text(self, node: ast.Call, func: ast.Attribute, scope: Scope) -> Value:
        """What a method of a text gives: `name.lower()`, `name.startswith("a")`."""
        found = [self.value(each, scope) for each in (func.value, *node.args[:1])]
        texts = [each.value for each in found if isinstance(each, Known) and isinstance(each.value, str)]
        if len(texts) != len(found) or len(node.args) != (func.attr in _ASKS_TEXT) or node.keywords:
            return self.lost(node)
        if func.attr in _OF_TEXT and isinstance(found[0], Known):
            return found[0]._replace(value=_OF_TEXT[func.attr](texts[0]))
        return Known(_ASKS_TEXT[func.attr](*texts), *self.program.span(node))

    def _world(self, name: str, node: ast.Call) -> Value | None:
        """The number of processes if `node` asks for it, None if it asks for something else."""
        if name not in _WORLD_SIZES:
            return None
        return Known(self.world, *self.program.span(node)) if self.world is not None else self.lost(node)

    def _processes(self, base: Made, name: str, node: ast.expr) -> Value | None:
        """The number of processes if `name` of an Accelerator, `base`, is that; None if it is something else."""
        if name != "num_processes" or not base.name.startswith("accelerate.") or not base.name.endswith(".Accelerator"):
            return None
        return Known(self.world, *self.program.span(node)) if self.world is not None else self.lost(node)

    def of_environment(self, name: Value, default: ast.expr | None, node: ast.expr, scope: Scope) -> Value:
        """What a variable of the environment is when the program is started; its default if the launch does not set it."""
        if self.world is not None and isinstance(name, Known) and name.value == "WORLD_SIZE":
            return Known(str(self.world), *self.program.span(node))
        if not isinstance(name, Known) or not isinstance(name.value, str) or OF_PROCESSES().match(name.value):
            return self.lost(node)
        sets = _set_variables(self.program.source.text)
        if "" in sets or name.value in sets or (self.line is None and _counts().search(name.value)):
            return self.lost(node)
        found = self.variable(name.value, node)
        if found is None:
            self.unset.append((*self.program.span(node), name.value))
            return self.value(default, scope) if default is not None else self.lost(node)
        return found

    def variable(self, name: str, node: ast.expr) -> Known | Lost | None:
        """What the launch sets a variable of the environment to, for use at `node`; None if it does not."""
        given, span = self.line.environment.get(name) if self.line is not None else None, self.program.span(node)
        if given is None:
            return None
        if given.default:
            self.unset.append((*span, name))
        known = given.text is not None and (not given.default or whole_number(given.text) is not None)
        return Known(given.text, *span, given.at) if known else Lost(*span, given.at, f"${name}")

    def _builtin(self, name: str, node: ast.Call, scope: Scope) -> Value:
        found = [self.value(each, scope) for each in node.args[:20]]
        numbers = [each.value for each in found if isinstance(each, Known) and isinstance(each.value, (int, float, str))]
        if len(numbers) != len(node.args):
            return self.lost(node)
        at = found[0].at if len(found) == 1 and isinstance(found[0], (Known, Lost)) else None
        try:
            result = BUILT_IN[name](*numbers)
        except (TypeError, ValueError, ArithmeticError):
            return self.lost(node)
        return Known(result, *self.program.span(node), at)

    def _hydra(self, binding: Binding, function: Function, node: ast.expr) -> Value | None:
        """The configuration that `@hydra.main` gives a function; None if it gives none."""
        calls = [each for each in function.decorator_list if isinstance(each, ast.Call) and self.scopes.qualified(each.func) == _HYDRA]
        if not calls or function.args.args[:1] != [binding.node]:
            return None
        if function not in self.composed:
            self.composed[function] = self._composed(calls[0])
        return self.composed[function] or self.lost(node)

    def _composed(self, decorator: ast.Call) -> Made | None:
        """The configuration that `decorator` names, with what the command line says; None if that is not known."""
        given = self.keywords(decorator, self.scopes.module)
        path, name = (self._text(given, key) for key in ("config_path", "config_name"))
        folder = below(self.program.source.path.rpartition("/")[0], path) if path is not None else None
        if folder is None or name is None or self.modules is None or not (self.line is None or self.line.whole):
            return None
        found = self.modules.context.given_by_hydra(folder, name.removesuffix(".yaml"))
        return composed(*found, self.program.span(decorator)) if found is not None else None


@lru_cache(8)  # each use of a variable asks for it
def _set_variables(text: str) -> frozenset[str]:
    """The variables of the environment to which the program `text` may itself give a value; "" if that may be any."""
    return frozenset(next(filter(None, match.groups()), "") for match in _sets().finditer(text))


def _opened_around(given: ast.expr, scope: Scope) -> ast.expr | None:
    """What the innermost `with` around `given` opens under that name; None if none does."""
    if not isinstance(given, ast.Name):
        return None
    around = [each for each in ast.walk(scope.node) if isinstance(each, ast.With) and each.lineno <= given.lineno <= (each.end_lineno or 0)]
    items = (item for each in sorted(around, key=lambda each: -each.lineno) for item in each.items)
    return next(
        (each.context_expr for each in items if isinstance(each.optional_vars, ast.Name) and each.optional_vars.id == given.id), None
    )


def _opened(given: ast.expr, scope: Scope) -> ast.expr | None:
    """The path of the file that `given` is or was read from: `open(path)`, `path.open()`, `path.read_text()`, `file.read()`; else None."""
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "read_text":
        return given.func.value
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "read" and not given.args:
        given = given.func.value
    found = scope.binding(given)
    bound = found[1] if found is not None else None
    if bound is None:  # no name, or one that several statements bind
        made: ast.expr | None = _opened_around(given, scope) or given
    else:
        made = bound.node.context_expr if isinstance(bound.node, ast.withitem) else bound.value
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
        return made.args[0] if made.func.id == "open" and made.args else None
    return made.func.value if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "open" else None
