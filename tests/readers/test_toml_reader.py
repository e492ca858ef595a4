"""TOML is read as Python's tomllib reads it, with the span of every key and value and the owner of every comment."""

import datetime
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.files.toml import tomllib
from pytest_gbs.model.document import Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import TOML, resolve
from tests.readers.reading import document, refusal, texts, written
from tests.support import corpus

PATH = "recipe.toml"
RECIPE = """\
# for 64 GPUs
[job]
description = "Llama 3 8B"

# the whole batch
[training]  # per step
local_batch_size = 1_0 # on each rank
global_batch_size = 0x280
seq_len = 8192
# many
steps = 10_000

[parallelism]
data_parallel_shard_degree = -1
# that is all
"""


def value(node: Node | None) -> Any:
    """What `node` stands for, dates as text."""
    if isinstance(node, Scalar):
        return resolve(node, TOML)
    if isinstance(node, Sequence):
        return [value(item) for item in node.items]
    assert isinstance(node, Mapping)
    return {key.text: value(inside) for key, inside in node.entries if isinstance(key, Scalar)}


def plain(loaded: Any) -> Any:
    """What tomllib loaded, dates as texts of their own kind."""
    if isinstance(loaded, dict):
        return {key: plain(inside) for key, inside in loaded.items()}
    if isinstance(loaded, list):
        return [plain(inside) for inside in loaded]
    return "a date" if isinstance(loaded, (datetime.date, datetime.time)) else loaded


def test_a_recipe_is_read_with_its_spans() -> None:
    found = document(RECIPE, PATH)
    assert found.syntax == "toml"
    assert value(found.root) == tomllib.loads(RECIPE)
    assert written(found, found.get("training", "local_batch_size")) == "1_0"
    assert written(found, found.get("job", "description")) == '"Llama 3 8B"'
    assert [written(found, key) for key, _ in found.keyed.values()][:4] == ["job", "description", "training", "local_batch_size"]
    assert found.duplicates == ()


def test_comments_belong_to_the_keys_beside_and_below_them() -> None:
    owners = {block.text: (block.owner, block.placement) for block in document(RECIPE, PATH).comments}
    assert owners == {
        "for 64 GPUs": (None, "header"),
        "the whole batch": (("training",), "above"),
        "per step": (("training",), "trailing"),
        "on each rank": (("training", "local_batch_size"), "trailing"),
        "many": (("training", "steps"), "above"),
        "that is all": (None, "end"),
    }


def test_comments_stand_where_the_file_has_them() -> None:
    text = 'a = "# no" # yes\r\n# and\r\nb = 1\r\n'
    found = document(text, PATH)
    places = [block.locate(PATH, 0, len(block.text)) for block in found.comments]
    assert [text[place.start : place.stop] for place in places] == ["yes", "and"]


# What the recipe writers of the world do with TOML, and what they could.
TEXTS = {
    "empty": "",
    "comment": "# nothing\n",
    "bare, quoted and literal keys": 'a-b_1 = 1\n"c d" = 2\n\'e"f\' = 3\n"" = 4\n',
    "dotted keys": 'a.b = 1\na . "c.d" . e = 2\n3.14 = "pi"\n',
    "tables": "[a]\nx = 1\n[a.b]\ny = 2\n[ c . d ]\nz = 3\n",
    "a table after its own": "[a.b]\ny = 2\n[z]\n[a]\nx = 1\n",
    "arrays of tables": "[[a]]\nx = 1\n[[a]]\nx = 2\n[[a.b]]\ny = 1\n[a.c]\nz = 1\n[[a]]\n",
    "inline tables": "a = {}\nb = { x = 1, y.z = [1, {w = 2}] }\n",
    "arrays": "a = []\nb = [1, 2,]\nc = [ # one\n  [1], # two\n  ['x', \"y\"]\n]\n",
    "numbers": "a = +1\nb = -17\nc = 0xDEAD_beef\nd = 0o755\ne = 0b11\nf = 1e5\ng = -2E-2\nh = 6.626e-34\ni = 1_000.5\nj = 0\nk = -0.0",
    "words": "a = true\nb = false\nc = inf\nd = -inf\n",
    "strings": 'a = "x\\ty\\"z\\\\ \\u00e9 \\U0001F600"\nb = \'C:\\no\'\nc = "" # empty\nd = "#"\n',
    "long strings": "a = \"\"\"\nfirst\n  second \\\n   third\"\"\" \nb = '''\n'raw' \\n'''\n",
    "quotes at their ends": 'c = """x"""""\nd = \'\'\'y\'\'\'\'\'\ne = """"""\n',
    "escaped ends": 'a = """\\"""\\""""\nb = "\\\\"\n',
    "other line breaks": 'a = 1\r\nb = """\r\nx\r\ny\\\r\n  z"""\r\n[c]\r\n',
    "no line break at the end": "[a]\nb = 1 # c",
    "other letters": '# é 😀\n"schlüssel" = "値" # ü\nx = 1\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_values_are_those_of_tomllib(text: str) -> None:
    found = document(text, PATH)
    assert value(found.root) == tomllib.loads(text)
    for path, (key, _) in found.keyed.items():
        assert isinstance(key, Scalar)
        assert path[-1] == key.text
        assert key.text in written(found, key) or "\\" in written(found, key)


def test_dates_stay_text() -> None:
    found = document("a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5 # noon\nc = 07:32:00\nd = [1979-05-27, 1979-05-28]\n", PATH)
    assert value(found.get("b")) == "1979-05-27 07:32:00.5"
    assert value(found.get("d")) == ["1979-05-27", "1979-05-28"]
    assert isinstance(value(found.get("c")), str)


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(value(document("a = nan", PATH).get("a")))


def test_a_key_in_an_array_is_not_reached_through_tables_alone() -> None:
    found = document("[[a]]\nx = 1\n[b]\ny = {z = 2}\n", PATH)
    assert set(texts(found)) == {("a",), ("b",), ("b", "y"), ("b", "y", "z")}


REFUSED = {
    "a missing value": ("a = \nb = 1\n", 4),
    "a leading zero": ("[x]\na = 010\n", 9),
    "a repeated key": ("a = 1\na = 2\n", 11),
    "a repeated table": ("[a]\n[b]\n[a]\n", 10),
    "a string that does not end": ('a = "x\n', 6),
    "a bracket that does not end": ("a = [1, 2\n", 10),
    "null": ("a = null\n", 4),
    "YAML": ("a:\n  b: 1\n", 1),
    "a table over a value": ("a = 1\n[a.b]\n", 10),
    "two on a line": ("a = 1 b = 2\n", 6),
    "a very long number": ("a = " + "9" * 5000, 4),
}


@pytest.mark.parametrize(("text", "offset"), REFUSED.values(), ids=REFUSED)
def test_what_tomllib_refuses_is_unreadable_there(text: str, offset: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        tomllib.loads(text)
    found = refusal(text, PATH)
    assert found.offset == offset
    assert found.reason[:1].islower()
    assert "(at" not in found.reason


@pytest.mark.parametrize(
    ("path", "text", "matters"),
    [
        pytest.param("pyproject.toml", "[tool.x]\nbatch_size = \n", False, id="settings of a project"),
        pytest.param("rust/Cargo.toml", "batch_size = \n", False, id="a package of another language"),
        pytest.param("train.toml", "batch_size = {{ batch }}\n", False, id="a template"),
        pytest.param("notes.toml", "title = \n", False, id="no batch"),
        pytest.param("train.toml", "[training]\nlocal_batch_size = 08\n", True, id="a recipe"),
    ],
)
def test_only_a_broken_recipe_matters_to_people_who_did_not_name_it(path: str, text: str, matters: bool) -> None:
    assert refusal(text, path).matters is matters


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5_000, "a = " + "{a = " * 5_000, ".".join("a" * 5_000) + " = 1", "[" + ".".join("a" * 5_000) + "]"],
    ids=["arrays", "inline tables", "dotted keys", "headers"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert refusal(text, PATH).reason == "nested deeper than 200 levels"


def test_more_than_any_recipe_holds_is_refused() -> None:
    assert "200,000" in refusal("a = [" + "1," * 200_001 + "]", PATH).reason


def test_two_hundred_levels_are_read() -> None:
    assert document("a = " + "[" * 199 + "]" * 199, PATH).root


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab.=[]{}\"'\\#, \t\r\n019_-+einfu"), max_size=34))
def test_any_text_is_read_as_tomllib_does_or_refused(text: str) -> None:
    (found,) = read(Source(PATH, text))
    try:
        expected = tomllib.loads(text)
    except ValueError:
        assert isinstance(found, Unreadable)
        return
    assert isinstance(found, Document), found
    assert repr(value(found.root)) == repr(expected)


KEYS = st.text(st.sampled_from("ab-_ .é\"'"), max_size=4)
LEAVES = st.integers(-(10**9), 10**9) | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8)
TREES = st.dictionaries(KEYS, st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)))


def _quoted(text: str) -> str:
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in text) + '"'


def _dump(tree: Any) -> str:
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_dump(inside)}" for key, inside in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_dump, tree)) + "]"
    if isinstance(tree, str):
        return _quoted(tree)
    return str(tree).lower() if isinstance(tree, bool) else repr(tree)


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_any_tree_comes_back(tree: dict[str, Any]) -> None:
    text = "".join(f"{_quoted(key)} = {_dump(inside)}\n" for key, inside in tree.items())
    loaded = tomllib.loads(text)
    assert repr(value(document(text, PATH).root)) == repr(loaded)


def test_real_files_are_read_as_tomllib_does() -> None:
    files = sorted(corpus().rglob("*.toml"))
    assert files
    for file in files:
        text = file.read_bytes().decode()
        loaded = plain(tomllib.loads(text))
        found = document(text, file.name)
        if "a date" not in repr(loaded):
            assert value(found.root) == loaded, file
        assert all(text[key.start : key.stop].strip("\"'") == path[-1] for path, (key, _) in found.keyed.items())
