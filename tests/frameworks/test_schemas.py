import json
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.frameworks import slug, tables
from pytest_gbs.frameworks._schema import schema, text
from pytest_gbs.frameworks.reading import misread
from pytest_gbs.model.framework import Framework
from pytest_gbs.readers.value_node import EACH

from . import building
from .building import document

# To a loader of YAML 8.0 is not an integer; JSON Schema alone would take it for one.
_PLAIN = jsonschema.Draft202012Validator
_STRICT: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    _PLAIN,
    type_checker=_PLAIN.TYPE_CHECKER.redefine("integer", lambda _, instance: isinstance(instance, int) and not isinstance(instance, bool)),
)

VALUES: list[Any] = [
    *(0, 1, 2, 8, -1, -8, 10**6),
    *(0.0, 1.0, 8.0, -8.0, 0.05, 0.999, 8.5, -0.5, float("inf")),  # not-a-number compares with nothing, and JSON has none
    *(True, False, None),
    *("8", "08", "1_024", " 8 ", "+8", "8\n", "0", "00", "-0", "-8", "8.0", "1e1", "eight", "auto", "", "1" * 40, "_1", "1__0", "٨"),
    *("-1", " -0_1"),
    *("${BATCH}", "$BATCH", "{{ batch }}", "{% if x %}8{% endif %}", "<BATCH>", "???", "$", "5$"),
    *([], [8], {}, {"a": 8}),
]
SWITCHES: dict[str, list[Any]] = {
    "eval_strategy": ["no", False, "steps", "epoch", None],
    "evaluation_strategy": ["no", "steps"],
    "do_eval": [True, False, "true"],
    "save_strategy": ["no", "steps", "epoch"],
    "logging_strategy": ["steps", "epoch"],
}


class _Quoting(yaml.SafeDumper):
    """Text stands in quotes, so that a table's loader takes none of it (`1e1`) for a number."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def _text(recipe: dict[str, Any]) -> str:
    return yaml.dump(recipe, Dumper=_Quoting, sort_keys=False, allow_unicode=True)


def _put(recipe: dict[str, Any], key: tuple[str | int, ...], value: Any) -> None:
    recipe[str(key[0])] = _with(recipe.get(str(key[0])), key[1:], value)


def _with(found: Any, key: tuple[str | int, ...], value: Any) -> Any:
    """`found` with `value` at `key`, a star of it as a list of one item."""
    if not key:
        return value
    if key[0] == EACH:
        return [_with(found[0] if isinstance(found, list) and found else None, key[1:], value)]
    found = found if isinstance(found, dict) else {}
    return {**found, str(key[0]): _with(found.get(str(key[0])), key[1:], value)}


@cache
def _validator(title: str) -> Any:
    return _STRICT(schema(building.table(title)))


def _agree(table: Framework, recipe: dict[str, Any]) -> None:
    text = _text(recipe)
    complaints = [(each.row.key, each.treatment) for each in misread(document(text), table)]
    errors = [error.message for error in _validator(table.title).iter_errors(recipe)]
    assert bool(complaints) == bool(errors), (text, complaints, errors)


each_table = pytest.mark.parametrize("table", tables(), ids=lambda each: slug(each.title))


@each_table
def test_a_schema_is_one(table: Framework) -> None:
    _PLAIN.check_schema(schema(table))


@each_table
def test_schema_and_table_agree_on_every_value_of_every_size(table: Framework) -> None:
    recipe: dict[str, Any]
    for row in table.rows:
        for value in VALUES:
            recipe = {"eval_strategy": "steps", "evaluation_strategy": "steps", "eval_steps": 5}
            _put(recipe, row.key, value)
            _agree(table, recipe)


@each_table
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_schema_and_table_agree_on_whole_recipes(table: Framework, data: st.DataObject) -> None:
    recipe: dict[str, Any] = {}
    for name, values in SWITCHES.items():
        if data.draw(st.booleans(), label=name):
            recipe[name] = data.draw(st.sampled_from(values))
    keys = data.draw(st.lists(st.sampled_from([row.key for row in table.rows]), unique=True, max_size=4))
    words = st.text(st.sampled_from("0189_-+ .e${<>"), max_size=5).filter(lambda word: "{{" not in word)  # `{{$e` makes the file a template
    for key in keys:
        _put(recipe, key, data.draw(st.sampled_from(VALUES) | st.integers(-3, 3) | words))
    _agree(table, recipe)


@pytest.mark.parametrize("devices", [1, 1.0, 8])
def test_a_condition_distinguishes_a_float_from_a_whole_number(devices: float) -> None:
    _agree(building.table("NeMo-Aligner (PPO)"), {"trainer": {"num_nodes": 0, "devices": devices}})


def test_an_editor_shows_what_a_key_means() -> None:
    (grpo,) = (table for table in tables() if table.title == "TRL (GRPO)")
    reported = schema(grpo)["properties"]["num_generations"]
    assert reported["default"] == 8
    assert "generations per prompt" in reported["description"]
    assert json.loads(text(grpo, "https://example.org/a.json")) == {"$id": "https://example.org/a.json", **schema(grpo)}
