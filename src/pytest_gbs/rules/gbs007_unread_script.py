"""A script, document or folder was not read to its end, so it may hold launches that are not checked.

Reading a script has limits, because a script may loop for ever: 1,000,000 characters (of a document: in its code blocks), 40,000
statements and words, 2,000 commands, 400 launches, and some depth of functions, shells and scripts that start each other. Launches
before that point are checked. A script is not read at all if it holds a NUL byte or merge conflict markers, if it is larger than
`max-file-size`, or if it is a named pipe, a device or a file without read permission. A folder that cannot be listed may hold anything.

What the framework does: the shell runs the whole script, and a launch in the rest of it may change the batch of a recipe. A recipe
that the script may launch is therefore undetermined instead of verified. That is a recipe whose name is in the script, or whose
name fits a name with variables (`${size}.yaml`).

How to fix it: resolve the conflict; move data out of the script, or split it. If it launches nothing, add it to `exclude` in the
settings, or write `# gbs: file-ignore[GBS007] why` into it, and `# gbs: ignore[GBS007] why` into a recipe that stays undetermined.

It is a note on a document, on a script that by its name or folder evaluates or generates, behind 400 launches or 200 scripts that are
started, in a loop or branch behind which nothing is launched, and where a limit that all scripts share was reached before.

It stays silent on a script without any program that trains (`torchrun`, or `python` together with a batch key or a recipe), on links
that lead nowhere, and on a limit that only affects commands that launch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.document import DOCUMENTS
from pytest_gbs.model.launch import Unread
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Undetermined
from pytest_gbs.model.program import only_scores
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in


def check(unread: Unread) -> Iterator[Outcome]:
    """Yield what `unread` leaves open: of the recipe that it may launch, or else of itself."""
    if unread.recipe is not None:
        how = "not read" if unread.whole else "not read to its end"
        message = f"{unread.path} may launch it with another batch, but was {how}: {unread.reason}"
        yield Undetermined(ITS_RULE, unread.recipe, message)
        return
    own = unread.at.source == unread.path
    at = unread.at if own else Location(unread.path)
    related = () if own else (Related(unread.at, "reading stopped here"),)
    scores = any(map(only_scores, unread.path.split("/")))
    minor = unread.met_before or unread.behind_many or scores or unread.path.lower().endswith(DOCUMENTS)
    severity = Severity.INFO if minor else Severity.WARNING
    yield Finding(ITS_RULE, _message(unread), severity, at, "reading stopped here", related)


def _message(unread: Unread) -> str:
    if unread.path.endswith("/"):
        return f"can't be listed: {unread.reason}; recipes and scripts in it are not checked"
    if unread.whole:
        return f"not read: {unread.reason}; its launches are not checked"
    return f"not read to its end: {unread.reason}; launches after that point are not checked"


_RECIPE = "# Global batch size: 4 x 2 x 8 = 64\n" + SFT_RECIPE + "gradient_accumulation_steps: 2\n"
_LAUNCH = "accelerate launch --num_processes 8 train.py --config sft.yaml"
_STEPS = "".join(f"step{number}() {{ step{number + 1}; }}\n" for number in range(1, 10))

RULE = Rule(
    *written_in(__name__),
    scope=Scope.UNREAD,
    summary="a script that may launch training was not read to its end",
    severity=Severity.WARNING,
    bad=(Example((("sft.yaml", _RECIPE), ("run.sh", f"{_STEPS}step10() {{ {_LAUNCH} --gradient_accumulation_steps 4; }}\nstep1\n"))),),
    good=(Example((("sft.yaml", _RECIPE), ("run.sh", f"train() {{ {_LAUNCH}; }}\ntrain\n"))),),
    check=check,
)
