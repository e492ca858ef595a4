"""Each table file is in the notation that users have: the schema accepts it, and nothing of it is misspelt or leads nowhere."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_gbs.frameworks import description, named_tables, slug, tables
from pytest_gbs.frameworks._building import KINDS
from pytest_gbs.frameworks._files import names
from pytest_gbs.frameworks._notation import expand, words
from pytest_gbs.frameworks.hooks import HOOKS
from pytest_gbs.model.framework import Framework
from pytest_gbs.settings.framework_mistakes import SIZES, missing_sizes, mistakes
from pytest_gbs.settings.shape import fits, schema_of

SCHEMA = schema_of("framework")
FILES = names()
TABLES = [name for name in FILES if not name.startswith("_")]


def _errors(raw: Any, part: str = "") -> list[str]:
    schema = SCHEMA["$defs"][part] if part else SCHEMA
    return [
        f"{list(error.absolute_path)}: {error.message}" for error in Draft202012Validator(SCHEMA).evolve(schema=schema).iter_errors(raw)
    ]


@pytest.mark.parametrize("name", FILES)
def test_the_schema_accepts_each_file(name: str) -> None:
    raw = description(name)
    assert _errors(raw) == []
    assert fits(raw, "framework")


@pytest.mark.parametrize("name", TABLES)
def test_the_schema_accepts_what_each_table_comes_to(name: str) -> None:
    for plain in expand(description(name) or {}, description):
        assert _errors(plain.raw, "whole") == []
        assert fits(plain.raw, "framework", "whole")


@pytest.mark.parametrize("name", TABLES)
def test_no_table_holds_a_mistake(name: str) -> None:
    built = {number: table for each, number, table in named_tables() if each == name}
    for number, plain in enumerate(expand(description(name) or {}, description)):
        assert list(mistakes(plain.raw)) == []
        # fairseq2's batch of speech is filled by length, and so its table has no key of a batch; a user's table may not do that.
        assert [each for each in missing_sizes(plain.raw, built[number]) if each.path != ("keys",)] == []


@pytest.mark.parametrize("name", TABLES)
def test_every_word_in_braces_is_a_word(name: str) -> None:
    def left(value: Any) -> list[str]:
        if isinstance(value, str):
            return [value] if "{" in value else []
        inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        return [text for each in inner for text in left(each)]

    assert [text for plain in expand(description(name) or {}, description) for text in left(plain.raw)] == []


def test_each_shared_part_is_of_use() -> None:
    def inherited(raw: Any) -> list[str]:
        inner = [*raw.get("variants", ()), *raw.get("parts", {}).values()]
        return [*words(raw.get("inherits", ())), *(name for each in inner for name in inherited(each))]

    used = {name for file in FILES for name in inherited(description(file))}
    assert {name for name in FILES if name.startswith("_")} <= used


def test_the_schema_names_what_there_is() -> None:
    parts = SCHEMA["$defs"]
    assert parts["size"]["anyOf"][0]["enum"] == list(SIZES)
    assert sorted(parts["hook"]["enum"]) == sorted(HOOKS)
    assert set(KINDS) <= parts["row-fields"]["properties"].keys()
    assert {name: hook.__name__ for name, hook in HOOKS.items()} == {name: name for name in HOOKS}


def test_a_table_is_found_by_its_file_and_by_its_own_name() -> None:
    of_file, of_table = description("trl_grpo"), description("trl-grpo")
    assert of_file is not None
    assert of_table is not None
    assert len(of_file["variants"]) == 3
    assert (of_table["title"], of_table["keys"]["num_generations"]["default"]) == ("TRL (GRPO)", 8)
    assert description("_trl") is not None


@pytest.mark.parametrize("name", ["", "trl-nothing", "../trl_sft", "/etc/passwd", "trl_sft.toml", "hooks", "TRL_SFT/.", "a" * 999], ids=str)
def test_nothing_else_is_found(name: str) -> None:
    assert description(name) is None


def test_each_table_has_a_name_of_its_own_beside_those_of_files() -> None:
    def plain(table: Framework) -> str:
        return slug(table.title)

    assert len(set(map(plain, tables()))) == len(tables())
