"""Flags are behind the end of a launch's line, so the shell does not pass them.

A `\\` joins a line with the next one if nothing is behind it, not even a blank. If the next one is a comment or empty, the command ends
there too, and the shell takes each flag behind it for a command of its own.

What the shell does: it starts the launch without these flags, with the defaults of the program, and says `--flag: command not found` when
the launch has ended.

How to fix it: put the comments above the command, and a `\\` at the end of each of its lines but the last.

It stays silent on documents, and on flags that do not follow a launch directly.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.model.launch import LostFlags, Mistake
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in


def check(mistake: Mistake) -> Iterator[Outcome]:
    """Yield a finding for flags that a launch never gets."""
    if isinstance(mistake, LostFlags):
        first, *others = mistake.flags
        more = f" and {counted(len(others), 'more flag')}" if others else ""
        verb = "are" if others else "is"
        message = f"{first}{more} {verb} not passed to this launch: its line has {mistake.why}"
        yield Finding(
            ITS_RULE, message, Severity.ERROR, mistake.at, "not passed", holds="end each line of the command but the last with a backslash"
        )


_SCRIPT = """\
torchrun --nproc_per_node 8 train.py \\
  {comment}--per_device_train_batch_size 4 \\
  --gradient_accumulation_steps 2
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.COMMAND,
    summary="flags behind a comment or an empty line never reach the launch",
    bad=(Example((("run.sh", _SCRIPT.format(comment="# small GPUs\n  ")),)),),
    good=(Example((("run.sh", _SCRIPT.format(comment="")),)),),
    check=check,
)
