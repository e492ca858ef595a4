"""Programs of which each process trains by itself, because nothing says to it which of several it is.

transformers, TRL and accelerate form a group only if `LOCAL_RANK` is set (accelerate 1.15.0, state.py, PartialState._prepare_backend).
"""

from __future__ import annotations

from pytest_gbs.model.command import Command
from pytest_gbs.model.launch import LauncherContext
from pytest_gbs.model.pattern import lazy_pattern


def may_train_alone(command: Command, index: int, context: LauncherContext) -> bool:
    """Whether the program at `index`, as far as it is seen, gets no rank from whatever starts it several times."""
    if gets_rank(command):
        return False
    text = context.text_of(command.words[index], command) or ""
    return _of_hugging_face().search(text) is not None and _finds_ranks().search(text) is None


def gets_rank(command: Command) -> bool:
    """Whether a variable says to the program of a command which process of a group it is."""
    return any(command.variable(name) is not None for name in ("LOCAL_RANK", "RANK"))


_of_hugging_face = lazy_pattern(r"(?m)^[ \t]*(?:from|import)[ \t]+(?:transformers|trl|accelerate)\b")
_finds_ranks = lazy_pattern(
    r"SLURM_|['\"]slurm['\"]|OMPI_|PMI_|LOCAL_RANK|mpi4py|init_process_group|init_dist(?:ributed|\b)|lightning|submitit|idr_torch|megatron|nemo\b"
)
