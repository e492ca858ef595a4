"""`gbs show`: the batch geometry of recipes, every number with its origin."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pytest_gbs.cli._at_line import at_lines, split_line
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._flags import add_outputs, outputs, spare_recipes
from pytest_gbs.cli._input import add_input, read_request
from pytest_gbs.cli._no_recipes import exit_code, nothing_found
from pytest_gbs.cli._output import add_output, complain, complain_of_bugs, emit, options
from pytest_gbs.cli._outputs import write_outputs
from pytest_gbs.cli._shared import number
from pytest_gbs.formats import Format, FormatOptions, find, formats
from pytest_gbs.formats._places import Places
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.report import Report, Role


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, words="files or folders (default: .), FILE:LINE for one recipe or launch, or - for standard input")
    parser.add_argument("--dataset-size", type=number, metavar="N", help="size of the data set, for the steps of one epoch")
    add_outputs(add_output(parser, formats="text, csv, json, jsonl, markdown"))


def run(arguments: argparse.Namespace) -> int:
    """Write the geometry of each recipe, and return the exit code."""
    show = _shows(find(arguments.format))
    more = outputs(arguments)
    for output in more:
        _shows(output.form)
    split = [split_line(path) for path in arguments.paths]
    arguments.paths = [path for path, _ in split]
    request = read_request(arguments)
    how = options(arguments, request.root, request.folder)
    report = request.check(keep_runs=True)
    spare_recipes(report, request, (arguments.output_file, *(output.file for output in more)))
    if wanted := [(target, line) for target, (_, line) in zip(request.targets, split, strict=False) if line]:
        report = at_lines(report, wanted, Places(report, how))
    if more:
        write_outputs(more, lambda form, how: _shows(form)(report, how), arguments, request)
    text = show(report, how)
    emit(text, arguments.output_file)
    if complain_of_bugs(report.internal):
        return 2
    broken = [file for file in report.files if file.role == Role.UNREADABLE and file.named]
    for file in broken:
        complain(f"{request.seen(file.path)}: {file.problem}")
    if broken:
        return 1
    code = exit_code(report, request)
    if not code and not text:  # a file that is read for launches and has none
        complain(nothing_found(report, request))
    return code


def _shows(wanted: Format) -> Callable[[Report, FormatOptions], str]:
    """What writes the geometry of recipes in a format.

    Raises:
        UsageError: nothing does.
    """
    if wanted.show is None:
        able = ", ".join(each.name for each in formats() if each.show)
        raise UsageError(f"gbs show has no format '{wanted.name}'; its formats are {able}")
    return wanted.show


COMMAND = SubCommand("show each recipe's batch size, and where each number comes from", _add_arguments, run, "[FLAG ...] [PATH ...]")
