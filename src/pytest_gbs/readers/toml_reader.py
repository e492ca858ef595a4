"""A TOML text as a document of the same nodes as YAML, or why Python's tomllib would not read it."""

from __future__ import annotations

from typing import Final

from pytest_gbs.files.toml import tomllib
from pytest_gbs.model.document import CommentBlock, Document
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.comments import read_comments
from pytest_gbs.readers.owners import Keys
from pytest_gbs.readers.refusal import TOO_DEEP, TOO_LONG, TOO_MANY, RefusedDocument, unreadable
from pytest_gbs.readers.toml_nodes import Statements

# Files of other tools, and templates: whether they can be read is not our business unless they are named.
_OTHERS: Final = frozenset((
    "pyproject.toml", "cargo.toml", "gbs.toml", "pipfile", "book.toml", "netlify.toml", "fly.toml", "wrangler.toml", "rustfmt.toml",
    "clippy.toml", "taplo.toml", "ruff.toml", "pixi.toml", "hatch.toml", "project.toml", "manifest.toml", "rust-toolchain.toml",
))  # fmt: skip
_TEMPLATE: Final = ("{{", "{%")


def read_toml(source: Source) -> tuple[Document | Unreadable, ...]:
    """The one document of `source`, or where and why Python's tomllib stops."""
    refusal: RefusedDocument | None = None
    statements = Statements(source.text)
    try:
        root = statements.root()
    except RefusedDocument as found:
        refusal = found
    if refusal is None or refusal.reason not in (TOO_DEEP, TOO_LONG, TOO_MANY):
        refusal = _refused(source.text) or refusal
    if refusal is not None:
        problem = unreadable(source, refusal.offset, refusal.reason)
        return (problem._replace(matters=problem.matters and not _is_others(source)),)
    keyed, inner = statements.keyed, statements.inner
    comments: tuple[CommentBlock, ...] = ()
    if "#" in source.text:
        flat = source.text.replace("\r\n", " \n")
        comments = read_comments(flat, (0, len(flat)), statements.opaque, Keys(keyed, inner, root, False))
    return (Document(source, 1, "toml", root, keyed, comments, ()),)


def _refused(text: str) -> RefusedDocument | None:
    """Why tomllib does not take `text`, or None if it does."""
    try:
        tomllib.loads(text)
    except RecursionError:
        return RefusedDocument(0, TOO_DEEP)
    except ValueError as error:  # a TOMLDecodeError, or int() at a number of thousands of digits
        return _placed(text, str(error))
    return None


def _placed(text: str, message: str) -> RefusedDocument:
    """The message of tomllib without the place at its end, which becomes an offset."""
    match = _place().search(message)
    reason = message[: match.start()] if match else message
    reason = reason[:1].lower() + reason[1:].rstrip(" (")
    if match is None or not match["line"]:
        return RefusedDocument(len(text) if match else 0, reason)
    start = 0
    for _ in range(int(match["line"]) - 1):
        start = text.find("\n", start) + 1
    return RefusedDocument(start + int(match["column"]) - 1, reason)


def _is_others(source: Source) -> bool:
    """Whether the file belongs to another tool by its name, or is a template that something fills in first."""
    name = source.path.rpartition("/")[2].lower()
    return name in _OTHERS or any(mark in source.text for mark in _TEMPLATE)


_place = lazy_pattern(r" \(at (?:line (?P<line>[0-9]+), column (?P<column>[0-9]+)|end of document)\)\Z")
