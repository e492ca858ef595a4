import json
import warnings
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_gbs.composition import NEMO_RL, NEMO_RL_RESOLVERS, inherit
from pytest_gbs.composition.composed import Composed, Unresolved, UnresolvedReason
from tests.composition.support import ERROR, ordered, plain, tree, unsupported


def _resolved(text: str, **more: Any) -> Composed:
    return inherit(tree({"a.yaml": text}), "a.yaml", NEMO_RL, **more)


CASES = {
    "plain": ("x: 8\na: ${x}\n", 8),
    "nested_key": ("x: {y: 8}\na: ${x.y}\n", 8),
    "within_a_text": ("x: 8\na: n${x}\n", "n8"),
    "two": ("x: 8\na: ${x}${x}\n", "88"),
    "relative": ("x: 1\nb: {x: 2, c: '${.x}', d: {e: '${..x}'}}\na: ${b.d.e}\n", 2),
    "computed_key": ("x: {p: 8}\nk: p\na: ${x.${k}}\n", 8),
    "bracket": ("x: [7, 8]\na: '${x[1]}'\n", 8),
    "chain": ("x: 8\ny: ${x}\nz: ${y}\na: ${z}\n", 8),
    "null_in_a_text": ("x: null\na: n${x}\n", "nNone"),
    "mapping_in_a_text": ("x: {y: 8}\na: n${x}\n", "n{'y': 8}"),
    "list_in_a_text": ("x: [8, {y: null}]\na: n${x}\n", "n[8, {'y': None}]"),
    "decode": ("a: ${oc.decode:'8'}\n", 8),
    "select_with_default": ("a: ${oc.select:nope,8}\n", 8),
    "dollar_alone": ("a: $5 and {x}\n", "$5 and {x}"),
}


@pytest.mark.parametrize(("text", "value"), CASES.values(), ids=CASES)
def test_resolves(text: str, value: object) -> None:
    found = _resolved(text)
    assert not found.problems
    assert (type(found.data.get("a")), found.data.get("a")) == (type(value), value)


UNRESOLVED = {
    "missing": ("a: ???\n", UnresolvedReason.MISSING),
    "reference_to_missing": ("x: ???\na: ${x}\n", UnresolvedReason.TO_MISSING),
    "environment": ("a: ${oc.env:GPUS}\n", UnresolvedReason.ENVIRONMENT),
    "environment_within": ("x: ${oc.env:GPUS}\na: n${x}\n", UnresolvedReason.ENVIRONMENT),
    "escaped": ("a: \\${x}\nx: 8\n", UnresolvedReason.UNSUPPORTED),
    "escaped_backslash": ("a: \\\\${x}\nx: 8\n", UnresolvedReason.UNSUPPORTED),
    "computed_name_of_a_resolver": ("a: ${oc.${x}:8}\nx: decode\n", UnresolvedReason.UNSUPPORTED),
    "deprecated": ("a: ${oc.deprecated:x}\nx: 8\n", UnresolvedReason.RESOLVER),
    "resolver": ("a: ${mul:2,3}\n", UnresolvedReason.RESOLVER),
    "hydra": ("a: ${hydra:runtime.cwd}\n", UnresolvedReason.RESOLVER),
    "yaml_in_a_resolver": ("a: ${oc.create:x}\n", UnresolvedReason.RESOLVER),
    "no_such_key": ("a: ${x}\n", UnresolvedReason.NO_SUCH_KEY),
    "key_of_a_scalar": ("x: 1\na: ${x.y}\n", UnresolvedReason.NO_SUCH_KEY),
    "above_the_root": ("a: ${..x}\n", UnresolvedReason.NO_SUCH_KEY),
    "itself": ("a: ${a}\n", UnresolvedReason.LOOP),
    "loop": ("a: ${b}\nb: ${c}\nc: n${a}\n", UnresolvedReason.LOOP),
    "loop_through_a_computed_key": ("a: ${b.${a}}\nb: {x: 1}\n", UnresolvedReason.LOOP),
    "key_that_is_no_text": ("k: 1\nx: {y: 1}\na: ${x.${k}}\n", UnresolvedReason.TYPE),
}


@pytest.mark.parametrize(("text", "reason"), UNRESOLVED.values(), ids=UNRESOLVED)
def test_says_why_it_can_not(text: str, reason: str) -> None:
    value = _resolved(text).data.get("a")
    assert isinstance(value, Unresolved)
    assert value.reason == reason


def test_environment_may_override_a_default() -> None:
    text = "a: ${oc.decode:${oc.env:GPUS,8}}\n"
    value = _resolved(text).data.get("a")
    assert isinstance(value, Unresolved) and value.reason == UnresolvedReason.ENVIRONMENT
    assert (_resolved(text, environment={}).data.get("a"), _resolved(text, environment={"GPUS": "4"}).data.get("a")) == (8, 4)


def test_registered_resolver_computes_numbers_alone() -> None:
    text = "x: 8\na: ${mul:${x},2}\nb: ${div:${x},2}\nc: ${mul:ab,9}\nd: ${div:1,0}\n"
    found = _resolved(text, resolvers=NEMO_RL_RESOLVERS)
    assert (found.data.get("a"), found.data.get("b")) == (16, 4.0)
    assert [isinstance(value := found.data.get(key), Unresolved) and value.reason for key in "cd"] == [
        UnresolvedReason.RESOLVER,
        UnresolvedReason.TYPE,
    ]


def test_value_has_the_place_of_its_interpolation() -> None:
    text = "x: {y: 8}\na: ${x.y}\n"
    found = _resolved(text).places["a",]
    assert text[found.start : found.stop] == "${x.y}"


def test_interpolation_without_end_is_a_problem_of_the_file() -> None:
    problems = _resolved("a: ${x\n").problems
    assert [problem.kind for problem in problems] == ["unreadable"]


BOMBS = {
    "texts": "".join(f"a{n}: '${{a{n + 1}}}${{a{n + 1}}}'\n" for n in range(60)) + "a60: xx\n",
    "mappings": "".join(f"a{n}: {{x: '${{a{n + 1}}}', y: '${{a{n + 1}}}'}}\n" for n in range(60)) + "a60: 1\n",
    "aliases": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "merge_keys": "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)),
    "chain": "".join(f"a{n}: ${{a{n + 1}}}\n" for n in range(5000)) + "a5000: 1\n",
    "mutual": "a: {x: '${b}'}\nb: {x: '${a}', y: '${a}'}\n",
    "braces": "a: '" + "${" * 5000 + "'\n",
    "long": "a: '" + "${x}" * 50_000 + "'\n",
    "resolver_arguments": "a: ${f:" + "[" * 5000 + "}\n",
    "computed_keys": "".join(f"a{n}: '{'${a.' * 25}${{a{n + 1}}}{'}' * 25}'\n" for n in range(500)) + "a500: x\na: {x: x}\n",
    "arguments": "".join(f"a{n}: '${{oc.create:{'[' * 25}${{a{n + 1}}}{']' * 25}}}'\n" for n in range(500)) + "a500: x\n",
    "nested_mappings": "".join(f"a{n}: {{x: {{x: {{x: '${{a{n + 1}}}'}}}}}}\n" for n in range(500)) + "a500: x\n",
    "backslashes": "a: '" + "\\" * 9000 + "${x}'\n",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_bombs_cost_little(text: str) -> None:
    found = _resolved(text)
    assert len(found.places) < 60_000


def test_bomb_leaves_the_other_values_alone() -> None:
    found = _resolved(
        "b: [{a: '${oc.create:[${b},${b}]}'}, {a: '${oc.create:[${b},${b}]}'}]\nc: {d: 1}\nx: '${oc.create:[${b}]}'\ne: ${c}\n"
    )
    assert not found.problems
    assert (found.data["c"]["d"], found.data["e"]["d"]) == (1, 1)
    bomb = found.data.get("x")
    assert isinstance(bomb, Unresolved) and bomb.reason == UnresolvedReason.TOO_LARGE


def _omegaconf_says(data: dict[str, Any]) -> Any:
    omegaconf = pytest.importorskip("omegaconf")
    try:
        root = omegaconf.OmegaConf.create(data)
    except Exception:  # whatever it raises is a refusal
        return ERROR

    def value(node: Any) -> Any:
        try:
            found = node._dereference_node()
            return ordered(
                omegaconf.OmegaConf.to_container(found, resolve=True) if isinstance(found, omegaconf.Container) else found._value()
            )
        except Exception:  # whatever it raises is a refusal
            return ERROR

    def walk(node: Any) -> Any:
        if isinstance(node, omegaconf.Container):
            keys = node if hasattr(node, "keys") else range(len(node))
            return [(key, walk(node._get_node(key))) for key in keys]
        return value(node)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return walk(root)


def _we_say(data: dict[str, Any], found: Composed) -> Any:
    if found.problems:
        return ERROR

    def walk(written: Any, value: Any) -> Any:
        if isinstance(written, dict):
            return [(key, walk(each, value[key])) for key, each in written.items()]
        if isinstance(written, list):
            return [(number, walk(each, value[number])) for number, each in enumerate(written)]
        return ERROR if _broken(value) else ordered(plain(value))

    return walk(data, found.data)


def _broken(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(_broken(each) for each in (value.values() if isinstance(value, dict) else value))
    return bool(plain(value) == ERROR)


TEXTS = st.one_of(
    st.sampled_from(
        ["${a}", "${b}", "${c}", "${.a}", "${..b}", "${...c}", "${a.b}", "${b.c}", "${c.a}", "${.b.a}", "${a[0]}", "${a.0}", "${[a].b}",
         "${a.${b}}", "${.${c}}", "${${a}}", "x${a}", "${a}-${b}", "\\${a}", "\\\\${a}", "\\\\\\${a}", "???", "a", "b", "c", "a.b", "null",
         "${oc.env:GBS_NOT_SET,8}", "${oc.env:GBS_NOT_SET}", "${oc.decode:${b}}", "${oc.decode:'[1,{a:2}]'}", "${oc.select:a.b,7}",
         "${oc.select:.b,'x y'}", "${oc.create:{a:1,b:[2]}}", "${oc.create:[a,${b}]}", "${oc.dict.keys:a}",
         "${oc.deprecated:a.b}", "${oc.deprecated:c,gone}", "${oc.env:1}", "${oc.env:}", "${oc.dict.values:b}", "${oc.env:'${b}',1.5}",
         "$a", "${ a }", "${a }", "${oc.env: GBS_NOT_SET , a b }", "${oc.decode:\"'\\\"\"}"]
    ),
    st.lists(st.sampled_from([*"abc.:,'\"[]{}$\\ 1", "${", "oc.env", "oc.decode:", "oc.select:", "${a}"]), max_size=8).map("".join),
    st.lists(st.sampled_from([*"abc,:'\"[]{}\\ .1-", "${a}", "true", "null", "1e3", "\\,"]), max_size=7).map(
        lambda parts: f"${{oc.decode:'{''.join(parts)}'}}" if "'" not in parts else f"${{oc.env:GBS_NOT_SET,{''.join(parts)}}}"
    ),
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(TEXTS, TEXTS, st.sampled_from([1, 2.5, True, None])),
    lambda inner: st.one_of(st.dictionaries(st.sampled_from("abc"), inner, max_size=3), st.lists(inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1, max_size=3))
@example({"a": "${b}", "b": {"c": "${a}"}})
@example({"a": {"b": 1}, "c": "${a}", "b": "x${c}"})
def test_agrees_with_omegaconf(data: dict[str, Any]) -> None:
    found = _resolved(json.dumps(data), environment={})
    if not unsupported(found.data):
        assert _we_say(data, found) == _omegaconf_says(data)
