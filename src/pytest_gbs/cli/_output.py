"""Writing to people's terminals, pipes and files: what their encoding lacks is written out, and a closed pipe is not an error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from pytest_gbs.formats import Options
from pytest_gbs.formats._escape import escape, neutralize
from pytest_gbs.model.errors import UsageError

if TYPE_CHECKING:
    import argparse

_FORMATS: Final = "text, concise, github, gitlab, json, junit, markdown, sarif"


def add_output(parser: argparse.ArgumentParser, formats: str = _FORMATS) -> argparse._ArgumentGroup:
    """Add the flags that say how and where to write, and return their group."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", default="text", metavar="NAME", help=formats)
    group.add_argument("--output-file", metavar="FILE", help="write there instead of standard output")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", metavar="WHEN", help="auto, always, never")
    group.add_argument("-q", "--quiet", action="count", default=0, help="findings only")
    group.add_argument("-v", "--verbose", action="count", default=0, help="more: each file and its verdict, each recipe in full")
    return group


def options(arguments: argparse.Namespace, root: str, folder: str) -> Options:
    """How to write, as the flags and the environment say."""
    return Options(
        color=_color(arguments),
        ascii=not arguments.output_file and not _can_frame(),
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


def _can_frame() -> bool:
    """Whether standard output can show the signs of frames and underlines."""
    try:
        "│━─…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def emit(text: str, output_file: str | None = None, *, commands: bool = False) -> None:
    """Write `text` to standard output or to a file, where nothing in it is obeyed by a terminal or a CI system.

    With `commands` the lines that GitHub Actions obeys are our own.

    Raises:
        UsageError: it can't be written.
    """
    text = neutralize(text, commands=commands)
    if output_file:
        try:
            with open(output_file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:  # noqa: PTH123
                file.write(text)
        except (OSError, ValueError) as error:
            raise UsageError(f"--output-file {output_file}: {getattr(error, 'strerror', None) or error}") from error
        return
    if text:
        _write(text)


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


def complain(line: str, prefix: str = "gbs: ") -> None:
    """Write one line for people to standard error; if that is not possible, nothing is written."""
    try:
        print(neutralize(f"{prefix}{escape(line)}").encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
    except UnicodeEncodeError:
        return
    except OSError:
        from pytest_gbs.cli._streams import cut_off

        cut_off(sys.stderr)
