"""Settings in the code blocks of a document, as far as their own names and the comments beside them say what they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pytest_gbs.checking.own_settings import runs_of_own_settings, runs_of_programs
from pytest_gbs.checking.runs import Context
from pytest_gbs.model.document import Document
from pytest_gbs.model.limits import LONGEST_PROSE, MOST_DOCUMENTS
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final
from pytest_gbs.model.run import Run
from pytest_gbs.readers import read
from pytest_gbs.shell.blocks import blocks

_LANGUAGES: Final = {"yaml": False, "yml": False, "python": True, "py": True}
_another = lazy_pattern(r"[^\n]")


def runs_of_snippets(source: Source, context: Context) -> Iterator[Run]:
    """Yield a run for each mapping, call and the like in a block of YAML or Python that has one batch size and one accumulation.

    On how many processes it runs is not known: a document mostly shows a part of a program.
    """
    if "accum" not in source.text or len(source.text) > LONGEST_PROSE:
        return
    blank = _another().sub(" ", source.text)
    shown = (block for block in blocks(source.path, source.text) if block.lines and block.language in _LANGUAGES)
    for block in islice(shown, MOST_DOCUMENTS):
        start, stop = block.lines[0][0], block.lines[-1][1]
        text = source.text[start:stop]
        if "accum" not in text or "#" not in text:
            continue
        alone = source._replace(text=blank[:start] + text)
        if _LANGUAGES[block.language]:
            yield from runs_of_programs(alone, context, _several)
            continue
        for document in read(alone):
            if isinstance(document, Document):
                yield from runs_of_own_settings(document, context, _several)


def _several() -> bool:
    return False
