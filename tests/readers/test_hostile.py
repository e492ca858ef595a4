"""Nothing that bytes can hold makes the reader crash, hang or grow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.files.decode import decode
from pytest_gbs.model.document import CommentBlock, Document
from pytest_gbs.model.limits import MOST_FOLLOWED_KEYS
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import resolve
from tests.readers.reading import document, mapping, refusal, texts

MEGABYTE = 1_000_000


def test_an_alias_bomb_is_not_expanded() -> None:
    lines = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{b: *a{n - 1}, c: *a{n - 1}, d: *a{n - 1}}}" for n in range(1, 40)]
    found = document("\n".join(lines))
    own = 40 + 1 + 39 * 3
    assert own <= len(found.keyed) <= own + MOST_FOLLOWED_KEYS
    assert {(f"a{number}",) for number in range(40)} <= set(found.keyed)


def test_a_billion_laughs_are_read_at_once() -> None:
    lines = ["a0: &a0 [lol]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert len(document("\n".join(lines)).keyed) == 12


def test_a_merge_bomb_is_refused() -> None:
    lines = ["a0: &a0 {" + ", ".join(f"k{n}: {n}" for n in range(100)) + "}"]
    lines += [f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 10)}]\n  x{n}: 1" for n in range(1, 20)]
    assert refusal("\n".join(lines)).reason == "more than 10,000 keys are merged"


def test_a_long_chain_of_merges_is_refused() -> None:
    chain = "".join(f"- &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, 1000))
    assert "200 levels" in refusal(f"list:\n- &a0 {{k: 1}}\n{chain}last: {{<<: *a999}}\n").reason


def test_a_long_chain_of_aliases_ends_somewhere() -> None:
    chain = "".join(f"a{n}: &a{n} {{b: *a{n - 1}}}\n" for n in range(1, 1000))
    found = document("a0: &a0 {b: 1}\n" + chain)
    assert max(map(len, found.keyed)) <= 200


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "[" * 5_000 + "]" * 5_000,
        "{a: " * 5_000,
        "".join(" " * n + "a:\n" for n in range(300)),
        "- " * 5_000,
        "? " * 5_000,
        "{" * 300 + "}" * 300,
        "? [" * 300,
        "- ? " * 300,
    ],
    ids=["flow-50,000", "flow-5,000", "flow-mapping", "block-mapping", "block-sequence", "keys", "keys-in-braces", "key-lists", "mixed"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    found = refusal(text)
    assert found.reason == "nested deeper than 200 levels"
    assert found.offset is not None
    assert 0 < found.offset <= len(text)


def test_two_hundred_levels_are_read() -> None:
    found = document("[" * 200 + "]" * 200)
    assert found.root
    assert len(max(document("".join(" " * n + "a:\n" for n in range(200))).keyed)) == 200


def test_a_very_long_number_stays_text() -> None:
    found = document("a: " + "9" * 100_000 + "\nb: 0x" + "f" * 100_000)
    for _, value in mapping(found.root).entries:
        assert isinstance(resolve(value, "pyyaml"), str)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["a: 1\n" * 150_000, "[" + "1, " * 250_000, "[" + "a: 1," * 60_000, "- []\n" * 150_000], ids=["keys", "items", "pairs", "lists"]
)
def test_too_many_nodes_are_refused(text: str) -> None:
    assert refusal(text).reason == "more than 200,000 nodes"


@pytest.mark.parametrize(
    "text",
    [
        "a: '" + "# " * MEGABYTE + "'\n",
        "# " + "#" * 2 * MEGABYTE,
        "# c\n" * (MEGABYTE // 2),
        "a: |\n" + "  # c\n" * 300_000,
        "a: b" + "#c" * MEGABYTE,
        'a: "' + "\\n" * MEGABYTE + '"',
        "a: " + "b " * MEGABYTE,
        "a: |\n" + "\n" * 2 * MEGABYTE,
        "\n" * 2 * MEGABYTE + "a: 1",
        "k: 1 # c\n" * 60_000,
        "&" + "a" * 2 * MEGABYTE,
        "!" + "a" * 2 * MEGABYTE + " b",
        "a: 'b\t" + "\t" * 2 * MEGABYTE + "'",
        "# c\r" * (MEGABYTE // 2),
        "---\n" * 60_000,
        '{"a"' * 200_000,
        "a: [" + "'b'#c\n," * 40_000 + "]",
    ],
    ids=[
        "quoted",
        "sign",
        "comments",
        "block",
        "plain",
        "escapes",
        "words",
        "blank-block",
        "blank",
        "trailing",
        "anchor",
        "tag",
        "tabs",
        "cr",
        "documents",
        "braces",
        "tight-comments",
    ],
)
def test_two_megabytes_are_read_or_refused_in_seconds(text: str) -> None:
    started = time.process_time()
    assert read(Source("a.yaml", text))
    assert time.process_time() - started < 60  # it ends; how fast is for the benchmarks


def test_line_separators_break_lines_for_comments_only() -> None:
    found = document("a: 1 # b\x85c: 2 # d\u2028e: 3\u2029# f\n")
    assert texts(found) == {("a",): "1", ("c",): "2", ("e",): "3"}
    assert [block.text for block in found.comments] == ["b", "d", "f"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_every_line_end_reads_alike(end: str) -> None:
    text = end.join(["# a", "k: 1 # b", "     # c", "l: |", "  m # n", "", "o: 'p", "  q'", ""])
    found = document(text)
    assert texts(found) == {("k",): "1", ("l",): "m # n\n", ("o",): "p q"}
    assert [(block.text, block.owner) for block in found.comments] == [("a", None), ("b\nc", ("k",))]
    assert [text[block.pieces[-1][1]] for block in found.comments] == ["a", "c"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_moves_nothing(encoding: str) -> None:
    source = decode("a.yaml", "a: 1 # b\n".encode(encoding))
    assert isinstance(source, Source)
    (found,) = read(source)
    assert isinstance(found, Document)
    assert found.locate(("a",)) == document("a: 1 # b\n").locate(("a",))._replace(source="a.yaml")  # type: ignore[union-attr]
    assert found.comments == (CommentBlock("b", ((0, 7),), ("a",), "trailing"),)


def test_python_objects_are_never_made() -> None:
    found = document("a: !!python/object/apply:os.system ['exit 1']\nb: !!python/name:os.system\n")
    assert list(found.keyed) == [("a",), ("b",)]


YAML = st.text("ab1:#-'\"|>{}[],&*!?%<\t\r\n\x85\u2028\ufeff \x00\ud800é\U0001f600", max_size=40)


@given(text=YAML | st.text(max_size=40), suffix=st.sampled_from(["yaml", "json", "toml"]))
def test_any_text_gives_values(text: str, suffix: str) -> None:
    for found in read(Source(f"a.{suffix}", text)):
        assert isinstance(found, Document | Unreadable)
        if isinstance(found, Unreadable):
            assert found.offset is not None
            assert 0 <= found.offset <= len(text)


@given(data=st.binary(max_size=40))
def test_any_bytes_give_values(data: bytes) -> None:
    assert isinstance(decode("a.yaml", data), Source | Unreadable)
