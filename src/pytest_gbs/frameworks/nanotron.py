"""nanotron: micro batch, accumulation and every parallel size are given, the data-parallel one too; the GPUs follow.

NT is commit 2411b022 of huggingface/nanotron; `NT config/config.py:343` is a line of src/nanotron/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Framework, Reading, Recognition, Requirement, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, TORCHRUN, batch, intervals, path, paths, present

# dacite takes what isinstance() takes, and True is an int.
_STRICT: Final = Reading(boolean=Treatment.ACCEPTS, why="dacite reads the file into dataclasses and takes a whole number only")
# Only the product of the parallel sizes is checked at start.
_MICRO: Final = _STRICT._replace(zero=Treatment.STOPS_LATE, negative=Treatment.STOPS_LATE, why="the DataLoader needs a positive batch size")
_STEPS: Final = _MICRO._replace(why="the trainer reads the loss of the first micro batch, and there is none (NT trainer.py:682)")
_RANKS: Final = "the product of the parallel sizes must be the number of processes"
_PRODUCT: Final = (
    Name.DATA_PARALLEL_SIZE,
    Name.TENSOR_PARALLEL_SIZE,
    Name.PIPELINE_PARALLEL_SIZE,
    Name.CONTEXT_PARALLEL_SIZE,
)
_TOKENS: Final = "NT config/config.py:343-346 (TokensArgs)"
_PARALLEL: Final = "NT config/parallelism_config.py:29-40 (ParallelismArgs)"


def _parallel(key: str, name: str, default: int | None = None) -> Row:
    return Row(path(f"parallelism.{key}"), name, default, _STRICT._replace(why=_RANKS), _PARALLEL)


FRAMEWORK = Framework(
    name="nanotron",
    title="nanotron",
    recognition=Recognition(one_of=(paths("tokens.batch_accumulation_per_replica tokens.micro_batch_size"), paths("parallelism"))),
    unit="samples",
    rows=(
        Row(path("tokens.micro_batch_size"), Name.MICRO_BATCH_SIZE, None, _MICRO, _TOKENS),
        Row(path("tokens.batch_accumulation_per_replica"), Name.GRADIENT_ACCUMULATION_STEPS, None, _STEPS, _TOKENS),
        _parallel("dp", Name.DATA_PARALLEL_SIZE),
        _parallel("tp", Name.TENSOR_PARALLEL_SIZE),
        _parallel("pp", Name.PIPELINE_PARALLEL_SIZE),
        _parallel("context_parallel_size", Name.CONTEXT_PARALLEL_SIZE, 1),
        Row(path("tokens.sequence_length"), Name.SEQUENCE_LENGTH, None, _STRICT, _TOKENS),
        *intervals(
            _TOKENS,
            OPTIONAL,
            max_steps="tokens.train_steps",
            save_steps="checkpoints.checkpoint_interval",
            eval_steps="tokens.val_check_interval",
        ),
    ),
    equations=(
        TORCHRUN,
        Equation(Name.WORLD_SIZE, _PRODUCT, source="NT parallel/context.py:26-28 (ParallelContext)"),
        batch("NT config/config.py:556-557 (Config.global_batch_size), trainer.py:270-272"),
    ),
    requirements=tuple(
        Requirement((path(key),), "nanotron has no default for it and stops at start", source=source)
        for source, group in (
            (_TOKENS, "tokens.micro_batch_size tokens.batch_accumulation_per_replica tokens.sequence_length tokens.train_steps"),
            (_PARALLEL, "parallelism.dp parallelism.tp parallelism.pp"),
        )
        for key in group.split()
    ),
    also=frozenset(("expert_parallel_size",)),
    packing=present(path("tokens")),
    names=paths("general.run general.project checkpoints.checkpoints_path"),
    version="nanotron 2411b022",
    source="NT config/config.py:442-457 (Config), 651-684 (get_config_from_file)",
    arguments=Arguments.NONE,
)
