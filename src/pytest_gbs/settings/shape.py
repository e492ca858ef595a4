"""Whether settings have the shape that `settings.schema.json` describes, told without jsonschema, which takes long to import."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.core.typed import Any, Final

_Check = Callable[[Any], bool]


def fits(raw: Any) -> bool:
    """Return whether the schema accepts `raw`; a test holds the two together."""
    return _SETTINGS(raw)


def _whole(high: int) -> _Check:
    """Return a check for a whole number from 1 to `high`; 8.0 is one, as JSON Schema has it, and true is none."""

    def check(value: Any) -> bool:
        return (type(value) is int or (type(value) is float and value.is_integer())) and 1 <= value <= high

    return check


def _text(most: int) -> _Check:
    return lambda value: type(value) is str and 1 <= len(value) <= most


def _one_of(*allowed: Any) -> _Check:
    return lambda value: any(type(value) is type(each) and value == each for each in allowed)


def _list(item: _Check, least: int = 0) -> _Check:
    return lambda value: type(value) is list and len(value) >= least and all(map(item, value))


def _by_name(value_fits: _Check, name_fits: _Check) -> _Check:
    return lambda value: type(value) is dict and all(map(name_fits, value)) and all(map(value_fits, value.values()))


def _table(fields: dict[str, _Check], required: tuple[str, ...] = (), any_of: tuple[str, ...] = ()) -> _Check:
    """Return a check for a table of these fields and no others, with all of `required` and at least one of `any_of`."""

    def check(value: Any) -> bool:
        return (
            type(value) is dict
            and all(key in fields and fields[key](each) for key, each in value.items())
            and all(key in value for key in required)
            and (not any_of or any(key in value for key in any_of))
        )

    return check


_GLOB: Final = _text(1000)
_WORD: Final = _text(200)
_RULES: Final = _list(_WORD)
_PATHS: Final = _list(_GLOB, least=1)
_SIZE: Final = _whole(1_000_000_000_000)
_HARDWARE: Final = {"num-nodes": _whole(65_536), "nodes": _whole(65_536), "gpus-per-node": _whole(1_000), "world-size": _whole(65_536)}
_IN: Final = _table({"in": _list(_SIZE, least=1)}, required=("in",))
_RANGE: Final = _table({"min": _SIZE, "max": _SIZE}, any_of=("min", "max"))
SIZES: Final = ("global-batch-size", "tokens-per-step", "micro-batch-size", "gradient-accumulation-steps", "world-size")


def _expected(value: Any) -> bool:
    return _SIZE(value) or _IN(value) or _RANGE(value)


_SETTINGS: Final = _table(
    {
        "select": _RULES,
        "extend-select": _RULES,
        "ignore": _RULES,
        "severity": _by_name(_one_of("error", "warning", "info"), bool),
        "per-file-ignores": _by_name(_RULES, _GLOB),
        "exclude": _list(_GLOB),
        **_HARDWARE,
        "hardware": _list(_table({"paths": _PATHS, **_HARDWARE}, required=("paths",), any_of=tuple(_HARDWARE))),
        "launch": _list(_table({"name": _WORD, "paths": _PATHS, **_HARDWARE}, required=("name",), any_of=tuple(_HARDWARE))),
        "expect": _list(
            _table(
                {"paths": _PATHS, **dict.fromkeys(SIZES, _expected), "same": _one_of(*SIZES)},
                required=("paths",),
                any_of=(*SIZES, "same"),
            )
        ),
        "max-file-size": _whole(1_000_000_000),
        "strict": _one_of(True, False, "all"),
        "require-ignore-reason": _one_of(True, False),
        "versions": _by_name(_WORD, bool),
        "plugins": _list(_WORD),
    }
)
