"""Writing to people's terminals, pipes and files: what their encoding lacks is written out, and a closed pipe is not an error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._escape import escape, neutralize
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import RECIPES, SCRIPTS
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.record import Final
from pytest_gbs.model.report import Bug

_FORMATS: Final = "text, azure, concise, csv, github, gitlab, json, jsonl, junit, markdown, rdjson, sarif, statistics"
_LINKED: Final = ("ghostty", "Hyper", "iTerm.app", "rio", "vscode", "WezTerm")  # terminals that know links, as they name themselves
_LINKED_TERMS: Final = ("alacritty", "foot", "xterm-ghostty", "xterm-kitty")
_LINKING: Final = ("DOMTERM", "KONSOLE_VERSION", "WT_SESSION")  # what others of them set
# What ends the names of files that no format is for, and that gbs reads.
_NEVER_OURS: Final = tuple({*RECIPES, *SCRIPTS} - {".json"})
_BLOCK: Final = 1 << 20  # characters that are written at once, at least
_SHOWN: Final = 20  # of one kind on standard error
_LINE_LENGTH: Final = 2_000  # characters
_VTE: Final = 5000  # since this version of it, every terminal built on VTE knows them


def add_output(parser: argparse.ArgumentParser, formats: str = _FORMATS) -> argparse._ArgumentGroup:
    """Add the flags that say how and where to write, and return their group."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", default="text", metavar="NAME", help=formats)
    group.add_argument("--output-file", metavar="FILE", help="write there instead of standard output")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", metavar="WHEN", help="auto, always, never")
    group.add_argument("-q", "--quiet", action="count", default=0, help="print less")
    group.add_argument("-v", "--verbose", action="count", default=0, help="print more: each file's verdict, each recipe in full")
    return group


def options(arguments: argparse.Namespace, root: str, folder: str) -> FormatOptions:
    """How to write, as the flags and the environment say."""
    return FormatOptions(
        color=_color(arguments),
        links=_links(arguments),
        columns=0 if arguments.output_file else terminal_columns(),
        ascii=not arguments.output_file and not _can_frame(),
        examples=getattr(arguments, "dataset_size", None) or 0,
        verbosity=arguments.verbose - arguments.quiet,
        root=slashed(root),
        folder=slashed(folder),
    )


def slashed(path: str) -> str:
    """A path of this machine with `/`."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _color(arguments: argparse.Namespace) -> bool:
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return not arguments.output_file and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _links(arguments: argparse.Namespace) -> bool:
    """Whether standard output is a terminal that shows a link as one; what passes text on (tmux, a pager, CI) gets none."""
    known = os.environ.get
    if arguments.output_file or not sys.stdout.isatty() or not _color(arguments) or known("CI") or known("TMUX") or known("STY"):
        return False
    version = known("VTE_VERSION", "")
    is_known = known("TERM_PROGRAM") in _LINKED or known("TERM") in _LINKED_TERMS or any(map(known, _LINKING))
    return is_known or ((whole_number(version) or 0) >= _VTE)


def terminal_columns() -> int:
    """The columns of the terminal that standard output is, or 0 if it is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    except (OSError, ValueError):
        return 0


def _can_frame() -> bool:
    """Whether standard output can show the signs of frames and underlines."""
    try:
        "│━─…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def emit(text: str, output_file: str | None = None, *, commands: str = "") -> None:
    """Write `text` to standard output or to a file, so that nothing in it can control a terminal or a CI system.

    `commands` is what commands to a CI system start with that are our own. A file is replaced in one go.

    Raises:
        UsageError: it can't be written.
    """
    if output_file:
        write_out(output_file, neutralize(text, commands=commands))
        return
    for block in _blocks(text):
        _write(neutralize(block, commands=commands))


def _blocks(text: str) -> Iterator[str]:
    """Yield `text` in blocks of whole lines: what is made of each to be written does not take much more memory."""
    start = 0
    while start < len(text):
        stop = text.find("\n", start + _BLOCK) + 1 or len(text)
        yield text[start:stop]
        start = stop


def write_out(name: str, text: str) -> None:
    """Write `text` to a file that is not one of the user's own.

    Raises:
        UsageError: it can't be written.
    """
    from pytest_gbs.files.writing import write_file
    from pytest_gbs.history.lockfile import NAME

    if name.lower().endswith((*_NEVER_OURS, NAME)) and os.path.isfile(name):  # noqa: PTH113
        raise UsageError(f"can't write {name}: there is such a file, which may be a recipe, a script or a lock; nothing was written")
    write_file(name, text.encode("utf-8", "backslashreplace"))


def clear_screen() -> None:
    """Clear the terminal that standard output is, and what was scrolled out of it; nothing happens to a pipe or a file."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _write("\x1b[H\x1b[2J\x1b[3J")


def emit_bytes(data: bytes) -> None:
    """Write `data` to standard output as they are.

    Raises:
        UsageError: they can't be written.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        _give_up(error)


def _write(text: str) -> None:
    stream = sys.stdout
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        _give_up(error)


def _give_up(error: OSError) -> None:
    """Write no more to standard output; the reader has closed the pipe.

    Raises:
        UsageError: anything else keeps the text from being written.
    """
    from pytest_gbs.cli._streams import cut_off

    cut_off(sys.stdout)
    if not isinstance(error, BrokenPipeError):
        raise UsageError(f"can't write to standard output: {error.strerror or error}") from error


def complain_each(lines: Iterable[str], most: int = _SHOWN) -> None:
    """Write the first of different lines for people to standard error, and how many there are besides."""
    different = list(dict.fromkeys(lines))
    for line in different[:most]:
        complain(line)
    if len(different) > most:
        complain(f"and {len(different) - most} more")


def complain_of_bugs(bugs: Iterable[Bug]) -> bool:
    """Write a line for each bug in gbs that was met; whether there is any, so that the exit code is 2."""
    lines = [bug.words for bug in bugs]
    for line in lines:
        complain(line)
    return bool(lines)


def complain(line: str, prefix: str = "gbs: ") -> None:
    """Write one line for people to standard error; if that is not possible, nothing is written."""
    try:
        line = line if len(line) <= _LINE_LENGTH else f"{line[:_LINE_LENGTH]}..."
        print(neutralize(f"{prefix}{escape(line)}").encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
    except UnicodeEncodeError:
        return
    except OSError:
        from pytest_gbs.cli._streams import cut_off

        cut_off(sys.stderr)
