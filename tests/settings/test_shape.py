"""Our reader of JSON Schemas accepts and refuses what jsonschema does, and knows every keyword that our schemas use."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_gbs.settings.explain import problems, sentences
from pytest_gbs.settings.shape import KEYWORDS, fits, schema_of
from tests.schema_strategies import nearly

FRAMEWORK, SETTINGS = schema_of("framework"), schema_of("settings")
PARTS = [("settings", ""), ("framework", ""), ("framework", "whole")]
_TEXTS = st.one_of(
    st.sampled_from(["", "a", "a.b", "{word}", "{}", "micro_batch_size", "x" * 201, "x" * 1001, "all", "GBS101"]), st.text(max_size=3)
)


def _part(name: str, part: str) -> Any:
    schema = schema_of(name)
    return schema["$defs"][part] if part else schema


def _accepts(name: str, part: str, raw: Any) -> bool:
    return Draft202012Validator(schema_of(name)).evolve(schema=_part(name, part)).is_valid(raw)


@pytest.mark.parametrize(("name", "part"), PARTS, ids=" ".join)
def test_both_accept_the_same(name: str, part: str) -> None:
    @given(nearly(schema_of(name), _part(name, part), _TEXTS, {}))
    def holds(raw: Any) -> None:
        assert fits(raw, name, part) == _accepts(name, part, raw)

    holds()


@pytest.mark.parametrize("key", sorted(FRAMEWORK["properties"]))
def test_both_accept_the_same_within_each_key(key: str) -> None:
    @settings(max_examples=40)
    @given(nearly(FRAMEWORK, FRAMEWORK["properties"][key], _TEXTS, {}))
    def holds(value: Any) -> None:
        for part in ("", "whole"):
            raw = {"recognise": {"all-of": ["a"]}, "keys": {"a": "micro_batch_size"}, key: value}
            assert fits(raw, "framework", part) == _accepts("framework", part, raw)

    holds()


@pytest.mark.parametrize(
    ("value", "expected"),
    [(8, True), (8.0, True), (8.5, False), (True, False), ("8", False), (0, False), (65_537, False), (float("nan"), False), (1e300, False)],
    ids=str,
)
def test_a_whole_number_is_what_json_schema_takes_for_one(value: object, expected: bool) -> None:
    assert fits({"nodes": value}) is expected is _accepts("settings", "", {"nodes": value})


@pytest.mark.parametrize(
    ("value", "expected"), [(True, True), (False, True), ("all", True), (1, False), (0, False), (1.0, False), ("ALL", False)], ids=str
)
def test_true_is_not_one(value: object, expected: bool) -> None:
    assert fits({"strict": value}) is expected is _accepts("settings", "", {"strict": value})


def test_a_plain_description_lacks_nothing() -> None:
    how = {"all-of": ["a"]}
    cases: list[dict[str, Any]] = [{}, {"recognise": how}, {"keys": {}}, {"recognise": {}, "keys": {}}, {"recognise": how, "keys": {}}]
    assert [fits(raw, "framework") for raw in cases] == [True] * 5
    assert [fits(raw, "framework", "whole") for raw in cases] == [False, False, False, False, True]


def _schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and each one inside it."""
    if isinstance(part, bool):
        return
    yield part
    inner = [*part.get("properties", {}).values(), *part.get("$defs", {}).values(), *part.get("oneOf", ()), *part.get("anyOf", ())]
    inner += [part[word] for word in ("items", "additionalProperties", "propertyNames") if word in part]
    for each in inner:
        yield from _schemas(each)


@pytest.mark.parametrize("name", ["settings", "framework"])
def test_every_keyword_of_a_schema_is_known(name: str) -> None:
    reported = {"$schema", "$id", "$defs", "title", "description", "default", "examples"}
    used = {keyword for each in _schemas(schema_of(name)) for keyword in each}
    assert used - reported <= KEYWORDS


def test_no_keyword_is_known_in_vain() -> None:
    assert {keyword for name in ("settings", "framework") for each in _schemas(schema_of(name)) for keyword in each} >= KEYWORDS


@pytest.mark.parametrize("name", ["settings", "framework"])
def test_each_key_of_a_schema_is_described(name: str) -> None:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    tables = [each for each in _schemas(schema) if each.get("additionalProperties") is False]
    keys = [(key, part) for each in tables for key, part in each["properties"].items()]
    assert [key for key, part in keys if "description" not in part] == []


@pytest.mark.parametrize(("name", "part"), PARTS, ids=" ".join)
def test_whatever_is_refused_is_explained_a_line_for_each_mistake(name: str, part: str) -> None:
    @example({"keys": {"a": {"default": 1}}, "recognise": {}})
    @example({"switches": [{"sizes": "x", "label": "y"}]})
    @example({"frameworks": {"": {}}})
    @given(nearly(schema_of(name), _part(name, part), _TEXTS, {}))
    def holds(raw: Any) -> None:
        if not isinstance(raw, dict):
            return
        wrong = problems(raw, name, part)
        lines = sentences(wrong, "gbs.toml", "", ())
        assert bool(lines) != fits(raw, name, part)
        assert len(lines) == len(wrong)
        assert not any("\n" in line.replace("\\n", "") for line in lines)

    holds()
