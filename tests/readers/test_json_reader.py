"""JSON becomes the same nodes as YAML, and is refused where Python's json refuses it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.model.document import Document, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.json_reader import UNQUOTED, read_json
from tests.readers.reading import document, mapping, refusal, texts, written
from tests.readers.reference import same, to_python

PATH = "ds_config.json"


def test_nodes_know_their_spans() -> None:
    found = document(' {"a" : [1, "b\\n"],\r\n\t"c": {"d": -1.5e3, "e": null}} ', PATH)
    assert found.syntax == "json"
    assert texts(found) == {("a",): None, ("c",): None, ("c", "d"): "-1.5e3", ("c", "e"): "null"}
    assert [(written(found, key), written(found, value)) for key, value in found.keyed.values()] == [
        ('"a"', '[1, "b\\n"]'),
        ('"c"', '{"d": -1.5e3, "e": null}'),
        ('"d"', "-1.5e3"),
        ('"e"', "null"),
    ]


@pytest.mark.parametrize(
    ("text", "content", "plain"),
    [
        ("8", "8", True),
        ("-0.5E+3", "-0.5E+3", True),
        ("true", "true", True),
        ("NaN", "NaN", True),
        ("-Infinity", "-Infinity", True),
        ('"8"', "8", False),
        ('"\\u00e9\\/\\""', 'é/"', False),
        ('"\\ud83d\\ude00"', "\U0001f600", False),
        ('"\\ud83d"', "\ud83d", False),
        ('"é # no // comment"', "é # no // comment", False),
    ],
)
def test_scalars_keep_what_was_written(text: str, content: str, plain: bool) -> None:
    root = document(f" {text}\n", PATH).root
    assert isinstance(root, Scalar)
    assert root == Scalar(1, 1 + len(text), content, plain)


NUMBERS = ", ".join(f"-{number}.5e-3" for number in range(2_000))
BROKEN = [
    (f"[{NUMBERS},, 1]", len(NUMBERS) + 2, "expected a value"),
    ("", 0, "expected a value"),
    ("{", 1, "expected a property name in double quotes"),
    ('{"a"', 4, "expected ':'"),
    ('{"a":', 5, "expected a value"),
    ('{"a":1', 6, "expected ',' or '}'"),
    ('{"a":1,}', 7, "expected a property name in double quotes"),
    ("[1,]", 3, "expected a value"),
    ("[1 2]", 3, "expected ',' or ']'"),
    ("{a: 1}", 1, "expected a property name in double quotes"),
    ("[1] x", 4, "extra data behind the document"),
    ("01", 1, "extra data behind the document"),
    ("+1", 0, "expected a value"),
    (".5", 0, "expected a value"),
    ("tru", 0, "expected a value"),
    ("'a'", 0, "expected a value"),
    ("\u00a01", 0, "expected a value"),
    ("// c\n1", 0, "expected a value"),
    ('{"a": 1 # c\n}', 8, "expected ',' or '}'"),
    ('{"a": <BATCH>}', 6, "expected a value"),
    ('{"a": "b}', 6, "unterminated string starting at"),
    ('["\\x"]', 2, "invalid \\escape"),
    ('["a\nb"]', 3, "invalid control character at"),
]


@pytest.mark.parametrize(("text", "offset", "reason"), BROKEN)
def test_a_mistake_is_refused_in_its_place(text: str, offset: int, reason: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    found = refusal(text, PATH)
    assert (found.offset, found.reason) == (offset, reason)


@pytest.mark.parametrize(
    ("text", "matters"),
    [('{"x": }', False), ('{"train_batch_size": ${size}}', False), ('{"train_batch_size": ,}', True)],
    ids=["other", "template", "batch"],
)
def test_a_text_matters_that_holds_a_batch_key(text: str, matters: bool) -> None:
    assert refusal(text, PATH).matters is matters


@pytest.mark.parametrize("array", [f"[{NUMBERS}]", f"[{NUMBERS}\n]", f"[{NUMBERS}, 1]"])
def test_numbers_that_are_data_are_passed_over(array: str) -> None:
    found = document(f'{{"a": {array}, "b": [1, 2], "c": 3}}', PATH)
    data, kept = found.get("a"), found.get("b")
    assert isinstance(data, Sequence)
    assert isinstance(kept, Sequence)
    assert (data.items, len(kept.items)) == ((), 2)
    assert (found.source.text[data.start : data.stop], texts(found)["c",]) == (array, "3")


@pytest.mark.parametrize("array", [f"[{NUMBERS}, null]", f"[{NUMBERS}, [1]]", f'["a", {NUMBERS}]', f"[{NUMBERS[:4_000]}0]"])
def test_what_holds_more_than_many_numbers_is_kept(array: str) -> None:
    node = document(f'{{"a": {array}}}', PATH).get("a")
    assert isinstance(node, Sequence)
    assert len(node.items) > 200


def test_a_trailing_comma_within_data_is_tolerated() -> None:
    (found,) = read_json(Source(PATH, f"[{NUMBERS},]"), tolerant=True)
    assert isinstance(found, Document)


def test_the_last_of_repeated_keys_wins() -> None:
    found = document('{"a": {"b": 1, "c": 1}, "d": [{"e": 1}, {"e": 2}], "a": {"b": 2}}', PATH)
    assert texts(found) == {("a",): None, ("d",): None, ("a", "b"): "2"}
    (repeated,) = found.duplicates
    assert (repeated.path, repeated.first.start, repeated.second.start) == (("a",), 1, 51)
    assert len(mapping(found.root).entries) == 3


@pytest.mark.parametrize("text", ['{"<<": {"a": 1}}', '{"a": "*x", "b": "&x"}'], ids=["merge", "alias"])
def test_yaml_has_no_say_in_it(text: str) -> None:
    assert to_python(document(text, PATH)) == json.loads(text)


def test_depth_is_bounded() -> None:
    assert document("[" * 200 + "]" * 200, PATH).root
    for text in ("[" * 201 + "]" * 201, "[" * 100_000, '{"a":' * 100_000):
        assert refusal(text, PATH).reason == "nested deeper than 200 levels"


@pytest.mark.parametrize(
    "text",
    ['// c\n{"a": [1, 2,], /* d */ "b": 1, # e\n}', '{"a": [1, 2], "b": 1}', '/**/{"a": [1,/* * */2 ], "b": 1//\n}//'],
    ids=["both", "neither", "tight"],
)
def test_a_tolerant_reader_takes_comments_and_trailing_commas(text: str) -> None:
    (found,) = read_json(Source(PATH, text), tolerant=True)
    assert isinstance(found, Document)
    assert to_python(found) == {"a": [1, 2], "b": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
        ("{a: 1, b: true}", {"a": 1, "b": True}),
        ('{"a": BATCH_SIZE,\n"b": 1}', {"a": "BATCH_SIZE", "b": 1}),
        ('{"a": 8x7b}', {"a": "8x7b"}),
        ("[a b, c\n d]", ["a b", "c", "d"]),
    ],
    ids=["no comma", "no quotes", "a word", "not a number", "words"],
)
def test_a_tolerant_reader_takes_what_hjson_takes(text: str, expected: object) -> None:
    (found,) = read_json(Source(PATH, text), tolerant=True)
    assert isinstance(found, Document)
    assert to_python(found) == expected


def test_a_word_without_quotes_is_marked_as_one() -> None:
    (found,) = read_json(Source(PATH, '{"a": CONFIG_A, "b": "CONFIG_B"}'), tolerant=True)
    assert isinstance(found, Document)
    assert [getattr(found.get(key), "tag", None) for key in "ab"] == [UNQUOTED, None]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ('{"zero_optimization": {"stage": 2}, // stage\n}', True),
        ('{"train_batch_size": CONFIG_BATCH_SIZE}', True),
        ('{"stage": 2, // stage\n}', False),
        ('{"train_batch_size": 8', False),
    ],
    ids=["comment", "template", "other JSON", "cut off"],
)
def test_only_deepspeed_is_read_tolerantly(text: str, reads: bool) -> None:
    (found,) = read(Source(PATH, text))
    assert isinstance(found, Document) is reads


@pytest.mark.parametrize("text", ["[,]", "[1,,2]", "{,}", "/* ", "[1 2]", "/", "{a 1}", "{:}", "[:]"])
def test_a_tolerant_reader_takes_nothing_else(text: str) -> None:
    (found,) = read_json(Source(PATH, text), tolerant=True)
    assert isinstance(found, Unreadable)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(width=32) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=VALUES, indent=st.sampled_from([None, 0, 2, "\t"]), ascii_only=st.booleans())
def test_it_reads_what_json_writes(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    if all(len(word) <= 32 for word in text.split()):
        assert same(to_python(document(text, PATH)), json.loads(text))


@given(text=st.text('{}[]",:0123456789.eE+-\\ntrufalsN \t\n/x', max_size=20))
def test_it_refuses_what_json_refuses(text: str) -> None:
    (found,) = read(Source(PATH, text))
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        assert isinstance(found, Unreadable)
        assert found.offset == error.pos
    else:
        assert isinstance(found, Document)
