"""Bytes become text in every encoding that YAML allows, and what is not text says where."""

import codecs

import pytest

from pytest_gbs.files.decode import decode
from pytest_gbs.files.writing import encoded
from pytest_gbs.model.location import Source, Unreadable

TEXT = "größe: 8 # ×\n"

ENCODINGS = [
    ("utf-8", b""),
    ("utf-8", codecs.BOM_UTF8),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-16-le", b""),
    ("utf-16-be", b""),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-32-le", b""),
    ("utf-32-be", b""),
]


@pytest.mark.parametrize(("encoding", "mark"), ENCODINGS, ids=[f"{name}{'-bom' if mark else ''}" for name, mark in ENCODINGS])
def test_text_in_every_encoding_of_yaml(encoding: str, mark: bytes) -> None:
    assert decode("a.yaml", mark + TEXT.encode(encoding)) == Source("a.yaml", TEXT, encoding, bool(mark))


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a: 1\r\nb: 2\r", "\u3000a".encode(), "ﻮ".encode(), "ï: 1".encode(), b"a: \x1b[0m"])
def test_utf_8_stays_as_it_is(data: bytes) -> None:
    assert decode("a.yaml", data) == Source("a.yaml", data.decode())


@pytest.mark.parametrize("data", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE], ids=["utf-8", "utf-16", "utf-32"])
def test_a_mark_alone_is_an_empty_text(data: bytes) -> None:
    found = decode("a.yaml", data)
    assert isinstance(found, Source)
    assert (found.text, found.bom) == ("", True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"name: Gr\xf6\xdfe\n", "not UTF-8 at byte 8: invalid start byte"),
        ("é: ".encode() + b"\xff", "not UTF-8 at byte 4: invalid start byte"),
        (codecs.BOM_UTF8 + b"a\xe9", "not UTF-8 at byte 4: unexpected end of data"),
        (b"a: 1\nb: \0\n", "not text: NUL at byte 8"),
        ("é: 1\0".encode(), "not text: NUL at byte 5"),
        (codecs.BOM_UTF16_LE + b"a\0\0\0", "not text: NUL at byte 4"),
        (codecs.BOM_UTF16_LE + b"a\0b", "not UTF-16-LE at byte 4: truncated data"),
        (b"\0", "not text: NUL at byte 0"),
        (b"\0\0\0\0", "not text: NUL at byte 0"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "not text: NUL at byte 7"),
    ],
    ids=[
        "latin-1",
        "byte-of-latter-character",
        "after-mark",
        "nul",
        "nul-after-umlaut",
        "nul-utf-16",
        "odd-utf-16",
        "zero",
        "zeros",
        "program",
    ],
)
def test_what_is_not_text_names_the_byte(data: bytes, reason: str) -> None:
    assert decode("a.yaml", data) == Unreadable("a.yaml", reason)


@pytest.mark.parametrize(
    ("data", "matters"), [(b"name: \xe9", False), (b"per_device_train_batch_size: 8 # \xe9", True)], ids=["other", "batch"]
)
def test_bytes_matter_that_hold_a_batch_key(data: bytes, matters: bool) -> None:
    found = decode("a.yaml", data)
    assert isinstance(found, Unreadable)
    assert found.matters is matters


@pytest.mark.parametrize("path", ["run.sh", "job.SBATCH", "Makefile", "rules.mk", "README.md", "train.py", "env"])
@pytest.mark.parametrize("data", [b"", b"a\r\nb\r", "größe ×\n".encode(), codecs.BOM_UTF8 + b"a"], ids=["empty", "breaks", "utf-8", "mark"])
def test_a_script_in_utf_8_stays_as_it_is(path: str, data: bytes) -> None:
    assert decode(path, data) == Source(path, data.decode("utf-8-sig"), "utf-8", data.startswith(codecs.BOM_UTF8))


@pytest.mark.parametrize("path", ["run.sh", "job.SBATCH", "Makefile", "rules.mk", "README.md", "train.py", "env"])
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"# caf\xe9\nfoo\n", "# caf\udce9\nfoo\n"),
        ("größe".encode() + b" gr\xf6\xdfe", "größe gr\udcf6\udcdfe"),
        (codecs.BOM_UTF8 + b"\xff foo", "\udcff foo"),
    ],
    ids=["latin-1", "both", "after-mark"],
)
def test_a_script_is_read_whatever_its_bytes_are(path: str, data: bytes, text: str) -> None:
    found = decode(path, data)
    assert found == Source(path, text, "utf-8", data.startswith(codecs.BOM_UTF8))
    assert encoded(found) == data


@pytest.mark.parametrize("path", ["a.yaml", "a.YML", "a.json", "a.toml", "gbs.lock"])
def test_a_configuration_must_be_text(path: str) -> None:
    assert decode(path, b"# caf\xe9\n") == Unreadable(path, "not UTF-8 at byte 5: invalid continuation byte")


def test_a_mark_of_utf_16_does_not_hide_a_script() -> None:
    assert decode("run.sh", codecs.BOM_UTF16_LE + b"\ntorchrun") == Source("run.sh", "\udcff\udcfe\ntorchrun")


def test_a_script_with_a_nul_is_not_text_and_says_what_it_holds() -> None:
    found = decode("run.sh", b"foo \xe9\0bar")
    assert found == Unreadable("run.sh", "not text: NUL at byte 5", None, Source("run.sh", "foo \udce9\0bar"))
