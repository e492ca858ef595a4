"""What is inherited, left out, varied and abbreviated in the description of a framework."""

import time
from typing import Any

import pytest

from pytest_gbs.frameworks._building import build_framework
from pytest_gbs.frameworks._notation import NotationError, Plain, Raw, expand
from pytest_gbs.frameworks._origins import stated_at
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.framework import LENIENT, SameAs, Treatment, ValueReading

PARENT: Raw = {
    "unit": "samples",
    "source": "{FILE}:1",
    "let": {"FILE": "parent.py"},
    "recognise": {"all-of": "batch", "none-of": "trainer"},
    "keys": {"batch": {"size": "micro_batch_size", "default": 8}, "steps": {"size": "max_steps"}, "steps.save": {"size": "save_steps"}},
    "equations": [{"formula": "world_size = num_nodes * gpus_per_node", "source": "parent"}],
    "constraints": [{"relation": "num_generations >= 2", "rule": "group-not-divisible", "label": "groups"}],
    "also": "seed lr",
}
KNOWN = {"parent": PARENT}


def plain(raw: Raw, known: dict[str, Raw] | None = None) -> Raw:
    (found,) = expand(raw, {**KNOWN, **(known or {})}.get)
    return found.raw


def titles(found: tuple[Plain, ...]) -> list[str]:
    return [each.raw["title"] for each in found]


def refused(raw: Raw, known: dict[str, Raw] | None = None) -> tuple[tuple[str | int, ...], str]:
    with pytest.raises(NotationError) as caught:
        expand(raw, {**KNOWN, **(known or {})}.get)
    return caught.value.path, str(caught.value)


# What stays as it is.


def test_a_plain_description_stays_as_it_is() -> None:
    raw = {"recognise": {"all-of": "a"}, "keys": {"a": "micro_batch_size"}, "source": "a {brace} of no word"}
    assert plain(raw) == raw


def test_nothing_that_was_given_is_changed() -> None:
    before = repr(PARENT)
    plain({"inherits": "parent", "without": "keys.steps", "let": {"FILE": "x"}, "also": "more", "keys": {"batch": {"default": 1}}})
    assert repr(PARENT) == before


# Inheritance.


def test_tables_are_merged_and_all_else_is_replaced() -> None:
    found = plain({"inherits": "parent", "unit": "pairs", "keys": {"batch": {"default": 1}, "tp": "tensor_parallel_size"}})
    assert found["unit"] == "pairs"
    assert found["keys"]["batch"] == {"size": "micro_batch_size", "default": 1}
    assert list(found["keys"]) == ["batch", "steps", "steps.save", "tp"]


def test_lists_of_both_count_the_own_ones_first() -> None:
    found = plain({"inherits": "parent", "also": ["beta"], "recognise": {"none-of": "model"}, "constraints": ["num_generations >= 3"]})
    assert found["also"] == ["beta", "seed", "lr"]
    assert found["recognise"] == {"all-of": "batch", "none-of": ["model", "trainer"]}
    assert found["constraints"] == ["num_generations >= 3", *PARENT["constraints"]]


def test_what_comes_twice_by_two_ways_is_kept_once() -> None:
    found = plain({"inherits": "one two"}, {"one": {"inherits": "parent"}, "two": {"inherits": "parent"}})
    assert found["constraints"] == PARENT["constraints"]


def test_an_equation_takes_the_place_of_one_for_the_same_size() -> None:
    found = plain({"inherits": "parent", "equations": ["world_size = data_parallel_size", "data_parallel_size = replicate_size"]})
    assert found["equations"] == ["world_size = data_parallel_size", "data_parallel_size = replicate_size"]


def test_the_later_of_two_parents_is_nearer() -> None:
    assert plain({"inherits": ["parent", "other"]}, {"other": {"unit": "pairs"}})["unit"] == "pairs"
    assert plain({"inherits": "other parent"}, {"other": {"unit": "pairs"}})["unit"] == "samples"


def test_a_title_is_not_inherited() -> None:
    found = plain({"inherits": "titled"}, {"titled": {"title": "T", "name": "n", "variants": [{"unit": "x"}], "parts": {"p": {}}}})
    assert found == {"name": "n"}


@pytest.mark.parametrize(
    ("without", "left"),
    [
        ("keys.steps", ["batch", "steps.save"]),
        ("keys.steps.save", ["batch", "steps"]),
        ("keys.steps*", ["batch"]),
        ("keys.steps keys.batch", ["steps.save"]),
        (["keys.steps.*"], ["batch", "steps"]),
    ],
    ids=str,
)
def test_inherited_keys_are_left_out(without: Any, left: list[str]) -> None:
    assert list(plain({"inherits": "parent", "without": without})["keys"]) == left


def test_inherited_entries_of_lists_are_left_out_by_what_they_are_for() -> None:
    found = plain({"inherits": "parent", "without": "equations.world_size constraints.group-not-divisible source"})
    assert (found["equations"], found["constraints"], "source" in found) == ([], [], False)


def test_what_is_left_out_may_be_said_anew() -> None:
    found = plain({"inherits": "parent", "without": "keys recognise.none-of", "keys": {"a": "max_steps"}})
    assert found["keys"] == {"a": "max_steps"}
    assert "none-of" not in found["recognise"]


# Variants, parts, words, versions.


def test_each_variant_is_a_table_over_what_all_share() -> None:
    raw = {"inherits": "parent", "variants": [{"title": "A", "unit": "pairs"}, {"title": "B", "without": "keys.steps.save"}]}
    found = expand(raw, KNOWN.get)
    assert titles(found) == ["A", "B"]
    assert [each.raw["unit"] for each in found] == ["pairs", "samples"]
    assert [len(each.raw["keys"]) for each in found] == [3, 2]
    assert [each.variant for each in found] == [0, 1]


def test_variants_inherit_parts_of_their_own_file_and_others() -> None:
    raw = {
        "parts": {"p": {"inherits": "q", "unit": "pairs"}, "q": {"source": "q"}},
        "variants": [{"inherits": "p parent"}, {"inherits": "parent p"}],
    }
    assert [(each.raw["unit"], each.raw["source"]) for each in expand(raw, KNOWN.get)] == [("samples", "parent.py:1"), ("pairs", "q")]


def test_words_are_put_into_texts_and_keys() -> None:
    raw = {
        "let": {"worker": "actor", "engine": "{worker}.engine"},
        "keys": {"{engine}.tp": {"size": "tensor_parallel_size", "source": "a {worker}: {1} {"}},
    }
    assert plain(raw) == {"keys": {"actor.engine.tp": {"size": "tensor_parallel_size", "source": "a actor: {1} {"}}}


def test_a_word_alone_stays_a_number_or_a_list() -> None:
    found = plain(
        {"let": {"n": 4, "off": [False, 0]}, "keys": {"a": {"default": "{n}", "source": "x:{n}"}}, "conditions": {"c": {"is": "{off}"}}}
    )
    assert found["keys"]["a"] == {"default": 4, "source": "x:4"}
    assert found["conditions"]["c"]["is"] == [False, 0]


def test_a_child_gives_the_words_of_its_parent() -> None:
    assert plain({"inherits": "parent", "let": {"FILE": "child.py"}})["source"] == "child.py:1"
    variants = expand({"inherits": "parent", "variants": [{"let": {"FILE": "a"}}, {"let": {"FILE": "b"}}]}, KNOWN.get)
    assert [each.raw["source"] for each in variants] == ["a:1", "b:1"]


def test_words_that_stand_for_each_other_stay() -> None:
    assert plain({"let": {"a": "{b}", "b": "{a}"}, "unit": "{a}"})["unit"] in ("{a}", "{b}")


def test_what_was_before_a_version_is_the_rest_with_differences() -> None:
    raw = {"inherits": "parent", "before": {"2.0": {"without": "constraints", "keys": {"batch": {"default": 1}}}}}
    found = plain(raw)
    assert found["keys"]["batch"]["default"] == 8
    assert found["before"]["2.0"]["keys"]["batch"] == {"size": "micro_batch_size", "default": 1}
    assert "constraints" not in found["before"]["2.0"]
    eras = build_framework({**found, "before": {"10.0": found["before"]["2.0"], "2.0": found["before"]["2.0"]}}, "x", "").eras
    assert [era.until for era in eras] == ["2.0", "10.0"]


# What is refused.


@pytest.mark.parametrize(
    ("raw", "path", "text"),
    [
        pytest.param({"inherits": "none"}, ("inherits",), 'is "none", and there is no table of that name', id="unknown"),
        pytest.param({"inherits": "self"}, ("inherits",), 'is "self", where inherits is "self", which refers back to itself', id="itself"),
        pytest.param({"variants": [{}, {"inherits": "none"}]}, ("variants", 1, "inherits"), 'is "none", and there is no', id="variant"),
        pytest.param(
            {"inherits": "parent", "without": "keys.stepz"}, ("without",), "leaves out keys.stepz, which is not there", id="without"
        ),
        pytest.param({"without": "keys"}, ("without",), "leaves out keys, which is not there", id="without all"),
        pytest.param({"keys": {}, "before": {"1": {"without": "unit"}}}, ("before", "1", "without"), "leaves out unit", id="before"),
        pytest.param({"inherits": " ".join(map(str, range(21)))}, ("inherits",), "names more than 20 tables", id="many parents"),
        pytest.param({"variants": [{}] * 51}, ("variants",), "are more than 50", id="many variants"),
        pytest.param({"before": {str(n): {} for n in range(21)}}, ("before",), "has more than 20 versions", id="many versions"),
        pytest.param({"also": ["x"] * 20_000}, (), "covers more than 20,000 values", id="many values"),
    ],
)
def test_what_leads_nowhere_is_refused_where_it_is(raw: Raw, path: tuple[str | int, ...], text: str) -> None:
    where, said = refused(raw, {"self": {"inherits": "self"}})
    assert where == path
    assert said.startswith(text)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param({f"w{n}": f"{{w{n + 1}}}" * 4 for n in range(30)} | {"w30": "x" * 99}, id="words of words"),
        pytest.param({"w0": "{w0}{w0}" * 400}, id="a word of itself"),
        pytest.param({"w0": ["{w1}"] * 999, "w1": ["{w0}"] * 999}, id="lists of lists"),
    ],
)
def test_words_do_not_grow_without_end(words: Raw) -> None:
    start = time.monotonic()
    try:
        found = plain({"let": words, "unit": "{w0}"})
    except NotationError as error:
        assert str(error) == "puts words into words without end"
    else:
        assert len(str(found)) < 50_000
    assert time.monotonic() - start < 10


def test_a_hundred_tables_that_all_inherit_from_each_other_are_put_together_once() -> None:
    known: dict[str, Raw] = {f"t{n}": {"inherits": " ".join(f"t{m}" for m in range(n + 1, min(n + 9, 9)))} for n in range(9)}
    known["t8"] = {"also": "seed"}
    start = time.monotonic()
    assert plain({"inherits": "t0"}, known) == {"also": ["seed"]}
    assert time.monotonic() - start < 10


# Where something is said.


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("unit",), ("variants", 0, "unit")),
        (("keys", "w.batch", "default"), ("keys", "{w}.batch", "default")),
        (("keys", "w.batch", "size"), None),
        (("constraints", 0), ("variants", 0, "constraints", 0)),
        (("constraints", 1), ("constraints", 0)),
        (("constraints", 2), None),
        (("conditions", "c"), ("parts", "p", "conditions", "c")),
        (("before", "2.0", "keys", "w.batch", "minimum"), ("before", "2.0", "keys", "{w}.batch", "minimum")),
        (("before", "2.0", "unit"), ("variants", 0, "unit")),
        (("source",), None),
    ],
    ids=str,
)
def test_each_part_is_traced_to_where_it_is_said(path: tuple[str | int, ...], expected: tuple[str | int, ...] | None) -> None:
    raw: Raw = {
        "inherits": "parent",
        "let": {"w": "w"},
        "keys": {"{w}.batch": {"default": 2}},
        "constraints": [{"relation": "{w}", "label": "x"}],
        "parts": {"p": {"conditions": {"c": {"key": "x", "is": [1]}}}},
        "before": {"2.0": {"keys": {"{w}.batch": {"minimum": 2}}}},
        "variants": [{"inherits": "p", "unit": "pairs", "constraints": [{"relation": "v"}]}],
    }
    parent: Raw = {**PARENT, "keys": {"w.batch": {"size": "micro_batch_size"}}}
    (found,) = expand(raw, {"parent": parent}.get)
    assert stated_at(raw, found, path) == expected


# What a row, a condition and a reading come to.


def _built(**raw: Any) -> Any:
    return build_framework({"recognise": {"all-of": "a"}, "keys": {"a": "micro_batch_size"}, **raw}, "x", "home")


def test_a_condition_by_name_is_turned_round_by_not() -> None:
    keys = {"a": {"size": "micro_batch_size", "when": ["c", "not c", {"key": "d", "present": True}]}}
    (row,) = _built(conditions={"c": {"key": "b.c", "is": ["null", 1]}}, keys=keys).rows
    assert row.when == (
        Condition(("b", "c"), (None, 1)),
        Condition(("b", "c"), (None, 1), negated=True),
        Condition(("d",), (None,), negated=True),
    )


def test_a_range_is_its_whole_numbers() -> None:
    (switch,) = _built(switches=[{"key": "b", "from": 2, "to": 4, "sizes": "micro_batch_size", "label": "x"}]).switches
    assert switch.condition.values == (2, 3, 4)


def test_spellings_and_conditions_of_which_one_is_enough_make_rows() -> None:
    keys = {"a-b": {"size": "max_steps", "spellings": "a_b", "when-any": [{"key": "x", "is": [1]}, {"key": "y", "is": [1]}]}}
    rows = _built(keys=keys).rows
    assert [(row.key, row.when[0].key) for row in rows] == [(("a-b",), ("x",)), (("a-b",), ("y",)), (("a_b",), ("x",)), (("a_b",), ("y",))]


def test_a_default_may_hold_only_under_a_condition() -> None:
    keys = {"a": {"size": "micro_batch_size", "default": 2}, "b": {"size": "max_steps"}}
    rows = _built(**{"conditions": {"own": {"key": "base", "present": False}}, "defaults-when": "own", "keys": keys}).rows
    assert [(row.key, row.default, len(row.when)) for row in rows] == [(("a",), None, 0), (("a",), 2, 1), (("b",), None, 0)]


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        pytest.param({}, ValueReading(), id="nothing said: all stops"),
        pytest.param({"all": "auto"}, LENIENT, id="all"),
        pytest.param({"all": "auto", "zero": "stops"}, LENIENT._replace(zero=Treatment.STOPS), id="all but one"),
        pytest.param({"zero": "stops", "all": "auto"}, LENIENT._replace(zero=Treatment.STOPS), id="in whichever order"),
        pytest.param({"like": "any", "null": "unset"}, LENIENT._replace(null=Treatment.UNSET), id="like another"),
        pytest.param({"like": "base", "all": "stops-late"}, ValueReading(*("stops-late",) * 9, why="w"), id="all of another"),
        pytest.param({"words": {"auto": "auto", "-1": "unset"}}, ValueReading(words=(("auto", "auto"), (-1, "unset"))), id="words"),
    ],
)
def test_a_reading_says_what_happens_with_each_kind_of_value(reading: Raw, expected: ValueReading) -> None:
    readings = {"r": reading, "base": {"zero": "unset", "why": "w"}}
    (row,) = _built(readings=readings, keys={"a": {"size": "micro_batch_size", "reading": "r"}}).rows
    assert row.reading == expected


def test_the_reading_of_a_table_is_that_of_each_key_that_names_none() -> None:
    keys = {"a": "micro_batch_size", "b": {"size": "max_steps", "zero": "stops"}, "c": {"size": "save_steps", "reading": "strict"}}
    a, b, c = _built(reading="any", keys=keys).rows
    assert (a.reading, b.reading, c.reading) == (LENIENT, LENIENT._replace(zero=Treatment.STOPS), ValueReading())


def test_a_default_that_is_another_size() -> None:
    (row,) = _built(keys={"a": {"size": "micro_batch_size", "default": "rank_batch_size", "unless": "global_batch_size"}}).rows
    assert row.default == SameAs("rank_batch_size", "global_batch_size")
