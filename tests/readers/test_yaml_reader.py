"""YAML becomes nodes whose spans are exact, one document after the other."""

import pytest

from pytest_gbs.model.document import Alias, Document, Mapping, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from tests.readers.reading import document, documents, mapping, refusal, texts, written


@pytest.mark.parametrize(
    ("text", "span", "content", "plain"),
    [
        ("k: 8", "8", "8", True),
        ("k: 8  # eight", "8", "8", True),
        ("k: two words ", "two words", "two words", True),
        ("k: one\n  two\n\n  three\n", "one\n  two\n\n  three", "one two\nthree", True),
        ("k:\n", "", "", True),
        ("k: '8'", "'8'", "8", False),
        ("k: 'it''s'", "'it''s'", "it's", False),
        ('k: "a\\u00e9\\n"', '"a\\u00e9\\n"', "aé\n", False),
        ("k: 'one\n  two' # c", "'one\n  two'", "one two", False),
        ("k: |\n  one\n  two\n\n\nl: 1", "|\n  one\n  two", "one\ntwo\n", False),
        ("k: >-\n  one\n  two\n# c", ">-\n  one\n  two", "one two", False),
        ("k: |\n\n", "|", "", False),
        ("k: | # c\n  one", "| # c\n  one", "one", False),
        ("k: &a 8", "8", "8", True),
        ("k: !!str 8", "8", "8", True),
        ("k: &a !!str 8", "8", "8", True),
        ("k: !!str &a '8' # c", "'8'", "8", False),
        ("k: !<tag:yaml.org,2002:str> 8", "8", "8", True),
        ("k: !!str # c\n  8", "8", "8", True),
        ("k: &a", "", "", True),
        ("k: !!null # c\n", "", "", True),
        ("k: &a |\n  8\n", "|\n  8", "8\n", False),
        ("é×: 8", "8", "8", True),
        ("\U0001f600: 8", "8", "8", True),
        ("k:\r\n  8\r\n", "8", "8", True),
        ("k: |\r\n  8\r\n\r\n", "|\r\n  8", "8\n", False),
        ("k: 8\rl: 9", "8", "8", True),
        ("{k: 8}", "8", "8", True),
        ('{"k":8}', "8", "8", True),
        ("? k\n: 8", "8", "8", True),
    ],
)
def test_scalars_know_their_spans(text: str, span: str, content: str, plain: bool) -> None:
    found = document(text)
    value = mapping(found.root).entries[0][1]
    assert isinstance(value, Scalar)
    assert (written(found, value), value.text, value.plain) == (span, content, plain)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("k: [1, 2] # c", "[1, 2]"),
        ("k: &a [1,\n 2]\n", "[1,\n 2]"),
        ("k: {a: 1}", "{a: 1}"),
        ("k: !t {a: 1, b}", "{a: 1, b}"),
        ("k:\n- 1\n- 2 # c\n\nl: 1", "- 1\n- 2"),
        ("k: &a\n  - 1\n", "- 1"),
        ("k: !t # c\n- 1\n", "- 1"),
        ("k:\n  a: 1\n  b: '2'\n\n# c\n", "a: 1\n  b: '2'"),
        ("k: &a\n  a: 1\n", "a: 1"),
        ("k: &a\n  &b a: 1\n", "&b a: 1"),
        ("k:\n  - - 1\n    - 2\n  -\n    a: 1\n", "- - 1\n    - 2\n  -\n    a: 1"),
        ("k: []", "[]"),
        ("k: {}", "{}"),
    ],
)
def test_collections_know_their_spans(text: str, span: str) -> None:
    found = document(text)
    assert written(found, mapping(found.root).entries[0][1]) in (span, span.removeprefix("&b "))


def test_keys_know_their_spans() -> None:
    found = document("'a b': 1\n&x c: 2\n\"d\":\n  e: 3\n")
    assert [written(found, key) for key, _ in found.keyed.values()] == ["'a b'", "c", '"d"', "e"]


def test_the_index_holds_what_mappings_lead_to() -> None:
    found = document("a: 1\nb:\n  c: 2\n  d:\n    e: 3\nf:\n  - g: 4\nh: {i: 5, j}\n'8': 6\n")
    assert texts(found) == {
        ("a",): "1",
        ("b",): None,
        ("b", "c"): "2",
        ("b", "d"): None,
        ("b", "d", "e"): "3",
        ("f",): None,
        ("h",): None,
        ("h", "i"): "5",
        ("h", "j"): "",
        ("8",): "6",
    }
    assert list(found.keyed) == list(texts(found))


def test_tags_are_kept_and_their_nodes_opaque() -> None:
    found = document("a: !include other.yaml\nb: !!python/object/apply:os.system [exit]\nc: !!set {x}\nd: !!int '8'\n")
    tags = [value.tag for _, value in mapping(found.root).entries if not isinstance(value, Alias)]
    assert tags == ["!include", "tag:yaml.org,2002:python/object/apply:os.system", "tag:yaml.org,2002:set", "tag:yaml.org,2002:int"]


@pytest.mark.parametrize(
    "text",
    ["? [a, b]\n: 1\nc: 2", "? {a: b}\n: {d: 1}\nc: 2", "[a]: 1\nc: 2", "? - a\n  - b\n: - e: 1\nc: 2", "? ? x\n: y\nc: 2"],
    ids=["sequence", "mapping", "flow", "block", "nested"],
)
def test_keys_that_are_not_scalars_are_not_indexed(text: str) -> None:
    found = document(text)
    assert texts(found) == {("c",): "2"}
    assert len(mapping(found.root).entries) == 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [("8", Scalar), ("'8'", Scalar), ("- 8", Sequence), ("[8]", Sequence), ("a: 8", Mapping), ("--- |\n  a: 1\n", Scalar), ("---", Scalar)],
)
def test_any_node_can_be_the_root(text: str, kind: type) -> None:
    assert type(document(text).root) is kind


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only\n", "  # a\n\n# b", "%YAML 1.1\n"[:0]], ids=["empty", "blank", "comment", "comments", "nothing"]
)
def test_a_text_without_nodes_is_a_document_without_root(text: str) -> None:
    found = document(text)
    assert (found.root, found.keyed, found.number) == (None, {}, 1)


def test_documents_are_counted() -> None:
    found = documents("a: 1\n---\nb: 2\n...\n---\nb: 3\n")
    assert [(each.number, texts(each)) for each in found] == [(1, {("a",): "1"}), (2, {("b",): "2"}), (3, {("b",): "3"})]


def test_documents_before_an_error_stay() -> None:
    text = "a: 1\n---\nper_device_train_batch_size: [8\n"
    first, second = read(Source("a.yaml", text))
    assert isinstance(first, Document)
    assert texts(first) == {("a",): "1"}
    assert isinstance(second, Unreadable)
    assert (second.offset, second.source, second.matters) == (len(text), Source("a.yaml", text), True)


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("a: [1, 2\n", 9, "expected ',' or ']' in a flow sequence"),
        ("a: 1\n  b: 2\n", 8, "mapping values are not allowed in this context"),
        ("a: 'x\n", 6, "found unexpected end of stream in a quoted scalar"),
        ("{% if a %}\nb: 1\n", 1, "found character that cannot start any token"),
        ("a: *x\n", 3, "found undefined alias 'x'"),
        ("a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n", 5, "merge conflict marker in line 2"),
        ("<<<<<<< HEAD\nb: 2\n", 14, "mapping values are not allowed in this context"),
        ("a: &x 1\nb: &x 2\n", 11, "found duplicate anchor 'x'"),
        ("a: &x [&x 1]\n", 7, "found duplicate anchor 'x'"),
        ("a: 1\nb: \x07\n", 8, "found character U+0007, which YAML does not allow"),
        ("é: \x7f\n", 3, "found character U+007F, which YAML does not allow"),
        ("a: \ud800\n", 3, "found character U+D800, which YAML does not allow"),
        ("\ufeffa: 1\n", 0, "found a second byte order mark"),
        ("a:\t1\n", 2, "found a tab outside of quotes and comments"),
        ("a: 1\t# c\n", 4, "found a tab outside of quotes and comments"),
        ("a: 'b\tc'\nd: x\ty\n", 13, "found a tab outside of quotes and comments"),
        ("a: |\t\n  b\n", 4, "found a tab outside of quotes and comments"),
        ("a: |#c\n  b\n", 4, "found '#' directly behind a block indicator"),
        ("a: 1\n\t\nb: 2\n", 5, "found a tab character that violates indentation in a plain scalar"),
    ],
)
def test_a_mistake_is_refused_in_its_place(text: str, offset: int, reason: str) -> None:
    found = refusal(text)
    assert (found.offset, found.reason) == (offset, reason)


@pytest.mark.parametrize(
    "text",
    ["a: 'b\tc'\n", 'a: "b\t\n  c"\n', "a: |\n  b\tc\n  \td\n", "a: 1 # b\tc\n#\t\td\n", "#\t\n"],
    ids=["single", "double", "block", "comment", "empty-comment"],
)
def test_tabs_in_quotes_blocks_and_comments_are_fine(text: str) -> None:
    assert document(text).source.text == text


@pytest.mark.parametrize(("text", "matters"), [("name: [x\n", False), ("num_processes: [8\n", True), ("# global_batch_size\n[", True)])
def test_a_text_matters_that_holds_a_batch_key(text: str, matters: bool) -> None:
    assert refusal(text).matters is matters


def test_a_template_that_something_fills_in_does_not_matter() -> None:
    assert not refusal("num_processes: 8\nout: {$results_dir}/run\n").matters
    assert refusal("num_processes: 8\nout: ${results_dir}/run\nfurther: [\n").matters


@pytest.mark.parametrize("path", ["a.yaml", "A.YML", "recipe", "a.yaml.example", "a.cfg"])
def test_yaml_is_what_nothing_else_is(path: str) -> None:
    assert document("a: 1", path).syntax == "yaml"


def test_a_non_specific_tag_changes_nothing() -> None:
    found = document("a: ! 12\nb: ! '12'\nc: !\n")
    assert [(node.text, node.plain, node.tag) for node in map(found.get, "abc") if isinstance(node, Scalar)] == [
        ("12", True, None),
        ("12", False, "!"),
        ("", True, None),
    ]
