"""Recipes that no file of the tree has: a script writes them itself, or the file of a job has their text."""

from __future__ import annotations

from functools import lru_cache

from pytest_gbs.composition.whole import Whole
from pytest_gbs.model.command import Written
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Location, Source
from pytest_gbs.readers import read
from pytest_gbs.shell.text import ShellText


@lru_cache(8)
def read_written(written: Written, script: str) -> tuple[Whole, ...]:
    """The documents of a file that `script` writes, with the places in the script at which their values stand.

    A value that the script computes is text that no number is.
    """
    text = "".join(part.text if part.text is not None else f"$({part.name})" for part in written.text.parts)
    parts = tuple(part if part.text is not None else part._replace(text=f"$({part.name})") for part in written.text.parts)
    places = ShellText(parts)
    found: list[Whole] = []
    for document in read(Source(written.path.text or written.path.raw, text)):
        if isinstance(document, Document):
            spans = {key: places.location(value.start, value.stop) for key, (_, value) in document.keyed.items() if value.stop}
            at = {key: Location(place.source, place.start, place.stop, key) for key, place in spans.items()}
            found.append(Whole(document._replace(source=Source(script, text), comments=()), at, ()))
    return tuple(found)
