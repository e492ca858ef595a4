"""Several formats in one run: `--output FORMAT:FILE`, as often as wanted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable

from pytest_gbs.cli._input import CheckRequest
from pytest_gbs.cli._output import options, write_out
from pytest_gbs.formats import Format, FormatOptions, find
from pytest_gbs.formats._escape import neutralize
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.report import Report, Role

_NEVER_REPLACED: Final = (Role.RECIPE, Role.LAUNCHER, Role.COMPANION)


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


def spare_recipes(report: Report, request: CheckRequest, names: Iterable[str]) -> None:
    """Refuse to write a report over one of the files that it is about.

    Raises:
        UsageError: one of the files `names` is a recipe or starts one.
    """
    there = [name for name in names if os.path.lexists(name)]
    if not there:
        return
    read = {os.path.realpath(f"{request.root}/{file.path}") for file in report.files if file.role in _NEVER_REPLACED}
    for name in there:
        if os.path.realpath(name) in read:
            raise UsageError(f"can't write {name}: it is one of the files that are checked; nothing was written")


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
