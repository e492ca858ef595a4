"""swift sft, megatron sft: torchrun where the environment has `NPROC_PER_NODE` or `NNODES`, else one process.

SW is ms-swift 3602360, swift/cli/main.py. One process that sees several GPUs splits the model among them: `device_map` is "auto" then
(ms-swift 3.3 llm/model/register.py:264-277, get_default_device_map), so that the Trainer feeds one GPU; so do several, each its part.
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.launches.programs._in_recipe import document_of, word_at
from pytest_gbs.launches.programs._sub_commands import is_recipe, sub_command
from pytest_gbs.launches.programs._words import processes
from pytest_gbs.launches.programs.python import one_process, visible_gpus
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Note, Quantity, Reason, Unknown

_TRAINERS: Final = ("pt", "sft", "rlhf")


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `swift sft ...` and `megatron sft ...` start."""
    for name in ("swift", "megatron"):
        index = sub_command(command, (name,), _TRAINERS)
        if index is not None:
            recipes = tuple(word for word in command.words[index + 1 : index + 2] if is_recipe(word))
            sizes = _sizes(command, context, recipes[0] if recipes else None, splits=name == "swift")
            return Start(f"{name} {command.words[index].text}", command.at, sizes, command.words[index:], recipes)
    return None


def _sizes(command: Command, context: LauncherContext, recipe: Word | None, *, splits: bool) -> tuple[Quantity | Unknown, ...]:
    """`NNODES` x `NPROC_PER_NODE`, 1 for one that is not set (SW get_torchrun_args); `splits` if one process splits the model."""
    document = document_of(recipe, command, context)
    nodes, each = (_variable(command, document, name) for name in ("NNODES", "NPROC_PER_NODE"))
    if recipe is not None and document is None and (nodes is None or each is None):
        return (Unknown(Name.WORLD_SIZE, Reason.MISSING, recipe.at),)
    if nodes is None and each is None:
        seen = visible_gpus(command) if splits else None
        return (one_process(command) if seen is None or seen.value == 1 else _split(seen),)
    return processes(nodes, each, "torchrun")


def _split(seen: Quantity) -> Quantity:
    return seen._replace(name=Name.WORLD_SIZE, value=1, note=Note(f"one process splits the model among {seen.value} GPUs"))


def _variable(command: Command, document: Document | None, name: str) -> Word | None:
    """A variable of the environment, or of the recipe's `ENV`, which sets what is not set (SW parse_yaml_args)."""
    stated = command.variable(name)
    return word_at(document, ("ENV", name)) if stated is None and document is not None else stated


LAUNCHER = Launcher("swift", "swift sft, rlhf, pt; megatron sft, rlhf, pt", words=("swift ", "megatron "), start=start)
