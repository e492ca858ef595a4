"""The commands of a notebook: lines behind `!`, cells for a shell (`%%bash`), and files that cells write (`%%writefile`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pytest_gbs.model.command import OtherFiles, Part, Script
from pytest_gbs.model.document import SHELL_CELL, CommentBlock
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.owners import HEADER
from pytest_gbs.readers.python import read_constants
from pytest_gbs.readers.python.notebook import CODE, MARKDOWN, Cell, is_python, read_cells
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_CHARACTERS, MOST_PIECES, Exhausted
from pytest_gbs.shell.state import ShellState, Variable, unknown
from pytest_gbs.shell.text import Parts, ShellText, parse, replaced

_END: Final = "END_OF_CELL"


class _Text(NamedTuple):
    """A text that a shell is given; whether what it sets lasts, and whether it sees the names of Python."""

    parts: Parts
    lasts: bool = False
    sees_names: bool = False


def read_notebook(source: Source, others: OtherFiles | None) -> Script:
    """What the cells of a notebook run. Each line behind `!` has a shell of its own; `%cd` and `%env` last.

    Names of Python that are bound once to a number or a text have that value in such a line; all other variables are unknown.
    """
    cells = read_cells(source)
    interpreter = Interpreter(source, others)
    comments: list[CommentBlock] = []
    try:
        comments.extend(_read(interpreter, source, () if isinstance(cells, Unreadable) else cells))
    except Exhausted as exhausted:
        interpreter.stop(str(exhausted), exhausted.at or interpreter.at_start)
    return interpreter.script(source.path, comments)


def _read(interpreter: Interpreter, source: Source, cells: tuple[Cell, ...]) -> Iterator[CommentBlock]:
    """Read what cells give to shells, and yield the comments of that, and the texts right above these cells.

    Raises: Exhausted: it is too much.
    """
    lasting = ShellState(interpreter.budget)
    lasting.forgotten = True
    left, above = MOST_CHARACTERS, None
    for cell in cells:
        interpreter.context = f"cell {cell.number}"
        texts = tuple(_texts(source, cell)) if cell.kind == CODE else ()
        if texts and above is not None:
            yield CommentBlock(above.text, tuple(above.places(source.text)), None, HEADER)
        above = cell if cell.kind == MARKDOWN and cell.strings else None
        for each in texts:
            text = ShellText(each.parts)
            left -= len(text.string)
            if left < 0:
                raise Exhausted(f"more than {MOST_CHARACTERS:,} characters in its commands")
            root = parse(text, interpreter.budget)
            yield from read_comments(text, root)
            state = lasting if each.lasts else lasting.copy()
            for name in _variable().findall(text.string) if each.sees_names else ():
                known = _constant(source, name)
                state.variables.update({name: Variable((known,))} if known is not None else {})
            if not interpreter.read_text(text, root, state=state):
                return


def _texts(source: Source, cell: Cell) -> Iterator[_Text]:
    """Yield what a cell gives to shells."""
    text = cell.text
    if "!" not in text and "%" not in text:
        return
    whole = _parts(source, cell)
    script, file = _for_shell().match(text), _writes().match(text)
    if script is not None:
        yield _Text(whole.slice(script.end(), len(text)))
    elif file is not None:
        path = _filled(whole.slice(*file.span(2)), source)
        at = whole.location(*file.span(2))
        opening = _typed("cat >> " if file[1] else "cat > ", at), *path, _typed(f" <<'{_END}'\n", at)
        yield _Text((*opening, *whole.slice(file.end(), len(text)), _typed(f"\n{_END}\n", at)), lasts=True)
    elif is_python(text):
        yield from _lines(whole, source)


def _lines(cell: ShellText, source: Source) -> Iterator[_Text]:
    """Yield the lines of a cell of Python that are for a shell, each with those that continue it and the comments above it."""
    text = cell.string
    start, above = 0, list[Part]()
    for match in _line().finditer(text):
        if text[start : match.start()].strip():
            above = []
        start = match.end()
        parts = cell.slice(*match.span("command"))
        if match["command"].startswith("#"):
            above += parts
        elif match["magic"]:
            word = _typed("cd " if match["magic"] == "cd" else "export ", cell.location(*match.span("command")))
            yield _Text((word, *_filled(parts, source)), lasts=True)
        else:
            yield _Text((*above, *_filled(parts, source)), sees_names=True)
            above = []


# `!command`, `%cd folder`, `%env NAME=value`, each with the lines that continue it; a comment of Python is one of a shell too.
_line = lazy_pattern(
    r"(?m)^[ \t]*+(?:!!?[ \t]*+|%(?P<magic>cd|(?:set_)?env(?=[ \t]++\w++=))[ \t]++|(?=#))(?P<command>(?:[^\n\\]|\\\n|\\.)*+\n?)"
)
# Behind `%%script` is the program that runs the cell, which need not be a shell.
_for_shell = lazy_pattern(rf"\s*{SHELL_CELL}(?:(?<!script)|[ \t]+(?:--?\w[\w-]*[ \t]+){{0,9}}(?:ba|z)?sh\b).*\n?")
_writes = lazy_pattern(r"\s*%%(?:writefile|file)[ \t]+(-a[ \t]+)?([^\n]*[^\s])[ \t]*(?:\n|\Z)")
_expression = lazy_pattern(r"(?<![$\\{])\{([^{}\n]{1,200})\}(?!\})")


def _filled(parts: Parts, source: Source) -> Parts:
    """`parts` with what is known of the Python expressions between braces in them.

    Raises: Exhausted: there are too many.
    """
    if sum(part.text.count("{") for part in parts if part.text is not None) > MOST_PIECES:
        raise Exhausted(f"more than {MOST_PIECES:,} expressions in a line")

    def value(part: Part, match: re.Match[str]) -> Parts:
        use = part.cut(*match.span()).use
        known = _constant(source, match[1].strip())
        return (known._replace(use=use) if known is not None else unknown(match.group(), use),)

    return replaced(parts, _expression(), value)


_variable = lazy_pattern(r"\$\{?([A-Za-z_]\w*)")


def _constant(source: Source, name: str) -> Part | None:
    """The value of a name that the Python of a notebook binds once; None if unknown. It is read where a line asks for it."""
    found = read_constants(source).get(name)
    return Part(found.text, found.at, found.at) if found is not None else None


def _typed(text: str, at: Location) -> Part:
    """A text that stands in no file, in place of what is at `at`."""
    return Part(text, at, at)


def _parts(source: Source, cell: Cell) -> ShellText:
    """The text of a cell; an escape of JSON is a character whose place is longer than itself."""
    found: list[Part] = []
    text = cell.text
    for (start, origin), (stop, end) in pairwise((*cell.places(source.text), (len(text), 0))):
        plain = stop - start - (source.text[origin + stop - start - 1 : origin + stop - start] == "\\" if stop > start else 0)
        if plain:
            at = Location(source.path, origin, origin + plain)
            found.append(Part(text[start : start + plain], at, at))
        if start + plain < stop:
            at = Location(source.path, origin + plain, end)
            found.append(Part(text[start + plain : stop], at, at))
        if len(found) > MOST_PIECES:
            raise Exhausted(f"more than {MOST_PIECES:,} lines and escapes in a cell")
    return ShellText(tuple(found))
