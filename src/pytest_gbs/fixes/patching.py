"""A patch that `git apply` takes: unified diffs whose lines end where git ends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Final

from pytest_gbs.model.location import Source

_QUOTED: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}


def patch(path: str, before: Source, after: Source) -> str:
    """The patch that turns `before` into `after`, both at `path` as git calls it; both are UTF-8."""
    old, new = _lines(before), _lines(after)
    names = _name(f"a/{path}"), _name(f"b/{path}")
    body = "".join(_marked(list(unified_diff(old, new, *names, n=3, lineterm="\n"))[2:]))
    return f"diff --git {names[0]} {names[1]}\n--- {_ended(names[0])}\n+++ {_ended(names[1])}\n{body}" if body else ""


def _lines(source: Source) -> list[str]:
    """The lines as git counts them: they end at LF alone. A byte order mark is a part of the first."""
    text = ("\ufeff" if source.bom else "") + source.text
    return [part + "\n" for part in text.split("\n")[:-1]] + ([text.rpartition("\n")[2]] if not text.endswith("\n") and text else [])


def _marked(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _name(path: str) -> str:
    """A path as git reads it: in quotes if it holds signs that would be misread, or `##`, which starts commands of CI systems."""
    plain = "##" not in path and all(sign not in _QUOTED and " " <= sign <= "~" for sign in path)
    return path if plain else '"' + "".join(map(_escaped, path)).replace("##", "#\\043") + '"'


def _escaped(sign: str) -> str:
    if sign in _QUOTED:
        return _QUOTED[sign]
    return sign if " " <= sign <= "~" else "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))


def _ended(name: str) -> str:
    """A name whose end git recognises: a tab goes behind one with a blank in it."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name
