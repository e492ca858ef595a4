"""ms-swift on the Trainer of transformers: an accumulation that is left open is filled up to sixteen samples per step.

SW is commit 3602360a5 (4.6.0.dev0) of modelscope/ms-swift; `SW trainers/arguments.py:285` is a line of swift/. TF is transformers 5.23.0.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.framework import Condition, Framework, Recognition, Row, SameAs, Treatment
from pytest_gbs.core.quantity import FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import AUTOTP, SHRINKS, WORLD, keys
from pytest_gbs.frameworks._known import Known
from pytest_gbs.frameworks._swift import (
    ARGUMENT,
    HANDED,
    NAMES,
    OF_OTHERS,
    OPTIONAL,
    PACKS,
    PREFERENCES,
    SOURCE,
    TRAINING,
    TUNES,
    VERSION,
    intervals,
    rlhf,
)
from pytest_gbs.frameworks._trl import COLOCATED, GENERATES_WITH_VLLM, generation_constraints, generation_equations

_TARGET: Final = 16  # samples per optimizer step
_SHRINKS: Final = SHRINKS._replace(condition=SHRINKS.condition._replace(values=(True, "true")))
_FILLS: Final = "SW trainers/arguments.py:283-285"
_SEQUENCE: Final = "SW sequence_parallel/sequence_parallel.py:651, arguments/base_args/template_args.py:141; dataloader/shard.py:42-43"
_GENERATES: Final = "SW rlhf_trainers/args_mixin.py:200-242 (_init_generation_batch_params)"

_MICRO: Final = ARGUMENT._replace(
    zero=Treatment.STOPS_LATE, negative=Treatment.STOPS_LATE, why="int() reads it, and the DataLoader takes only a positive batch size"
)
_STEPS: Final = _MICRO._replace(negative=Treatment.NO_STEPS, why="int() reads it, and the Trainer counts micro batches up to it")


def fill_accumulation(_document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the accumulation that ms-swift chooses where none is stated: enough micro batches of all ranks for 16 samples.

    It counts all ranks, those that share a sequence too (SW trainers/arguments.py:284), so that such a step has fewer.
    """
    micro, world = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.WORLD_SIZE)
    if Name.GRADIENT_ACCUMULATION_STEPS in sizes or type(micro) is not Quantity or type(world) is not Quantity:
        return {}
    at_once = micro.value * world.value
    if at_once < 1:
        return {}
    name, steps = Name.GRADIENT_ACCUMULATION_STEPS, max(1, -(-_TARGET // at_once))
    return {name: Quantity(name, steps, Origin.DEFAULT, key="gradient_accumulation_steps", because=(micro, world))}


_ROWS: Final = (
    Row(("per_device_train_batch_size",), Name.MICRO_BATCH_SIZE, 1, _MICRO, "SW trainers/arguments.py:129"),
    Row(("sequence_parallel_size",), Name.SEQUENCE_PARALLEL_SIZE, 1, ARGUMENT, "SW arguments/base_args/template_args.py:141"),
    Row(("deepspeed_autotp_size",), Name.TENSOR_PARALLEL_SIZE, None, OPTIONAL, "SW arguments/sft_args.py:180, 275-278"),
    AUTOTP,
    *intervals("SW trainers/arguments.py:138; TF training_args.py:779, 1110, 1183", "max_steps save_steps eval_steps logging_steps"),
    Row(("max_length",), Name.SEQUENCE_LENGTH, None, OPTIONAL, "SW arguments/base_args/template_args.py (max_length)"),
    Row(("device_groups", "nproc_per_node"), Name.GPUS_PER_NODE, None, OPTIONAL, "SW ray_utils/resource_manager.py:26"),
    *HANDED,
)
_ACCUMULATION: Final = Row(("gradient_accumulation_steps",), Name.GRADIENT_ACCUMULATION_STEPS, None, _STEPS, _FILLS)


def _equations(unit: str) -> tuple[Equation, ...]:
    """Return the equations: ranks that share a sequence see the same samples, which the Trainer's own count leaves out."""
    ranks, shared = (Name.TENSOR_PARALLEL_SIZE,), (Name.SEQUENCE_PARALLEL_SIZE,)
    goes_on = Enforcement.IGNORES
    return (
        WORLD,
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), ranks, Rounding.FLOOR, goes_on, source="TF trainer.py:2572"),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, shared, Rounding.FLOOR, goes_on, unit, source=_SEQUENCE),
    )


def _table(title: str, when: Condition, unit: str = "samples") -> Framework:
    """Return the table of the kinds of training that `when` names."""
    return Framework(
        name="ms-swift",
        title=title,
        recognition=Recognition(
            all_of=keys("model"),
            one_of=(TUNES, TRAINING, keys("dataset")),
            none_of=OF_OTHERS,
            when=(when,),
        ),
        unit=unit,
        rows=(_ACCUMULATION, *_ROWS),
        equations=_equations(unit),
        switches=(_SHRINKS,),
        assumed=((Name.TENSOR_PARALLEL_SIZE, 1),),
        also=Known("transformers"),
        names=NAMES,
        packing=PACKS,
        version=VERSION,
        source=f"{SOURCE}; TF trainer.py:2557-2573; {_SEQUENCE}",
        settle=fill_accumulation,
        companions=keys("deepspeed"),
    )


# Generation happens in steps of all ranks, whichever of them share a sequence.
_GROUPS: Final = (
    Row(("num_generations",), Name.NUM_GENERATIONS, 8, ARGUMENT, "SW arguments/rlhf_args.py:163"),
    Row(("generation_batch_size",), Name.GENERATION_BATCH_SIZE, None, ARGUMENT, _GENERATES, unit="completions"),
    Row(
        ("steps_per_generation",),
        Name.STEPS_PER_GENERATION,
        SameAs(Name.GRADIENT_ACCUMULATION_STEPS, unless=Name.GENERATION_BATCH_SIZE),
        ARGUMENT,
        _GENERATES,
    ),
)

FRAMEWORKS = (
    _table("ms-swift", rlhf(f"grpo {PREFERENCES}", negated=True)),
    _table("ms-swift (preferences)", rlhf(PREFERENCES), "pairs")._replace(sequences_per_sample=2),
    _table("ms-swift (GRPO)", rlhf("grpo"), "completions")._replace(
        rows=(_ACCUMULATION._replace(default=1, source="SW arguments/rlhf_args.py:527-530"), *_GROUPS, *_ROWS),
        equations=(*_equations("completions"), *generation_equations(_GENERATES)),
        constraints=generation_constraints(_GENERATES),
        settle=None,
        reserves=GENERATES_WITH_VLLM,
        shares=COLOCATED,
    ),
)
