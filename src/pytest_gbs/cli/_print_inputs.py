"""`--show-files` and `--show-settings`: what a check would read, without checking."""

from __future__ import annotations

import argparse

from pytest_gbs.checking.repository import Repository
from pytest_gbs.cli._input import CheckRequest
from pytest_gbs.cli._output import emit, options
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._places import Places
from pytest_gbs.model.location import Location
from pytest_gbs.model.report import Report


def print_inputs(request: CheckRequest, arguments: argparse.Namespace) -> int:
    """Write the files or the settings, and return 0."""
    if arguments.show_settings:
        text = "".join(f"{name} = {escape(repr(value))}\n" for name, value in request.settings._asdict().items())
    else:
        places = Places(Report((), {}, {}), options(arguments, request.root, request.folder))
        paths = Repository(request.tree, request.settings).targets(request.targets)
        text = "".join(f"{places.where(Location(path, 1, 1))}\n" for path in paths)
    emit(text, arguments.output_file)
    return 0
