"""A script searches its recipe for a batch key with grep, and can run a recipe in which that goes wrong.

`GRAD_ACC_STEPS=$(grep 'gradient_accumulation_steps' $CONFIG_FILE | awk '{print $2}')` hands the recipe's accumulation on to the
launcher. A recipe that leaves the key to its default gives nothing, and the option takes the next word for its value; a recipe
that has the word twice, in a comment say, gives both lines.

What the script does: with nothing found, `accelerate launch` stops on its command line, or takes another word for the number;
with two lines the second becomes an argument of its own.

How to fix it: write the key down in every recipe, once, or let the script search for a line that starts with it and take the
first (`grep -m1 '^gradient_accumulation_steps:'`).

It stays silent if every recipe that the script's path can name has the key once.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each search that finds no line, or several, in a recipe that the script can run."""
    for grep in run.launch.greps if run.launch is not None else ():
        wrong = [
            f"{what} in {paths[0]}" + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
            for paths, what in ((grep.without, "nothing"), (grep.several, "several lines"))
            if paths and len(paths) < grep.of
        ]
        if wrong:
            key = grep.key.rstrip(":")
            message = f"grep for {key} finds {', and '.join(wrong)}, of the {grep.of} recipes that this script can run"
            holds = f"write {key} once in each recipe, or search for '^{key}:' with grep -m1"
            yield Finding(ITS_RULE, message, Severity.WARNING, grep.at, "search", holds=holds)


_SCRIPT = """\
#!/bin/bash
CONFIG=recipes/$1.yaml
STEPS=$(grep gradient_accumulation_steps $CONFIG | awk '{print $2}')
accelerate launch --num_processes 8 --gradient_accumulation_steps $STEPS train.py --config $CONFIG
"""
_STEPS = "gradient_accumulation_steps: 2\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCH,
    summary="a script greps its recipe for a batch key that some recipe does not have once",
    bad=(Example((("recipes/a.yaml", SFT_RECIPE + _STEPS), ("recipes/b.yaml", SFT_RECIPE), ("run.sh", _SCRIPT))),),
    good=(Example((("recipes/a.yaml", SFT_RECIPE + _STEPS), ("recipes/b.yaml", SFT_RECIPE + _STEPS), ("run.sh", _SCRIPT))),),
    check=check,
    severity=Severity.WARNING,
)
