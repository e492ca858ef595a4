"""torchtune's recipes that learn from rewards: PPO on a single device, GRPO, and GRPO with workers that generate meanwhile.

TT is explained in `_torchtune.py`.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Constraint, Recognition, Requirement, Row
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._torchtune import (
    ACCUMULATION,
    ALL_RANKS,
    BATCH,
    COMPONENTS,
    DEGREE,
    IN_BACKWARD,
    INTERVAL,
    MICRO,
    STEPS,
    WORLD,
    batch,
    table,
)

_PPO_BATCH: Final[KeyPath] = ("ppo_batch_size",)
_GROUP: Final[KeyPath] = ("grpo_samples",)
_WORKERS: Final[KeyPath] = ("orchestration", "num_training_workers")
_TRAINED: Final[KeyPath] = ("training", "batch_size")
_PPO: Final = "TT ppo_full_finetune_single_device.py"
_GRPO: Final = "TT dev/grpo_full_finetune_distributed.py"
_ASYNC: Final = "TT dev/async_grpo_full_finetune_distributed.py"


def _divides(dividend: str, divisor: str, lines: str) -> Constraint:
    label = "each batch must hold whole batches of the next"
    return Constraint("GBS202", (dividend,), (divisor,), label=label, source=f"{_PPO}:{lines}")


def _told_by(key: KeyPath, *others: KeyPath) -> Recognition:
    return Recognition(all_of=(key, *others), marks=(key,))


_CLIPPED = table(
    "torchtune (PPO)",
    "completions",
    _told_by(_PPO_BATCH, BATCH, *COMPONENTS),
    rows=(
        Row(_PPO_BATCH, Name.GLOBAL_BATCH_SIZE, None, ACCUMULATION, f"{_PPO}:412", unit="completions"),
        Row(BATCH, Name.GENERATION_BATCH_SIZE, None, MICRO, f"{_PPO}:409", unit="completions"),
        Row(("forward_batch_size",), Name.FORWARD_MICRO_BATCH_SIZE, None, ACCUMULATION, f"{_PPO}:410"),
        Row(STEPS, Name.GRADIENT_ACCUMULATION_STEPS, None, ACCUMULATION, f"{_PPO}:413-416"),
        Row(("tokenizer", "max_seq_len"), Name.SEQUENCE_LENGTH, None, INTERVAL, f"{_PPO} (tokenizer)"),
    ),
    equations=(
        Equation(
            Name.MICRO_BATCH_SIZE,
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
            unit="completions",
            source=f"{_PPO}:414-416 (_ppo_backward_batch_size)",
        ),
    ),
    assumed=((Name.DATA_PARALLEL_SIZE, 1),),
    source=f"{_PPO}:395-455 (_setup_training_parameters)",
)

# Each optimizer step sees all completions of the prompts that its rank has drawn.
_GROUPED = table(
    "torchtune (GRPO)",
    "completions",
    _told_by(_GROUP, BATCH, *COMPONENTS),
    rows=(
        Row(BATCH, Name.MICRO_BATCH_SIZE, None, MICRO, f"{_GRPO}:185, 220", unit="prompts"),
        Row(_GROUP, Name.NUM_GENERATIONS, None, ACCUMULATION, f"{_GRPO}:585-590"),
    ),
    equations=(
        WORLD,
        ALL_RANKS._replace(source=f"{_GRPO}:449"),
        Equation(Name.PROMPTS_PER_STEP, (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE), unit="prompts", source=f"{_GRPO}:449-456"),
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            (Name.MICRO_BATCH_SIZE, Name.NUM_GENERATIONS, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
            unit="completions",
            source=f"{_GRPO}:585-590, 839-850",
        ),
    ),
    assumed=((Name.GRADIENT_ACCUMULATION_STEPS, 1),),
    source=f"{_GRPO}:685-720, 830-855",
)

_ASYNCHRONOUS = table(
    "torchtune (asynchronous GRPO)",
    "completions",
    _told_by(_WORKERS, _TRAINED),
    rows=(
        Row(_TRAINED, Name.MICRO_BATCH_SIZE, None, ACCUMULATION, f"{_ASYNC}:137", unit="completions"),
        Row(_WORKERS, Name.DATA_PARALLEL_SIZE, None, DEGREE, f"{_ASYNC}:119, 145"),
    ),
    equations=(batch("completions", f"{_ASYNC}:137-146; TT dev/rl/workers/trainers.py"),),
    assumed=((Name.GRADIENT_ACCUMULATION_STEPS, 1),),
    source=f"{_ASYNC}:107-150",
)

FRAMEWORKS = (
    _CLIPPED._replace(
        constraints=(
            _divides(Name.GENERATION_BATCH_SIZE, Name.FORWARD_MICRO_BATCH_SIZE, "420-424"),
            _divides(Name.GENERATION_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE, "425-429"),
            _divides(Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, "430-434"),
        ),
        exclusions=IN_BACKWARD[:1],
        requirements=(Requirement((STEPS,), "the recipe reads it without a default and stops", source=f"{_PPO}:413"),),
    ),
    _GROUPED._replace(exclusions=(), requirements=()),
    _ASYNCHRONOUS._replace(exclusions=(), requirements=()),
)
