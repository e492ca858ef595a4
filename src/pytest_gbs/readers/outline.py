"""The keys that a text shows although it can't be read: one for each line, below the lines that are indented less."""

from __future__ import annotations

from functools import cache
from itertools import islice

from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.limits import MOST_OUTLINED
from pytest_gbs.model.location import KeyPath, Source
from pytest_gbs.model.pattern import re


def outline(source: Source) -> Document:
    """A document of the keys that the lines of `source` show, each with the rest of its line as its value."""
    keyed: dict[KeyPath, tuple[Node, Node]] = {}
    above: list[tuple[int, KeyPath]] = []
    table: KeyPath = ()
    for match in islice(_line().finditer(source.text), MOST_OUTLINED):
        if match["table"]:
            table, above = tuple(match["table"].split(".")), []
            continue
        depth = len(match["indent"])
        while above and above[-1][0] >= depth:
            above.pop()
        name = match["key"].split(".") if match["sign"] == "=" else (match["key"],)
        path = (*(above[-1][1] if above else table), *name)
        above.append((depth, path))
        key, value = (Scalar(*match.span(part), match[part], plain=True) for part in ("key", "value"))
        keyed.setdefault(path, (key, value))
    syntax = source.path.rpartition(".")[2].lower()
    return Document(source, 1, syntax if syntax in ("json", "toml") else "yaml", None, keyed, (), ())


@cache
def _line() -> re.Pattern[str]:
    key = r"(?P<indent>[ \t]*+)[\"']?(?P<key>[A-Za-z_][\w./-]*+)[\"']?[ \t]*+(?P<sign>[:=])[ \t]*+[\"']?(?P<value>[^\s,\"'#]*+)"
    return re.compile(rf"(?m)^(?:\[\[?(?P<table>[\w.-]++)\]|{key})")
