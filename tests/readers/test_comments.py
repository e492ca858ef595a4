"""Comments become blocks that know their key and the place of each of their characters."""

import pytest

from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import KeyPath
from tests.readers.reading import document, documents


def blocks(text: str) -> list[tuple[str, str, KeyPath | None]]:
    """Text, placement and owner of every block."""
    return [(block.text, block.placement, block.owner) for block in document(text).comments]


@pytest.mark.parametrize(
    "text",
    [
        "a: b#c\n",
        "a: 'b # c'\n",
        'a: "b\n  # c"\n',
        "a: |\n  # b\n  c # d\n",
        "a: >\n\n  b\n  # c\n",
        "a: http://b/#c\n",
        "'#a': \"#\"\n",
        "[a#b, 'c'#d]".replace("'c'#d", "'c#d'"),
        'a: b"#c\n',
        "a: b,#c\n",
        "a: [b]#c\n".replace("[b]#c", "b]#c"),
        "",
    ],
    ids=[
        "plain",
        "single",
        "double",
        "literal",
        "folded",
        "url",
        "keys",
        "flow",
        "quote-in-plain",
        "comma-in-plain",
        "bracket-in-plain",
        "empty",
    ],
)
def test_a_sign_within_a_value_is_not_a_comment(text: str) -> None:
    assert blocks(text) == []


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("a: b # c\n", "c"),
        ("a: b #c", "c"),
        ("#c\na: b\n", "c"),
        ("a: 'b'#c\n", "c"),
        ("a: [b]#c\n", "c"),
        ("a: [b,#c\n d]\n", "c"),
        ("a: {#c\n}\n", "c"),
        ('{"a":#c\n1}', "c"),
        ("a: | # c\n  b\n", "c"),
        ("a: |\n  b\n# c\n", "c"),
        ("a: |\n  b\n # c\nd: 1\n", "c"),
        ("a: b\n  c # c\n", "c"),
        ("a: &x # c\n  b: 1\n", "c"),
        ("a: !t # c\n  b\n", "c"),
        ("%YAML 1.1 # c\n---\na: 1\n", "c"),
        ("--- # c\na: 1\n", "c"),
        ("a: b # c\r\n", "c"),
        ("a: b # c\rd: e\r", "c"),
        ("a: b # c\x85d: e\n", "c"),
        ("a: b # c\u2028d: e\n", "c"),
        ("a: b ### c ##\n", "c ##"),
        ("a: b #\tc\n", "c"),
        ("a: b # # of c\n", "# of c"),
        ("a: b #!c\n", "!c"),
        ("a: b #\n", ""),
    ],
)
def test_every_comment_is_found(text: str, comment: str) -> None:
    assert [block.text for block in document(text).comments] == [comment]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a\n# b\nk: 1\n", [("a\nb", "header", None)]),
        ("# a\n\n# b\nk: 1\n", [("a", "header", None), ("b", "header", None)]),
        ("# a\n#\n#b\nk: 1\n", [("a\n\nb", "header", None)]),
        ("# a\n  # b\nk: 1\n", [("a\nb", "header", None)]),
        ("k: 1 # a\n# b\nl: 2\n", [("a", "trailing", ("k",)), ("b", "above", ("l",))]),
        ("k: 1 # a\n     # b\n     # c\nl: 2\n", [("a\nb\nc", "trailing", ("k",))]),
        ("k: 1 # a\n     # b\n# c\nl: 2\n", [("a\nb", "trailing", ("k",)), ("c", "above", ("l",))]),
        ("k: 1 # a\n\n     # b\nl: 2\n", [("a", "trailing", ("k",)), ("b", "above", ("l",))]),
        ("k: 1 # a\nl: 2 # b\n", [("a", "trailing", ("k",)), ("b", "trailing", ("l",))]),
        ("k: 1\n# a\nl: 2 # b\n", [("a", "above", ("l",)), ("b", "trailing", ("l",))]),
        ("k: 1\n# a\n\nl: 2\n", [("a", "above", ("l",))]),
        ("k: 1\n# a\n# b\n", [("a\nb", "end", None)]),
        ("# a\r\n# b\r\nk: 1\r\n", [("a\nb", "header", None)]),
        ("# a\r# b\rk: 1\r", [("a\nb", "header", None)]),
        ("# a\r\n\r\n# b\r\nk: 1\r\n", [("a", "header", None), ("b", "header", None)]),
        ("# a", [("a", "header", None)]),
    ],
)
def test_neighbouring_lines_make_a_block(text: str, expected: list[tuple[str, str, KeyPath | None]]) -> None:
    assert blocks(text) == expected


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("k:\n  l: 1 # c\nm: 2\n", ("k", "l")),
        ("k: # c\n  l: 1\n", ("k",)),
        ("k:\n  # c\n  l: 1\n", ("k", "l")),
        ("k:\n  l: 1\n  # c\nm: 2\n", ("m",)),
        ("k:\n  l: 1\n  # c\n  m: 2\n", ("k", "m")),
        ("k: {l: 1, # c\n  m: 2}\n", ("k", "l")),
        ("k: {l: 1,\n  # c\n  m: 2}\n", ("k", "m")),
        ("k:\n  - 1 # c\n  - 2\n", ("k",)),
        ("k:\n  - 1\n  # c\n  - 2\nl: 1\n", ("k",)),
        ("k:\n  # c\n  - 1\nl: 1\n", ("k",)),
        ("k:\n  - 1\n  # c\nl: 1\n", ("l",)),
        ("k:\n  - l: 1 # c\n    m: 2\n", ("k", 0, "l")),
        ("k:\n  - l: 1\n    # c\n    m: 2\n", ("k", 0, "m")),
        ("k:\n  - l: 1\n  # c\n  - l: 2\n", ("k", 1, "l")),
        ("k:\n  - l: 1\n  # c\n  - 2\nn: 1\n", ("k",)),
        ("k:\n  - - l: 1 # c\n", ("k", 0, 0, "l")),
        ("- k: 1 # c\n", (0, "k")),
        ("- k: 1\n# c\n- k: 2\n", (1, "k")),
        ("k: [1,\n  # c\n  2]\nl: 1\n", ("k",)),
        ("k: | # c\n  l\nm: 1\n", ("k",)),
        ("k: |\n  l\n# c\nm: 1\n", ("m",)),
        ("a: &x {b: 1} # c\nd: *x\n", ("a", "b")),
        ("a: &x {b: 1}\nd: *x # c\n", ("d",)),
        ("a: {b: 1}\nd:\n  <<: {b: 2} # c\n", ("d", "<<", "b")),
        ("k: 1 # c\nl: 2\nk: 3\n", ("k",)),
        ("k: {a: 1}\nl: 2 # c\nk: {a: 3}\n", ("l",)),
        ("k: {a: 1}\n# c\nl: 2\nk: {a: 3}\n", ("l",)),
    ],
)
def test_a_comment_belongs_to_a_key(text: str, owner: KeyPath) -> None:
    (block,) = document("first: 0\n" + text if text[0] != "-" else text).comments
    assert (block.text, block.owner) == ("c", owner)
    assert block.placement in ("above", "trailing")


@pytest.mark.parametrize(
    ("text", "placement"),
    [
        ("# c\n- 1\n", "header"),
        ("- 1\n# c\n- 2\n", "above"),
        ("- 1 # c\n- 2\n", "trailing"),
        ("- 1\n# c\n", "end"),
        ("8 # c\n", "trailing"),
        ("# c\n8\n", "header"),
        ("8\n# c\n", "end"),
        ("---\n# c\n---\na: 1\n"[:7], "header"),
        ("--- # c\na: 1\n", "header"),
    ],
)
def test_a_comment_without_key_has_no_owner(text: str, placement: str) -> None:
    (block,) = document(text).comments
    assert (block.owner, block.placement) == (None, placement)


def test_each_document_has_its_own_comments() -> None:
    first, second = documents("# a\nk: 1 # b\n# c\n---\n# d\nk: 2 # e\n# f\n")
    assert [(block.text, block.placement) for block in first.comments] == [("a", "header"), ("b", "trailing"), ("c", "end")]
    assert [(block.text, block.placement) for block in second.comments] == [("d", "header"), ("e", "trailing"), ("f", "end")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1 # global batch size 128\n", ["global", "128"]),
        ("##  8 nodes\n#\n  #\t4 GPUs  \r\na: 1\n", ["8", "nodes", "4", "GPUs"]),
        ("é: 1 #× 2\n     #  \U0001f600 3\n", ["×", "2", "\U0001f600", "3"]),
    ],
)
def test_every_word_of_a_block_is_found_in_the_file(text: str, words: list[str]) -> None:
    (block,) = document(text).comments
    for word in words:
        start = block.text.index(word)
        place = block.locate("recipe.yaml", start, start + len(word))
        assert text[place.start : place.stop] == word
        assert place.path == block.owner


def test_a_block_is_a_plain_value() -> None:
    assert document("a: 1 # b\n     # c\n").comments == (CommentBlock("b\nc", ((0, 7), (2, 16)), ("a",), "trailing"),)
