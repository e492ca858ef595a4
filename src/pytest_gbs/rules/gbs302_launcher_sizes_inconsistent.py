"""A launcher file whose sizes can't all be true, or that lacks one without which nothing starts.

The processes of an accelerate file do not spread evenly over its machines, several processes are asked for with
`distributed_type: "NO"`, the product of the parallel sizes is another number than the processes, a number is text or null, or a
key that accelerate must have is missing.

The launcher decides the world size, and the world size is a factor of the global batch. If the file contradicts itself,
fewer processes start than it says, or none.

What the launcher does: `accelerate launch` floors `num_processes / num_machines` in silence, starts a single process under
`distributed_type: "NO"` regardless of `num_processes`, and stops with a `ValueError` if the parallel sizes do not
multiply to the number of processes. It stops without `distributed_type`, at a key it does not know (`gpus_per_node`), and, unless
`--num_processes` is given, where `num_processes` is missing, null or -1. `num_processes` is the total over all machines, which is
the usual mistake.

How to fix it: write the total number of processes into `num_processes`: 4 machines with 8 GPUs each are 32. For a single
process write `num_processes: 1`. If every launch gives the number itself, a comment `# gbs: ignore[GBS302]` says so.

It stays silent for what the launcher would fill in itself: `num_processes: auto`, a variable of a template, keys of other versions
of accelerate.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in


def check(file: LauncherFile) -> Iterator[Outcome]:
    """Yield a finding for each contradiction within `file`."""
    for problem in file.problems:
        related = tuple(Related(at, label) for at, label in problem.related)
        yield Finding(ITS_RULE, problem.message, Severity.ERROR if problem.stops else Severity.WARNING, problem.at, related=related)


_LAUNCHER = """\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
machine_rank: 0
mixed_precision: bf16
num_machines: {machines}
num_processes: {processes}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.LAUNCHER,
    summary="a launcher file's sizes contradict each other",
    bad=(
        Example((("accelerate.yaml", _LAUNCHER.format(machines=4, processes=10)),)),
        Example((("accelerate.yaml", _LAUNCHER.format(machines=1, processes=-1)),)),
    ),
    good=(Example((("accelerate.yaml", _LAUNCHER.format(machines=4, processes=32)),)),),
    check=check,
)
