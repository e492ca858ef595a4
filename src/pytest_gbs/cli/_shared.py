"""What `gbs plan` and `gbs scale` take: hardware, whole numbers, and the recipe at a path."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_gbs.cli._input import CheckRequest, add_input, read_request
from pytest_gbs.cli._parser import Parser
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.run import Run

_MOST_DIGITS: Final = 9


def number(text: str) -> int:
    """A positive whole number of the command line."""
    found = whole_number(text, _MOST_DIGITS)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return found


def request_for(paths: list[str], given: CommandLineHardware, config: str | None = None) -> CheckRequest:
    """The job of checking `paths` on the hardware given."""
    parser = Parser()
    add_input(parser)
    flags = parser.parse_args([])
    flags.paths, flags.config = paths, config
    flags.nodes, flags.gpus_per_node, flags.world_size = given.num_nodes, given.gpus_per_node, given.world_size
    return read_request(flags)


def of_recipe(path: str, given: CommandLineHardware) -> Run:
    """The recipe at `path` on the hardware given.

    Raises:
        UsageError: it is not a recipe, or several.
    """
    if path == "-":
        raise UsageError("gbs plan --from needs a file, not standard input")
    report = request_for([path], given).check(keep_runs=True)
    runs = [run for file in report.files for run in file.runs]
    own = [run for run in runs if run.launch is None] or runs
    if len(own) != 1:
        raise UsageError(f"{path} is not a recipe that gbs knows" if not own else f"{path} contains {len(own):,} recipes, not one")
    return own[0]
