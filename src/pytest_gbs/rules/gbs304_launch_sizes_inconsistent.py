"""A command asks its launcher for processes that it can't start, or starts fewer than it says.

More processes than the Slurm job has GPUs, or than `CUDA_VISIBLE_DEVICES` names for torchrun, a total that does not spread evenly
over the machines, fewer processes than machines, `srun torchrun` on more nodes than `--nnodes` says, several processes with a
configuration that starts one, or several machines for a group that has one (`torchrun --standalone`).

The launcher decides the world size, and the world size is a factor of the global batch. Some of these stop the job after the
nodes were allocated, the others run with a smaller batch and say nothing.

What the launcher does: `accelerate launch` floors `num_processes / num_machines` in silence and starts a single process under
`distributed_type: "NO"`; processes beyond the GPUs of a job fail on their first CUDA call.

How to fix it: make the number of processes that of the job's GPUs (nodes x GPUs per node), less those kept for generation.

It stays silent if one of the numbers is a variable whose value is unknown, and if fewer processes start than GPUs are
allocated: some may serve.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.launch import Kind
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each thing that the launcher of `run` would stop at or correct."""
    launch = run.launch
    if launch is None or launch.start is None:
        return
    for problem in launch.start.problems:
        is_error = problem.stops and launch.kind == Kind.SCRIPT
        related = tuple(Related(at, label) for at, label in problem.related)
        yield Finding(ITS_RULE, problem.message, Severity.ERROR if is_error else Severity.WARNING, problem.at, related=related)


_SCRIPT = """\
#!/bin/bash
accelerate launch --num_machines 4 --num_processes {processes} train.py --config sft.yaml
"""
_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 4\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCH,
    summary="a command asks for processes that its launcher does not start",
    bad=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(processes=10)))),),
    good=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(processes=32)))),),
    check=check,
)
