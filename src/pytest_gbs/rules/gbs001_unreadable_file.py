"""A file that can't be read, although it holds batch or launch keys.

The file is not YAML, JSON or TOML, is nested too deeply, is too large, or is not text at all. A file that was not named on the
command line and has no batch or launch key is only counted.

What can't be read is not checked, and a check must not ignore a broken recipe.

What the framework does: it stops with the error of its loader, after the job was scheduled. If the loader is more lenient
than YAML allows, the message says what it would make of the file.

How to fix it: go to the line named: most often an indentation, a bracket or a quote that is not closed. A template with
`{{ ... }}` in place of values is not a recipe before it is filled in; leave it out with `exclude` in the settings. A file above
the size limit is read after raising `max-file-size`.

It stays silent on files without any batch or launch key, unless you name them yourself; `-v` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.location import Location, Unreadable
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in


def check(problem: Unreadable) -> Iterator[Outcome]:
    """Yield the one finding that `problem` is."""
    yield Finding(ITS_RULE, problem.reason, Severity.ERROR, _place(problem))


def _place(problem: Unreadable) -> Location:
    """The character where reading failed, or the start of the file where it failed as a whole."""
    if problem.offset is None:
        return Location(problem.path)
    end = problem.offset + 1 if problem.source is None else min(problem.offset + 1, len(problem.source.text))
    return Location(problem.path, min(problem.offset, end), end)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 2\nreport_to: {loggers}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.UNREADABLE,
    summary="a file with batch or launch keys can't be read",
    bad=(Example((("sft.yaml", _RECIPE.format(loggers="[wandb")),)),),
    good=(Example((("sft.yaml", _RECIPE.format(loggers="[wandb]")),)),),
    check=check,
)
