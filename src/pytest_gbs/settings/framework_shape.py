"""Whether a user's own framework has the shape that `framework.schema.json` describes, told without jsonschema."""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Rounding
from pytest_gbs.core.framework import Arguments, Loader, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Any, Final
from pytest_gbs.settings.checks import by_name, either, list_of, number, one_of, scalar, table, text, whole


def fits_framework(raw: Any) -> bool:
    """Return whether the schema accepts `raw`; a test holds the two together."""
    return _FRAMEWORK(raw)


def constants(kind: type) -> tuple[str, ...]:
    """Return the values of the constants that a class holds."""
    return tuple(value for name, value in vars(kind).items() if name.isupper())


SIZES: Final = constants(Name)
KINDS: Final = ("quoted", "text", "whole-float", "fraction", "boolean", "null", "zero", "negative", "collection")
_TEXT: Final = text(1000)
_TRUTH: Final = one_of(True, False)
_TREATMENT: Final = one_of(*constants(Treatment))
_ENFORCEMENT: Final = one_of(*constants(Enforcement))
_SIZE: Final = one_of(*SIZES)
_KEYS: Final = list_of(_TEXT, least=1)
_NUMBER: Final = whole(1_000_000_000_000)
_CONDITION_FIELDS: Final = {
    "key": _TEXT,
    "is": list_of(scalar, least=1),
    "not": list_of(scalar, least=1),
    "present": _TRUTH,
    "default": scalar,
    "said": _TEXT,
}
_ONE_OF_THESE: Final = ("is", "not", "present")
_CONDITION: Final = table(_CONDITION_FIELDS, required=("key",), any_of=_ONE_OF_THESE)
_WHEN: Final = list_of(_CONDITION)
_CITED: Final = {"when": _WHEN, "label": _TEXT, "source": _TEXT}
_ROW: Final = table(
    {
        "size": _SIZE,
        "default": either(_NUMBER, _TEXT),
        "unless": _SIZE,
        "unit": _TEXT,
        "minimum": number(-1_000_000, 1_000_000_000_000),
        "ratio": _TRUTH,
        "when": _WHEN,
        "since": _TEXT,
        "until": _TEXT,
        "source": _TEXT,
        "why": _TEXT,
        "words": by_name(_TREATMENT, _TEXT),
        **dict.fromkeys(KINDS, _TREATMENT),
    },
    required=("size",),
)
_EQUATION: Final = table(
    {
        "formula": _TEXT,
        "rounding": one_of(*constants(Rounding)),
        "mismatch": _ENFORCEMENT,
        "unit": _TEXT,
        "since": _TEXT,
        "until": _TEXT,
        "source": _TEXT,
    },
    required=("formula",),
)
_CONSTRAINT: Final = table({"relation": _TEXT, "enforcement": _ENFORCEMENT, "needs": list_of(_SIZE), **_CITED}, required=("relation",))
_RECOGNISE: Final = table(
    {
        "all-of": _KEYS,
        "any-of": either(_KEYS, list_of(_KEYS, least=1)),
        "none-of": _KEYS,
        "marks": _KEYS,
        "paths": _KEYS,
        "files": _KEYS,
        "weight": number(-1_000, 1_000),
        "when": _WHEN,
        "header": _TRUTH,
        "syntax": one_of("yaml", "json", "toml"),
    },
    any_of=("all-of", "any-of"),
)
_SWITCH: Final = table(
    {**_CONDITION_FIELDS, "sizes": list_of(_SIZE, least=1), "label": _TEXT, "source": _TEXT, "enforcement": _ENFORCEMENT},
    required=("key", "sizes", "label"),
    any_of=_ONE_OF_THESE,
)
_FRAMEWORK: Final = table(
    {
        "name": text(200),
        "title": text(200),
        "unit": text(200),
        "loader": one_of(*constants(Loader)),
        "arguments": one_of(*constants(Arguments)),
        "companions": _KEYS,
        "names": _KEYS,
        "also": _KEYS,
        "imports": _TEXT,
        "package": _TEXT,
        "version": _TEXT,
        "source": _TEXT,
        "strict": _TRUTH,
        "sequences-per-sample": whole(1000),
        "recognise": _RECOGNISE,
        "keys": by_name(either(_SIZE, _ROW, list_of(_ROW, least=1)), _TEXT),
        "equations": list_of(either(_TEXT, _EQUATION)),
        "assumed": by_name(_NUMBER, _SIZE),
        "constraints": list_of(either(_TEXT, _CONSTRAINT)),
        "exclusions": list_of(table({"keys": list_of(_TEXT, least=2), **_CITED}, required=("keys",))),
        "requirements": list_of(table({"keys": _KEYS, **_CITED}, required=("keys", "label"))),
        "switches": list_of(_SWITCH),
        "texts": list_of(table({"key": _TEXT, "label": _TEXT, "source": _TEXT}, required=("key", "label"))),
        "packing": _CONDITION,
        "reserves": _CONDITION,
        "shares": _CONDITION,
    },
    required=("recognise", "keys"),
)
