"""What a scalar means to the program that loads it: a whole number, a float, a boolean, null or text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from pytest_gbs.model.document import PYTHON, Document, Scalar
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import LONGEST_NUMBER
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final, TypeAlias

Value: TypeAlias = int | float | bool | str | None

# The loaders of every JSON and every TOML document, whatever the framework reads YAML with.
JSON: Final = "json"
TOML: Final = "toml"
_LOADERS: Final = {PYTHON: JSON, JSON: JSON, TOML: TOML}  # by syntax
# The tag of a value that a program computes when it runs.
COMPUTED: Final = "!computed"

_TAG: Final = "tag:yaml.org,2002:"
_BOOLEANS: Final = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
_NULLS: Final = ("", "~", "null", "Null", "NULL")
_YAML11_WORDS: Final = {
    **dict.fromkeys(_NULLS, None),
    **{spelling: value for word, value in _BOOLEANS.items() for spelling in (word, word.capitalize(), word.upper())},
}
_CORE_WORDS: Final = {
    **dict.fromkeys(_NULLS, None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_JSON_WORDS: Final = {"true": True, "false": False, "null": None}
_TOML_WORDS: Final = {"true": True, "false": False}


def loader_of(syntax: str, usual: str) -> str:
    """Which loader reads the scalars of a document: JSON's own for JSON and Python, TOML's for TOML, else the framework's usual one."""
    return _LOADERS.get(syntax, usual)


def resolve(scalar: Scalar, loader: str) -> Value:
    """The value of `scalar` as `loader` reads it (a `Loader`, `JSON` or `TOML`).

    Text of more than 32 characters stays text, and so do dates, base64 and everything with a tag of the framework's own.
    """
    text = scalar.text
    if len(text) > LONGEST_NUMBER:
        return text
    if scalar.tag is not None:
        return _resolve_tag(text, scalar.tag)
    if not scalar.plain:
        return text
    if text.isdigit() and text.isascii() and (text[0] != "0" or text == "0"):
        return int(text)  # a whole number to every loader
    return _RESOLVERS.get(loader, _resolve_pyyaml)(text)


def _resolve_pyyaml(text: str) -> Value:
    """The value of plain `text` as PyYAML 6.0.3 has it (yaml/resolver.py and SafeConstructor in yaml/constructor.py)."""
    if text in _YAML11_WORDS:
        return _YAML11_WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _yaml11_integer().match(text):
        return _integer(text)
    return _float(text) if _yaml11_float().match(text) else text


def _resolve_omegaconf(text: str) -> Value:
    """The value of plain `text` as OmegaConf 2.3 has it: PyYAML, and `1e-5` is a float (get_yaml_loader, omegaconf/_utils.py)."""
    value = _resolve_pyyaml(text)
    return _float(text) if value == text and _omegaconf_float().match(text) else value


def _resolve_core(text: str) -> Value:
    """The value of plain `text` in the core schema of YAML 1.2.2, section 10.3.2."""
    if text in _CORE_WORDS:
        return _CORE_WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _core_integer().match(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return _float(text) if _core_float().match(text) else text


def _resolve_json(text: str) -> Value:
    """The value of the JSON word or number `text` as Python's json has it; it reads NaN and Infinity too.

    What is neither stays text: the lines of a file that can't be read may show anything.
    """
    if text in _JSON_WORDS:
        return _JSON_WORDS[text]
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def _resolve_toml(text: str) -> Value:
    """The value of the TOML word or number `text` as tomllib has it; dates and times stay text."""
    if text in _TOML_WORDS:
        return _TOML_WORDS[text]
    plain = text.replace("_", "")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(plain[:2], 10)
    try:
        return int(plain, base)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return text


_RESOLVERS: Final[dict[str, Callable[[str], Value]]] = {
    Loader.PYYAML: _resolve_pyyaml,
    Loader.OMEGACONF: _resolve_omegaconf,
    Loader.OMEGACONF_AS_READ: _resolve_omegaconf,
    Loader.YAML12: _resolve_core,
    JSON: _resolve_json,
    TOML: _resolve_toml,
}


def _resolve_tag(text: str, tag: str) -> Value:
    """`text` under an explicit tag of YAML itself; text where the loader would refuse it and under any other tag."""
    kind = tag.removeprefix(_TAG)
    try:
        if kind == "int":
            return _integer(text)
        if kind == "float":
            return _float(text)
    except (ValueError, IndexError):
        return text
    if kind == "bool":
        return _BOOLEANS.get(text.lower(), text)
    return None if kind == "null" else text


def _integer(text: str) -> Value:
    """The whole number `text` of YAML 1.1: binary, octal, hexadecimal, and base 60 with colons."""
    digits = text.replace("_", "").lstrip("+-")
    sign = -1 if text[0] == "-" else 1
    if digits == "0":
        return 0
    if digits[:2] in ("0b", "0x"):
        # PyYAML stops with a ValueError at `0x_`, which its own pattern lets through.
        return sign * int(digits[2:], 2 if digits[1] == "b" else 16) if digits[2:] else text
    if digits[0] == "0":
        return sign * int(digits, 8)
    value = 0
    for part in digits.split(":"):
        value = value * 60 + int(part)
    return sign * value


def _float(text: str) -> Value:
    """The float `text` of YAML: `.inf`, `.nan`, and base 60 with colons."""
    digits = text.replace("_", "").lower().lstrip("+-")
    sign = -1 if text[0] == "-" else 1
    if digits in (".inf", ".nan"):
        return sign * float(digits[1:])
    value, base = 0.0, 1
    for part in reversed(digits.split(":")):  # in PyYAML's order, so that the last bit agrees too
        value += float(part) * base
        base *= 60
    return sign * value


_yaml11_integer = lazy_pattern(
    r"[-+]?0b[01_]+\Z|[-+]?0[0-7_]+\Z|[-+]?(?:0|[1-9][0-9_]*)\Z|[-+]?0x[0-9a-fA-F_]+\Z|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+\Z"
)
_yaml11_float = lazy_pattern(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?\Z|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?\Z"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*\Z|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"
)


@cache
def _omegaconf_float() -> re.Pattern[str]:
    number = "[-+]?[0-9]+(?:_[0-9]+)*"
    return re.compile(rf"{number}\.[0-9_]*(?:[eE][-+]?[0-9]+)?\Z|{number}[eE][-+]?[0-9]+\Z|\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?\Z")


_core_integer = lazy_pattern(r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_core_float = lazy_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")


def value_at(document: Document, key: KeyPath, loader: str) -> Value:
    """The value of the scalar at `key` as `loader` has it; None if there is none."""
    node = document.get(*key)
    return resolve(node, loader_of(document.syntax, loader)) if isinstance(node, Scalar) else None


def is_set(document: Document, key: KeyPath, loader: str) -> bool:
    """Whether `key` is in `document` with a value that is not null."""
    node = document.get(*key)
    return node is not None and (not isinstance(node, Scalar) or resolve(node, loader_of(document.syntax, loader)) is not None)
