"""Whether settings have the shape that `settings.schema.json` describes, told without jsonschema, which takes long to import."""

from __future__ import annotations

from pytest_gbs.core.typed import Any, Final
from pytest_gbs.settings.checks import by_name, either, list_of, one_of, table, text, whole


def fits(raw: Any) -> bool:
    """Return whether the schema accepts `raw`; a test holds the two together."""
    return _SETTINGS(raw)


_GLOB: Final = text(1000)
_WORD: Final = text(200)
_RULES: Final = list_of(_WORD)
_PATHS: Final = list_of(_GLOB, least=1)
_SIZE: Final = whole(1_000_000_000_000)
_HARDWARE: Final = {"num-nodes": whole(65_536), "nodes": whole(65_536), "gpus-per-node": whole(1_000), "world-size": whole(65_536)}
_IN: Final = table({"in": list_of(_SIZE, least=1)}, required=("in",))
_RANGE: Final = table({"min": _SIZE, "max": _SIZE}, any_of=("min", "max"))
SIZES: Final = ("global-batch-size", "tokens-per-step", "micro-batch-size", "gradient-accumulation-steps", "world-size")


def _expected(value: Any) -> bool:
    return _SIZE(value) or _IN(value) or _RANGE(value)


def _is_table(value: Any) -> bool:
    return type(value) is dict  # what it holds is looked at by itself


_SETTINGS: Final = table(
    {
        "select": _RULES,
        "extend-select": _RULES,
        "ignore": _RULES,
        "severity": by_name(one_of("error", "warning", "info"), bool),
        "per-file-ignores": by_name(_RULES, _GLOB),
        "exclude": list_of(_GLOB),
        **_HARDWARE,
        "hardware": list_of(table({"paths": _PATHS, **_HARDWARE}, required=("paths",), any_of=tuple(_HARDWARE))),
        "launch": list_of(table({"name": _WORD, "paths": _PATHS, **_HARDWARE}, required=("name",), any_of=tuple(_HARDWARE))),
        "expect": list_of(
            table(
                {"paths": _PATHS, **dict.fromkeys(SIZES, _expected), "same": one_of(*SIZES)},
                required=("paths",),
                any_of=(*SIZES, "same"),
            )
        ),
        "max-file-size": whole(1_000_000_000),
        "strict": one_of(True, False, "all"),
        "require-ignore-reason": one_of(True, False),
        "versions": by_name(_WORD, bool),
        "plugins": list_of(_WORD),
        "frameworks": either(list_of(_WORD), by_name(either(_WORD, _is_table), bool)),
    }
)
