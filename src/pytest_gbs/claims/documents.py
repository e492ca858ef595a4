"""What the prose of a document states about batches and hardware, by section; code blocks are not prose."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, takewhile
from typing import Final

from pytest_gbs.claims.block_comments import Commented, comments_in_blocks
from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.claims.grammars._candidate import digit
from pytest_gbs.claims.pointing import Pointed, code_blocks, offers, pointed_at, started_scripts
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.limits import LONGEST_PROSE, MOST_SECTIONS, MOST_STATED
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.quantity import HARDWARE, Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.blocks import Indented, blocks, directed, is_underline

# Headings of sections that report what was or what others did, rather than what the files of the repository do.
_ELSEWHERE: Final = (
    *("result", "benchmark", "performance", "throughput", "changelog", "release", "history", "news", "citation", "acknowledg"),
    *("related work", "model zoo", "troubleshoot", "faq", "profil", "ablation"),
)
# The same where the heading doesn't name training as well: `Training and evaluation`.
_BESIDE_TRAINING: Final = ("evaluat", "inference", "serving", "deploy")
_TRAINING: Final = ("train", "tuning")
# Those of which a part may say how it is done: `Model zoo`, and in it `Training`.
_WITH_TRAINING: Final = ("model zoo", "result", *_BESIDE_TRAINING)
_HISTORIES: Final = ("changelog", "history", "release", "news")
_WORDS: Final = ("batch", "gbs", "gpu", "a100", "h100")


class Paragraph(NamedTuple):
    """A paragraph, an item of a list or a row of a table: what it states, and the files that it names.

    `row` is true of a row of a table with several columns, which is about what it names and nothing else. `block` is the code
    block that it points at, or the commands that it is a comment on: such a `comment` is about them and nothing else. A `heading` is
    about its section.
    """

    start: int
    declarations: tuple[Declaration, ...]
    names: tuple[str, ...]
    row: bool = False
    block: Pointed | None = None
    comment: bool = False
    heading: bool = False


class Section(NamedTuple):
    """A section from its heading to the next one, of whatever level: level 0 is what is before the first heading.

    `scripts` are those that its commands start as they are; one with other arguments or variables is a launch of its own.
    """

    level: int
    start: int
    stop: int
    paragraphs: tuple[Paragraph, ...]
    scripts: tuple[str, ...] = ()

    def values(self, block: Pointed | None = None) -> dict[tuple[str, str], set[int]]:
        """The numbers of each size and unit that its prose states, without rows of tables, which are about what they name.

        With `block` only what points at that block counts.
        """
        found: dict[tuple[str, str], set[int]] = {}
        for each in self.paragraphs if block is None else (one for one in self.paragraphs if one.block == block):
            for declaration in () if each.row else (one for one in each.declarations if one.force != Force.CONFIRMS):
                found.setdefault((declaration.name, declaration.unit), set()).add(declaration.value)
        return found


@lru_cache(maxsize=4)
def read_sections(source: Source) -> tuple[Section, ...]:
    """The sections of a document with what they state, without those whose heading says that they report results or history.

    A document without any word of a batch or of GPUs has none, nor has one that is a list of changes, is too long, or states too much.
    """
    lower = source.text.lower()
    name = source.path.rpartition("/")[2].lower()
    if len(lower) > LONGEST_PROSE or name.startswith(_HISTORIES) or not any(map(lower.__contains__, _WORDS)):
        return ()
    found: list[Section] = []
    in_code = tuple(blocks(source.path, source.text))
    shown, commented = code_blocks(source.text, in_code), tuple(comments_in_blocks(source.text, in_code))
    left_out: Section | None = None  # the last one whose heading is `around`; it is found, and empty, if a part of it is
    around = ""
    stated = 0
    for number, (level, start, stop, heading) in enumerate(_headed(source)):
        if number >= MOST_SECTIONS:
            return ()
        called = heading.lower()
        if left_out is None or level <= left_out.level:
            left_out, around = Section(level, start, start, (), ()) if level and _is_elsewhere(called) else None, called
            if left_out is not None:
                continue
        elif not _is_how(called, around):
            continue
        elif left_out not in found:
            found.append(left_out)
        paragraphs: list[Paragraph] = []
        head = [(start + source.text[start:stop].index(heading), _plain(heading))] if heading else []
        own = (each._replace(heading=True) for each in _paragraph(source, head)) if head else ()
        for each in chain(own, _paragraphs(source, start, stop, shown), _comments(source, start, stop, commented)):
            stated += len(each.declarations)
            if stated > MOST_STATED:
                return ()
            paragraphs.append(each)
        found.append(Section(level, start, stop, tuple(paragraphs), started_scripts(source.text, start, stop)))
    return tuple(found)


def _is_how(heading: str, around: str) -> bool:
    """Whether a part of a section that is left out, which `around` heads, is about training all the same."""
    return any(map(around.__contains__, _WITH_TRAINING)) and _names_training(heading) and not _is_elsewhere(heading)


def _is_elsewhere(heading: str) -> bool:
    """Whether a section below `heading`, in lower case, reports results or history, or is about something else than training."""
    words = _ELSEWHERE if _names_training(heading) else (*_ELSEWHERE, *_BESIDE_TRAINING)
    return any(map(heading.__contains__, words))


def _names_training(heading: str) -> bool:
    return any(map(heading.__contains__, _TRAINING))


_line = lazy_pattern(r"[^\n]*\n?")
_fence = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")
_heading = lazy_pattern(r"(#{1,6})[ \t]+(.*)")


def prose(source: Source, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """The lines of a part of a document that are in no code block, each with its place; a block is an empty line."""
    return (_structured_prose if source.path.lower().endswith(".rst") else _marked_prose)(source.text, start, stop)


def _marked_prose(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of a part of Markdown."""
    fence, code = "", Indented()
    while start < stop:
        match = _line().match(text, start, stop)
        assert match is not None
        line = match[0].rstrip("\r\n")
        marker = _fence().match(line)
        if fence:
            fence = "" if marker and marker[1].startswith(fence) else fence
        elif marker:
            fence = marker[1]
            yield start, ""
        else:
            yield start, "" if code.takes(line) else line
        start = match.end()


def _structured_prose(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """The same of reStructuredText, with headings as Markdown has them; their level is the order in which their underlines turn up."""
    levels: dict[str, int] = {}
    opened = -1  # the indentation of the line whose block of code is left out
    before: tuple[int, str] | None = None
    while start < stop:
        match = _line().match(text, start, stop)
        assert match is not None
        line, place, start = match[0].rstrip(), start, match.end()
        inside = len(line) - len(line.lstrip())
        if line and inside <= opened:
            opened = -1
        if opened >= 0:
            line = ""
        elif before is not None and before[1].strip() and is_underline(line):
            level = levels.setdefault(line[0], min(len(levels), 5) + 1)
            before, line = (before[0], f"{'#' * level} {before[1].strip()}"), ""
        elif directed(line) is not None:
            opened = inside
        if before is not None:
            yield before
        before = place, line
    if before is not None:
        yield before


def _headed(source: Source) -> Iterator[tuple[int, int, int, str]]:
    """Yield the level, the start, the end and the heading of each section."""
    level, begin, heading = 0, 0, ""
    for start, line in prose(source, 0, len(source.text)):
        match = _heading().match(line) if line.startswith("#") else None
        if match:
            yield level, begin, start, heading
            level, begin, heading = len(match[1]), start, match[2]
    yield level, begin, len(source.text), heading


_item = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def _paragraphs(source: Source, start: int, stop: int, shown: Sequence[Pointed]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a section that state something or name files; `shown` are the code blocks of the document."""
    lines: list[tuple[int, str]] = []
    header: list[str] = []
    rows: list[tuple[str, Paragraph]] = []
    for place, line in (*prose(source, start, stop), (stop, "")):
        in_table = line.lstrip().startswith("|")
        if lines and (not line.strip() or in_table or line.startswith("#") or _item().match(line)):
            found = list(_paragraph(source, [(at, _plain(one)) for at, one in lines]))
            first, end = lines[0][0], lines[-1][0] + len(lines[-1][1])
            block = pointed_at(source.text, first, end, shown) if found or rows else None
            offered = block is not None and offers(source.text[first:end])
            yield from (each._replace(block=block, declarations=_as_offered(each) if offered else each.declarations) for each in found)
            if block is not None and rows:  # `| stage1 | 512 |` and then `Training script for stage1 as follows:`
                said = {each.lower() for each in _label().findall("\n".join(one for _, one in lines))}
                rows = [(label, each._replace(block=block) if label.lower() in said else each) for label, each in rows]
            lines = []
        if not in_table:
            header = []
            lines += [(place, line)] if line.strip() and not line.startswith("#") else []
            continue
        cells = list(cells_of(place, line))
        if not header:
            header = [cell for _, cell in cells]
        elif set(line) - set("|:- \t"):
            rows += ((cells[0][1], each) for each in _row(source, cells, header))
    yield from (each for _, each in rows)


def _comments(source: Source, start: int, stop: int, commented: Sequence[Commented]) -> Iterator[Paragraph]:
    """Yield the comments in the code blocks of a section that state something; `commented` are those of the document, in order."""
    first = bisect_left(commented, start, key=lambda each: each[1])
    for lines, begin, end in takewhile(lambda each: each[1] < stop, commented[first:]):
        said = any(digit().search(line) or "gpu" in line.lower() for _, line in lines)
        for each in _paragraph(source, lines) if said else ():
            yield each._replace(block=Pointed(begin, end, started_scripts(source.text, begin, end)), comment=True)


def _as_offered(paragraph: Paragraph) -> tuple[Declaration, ...]:
    """The statements of a paragraph that offers the block behind it: the hardware that its readers have is that of the block."""
    states = (each.force == Force.ADVISES and each.name in HARDWARE for each in paragraph.declarations)
    return tuple(each._replace(force=Force.STATES) if so else each for each, so in zip(paragraph.declarations, states, strict=True))


_label = lazy_pattern(r"[A-Za-z]\w+(?:[.-]\w+)*")


def _plain(line: str) -> str:
    """A line with blanks in the place of the signs of Markdown and LaTeX, each character at its place."""
    item = _item().match(line)
    line = " " * item.end() + line[item.end() :] if item else line
    line = line.replace("`", " ").replace("**", "  ")
    return _formula().sub(_without_latex, line) if "$" in line or "\\" in line else line


_formula = lazy_pattern(r"\\(times|cdot|div|approx)(?![A-Za-z])|\\(?:text|mathrm|mathit|operatorname)\{|[A-Za-z]\w*(?:\\_\w+)+|[\\{}$]")
_OPERATORS: Final = {"times": "x", "cdot": "x", "div": "/", "approx": "~"}


def _without_latex(match: re.Match[str]) -> str:
    """A command of LaTeX as prose has it, as long as it was: `\\times` as `x`, `a\\_b` as `a_b`."""
    if match[1]:
        return _OPERATORS[match[1]].center(len(match[0]))
    return match[0].replace("\\_", "_").ljust(len(match[0])) if "\\_" in match[0] else " " * len(match[0])


def cells_of(place: int, line: str) -> Iterator[tuple[int, str]]:
    """Yield the cells of a row of a table, each with its place."""
    at = place
    for cell in line.rstrip().removesuffix("|").split("|"):
        if at > place or cell.strip():
            yield at + len(cell) - len(cell.lstrip()), _plain(cell.lstrip()).rstrip()
        at += len(cell) + 1


def _row(source: Source, cells: list[tuple[int, str]], header: list[str]) -> Iterator[Paragraph]:
    """Yield a row as prose: `Global batch size: 128` if there are two columns, else each number behind the heading of its column."""
    (place, label), values = cells[0] if cells else (0, ""), cells[1:]
    of_settings = len(cells) == 2 or any(header[0].lower().endswith(word) for word in _SETTINGS)
    size, numbers = _size().fullmatch(label), [each for each in values if digit().search(each[1])]
    if size and len({cell for _, cell in numbers}) == 1 and not any("batch" in each.lower() for each in header[1:]):
        # Of one device or of all: who trains on several mostly means all, and where that is what a launch gives, it is.
        parts = [(place, "Global batch size: "), numbers[0]]
        yield from _stated(source, _block(parts), row=not of_settings or len(numbers) > 1, only_confirms=not size[1])
        return
    parts = []
    for i, (place, cell) in enumerate(cells):
        if len(cells) == 2:
            parts.append((place, f"{cell}{': ' if i == 0 else ''}"))
        else:
            called = f"{header[i]}: " if i < len(header) and cell[:1].isdigit() else ""
            parts += [(place, called), (place, f"{cell}, ")]
    yield from _stated(source, _block(parts), row=len(cells) > 2)


def _block(parts: list[tuple[int, str]]) -> CommentBlock:
    """Parts of a text, each with its place, as one."""
    text, pieces = "", []
    for place, part in parts:
        pieces.append((len(text), place))
        text += part
    return CommentBlock(text, tuple(pieces), None, "header")


_size = lazy_pattern(r"(?i)(global[ _]|total[ _]|effective[ _])?(?:train(?:ing)?[ _])?batch[ _-]?size")
# Headings of the first column of a table whose rows are settings: each row is about what its section is about.
_SETTINGS: Final = ("parameter", "parameters", "setting", "settings", "option", "argument", "config", "configuration")


def _paragraph(source: Source, lines: list[tuple[int, str]]) -> Iterator[Paragraph]:
    text, pieces = "", []
    for place, line in lines:
        body = line.strip()
        pieces.append((len(text), place + len(line) - len(line.lstrip())))
        text += f"{body}\n"
    yield from _stated(source, CommentBlock(text.rstrip("\n"), tuple(pieces), None, "header"))


_file = lazy_pattern(r"(?<![\w.+/-])[\w.+/-]{1,300}\.(?:ya?ml|toml|json|sh|slurm|sbatch)(?![\w/-])")


def _stated(source: Source, block: CommentBlock, *, row: bool = False, only_confirms: bool = False) -> Iterator[Paragraph]:
    names = tuple(dict.fromkeys(_file().findall(block.text)))
    # A file name makes a comment be about another recipe, and a flag about another command; here they are the subject.
    prose = block._replace(text=_flag().sub(_blank, _file().sub(_blank, block.text)))
    declarations = read_declarations((prose,), source.path)
    declarations += _plain_batches(source, prose) if all(each.name != Name.GLOBAL_BATCH_SIZE for each in declarations) else ()
    if prose != block:
        changed = tuple(block.locate(source.path, start, stop) for start, stop in _about_flags(block.text))
        declarations = tuple(each for each in declarations if not any(at.start <= each.at.start < at.stop for at in changed))
    if only_confirms:
        declarations = tuple(each._replace(force=Force.CONFIRMS) for each in declarations if each.force == Force.STATES)
    declarations = tuple(each._replace(paragraph=prose) for each in declarations)
    if names or declarations:
        yield Paragraph(block.pieces[0][1], declarations, names, row)


def _plain_batches(source: Source, block: CommentBlock) -> tuple[Declaration, ...]:
    """The batches that prose states without a word that says whether they are of one device or of all: weak, and count where they hold."""
    starts = [match.start() for match in _batch().finditer(block.text)]
    if not starts:
        return ()
    places = sorted({*(offset for offset, _ in block.pieces), *starts})
    pieces = ((at + len(_GLOBAL) * bisect_right(starts, at), block.locate(source.path, at, at).start) for at in places)
    called = block._replace(text=_batch().sub(lambda match: _GLOBAL + str(match[0]), block.text), pieces=tuple(pieces))
    found = (each for each in read_declarations((called,), source.path) if each.name == Name.GLOBAL_BATCH_SIZE)
    right = (each for each in found if each.sum is None or each.sum.value == each.value)
    stated = (each for each in right if each.force in (Force.STATES, Force.HISTORY))
    text = {each: each.text.replace(_GLOBAL, "") for each in stated}
    return tuple(each._replace(force=Force.CONFIRMS, text=said, weak=each.force == Force.STATES, sum=None) for each, said in text.items())


_GLOBAL: Final = "global "
_batch = lazy_pattern(r"(?i)(?<![\w-])batch[ _-]?size(?![\w-])|(?<![全总效际])批(?:处理|次|量)?大小")
_flag = lazy_pattern(r"(?<![\w-])--[A-Za-z][\w.-]{0,100}")
_given = lazy_pattern(r"[ =`]+[0-9]")
_sentence_end = lazy_pattern(r"[.!?]\)?\s+(?=[A-Z(\"']|--)|, but (?=you )")
# Parts of flags that change a batch, so that what the rest of a paragraph says holds with them alone.
_SIZING: Final = ("batch", "accum", "gpu", "nproc", "proc", "node", "freq", "grad", "world", "parallel", "sentences", "tokens")


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _about_flags(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph that name flags, and those behind a flag that sets a size."""
    start, sized = 0, False
    for stop in (*(match.end() for match in _sentence_end().finditer(text)), len(text)):
        flags = list(_flag().finditer(text, start, stop))
        if flags or sized:
            yield start, stop
        sized = sized or any(part in flag[0].lower() for flag in flags for part in _SIZING if _given().match(text, flag.end()))
        start = stop


def read_own_numbers(source: Source) -> Iterator[Declaration]:
    """Yield the batches that a document states together with arithmetic or the GPUs that share them."""
    for section in read_sections(source):
        for paragraph in section.paragraphs:
            for each in paragraph.declarations:
                is_batch = each.name == Name.GLOBAL_BATCH_SIZE and each.force in (Force.STATES, Force.ADVISES, Force.HISTORY)
                if is_batch and (each.sum is not None or each.conditions):
                    yield each
