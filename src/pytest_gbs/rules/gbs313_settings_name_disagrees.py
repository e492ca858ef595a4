"""The name of a file of settings states other nodes, GPUs or parallel sizes than the file sets.

The runs of MLPerf are started from such files: `config_DGXH100_8x8x2xtp4pp1cp2.sh` is 8 nodes of 8 GPUs, a minibatch of 2,
tensor parallel size 4, pipeline parallel size 1 and context parallel size 2. Anyone who picks one by its name runs another
batch.

What the script does: it reads the variables and ignores the name.

How to fix it: correct the number that was forgotten when the file was copied.

It stays silent about what the file takes from another file or leaves to the environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.launch import MisnamedSetting, Mistake
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in

_CALLED: Final = {
    "nodes": "nodes",
    "gpus": "GPUs per node",
    "minibatch": "minibatch",
    "tp": "tensor parallel size",
    "pp": "pipeline parallel size",
    "cp": "context parallel size",
}


def check(mistake: Mistake) -> Iterator[Outcome]:
    """Yield a finding for a number in the name of a file that the file sets otherwise."""
    if isinstance(mistake, MisnamedSetting):
        message = f"file name says {_CALLED[mistake.part]} {mistake.stated:,}, but {mistake.variable} is {mistake.value:,}"
        holds = f"set {mistake.variable} to {mistake.stated:,}, or rename the file"
        yield Finding(ITS_RULE, message, Severity.WARNING, mistake.at, "set here", holds=holds)


_NAME = "config_DGXH100_{nodes}x8x2xtp4pp1cp2.sh"
_SETTINGS = "export MINIBS=2\nexport TP=4\nexport PP=1\nexport CP=2\nexport DGXNGPU=8\nexport DGXNNODES=8\n"
_RUN = '#!/bin/bash\n: "${DGXSYSTEM:?not set}"\nsrun --ntasks-per-node=8 ./run_and_time.sh\n'

RULE = Rule(
    *written_in(__name__),
    scope=Scope.COMMAND,
    summary="the name of a settings file states other sizes than the file sets",
    severity=Severity.WARNING,
    bad=(Example(((_NAME.format(nodes=16), _SETTINGS), ("run.sub", _RUN))),),
    good=(Example(((_NAME.format(nodes=8), _SETTINGS), ("run.sub", _RUN))),),
    check=check,
)
