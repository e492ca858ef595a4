"""Options of argparse, click and the like: what each gives by default, or as a command line has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.readers.command_settings import CommandSetting
from pytest_gbs.readers.python.attributes import unparsed
from pytest_gbs.readers.python.filled_options import FilledOptions
from pytest_gbs.readers.python.results import NAMESPACE, Constant, Known, Lost, Made, Value
from pytest_gbs.readers.python.scopes import Scope

# Options that a launcher decides, whatever their default is: `init_distributed_mode(args)` of another file sets them.
_OF_LAUNCHERS: Final = ("world_size", "local_rank")
_FIELDS: Final = frozenset(("dataclasses.field", "pydantic.Field", "attr.ib", "attrs.field", "typer.Option", "typer.Argument"))


class Options(FilledOptions):
    """The values of the options of one program."""

    def _of_namespace(self, base: Made, name: str, node: ast.expr, *, before: bool = False) -> Value:
        """What argparse gives under `name`, unless the program sets that itself; `before`: it does so only later."""
        if (not before and self._is_set(name)) or base.arguments.rest is not None:
            return self.lost(node)
        return base.arguments.entries[name][1] if name in base.arguments.entries else self._option_called(name, node, before=before)

    @cached_property
    def options(self) -> dict[str, list[ast.Call]]:
        """The calls that give each option of argparse, by the name under which its value is kept."""
        found: dict[str, list[ast.Call]] = {}
        for call, _ in (*self.scopes.called.get("add_argument", ()), *self.scopes.called.get("set_defaults", ())):
            if isinstance(call.func, ast.Attribute):
                set_later = [each.arg for each in call.keywords if each.arg] if call.func.attr == "set_defaults" else []
                for name in set_later or destinations(call):
                    found.setdefault(name, []).append(call)
        for call in (*self._by_helpers(), *self._by_deepspeed()):
            found.setdefault(destinations(call)[0], []).append(call)
        return found

    def _by_helpers(self) -> Iterator[ast.Call]:
        """Yield what `add("batch", int, 8, "help")` adds to a parser, where `add` is a function with the parser bound to it.

        The function of this file or another adds `"--" + name`, as those of programs do that go back to Paddle's examples.
        """
        if self.modules is None or "partial" not in self.scopes.called:
            return
        for call, scope in self.scopes.calls:
            named = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            made = self.origin(call.func, scope) if isinstance(call.func, ast.Name) else None
            if made is None or not isinstance(named, str) or len(made.args) != 1 or not isinstance(made.args[0], ast.Name):
                continue
            defined = self.modules.function(made.args[0].id, self.program)
            names = [each.arg for each in defined.function.args.args] if defined is not None else []
            if defined is None or len(call.args) > len(names) or not _adds_flag(defined.function):
                continue
            given = [ast.copy_location(ast.keyword(*each), each[1]) for each in zip(names[1:], call.args[1:], strict=False)]
            yield _adding(f"--{named}", [*given, *call.keywords], call)

    def _by_deepspeed(self) -> Iterator[ast.Call]:
        """Yield what DeepSpeed adds to a parser for the file of its configuration (007cca6, __init__.py, _add_core_arguments)."""
        for call, _ in self.scopes.called.get("add_config_arguments", ()):
            if self.scopes.qualified(call.func) == "deepspeed.add_config_arguments":
                yield _adding("--deepspeed_config", [], call)

    @cached_property
    def foreign(self) -> frozenset[str]:
        """The flags of the command line that the program does not have itself."""
        added = (call for calls in self.options.values() for call in calls)
        return frozenset(self.settings) - {flag for call in (*(each for each, _ in self.scopes.calls), *added) for flag in _flags(call)}

    def own_options(self) -> Iterator[tuple[str, Value]]:
        """Yield the options of argparse, each with its default, None if it has none; lost if several calls or statements give it.

        A statement that computes the value from what it was does the same to what a command line gives.
        """
        for name, calls in self.options.items():
            given = next((each.value for each in calls[0].keywords if each.arg == "default"), None)
            plain = len(calls) == 1 and _is_plain(calls[0]) and not self._is_set(name, anew=True)
            value = self.value(given, self.scopes.module) if given is not None else Known(None, *self.program.span(calls[0]))
            yield name, value if plain else self.lost(calls[0])

    def each_option(self) -> Iterator[tuple[str, Value]]:
        """Yield what each option of argparse gives in this program."""
        for name, calls in self.options.items():
            yield name, self._option_called(name, calls[0].func)

    def spellings(self) -> dict[str, str]:
        """The flags of argparse, each with the name under which its value is kept: `b` and `batch_size`, both `batch_size`."""
        return {flag: name for name, calls in self.options.items() for call in calls for flag in _flags(call)}

    def _option_called(self, name: str, node: ast.expr, *, before: bool = False) -> Value:
        """What an option of argparse gives: its default, or what the command line has; `before` as above."""
        options = self.options.get(name, [])
        if not options or len(options) > MOST_BINDINGS or (not before and self._is_set(name)):
            return self.lost(node)
        found = self._agreed((self._of_option(each, node) for each in options), len(options), node)
        is_given = isinstance(found, Known) and found.at is not None
        return found if is_given or not name.endswith(_OF_LAUNCHERS) else self.lost(node)

    def _is_set(self, option: str, *, anew: bool = False) -> bool:
        """Whether the program sets an option itself, under whichever name it has what argparse gives.

        With `anew` only what does not follow from the option's own value counts.
        """
        if (option, anew) not in self.set_options:
            self.set_options[option, anew] = None  # while it is looked for
            changes = (change for each in self.scopes.attributes.get(option, {}).values() for change in each)
            bases = (self.value(change.target.value, change.scope) for change in changes if not (anew and change.continues(option)))
            self.set_options[option, anew] = any(isinstance(base, Made) and base.name == NAMESPACE for base in bases)
        found = self.set_options[option, anew]
        if found is None:
            self.looking.lowest = -1
        return bool(found) or self.fills(option, anew=anew)

    def _of_option(self, option: ast.Call, node: ast.expr) -> Value:
        """What one option of argparse or click gives: its default, or what the command line has."""
        table = self.keywords(option, self.scopes.module)
        if self.line is None:
            return self._unless_empty(self._entry(table, "default", node), node)
        action = next((each.value.value for each in option.keywords if each.arg == "action" and isinstance(each.value, ast.Constant)), "")
        switch = action in ("store_true", "store_false")
        lost, span = self.lost(node), self.program.span(node)
        if table.rest is not None or (not switch and "action" in table.entries) or {"nargs", "multiple"} & table.entries.keys():
            return lost
        absent = Known(action == "store_false" if switch else None, *span)
        default = table.entries["default"][1] if "default" in table.entries else absent
        found = self.from_command_line(_flags(option), default, node)
        if not isinstance(found, Known) or found.at is None:
            return found
        if switch:
            return found._replace(value=action == "store_true")
        kind = next((each.value for each in option.keywords if each.arg == "type"), None)
        if kind is None and option is node and isinstance(default, Known) and default.value is not None:
            return _as_type(found, type(default.value).__name__) or lost  # click goes by the default
        return _as_type(found, "str" if kind is None else getattr(kind, "id", "")) or lost

    def from_command_line(self, names: tuple[str, ...], default: Value, node: ast.expr, *, by_place: bool = False) -> Value:
        """What the command line gives under one of `names`, else `default`, if it is known that nothing else gives it."""
        line = self.line
        if line is None:
            return self._unless_empty(default, node)
        setting = max((self.settings[name] for name in names if name in self.settings), default=(0, None))[1]
        if setting is None and self._is_abbreviated(names):
            return self.lost(node)
        if setting is None:
            return default if line.whole and not (by_place and line.by_place) else self.lost(node)
        if setting.text is None:
            return Lost(*self.program.span(node), setting.at, setting.word.placeholder)
        return Known(setting_value(setting), *self.program.span(node), setting.at)

    def _unless_empty(self, default: Value, node: ast.expr) -> Value:
        """`default`, or a lost value if it is None, since a program without a default waits for its command line."""
        return self.lost(node) if isinstance(default, Known) and default.value is None else default

    def _is_abbreviated(self, names: tuple[str, ...]) -> bool:
        """Whether a flag that the program does not have may be short for one of `names`, or hold its value too (`-b32`)."""
        if names not in self.abbreviated:
            self.abbreviated[names] = any(any(name.startswith(given) for name in names) or given[:1] in names for given in self.foreign)
        return self.abbreviated[names]

    def _default(self, node: ast.expr, scope: Scope) -> Value:
        """What a field is by default: `field(default=4)` is 4."""
        if not isinstance(node, ast.Call) or self.scopes.qualified(node.func) not in _FIELDS:
            return self.value(node, scope)
        found = self.keywords(node, scope).entries.get("default")
        if found is not None:
            return found[1]
        return self.value(node.args[0], scope) if node.args else self.lost(node)


def _adding(flag: str, keywords: list[ast.keyword], call: ast.Call) -> ast.Call:
    """`parser.add_argument(flag, ...)`, which the function that is called at `call` does."""
    method = ast.Attribute(ast.copy_location(ast.Name("parser", ast.Load()), call), "add_argument", ast.Load())
    return ast.copy_location(ast.Call(ast.copy_location(method, call), [ast.copy_location(ast.Constant(flag), call)], keywords), call)


def _adds_flag(function: ast.FunctionDef) -> bool:
    """Whether a function adds the option `"--" + name` to a parser, `name` its first argument, with the default that it is given."""
    calls = (each for each in ast.walk(function) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.args)
    first, names = function.args.args[0].arg, {each.arg for each in function.args.args}
    return any(
        each.func.attr == "add_argument"  # type: ignore[attr-defined]
        and unparsed(each.args[0]) == f"'--' + {first}"
        and "default" in names
        and any(given.arg == "default" and isinstance(given.value, ast.Name) and given.value.id == "default" for given in each.keywords)
        for each in calls
    )


def setting_value(setting: CommandSetting) -> Constant:
    """What a known setting of a command line is as a literal of Python."""
    if setting.switch:
        return True
    text = setting.text or ""
    number = whole_number(text)
    return number if number is not None else {"true": True, "false": False}.get(text.lower(), text)


def _as_type(found: Known, kind: str) -> Known | None:
    """`found` as `add_argument(type=int)` has it; None if that is not known, is text that looks like a number, or it stops there."""
    return found if type(found.value).__name__ == kind and kind in ("int", "str") else None


def _is_plain(call: ast.Call) -> bool:
    """Whether all names and settings of an option are written out."""
    return all(isinstance(each, ast.Constant) for each in call.args) and all(each.arg for each in call.keywords)


def _flags(call: ast.Call) -> tuple[str, ...]:
    """The options that `add_argument("-b", "--batch-size")` knows, as settings of a command line are named."""
    names = (each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return tuple(name.lstrip("-").replace("-", "_") for name in names if name.startswith("-"))


def destinations(call: ast.Call) -> list[str]:
    """The names under which `add_argument("--batch-size")` or `click.option("--batch-size")` keeps its value."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return [keyword.value.value]
    names = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    return [name.lstrip("-").replace("-", "_") for name in (plain or long or names)[:1]]
