import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_gbs.composition._override_grammar import ParsedOverride, parse_override
from pytest_gbs.composition._tokens import GrammarError, UnsupportedSyntax

CASES = {
    "number": ("model.batch_size=32", "", "model.batch_size", 32),
    "float": ("lr=5e-7", "", "lr", 5e-7),
    "float_of_a_whole_number": ("a=1e2", "", "a", 100.0),
    "leading_zeros_are_text": ("a=007", "", "a", "007"),
    "underscores": ("a=1_000", "", "a", 1000),
    "true": ("a=True", "", "a", True),
    "null": ("a=null", "", "a", None),
    "nothing": ("a=", "", "a", ""),
    "text": ("a=meta-llama/Meta-Llama-3-8B", "", "a", "meta-llama/Meta-Llama-3-8B"),
    "colon": ("a=b:c", "", "a", "b:c"),
    "inner_blanks": ("a= x  y ", "", "a", "x  y"),
    "quoted": ("a='x, y'", "", "a", "x, y"),
    "quoted_number": ('a="8"', "", "a", "8"),
    "quoted_quote": (r"a='it\'s'", "", "a", "it's"),
    "quoted_backslash": (r"a='c:\\'", "", "a", "c:\\"),
    "escaped": (r"a=b\,c\=d", "", "a", "b,c=d"),
    "list": ("a=[1, b,'c d']", "", "a", [1, "b", "c d"]),
    "empty_list": ("a=[]", "", "a", []),
    "dict": ("a={b:1,c:{d:[x]}}", "", "a", {"b": 1, "c": {"d": ["x"]}}),
    "interpolation": ("a=${b.c}", "", "a", "${b.c}"),
    "interpolation_within": ("a=x${b}y", "", "a", "x${b}y"),
    "add": ("+a=1", "+", "a", 1),
    "force": ("++a.b=1", "++", "a.b", 1),
    "delete": ("~a.b", "~", "a.b", None),
    "delete_a_value": ("~a=x", "~", "a", "x"),
    "group": ("db/engine=x", "", "db/engine", "x"),
    "cast": ("a=int(3.7)", "", "a", 3),
    "cast_to_a_boolean": ("a=bool(TRUE)", "", "a", True),
}


@pytest.mark.parametrize(("text", "kind", "key", "value"), CASES.values(), ids=CASES)
def test_reads(text: str, kind: str, key: str, value: object) -> None:
    parsed = parse_override(text)
    assert (parsed.kind, parsed.key, parsed.package) == (kind, key, None)
    assert (type(parsed.value), parsed.value) == (type(value), value)


def test_the_package_follows_the_group() -> None:
    assert parse_override("model@policy.net=llama").group_key == "model@policy.net"


UNSUPPORTED = [
    "a=1,2", "a=choice(1,2)", "a=range(1,9)", "a=interval(0,1)", "a=glob(*)", "a=sort(2,1)", "a=shuffle([1,2])", "a=str(8)",
    "a=int([1.5])", "a=int(value=3)", "a=int(null)",
]  # fmt: skip


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_sweeps_and_functions_are_unsupported(text: str) -> None:
    with pytest.raises(UnsupportedSyntax):
        parse_override(text)


REFUSED = {
    "flag": "--model.batch_size=3",
    "no_equal_sign": "model.batch_size",
    "two_equal_signs": "a=b=c",
    "open_quote": "a='x",
    "open_bracket": "a=[1",
    "nested_interpolation": "a=${b.${c}}",
    "character_outside_the_grammar": "a=é",
    "cast_that_fails": "a=int(x)",
    "blanks_in_the_key": "a b=1",
    "number_for_a_key": "1=3",
    "too_many_digits": "a=" + "9" * 5000,
    "too_deep": "a=" + "[" * 10_000,
    "too_long": "a=" + "x" * 100_000,
    "empty": "",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_refuses_what_hydra_refuses(text: str) -> None:
    with pytest.raises(GrammarError):
        parse_override(text)


def _hydra_says(text: str) -> Any:
    types = pytest.importorskip("hydra.core.override_parser.types")
    parser = pytest.importorskip("hydra.core.override_parser.overrides_parser").OverridesParser
    kind = types.OverrideType
    kinds = {kind.CHANGE: "", kind.ADD: "+", kind.FORCE_ADD: "++", kind.DEL: "~"}
    try:
        found = parser.create().parse_override(text)
        value = found.value()
    except Exception:  # whatever it raises is a refusal
        return None
    sweep = found.is_sweep_override() or isinstance(value, types.Glob)
    return kinds[found.type], found.key_or_group, found.package, "sweep" if sweep else _comparable(value)


def _we_say(text: str) -> Any:
    try:
        parsed: ParsedOverride = parse_override(text)
    except GrammarError:
        return None
    return parsed.kind, parsed.key, parsed.package, _comparable(parsed.value)


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_comparable(key): _comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return ("nan",) if isinstance(value, float) and math.isnan(value) else (type(value).__name__, value)


PIECES = [
    *"abz019_ -+.,:=/\\'\"[]{}()$%*@?|~#\t",
    "true", "NULL", "inf", "nan", "1e5", "1.5", "-3", "007", "${a.b}", "int(", "str(", "sort(", "\\,", "\\\\", "'x'", '"y z"', "é",
]  # fmt: skip
KEYS = st.one_of(
    st.sampled_from(["a=", "a.b=", "+a=", "++a.b=", "~a", "~a=", "g/h=", "a@b=", "+g@p.q=", "$a=", "a.0=", "=", "a-b=", "~g@p="]),
    st.lists(st.sampled_from(list("ab01._-+~@/:$= ")), max_size=6).map("".join),
)


@settings(max_examples=400, deadline=None)
@given(KEYS, st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("a=", "x'y'")
@example("a=", "'\\\\'")
@example("a=", '"a\\"b\\\\"')
@example("a=", "{a:1,b:}")
@example("a=", "1.2.3")
@example("a=", "b (c)")
def test_agrees_with_hydra(key: str, value: str) -> None:
    try:
        ours = _we_say(key + value)
    except UnsupportedSyntax:
        return
    assert ours == _hydra_says(key + value)
