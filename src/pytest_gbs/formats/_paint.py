"""Colours of a terminal: few, and never the only bearer of a meaning."""

from __future__ import annotations

from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.report import Verdict

STRONG: Final = "1"
DIM: Final = "2"
SECOND: Final = "35"  # magenta, which can be read on black and on white: the other operands
# Of a recipe that is verified, but for nothing that people said of its batch.
CONSISTENT: Final = "consistent"
_OF: Final = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;33",
    Severity.INFO: "1;36",
    Verdict.VERIFIED: "32",
    CONSISTENT: "32",
    Verdict.VIOLATED: "31",
    Verdict.WARNED: "33",
    Verdict.UNDETERMINED: "33",
}


class Paint(NamedTuple):
    """A brush that paints only where colours are wanted, and the signs that frames are drawn with."""

    color: bool
    ascii: bool = False
    links: bool = False

    def __call__(self, text: str, style: str) -> str:
        """`text` in a style, or in that of a severity or a verdict."""
        code = _OF.get(style, style)
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text and code[:1].isdigit() else text

    def link(self, text: str, address: str) -> str:
        """A text that leads to an address when it is clicked (OSC 8), where links are wanted and there is one."""
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and address else text

    @property
    def bar(self) -> str:
        """The line between line numbers and text."""
        return "|" if self.ascii else "│"

    @property
    def first(self) -> str:
        """What the place itself is underlined with."""
        return "^" if self.ascii else "━"

    @property
    def second(self) -> str:
        """What other places are underlined with."""
        return "-" if self.ascii else "─"

    @property
    def cut(self) -> str:
        """What stands for text left out."""
        return "..." if self.ascii else "…"
