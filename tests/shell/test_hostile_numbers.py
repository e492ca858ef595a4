"""Digits that are none to Python's `int`, and more of them than it converts: the number is unknown, and nothing stops."""

import pytest

from tests.shell.reading import argv, commands

LONG = "9" * 5_000
UNKNOWN = {
    "seq of a superscript": "foo $(seq ²)",
    "seq to a superscript": "foo $(seq 1 ²)",
    "seq of many digits": f"foo $(seq {LONG})",
    "head of a superscript": "foo $(echo a | head -n ²)",
    "head of many digits": f"foo $(echo a | head -n {LONG})",
    "expr of a superscript": "foo $(expr ² + 1)",
    "bc of many digits": f"foo $(echo '{LONG} * {LONG}' | bc)",
    "an argument of many digits": f"foo ${{{LONG}}}",
    "the argument zero by two zeros": "foo ${00}",
    "indirectly an argument of many digits": f"A={LONG}\nfoo ${{!A}}",
    "an argument called by a superscript": "A=²\nfoo ${!A}",
    "an item of many digits": f"A=(a b)\nfoo ${{A[$(({LONG}))]}}",
    "arithmetic on many digits": f"foo $(({LONG} + 1))",
    "a power too large": "foo $((2**10**9))",
    "a shift too far": "foo $((1 << 1000000000))",
    "a product too large": f"foo $((1{' * 9999999999' * 40}))",
    "a number of base 36": f"foo $((36#{'z' * 5_000}))",
    "a hexadecimal number": f"foo $((0x{'f' * 5_000}))",
    "a base of many digits": f"foo $(({LONG}#1))",
}
KNOWN = {
    "nothing behind the last argument": (f"set -- a b\nfoo x${{{LONG}}}", ["foo", "x"]),
    "the subscript of a superscript": ("A=(a b)\nA[²]=c\nfoo", ["foo"]),
    "items of many digits": (f"A=([{LONG}]=a b)\nfoo ${{#A[@]}}", ["foo", "2"]),
    "items added behind many digits": (f"A=([{LONG}]=a)\nA+=(b)\nfoo ${{A[0]}}", ["foo", "b"]),
    "an item set at many digits": (f"A=(a b)\nA[{LONG}]=c\nfoo ${{A[1]}}", ["foo", "b"]),
    "a slice from many digits": (f"A=abc\nfoo x${{A:{'9' * 18}}}", ["foo", "x"]),
    "a range of many digits": (f"foo {{1..{LONG}}}", ["foo", f"{{1..{LONG}}}"]),
    "a range to a superscript": ("foo {1..²}", ["foo", "{1..²}"]),
    "seq": ("foo $(seq 1 2 5)", ["foo", "1", "3", "5"]),
    "seq downwards": ("foo $(seq 2 -1 -1)", ["foo", "2", "1", "0", "-1"]),
    "head": ("foo $(seq 9 | head -n 2)", ["foo", "1", "2"]),
    "head of one digit": ("foo $(seq 9 | head -1)", ["foo", "1"]),
    "an argument by two digits": ("set -- a b c d e f g h i j k\nfoo ${11} ${01}", ["foo", "k", "a"]),
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_it_is_unknown(text: str) -> None:
    (command,) = commands(text)
    assert None in argv(command) or argv(command) == ["foo"]


@pytest.mark.parametrize(("text", "wanted"), KNOWN.values(), ids=KNOWN)
def test_it_is_known(text: str, wanted: list[str]) -> None:
    (command,) = commands(text)
    assert argv(command) == wanted
