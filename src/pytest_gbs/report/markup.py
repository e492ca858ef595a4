"""HTML and SVG put together from parts that are safe: each text and each attribute is escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as html_escape

from pytest_gbs.formats._escape import escape


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(words: str) -> Markup:
    """`words` as text of a page: no part of it is a tag, and nothing turns the writing around."""
    return words if isinstance(words, Markup) else Markup(html_escape("\n".join(map(escape, words.split("\n")))))


def element(tag: str, *parts: str, **attributes: object) -> Markup:
    """The element `tag` around `parts`, which are escaped unless they are markup.

    A trailing underscore of an attribute's name falls off, others become hyphens; True stands for an attribute without a value, and
    None and False for none.
    """
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    return Markup(f"<{tag}{said}>{''.join(map(text, parts))}</{tag}>")


def joined(parts: Iterable[str]) -> Markup:
    """All `parts` one behind the other."""
    return Markup("".join(map(text, parts)))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
