"""Python programs and notebooks: read as text, never run or imported; each call that sets a batch size is a document."""

from __future__ import annotations

from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers.python.documents import read_documents
from pytest_gbs.readers.python.program import read_program


def read_python(source: Source) -> tuple[Document | Unreadable, ...]:
    """The documents of a Python file or a notebook, in the order of the text; why there are none where Python's parser refuses it."""
    program = read_program(source)
    return (program,) if isinstance(program, Unreadable) else tuple(read_documents(program))
