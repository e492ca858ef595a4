"""Several formats in one run: `--output FORMAT:FILE`, as often as wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.cli._output import options, write_out
from pytest_gbs.formats import Format, find
from pytest_gbs.formats._escape import neutralize
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.record import NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_gbs.cli._input import CheckRequest
    from pytest_gbs.formats import FormatOptions


class Output(NamedTuple):
    """A format, and the file that it is written to."""

    form: Format
    file: str


def outputs(arguments: argparse.Namespace) -> tuple[Output, ...]:
    """The further outputs that the flags ask for.

    Raises:
        UsageError: there is no such format, or two go to one file.
    """
    found = tuple(map(_output, arguments.output))
    files = [each.file for each in found] + ([arguments.output_file] if arguments.output_file else [])
    if len(files) != len(set(files)):
        raise UsageError("--output: two formats can't go to one file")
    return found


def _output(text: str) -> Output:
    name, _, file = text.partition(":")
    if file == "-":
        raise UsageError(f"--output writes to files: --format {name} writes to standard output")
    if not file:
        raise UsageError(f"--output takes FORMAT:FILE, as in sarif:gbs.sarif, not '{text}'")
    return Output(find(name), file)


def write_outputs(
    wanted: tuple[Output, ...], render: Callable[[Format, FormatOptions], str], arguments: argparse.Namespace, request: CheckRequest
) -> None:
    """Write what `render` makes for each format, without colours and links, to its file; each file is replaced in one go.

    Raises:
        UsageError: one can't be written.
    """
    plain = options(arguments, request.root, request.folder)._replace(color=False, links=False, ascii=False, columns=0)
    for output, text in [(output, render(output.form, plain)) for output in wanted]:
        write_out(output.file, neutralize(text, commands=output.form.commands))
