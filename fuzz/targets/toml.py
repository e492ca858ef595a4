"""TOML: what tomllib takes has its values, what it refuses is unreadable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuzz.seeds import ROOT, texts
from fuzz.target import Target, source
from pytest_gbs.files.toml import tomllib
from pytest_gbs.model.document import Document
from pytest_gbs.model.limits import LONGEST_NUMBER
from pytest_gbs.model.location import Unreadable
from pytest_gbs.readers import read
from tests.readers.reference import same
from tests.readers.test_toml_reader import plain, value


def _theirs(text: str) -> Any:
    try:
        return plain(tomllib.loads(text))
    except (ValueError, RecursionError):
        return None


def _run(data: bytes) -> None:
    text = source("a.toml", data)
    if isinstance(text, Unreadable):
        return
    (found,) = read(text)
    theirs = _theirs(text.text)
    if isinstance(found, Document):
        assert theirs is not None
        if all(len(word) <= LONGEST_NUMBER for word in text.text.split()) and "a date" not in str(theirs):
            assert same(value(found.root), theirs)


def _seeds() -> Iterator[bytes]:
    for text in texts(".toml"):
        yield text.encode()
    for name in ("lingua", "nanogpt", "halos"):
        yield (ROOT / f"src/pytest_gbs/frameworks/{name}.toml").read_bytes()[:3000]
    yield b"a.b = 1_0 # c\n[[x]]\ny = {z = [0x1F, 'a', \"\\u0041\"], d = 1979-05-27T07:32:00Z}\n[x.k]\ns = '''\nt'''\nf = -inf\n"


TARGET = Target(
    _run, _seeds, ("[[a]]\n", "[a.b]\n", "'''", '"""', "0x1F", "1979-05-27T07:32:00Z", "\\U0001F600", "inf", "true", "a.b.c = ")
)
