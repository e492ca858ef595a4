"""GPT-NeoX of EleutherAI: DeepSpeed's three batch keys of which two suffice, in flat files that are given together.

NX is commit ea7aefd8 of EleutherAI/gpt-neox; `NX arguments.py:859` is a line of megatron/neox_arguments/. A key may be written with
dashes or with underscores (NX arguments.py:251-254).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.core.equation import Enforcement, Equation
from pytest_gbs.core.framework import Arguments, Condition, Constraint, Framework, Reading, Recognition, Requirement, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, absent, batch, data_parallel, keys, present


def _both(words: str) -> tuple[KeyPath, ...]:
    """Return the keys that `words` names, each with underscores and with dashes."""
    return keys(f"{words} {words.replace('_', '-')}")


_BATCH: Final = "train_batch_size train_micro_batch_size_per_gpu"
_ACCUMULATION: Final = "gradient_accumulation_steps"
_SOLVER: Final = "NX arguments.py:826-883 (calculate_batch_parameters, check_batch_parameters)"
_PARALLEL: Final = "NX neox_args.py:60-65, arguments.py:919-935 (calculate_derived)"

# int() is called on the three sizes only after they were multiplied and divided.
_SIZE: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    null=Treatment.UNSET,
    why="the three batch sizes are multiplied, divided and compared with each other at start",
)
# What is below 1 counts as 1.
_DEGREE: Final = Reading(
    boolean=Treatment.ACCEPTS, zero=Treatment.UNSET, negative=Treatment.UNSET, why="the number of GPUs is divided by it at start"
)
# A file that holds a part of the settings, without the model, leaves the parallel sizes to the others.
_MODELS: Final = _both("num_layers")
# `gas` was once another name of the accumulation, and now is none; of one, both come to the same.
_ALIAS: Final = Condition(("gas",), (None, 1))


def _rows(name: str, key: str, reading: Reading, source: str) -> Iterator[Row]:
    """Yield the rows of a size without a default, in both spellings."""
    yield from (Row(spelling, name, None, reading, source) for spelling in _both(key))


def _degree(name: str, key: str) -> Iterator[Row]:
    """Yield the rows of a parallel size, which is 1 by default where the file holds the model as well."""
    yield from _rows(name, key, _DEGREE, _PARALLEL)
    yield from (Row((key,), name, 1, _DEGREE, _PARALLEL, when=(present(model),)) for model in _MODELS)


def _accumulation() -> Iterator[Row]:
    """Yield the rows of the accumulation: 1 by default, though the two other sizes give it where it is written as null."""
    source = "NX deepspeed_args.py:49"
    yield from _rows(Name.GRADIENT_ACCUMULATION_STEPS, _ACCUMULATION, _SIZE, source)
    unwritten = tuple(Condition(key, (None,), negated=True, default="unwritten") for key in _both(_ACCUMULATION))
    for when in (unwritten, *(tuple(absent(key) for key in _both(other)) for other in _BATCH.split())):
        yield Row((_ACCUMULATION,), Name.GRADIENT_ACCUMULATION_STEPS, 1, _SIZE, source, when=(*when, _ALIAS))


def _whole(divisor: tuple[str, ...], when: tuple[Condition, ...], needs: tuple[str, ...]) -> Constraint:
    label = "train_batch_size must be micro batch x accumulation x data-parallel ranks"
    return Constraint("GBS202", (Name.GLOBAL_BATCH_SIZE,), divisor, when=when, needs=needs, label=label, source=_SOLVER)


_NO_MICRO: Final = tuple(absent(key) for key in _both("train_micro_batch_size_per_gpu"))
_NO_ACCUMULATION: Final = (Condition((_ACCUMULATION,), (None,), default="unwritten"),)
_PAIRS: Final = _both("pos_train_data_paths neg_train_data_paths dpo_beta")
_KTO: Final = (Condition(("train_impl",), ("kto",)),)


def _table(title: str, unit: str, all_of: tuple[tuple[KeyPath, ...], ...] = ()) -> Framework:
    return Framework(
        name="gpt-neox",
        title=title,
        recognition=Recognition(
            one_of=(
                _both(f"pipe_parallel_size model_parallel_size {_BATCH}"),
                _both("lr_decay_style checkpoint_factor data_impl attention_config"),
                keys("optimizer"),
                *all_of,
            ),
            weight=len(all_of),
        ),
        unit=unit,
        rows=(
            *_rows(Name.GLOBAL_BATCH_SIZE, "train_batch_size", _SIZE, _SOLVER),
            *_rows(Name.MICRO_BATCH_SIZE, "train_micro_batch_size_per_gpu", _SIZE, _SOLVER),
            *_accumulation(),
            *_degree(Name.PIPELINE_PARALLEL_SIZE, "pipe_parallel_size"),
            *_degree(Name.TENSOR_PARALLEL_SIZE, "model_parallel_size"),
            *_rows(Name.SEQUENCE_LENGTH, "seq_length", OPTIONAL, "NX neox_args.py:150"),
            *_rows(Name.MAX_STEPS, "train_iters", OPTIONAL, "NX neox_args.py:1333, ../data/data_utils.py:557"),
            *_rows(Name.SAVE_STEPS, "checkpoint_factor", OPTIONAL, "NX neox_args.py:1284"),
            *_rows(Name.EVAL_STEPS, "eval_interval", OPTIONAL, "NX neox_args.py:1354"),
        ),
        equations=(
            Equation(
                Name.WORLD_SIZE,
                (Name.NUM_NODES, Name.GPUS_PER_NODE),
                source="NX arguments.py:892-909 (global_num_gpus from the hostfile)",
            ),
            data_parallel(_PARALLEL, context=False),
            batch(_SOLVER, unit),
        ),
        constraints=(
            _whole((Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE), _NO_ACCUMULATION, (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE)),
            _whole((Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE), _NO_MICRO, (Name.GLOBAL_BATCH_SIZE,)),
            Constraint(
                "GBS207",
                (Name.MICRO_BATCH_SIZE,),
                at_least=2,
                enforcement=Enforcement.STOPS_LATE,
                when=_KTO,
                label="KTO compares the samples of one micro batch",
                source="NX ../training.py:416-419 (get_batch)",
            ),
        ),
        requirements=tuple(
            Requirement(_both(_BATCH), "GPT-NeoX computes the third size of the batch from the others", (present(model),), _SOLVER)
            for model in _MODELS
        ),
        also=frozenset(("gas", "eval_micro_batch_size_per_gpu")),
        sequences_per_sample=2 if unit == "pairs" else 1,
        packing=None if unit == "pairs" else Condition(("pack_impl",), ("packed",), default="packed"),
        version="gpt-neox ea7aefd8",
        source="NX arguments.py:223-285 (from_ymls), 885-965 (calculate_derived)",
        arguments=Arguments.NONE,
    )


FRAMEWORKS = (_table("GPT-NeoX", "samples"), _table("GPT-NeoX (preference pairs)", "pairs", (_PAIRS,)))
