"""The code blocks of documents: between fences or indented in Markdown, MDX and Quarto, below a directive in reStructuredText."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple


class Block(NamedTuple):
    """A code block: what it says it holds, its lines as spans, the heading above it, and whether its language would be said there."""

    language: str
    lines: tuple[tuple[int, int], ...]
    heading: str
    fenced: bool = False


def blocks(path: str, text: str) -> Iterator[Block]:
    """The code blocks of the document at `path`, by its name."""
    return _directed(text) if path.lower().endswith(".rst") else _fenced(text)


_fence = lazy_pattern(r"([ \t>]*)(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(`{3,}|~{3,})[ \t]*(.*)")


class Indented:
    """Follows the lines outside of fences: which of them are code because they are indented, below an empty line and in no list."""

    def __init__(self) -> None:
        self._blank = True
        self._listed = False
        self._inside = False

    def takes(self, line: str) -> bool:
        """Whether the next line is code; an empty one between two that are is, too, and may be the last."""
        if line.strip():
            indented = line.startswith(("    ", "\t")) and _fence().match(line) is None
            self._inside = indented and not self._listed and (self._inside or self._blank)
            if line[0] not in " \t" and (self._blank or line[0] == "#" or not self._listed):
                self._listed = _item().match(line) is not None
        self._blank = not line.strip()
        return self._inside


_item = lazy_pattern(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]")


def _fenced(text: str) -> Iterator[Block]:
    """Yield the blocks of a document that are fenced, and those that are indented."""
    heading, opened = "", None
    lines: list[tuple[int, int]] = []
    indented: list[tuple[int, int]] = []
    language, code = "", Indented()
    for start, stop in (*_lines(text), (len(text), len(text))):
        line = text[start:stop].rstrip("\r\n")
        if opened is None and start < stop and code.takes(line):
            indented.append((start, stop))
            continue
        if indented:
            yield Block("", tuple(_outdented(text, indented)), heading, fenced=True)
            indented = []
        match = _fence().match(line) if "```" in line or "~~~" in line else None
        if opened is None:
            if match and not (match.group(2)[0] == "`" and "`" in match.group(3)):
                opened, lines, language = match, [], _language(match.group(3))
            elif line.startswith("#") and line.lstrip("#")[:1] == " ":
                heading = line.strip("# ")
        elif match and match.group(2).startswith(opened.group(2)) and not match.group(3).strip():
            yield Block(language, tuple(lines), heading, fenced=not opened.group(3).lstrip().startswith("{"))  # Quarto runs `{python}`
            opened = None
        else:
            lines.append((start + _indent(line, opened.group(1)), stop))


def _language(info: str) -> str:
    """The first word behind a fence: `bash`, `{.bash}`, `{code-block} bash`."""
    words = info.replace("{", " ").replace("}", " ").replace(",", " ").split()
    words = [word.lstrip(".").lower() for word in words if word not in ("code-block", "code", "eval-rst", ":class:")]
    return words[0] if words else ""


def _indent(line: str, margin: str) -> int:
    """How much of `line` is the margin of its block."""
    count = 0
    while count < len(line) and count < len(margin) and (line[count] in " \t" or line[count] == margin[count]):
        count += 1
    return count


def _lines(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    while place < len(text):
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop + 1
        yield place, stop
        place = stop


_directive = lazy_pattern(r"([ \t]*)\.\. +(?:code|code-block|sourcecode|prompt|parsed-literal)::[ \t]*([\w-]*)")
_UNDERLINES: Final = frozenset("=-`:'\"~^_*+#")


def is_underline(line: str) -> bool:
    """Whether a line of reStructuredText makes the line above it a heading."""
    signs = line.rstrip()
    return len(signs) > 2 and signs[0] in _UNDERLINES and signs == signs[0] * len(signs)


def directed(line: str) -> str | None:
    """The language of the block of code that a line of reStructuredText starts, "" if it says none; None if it starts none."""
    match = _directive().match(line)
    if match:
        return str(match[2].lower())
    return "" if line.rstrip().endswith("::") and not line.lstrip().startswith("..") else None


def _directed(text: str) -> Iterator[Block]:
    """Yield the blocks below directives and below paragraphs that end in two colons."""
    heading, before, opened, language = "", "", -1, ""
    lines: list[tuple[int, int]] = []
    for start, stop in (*_lines(text), (len(text), len(text))):
        line = text[start:stop].rstrip("\r\n")
        inside = line[: len(line) - len(line.lstrip())]
        if opened >= 0 and start < stop and (len(inside) > opened or not line.strip()):
            # Options of a directive are right below it: `:linenos:`.
            if lines or not line.lstrip().startswith(":"):
                lines.append((start, stop))
            continue
        if opened >= 0:
            yield Block(language, tuple(_outdented(text, lines)), heading)
            opened = -1
        directive = directed(line)
        if directive is not None:
            opened, language, lines = len(inside), directive, []
        elif is_underline(line) and before.strip():
            heading = before.strip()
        before = line


def _outdented(text: str, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield `lines` without the blanks that all of them start with."""
    margins = [len(line) - len(line.lstrip()) for start, stop in lines if (line := text[start:stop]).strip()]
    margin = min(margins, default=0)
    yield from ((start + margin if text[start:stop].strip() else start, stop) for start, stop in lines)
