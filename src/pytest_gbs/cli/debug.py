"""`gbs debug`: what each stage of a check made of a file."""

from __future__ import annotations

import argparse

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._input import add_input, read_request
from pytest_gbs.cli._output import add_output, complain_of_bugs, emit, options
from pytest_gbs.formats._debug import render


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, "FILE")
    add_output(parser, formats="text")


def run(arguments: argparse.Namespace) -> int:
    """Write the stages of each file: 0, or 2 after an internal error."""
    request = read_request(arguments)
    report = request.check(keep_runs=True)
    emit(render(report, options(arguments, request.root, request.folder)), arguments.output_file)
    return 2 if complain_of_bugs(report.internal) else 0


COMMAND = SubCommand("show what each stage of a check made of a file", _add_arguments, run, "[FLAG ...] FILE ...")
