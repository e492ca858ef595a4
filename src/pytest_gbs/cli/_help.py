"""What `gbs` says of itself, and of a command that it does not have."""

from __future__ import annotations

import os
from difflib import get_close_matches

from pytest_gbs import __version__
from pytest_gbs.cli._command import commands, find
from pytest_gbs.cli._output import complain, emit

_CLOSE = 0.75  # difflib's ratio from which on a command is offered
_HEAD = """\
gbs: computes the global batch size of LLM training recipes, shows where each
number comes from, and reports what breaks it.

usage: gbs COMMAND [ARGUMENT ...]

"""
_TAIL = """
gbs COMMAND --help describes a command. Start with: gbs check recipes/
"""


def overview() -> int:
    """Write what each command does."""
    lines = (f"  {name:<11} {command.summary}\n" for name in commands() if (command := find(name)))
    emit(_HEAD + "".join(lines) + _TAIL)
    return 0


def version() -> int:
    """Write the version."""
    emit(f"gbs {__version__}\n")
    return 0


def no_command(word: str) -> int:
    """Say that there is no command `word`, and which one was probably meant."""
    close = get_close_matches(word, commands(), 1, _CLOSE)
    if word.startswith("-"):
        meant = "gbs --help lists the commands, gbs COMMAND --help their options"
    elif os.path.lexists(word):
        meant = f"did you mean: gbs check {word}"
    else:
        meant = f"did you mean: gbs {close[0]}" if close else "gbs --help lists the commands"
    kind = "option" if word.startswith("-") else "command"
    complain(f"no {kind} '{word}'; {meant}")
    return 2
