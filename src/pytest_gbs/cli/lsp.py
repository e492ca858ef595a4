"""`gbs lsp`: a language server for editors, over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.model.errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs lsp` takes: nothing but what editors add by themselves."""
    parser.add_argument("--stdio", action="store_true", help="talk over standard input and output (the default)")


def run(_: argparse.Namespace) -> int:
    """Serve until the editor ends it.

    Raises:
        UsageError: pygls is not installed, or the editor says that a message is longer than any memory.
    """
    try:
        from pytest_gbs.lsp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs", "attr"):
            raise
        raise UsageError('gbs lsp needs pygls: pip install "pytest-gbs[lsp]"') from error
    try:
        make_server().start_io()
    except (ValueError, OverflowError, MemoryError) as error:  # what is wrong in a message stays in its handler
        raise UsageError("the length of a message is not one that it can have; the editor has to start the server again") from error
    return 0


COMMAND = SubCommand("language server for editors: findings, hovers, hints and fixes", add_arguments, run)
