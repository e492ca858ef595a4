"""What a rule about one file is handed: the document, what it was recognised as, and the sizes it states."""

from __future__ import annotations

from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.quantity import Name, Size
from pytest_gbs.model.record import Final, NamedTuple

# They count in optimizer steps and are not part of a batch.
INTERVALS: Final = frozenset((Name.MAX_STEPS, Name.SAVE_STEPS, Name.EVAL_STEPS, Name.LOGGING_STEPS))


class FileView(NamedTuple):
    """One document, seen by itself.

    `framework` is the table it belongs to, if it is a recipe; `launcher` what it gives, if it is a launcher file. `sizes` are
    those that its own keys state.
    """

    document: Document
    framework: Framework | None
    sizes: dict[str, Size]
    launcher: LauncherFile | None
