"""Notebooks: any JSON, and any text in the cells of a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fuzz.target import Target, source
from fuzz.targets.python import PROGRAMS, watch
from pytest_gbs.model.location import Unreadable
from pytest_gbs.readers.python import cell_words


def _notebook(*cells: object) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def _run(data: bytes) -> None:
    cells = ({"cell_type": "code", "source": text} for text in data[1:].decode("utf-8", "replace").split("\x1e"))
    found = source("a.ipynb", data[1:] if data[:1] == b"{" else _notebook(*cells))
    if not isinstance(found, Unreadable):
        watch(found)
        cell_words(found, len(found.text) // 2)


def _seeds() -> Iterator[bytes]:
    for text in PROGRAMS:
        yield b"0" + text.replace("\n", "\n\x1e", 2).encode()
        yield b"{" + _notebook({"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": [{"text": ["x"]}]})
    yield b"0!pip install trl==0.15\n%%bash\naccelerate launch train.py\n\x1e%env A=1\nx = !ls\n?help\n"


TARGET = Target(
    _run, _seeds, ('"source": [', '"cell_type": "markdown"', "\\n", "!pip install ", "%%bash\n", "%time ", "\x1e", "SFTConfig(")
)
