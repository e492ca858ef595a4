"""A launch names a recipe, a DeepSpeed or accelerate file, or a script that the repository does not have.

A file that was renamed or never committed leaves launches behind that can't start.

What the program does: it stops because there is no such file, often only after the job has waited for its GPUs.

How to fix it: name the file that was meant, which the finding suggests if one name is close, or commit the file.

It stays silent if the file may be made while the script runs, lies outside of the repository, is left out by `.gitignore`, or has
a variable or a placeholder in its path. It also stays silent if the folder that the launch starts in is not known: another file that the
same command names must be there, and so must the folder of the missing one.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.launch import MissingFile, Mistake
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in


def check(mistake: Mistake) -> Iterator[Outcome]:
    """Yield a finding for a file that a launch names and that is not there."""
    if isinstance(mistake, MissingFile):
        meant = f"; did you mean {mistake.meant}?" if mistake.meant else ""
        message = f"this launch names {mistake.path}, which is not in the repository{meant}"
        elsewhere = (Related(mistake.given, "its name"),) if mistake.given != mistake.at else ()
        holds = f"name {mistake.meant}, or commit the file" if mistake.meant else "name a file that is there, or commit this one"
        yield Finding(ITS_RULE, message, Severity.ERROR, mistake.at, "no such file", elsewhere, holds=holds)


_SCRIPT = "accelerate launch --num_processes 8 scripts/sft.py --config recipes/{name}.yaml\n"
_FILES = (("recipes/qwen_sft.yaml", SFT_RECIPE), ("scripts/sft.py", "from trl import TrlParser\n"))

RULE = Rule(
    *written_in(__name__),
    scope=Scope.COMMAND,
    summary="a launch names a file that the repository does not have",
    bad=(Example((*_FILES, ("run.sh", _SCRIPT.format(name="qwen_stf")))),),
    good=(Example((*_FILES, ("run.sh", _SCRIPT.format(name="qwen_sft")))),),
    check=check,
)
