"""JSON: what Python's json takes has its values, what it refuses is unreadable at the same place; hjson ends too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fuzz.seeds import texts
from fuzz.target import Target, source
from pytest_gbs.model.document import Document
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, LONGEST_NUMBER
from pytest_gbs.model.location import Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.json_reader import read_json
from tests.readers.reference import same, to_python


def _theirs(text: str) -> Any:
    try:
        return json.loads(text), -1
    except json.JSONDecodeError as error:
        return None, error.pos


def _run(data: bytes) -> None:
    text = source("a.json", data)
    if isinstance(text, Unreadable):
        return
    read_json(text, tolerant=True)
    read(text)
    (found,) = read_json(text)
    words = max(map(len, text.text.split() or ("",)))
    if words > LONGEST_NUMBER or text.text.count("[") + text.text.count("{") > DEEPEST_DOCUMENT:
        return
    value, mistake = _theirs(text.text)
    if isinstance(found, Document):
        assert mistake < 0
        assert same(to_python(found), value)
    else:
        assert found.offset == mistake


def _seeds() -> Iterator[bytes]:
    for text in texts(".json"):
        yield text.encode()
    yield b'{"train_batch_size": 8, // a\n "zero_optimization": {"stage": 3,}, # b\n /* c */ x: \'auto\'}'
    yield rb'[1, -0.5e+3, "\u0041\ud800\n", true, null, NaN, -Infinity, {"a": {}, "a": []}]'


TARGET = Target(_run, _seeds, ("NaN", "Infinity", "true", "null", '\\"', "\\ud800", "//", "/*", "*/", '{"train_batch_size": ', "'''"))
