"""The flags of `gbs check` that fix or accept findings; their code is imported when one is given."""

from __future__ import annotations

from pytest_gbs.model.record import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pytest_gbs.cli._input import CheckRequest
    from pytest_gbs.cli._outputs import Output
    from pytest_gbs.model.report import Report


NOT_IN_HELP: Final = "==SUPPRESS=="  # argparse.SUPPRESS
_FIXING: Final = (
    ("--fix-settings", "trust the comments: change the settings"),
    ("--fix-declarations", "trust the settings: change the numbers in the comments"),
    ("--diff", "write nothing, print the patch; exit 1 if there is one"),
)
_BASELINE: Final = (
    "leave out the findings that this file lists",
    "list all findings in this file, and stop",
    "remove findings that no longer occur from --baseline",
)


def add_fixing(parser: argparse.ArgumentParser, *, shown: bool) -> None:
    """Add the flags that fix what is found; where they are not `shown`, the help names one alone."""
    group = parser.add_argument_group("fixing findings")
    words = "apply safe fixes" + ("" if shown else "; more flags: gbs fix --help")
    group.add_argument("--fix", action="store_true", help=words)
    for flag, words in _FIXING:
        group.add_argument(flag, action="store_true", help=words if shown else NOT_IN_HELP)
    words = "write # gbs: ignore[...] beside every finding"
    group.add_argument("--add-ignore", nargs="?", const="", default=None, metavar="=REASON", help=words if shown else NOT_IN_HELP)


def wants_fixing(arguments: argparse.Namespace) -> bool:
    """Whether any file is to be changed, or a patch to be printed."""
    flags = (arguments.fix, arguments.fix_settings, arguments.fix_declarations, arguments.diff, arguments.add_ignore is not None)
    return any(flags)


def fixes_stdin(arguments: argparse.Namespace) -> bool:
    """Whether standard input is to be fixed: standard output is then the fixed text."""
    return wants_fixing(arguments) and not arguments.diff and "-" in arguments.paths


def add_baseline(group: argparse._ArgumentGroup, *, shown: bool) -> None:
    """Add the flags for accepted findings."""
    helps = [words if shown else NOT_IN_HELP for words in _BASELINE]
    group.add_argument("--baseline", metavar="FILE", help=helps[0])
    group.add_argument("--write-baseline", metavar="FILE", help=helps[1])
    group.add_argument("--prune-baseline", action="store_true", help=helps[2])


def wants_baseline(arguments: argparse.Namespace) -> bool:
    """Whether any of them was given."""
    return bool(arguments.baseline or arguments.write_baseline or arguments.prune_baseline)


def add_outputs(group: argparse._ArgumentGroup, *, shown: bool = True) -> None:
    """Add the flag for several formats in one run."""
    words = "also write this format to this file; may be repeated" if shown else NOT_IN_HELP
    group.add_argument("--output", action="append", default=[], metavar="FORMAT:FILE", help=words)


def outputs(arguments: argparse.Namespace) -> tuple[Output, ...]:
    """The formats to be written to files beside what goes to standard output.

    Raises:
        UsageError: there is no such format, or two go to one file.
    """
    if not arguments.output:
        return ()
    from pytest_gbs.cli import _outputs

    return _outputs.outputs(arguments)


def spare_recipes(report: Report, request: CheckRequest, names: Iterable[str | None]) -> None:
    """Refuse to write a report over one of the files that it is about, without loading anything where none is named.

    Raises:
        UsageError: one of the files `names` is a recipe or starts one.
    """
    written = [name for name in names if name]
    if written:
        from pytest_gbs.cli import _outputs

        _outputs.spare_recipes(report, request, written)
