"""The command `gbs`: one module for each sub-command, imported only when it is used."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from pytest_gbs.cli._command import commands, find
from pytest_gbs.cli._split_arguments import MARK, split, unmark
from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.record import Final

_COUNTED: Final = hasattr(gc, "freeze")  # the garbage collector of CPython
_VALUED: Final = {"--strict": "--strict=claims", "--add-ignore": "--add-ignore="}
_MANY: Final = 400_000  # objects made since it last ran; CPython has 700


def run() -> None:
    """Run `gbs` with the arguments of this process, and end the process at once."""
    _leave(exit_code())


def exit_code() -> int:
    """Run `gbs` with the arguments of this process, which does nothing else; its exit code, whatever happens."""
    if _COUNTED:
        # A start makes thousands of objects that all stay: looking through them for garbage takes longer than checking a recipe.
        gc.set_threshold(_MANY)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from pytest_gbs.cli._streams import open_closed_streams

        open_closed_streams()
    try:
        return main()
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a bug in gbs must not look like a finding: Python itself would exit with 1
        if os.environ.get("GBS_TRACEBACK"):
            raise
        from pytest_gbs.cli._output import complain

        complain(f"internal error: {type(error).__name__}: {error} (GBS_TRACEBACK=1 shows the traceback)")
        return 2


def _leave(code: int) -> None:
    """End this process without giving back all that it holds piece by piece: that takes longer than checking a recipe."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # Python says what could not be written
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of `gbs` with arguments `argv` (None: those of this process)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except GbsError as error:
        from pytest_gbs.cli._output import complain_each

        complain_each(str(error).splitlines() or [type(error).__name__])
        return 2
    except SystemExit as stop:  # argparse: --help and usage errors
        return stop.code if isinstance(stop.code, int) else 2


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name == "help" and arguments[1:]:  # gbs help check
        name, arguments = arguments[1], [arguments[1], "--help"]
    if name in ("-h", "--help", "help"):
        from pytest_gbs.cli._help import overview

        return overview()
    if name in ("-V", "--version"):
        from pytest_gbs.cli._help import version

        return version()
    command = find(name)
    if command is None:
        from pytest_gbs.cli._help import no_command

        return no_command(name)
    words, paths = split(arguments[1:])
    # These take a value only behind `=`: the next word is a path.
    words = [_VALUED.get(word, word) for word in words]
    if name == "diff":  # what is behind `--` is not a revision
        words, paths = [*words, *(f"--path={path}" for path in paths)], []
    from pytest_gbs.cli._parser import Formatter, Parser

    usage = None if command.usage is None else f"gbs {name} {command.usage}"
    parser = Parser(prog=f"gbs {name}", usage=usage, description=command.summary, allow_abbrev=False, formatter_class=Formatter)
    command.add_arguments(parser)
    found = unmark(parser.parse_intermixed_args([*words, *(MARK + path for path in paths)]))
    if getattr(found, "output_file", None) == "-":  # standard output, as everywhere
        found.output_file = None
    return command.run(found)


__all__ = ["commands", "exit_code", "find", "main", "run"]
