"""Where the flags of a command line end and its paths begin: a file name that looks like a flag must never act as one."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.

from __future__ import annotations

import argparse
import os.path
from collections.abc import Sequence

from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.record import Final, NamedTuple

END: Final = "--"
MARK: Final = "\0"  # no argument of a process holds it, and no parser takes a word that starts with it for a flag
_HOOK: Final = "--hook"
# The flags of a hook that need no `--` behind them: none of these runs code, writes a file, or leaves anything out of a check.
_ALLOWED: Final = frozenset(("--strict", "--strict=claims", "--strict=all", "--quiet", "--verbose"))
_ALLOWED_WITH_VALUE: Final = frozenset(
    ("--nodes", "--gpus-per-node", "--world-size", "--jobs", "--require-verified", "--extend-select", "--color", "--format")
)


class SplitArguments(NamedTuple):
    """The arguments of a sub-command: those that a parser is to read, and those that are paths whatever they look like."""

    parsed: list[str]
    paths: list[str]


def split(words: Sequence[str]) -> SplitArguments:
    """The flags and the paths among the arguments of a sub-command.

    All behind the first `--` are paths. With `--hook`, where a machine appends file names, a flag is only what a person wrote: see
    docs/pre-commit.md.

    Raises:
        UsageError: with `--hook`, a word is not certain to be a person's flag.
    """
    end = words.index(END) if END in words else len(words)
    head, behind = list(words[:end]), list(words[end + 1 :])
    # A file called `--` could be the one that ends the flags.
    if _HOOK in head and (end == len(words) or os.path.lexists(END)):
        head, more = _of_hook([word for word in head if word != _HOOK])
        behind = [*more, *behind]
    return SplitArguments(head, ["./-" if path == "-" else path for path in behind])


def _of_hook(words: list[str]) -> SplitArguments:
    """The leading words that are flags beyond doubt, and the rest, which are paths."""
    flags, at = [_HOOK], 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        is_file, is_allowed = os.path.lexists(word), _is_allowed(word)
        if is_file and not is_allowed:
            break
        if is_file or not is_allowed:
            raise UsageError(
                f"--hook can't tell whether {word} is a flag or the name of a file; if it is a flag, write: args: [{word}, --]"
            )
        end = at + (2 if word in _ALLOWED_WITH_VALUE else 1)
        flags += words[at:end]
        at = end
    return SplitArguments(flags, words[at:])


def _is_allowed(word: str) -> bool:
    return word in _ALLOWED or word.partition("=")[0] in _ALLOWED_WITH_VALUE or not word[1:].strip("qv")


def unmark(found: argparse.Namespace) -> argparse.Namespace:
    """`found` with the paths in it as they were before they were marked for the parser."""
    for name, value in vars(found).items():
        if isinstance(value, str):
            setattr(found, name, value.removeprefix(MARK))
        elif isinstance(value, list):
            setattr(found, name, [each.removeprefix(MARK) if isinstance(each, str) else each for each in value])
    return found
