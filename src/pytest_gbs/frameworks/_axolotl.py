"""What the tables of axolotl's trainers share: keys, readings, what its schema refuses, and the batch equation.

AX is axolotl 0.18.0 (067b021c8); `AX schemas/training.py:77` is a line of src/axolotl/utils/schemas, other paths of src/axolotl. TF is
transformers, as in `_huggingface.py`.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import (
    LENIENT,
    Condition,
    Constraint,
    Exclusion,
    Framework,
    Reading,
    Recognition,
    Requirement,
    Row,
    SameAs,
    Treatment,
)
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import WORLD, keys

_NOTHING: Final = (None, 0, False, 0.0)


def _is_set(key: str) -> Condition:
    return Condition((key,), _NOTHING, negated=True)


_NO_TOTAL: Final = Condition(("batch_size",), _NOTHING)
_TOTAL: Final = _is_set("batch_size")

# pydantic converts `"8"`, `8.0` and `true`; the check of the batch keys takes 0 for a key that is not there.
_WHOLE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    negative=Treatment.STOPS_LATE,
    why="at least two of micro_batch_size, gradient_accumulation_steps and batch_size must be whole numbers above 0",
)
OPTIONAL: Final = _WHOLE._replace(null=Treatment.UNSET, zero=Treatment.UNSET, negative=Treatment.STOPS, why="")
_LOOSE: Final = LENIENT._replace(quoted=Treatment.ACCEPTS, whole_float=Treatment.ACCEPTS, null=Treatment.UNSET, zero=Treatment.UNSET)
_ACCUMULATION: Final = _WHOLE._replace(negative=Treatment.NO_STEPS)
# null hands the accumulation over to `batch_size // micro_batch_size`; without the key it is 1 and batch_size has no say.
_LEFT_OPEN: Final = _ACCUMULATION._replace(null=Treatment.AUTO, zero=Treatment.AUTO)

_STEPS: Final = ("gradient_accumulation_steps",)
_SIZES: Final = (
    Row(("micro_batch_size",), Name.MICRO_BATCH_SIZE, 1, _WHOLE, "AX schemas/training.py:77, core/builders/base.py:668"),
    Row(_STEPS, Name.GRADIENT_ACCUMULATION_STEPS, 1, _ACCUMULATION, "AX schemas/training.py:71, validation.py:218", when=(_NO_TOTAL,)),
    Row(_STEPS, Name.GRADIENT_ACCUMULATION_STEPS, 1, _LEFT_OPEN, "AX utils/config/__init__.py:205-207", when=(_TOTAL,)),
    Row(("tensor_parallel_size",), Name.TENSOR_PARALLEL_SIZE, None, OPTIONAL, "AX schemas/config.py:1125, validation.py:1628"),
    Row(("context_parallel_size",), Name.CONTEXT_PARALLEL_SIZE, None, OPTIONAL, "AX schemas/config.py:1107, validation.py:1634-1641"),
    Row(("sequence_parallel_degree",), Name.CONTEXT_PARALLEL_SIZE, None, OPTIONAL, "AX schemas/config.py:1101, validation.py:1635-1639"),
    Row(("dp_shard_size",), Name.SHARD_SIZE, None, OPTIONAL, "AX schemas/config.py:1091, utils/distributed.py:347-366"),
    Row(("dp_replicate_size",), Name.REPLICATE_SIZE, None, OPTIONAL, "AX schemas/config.py:1097, utils/distributed.py:352-354"),
    Row(
        ("ray_num_workers",),
        Name.WORLD_SIZE,
        1,
        OPTIONAL,
        "AX schemas/integrations.py:160-170 (RayConfig), cli/train.py:117-126",
        when=(_is_set("use_ray"),),
    ),
)
_EVALUATION: Final = tuple(
    Row(
        ("eval_batch_size",),
        Name.EVAL_MICRO_BATCH_SIZE,
        SameAs(Name.MICRO_BATCH_SIZE),
        OPTIONAL._replace(zero=Treatment.AUTO),
        "AX utils/config/__init__.py:211-212, core/builders/base.py:671-674",
        when=(_is_set(key),),
    )
    for key in ("val_set_size", "test_datasets")
)
_INTERVALS: Final = (
    Row(("max_steps",), Name.MAX_STEPS, None, _LOOSE, "AX schemas/config.py:1178"),
    Row(("logging_steps",), Name.LOGGING_STEPS, None, _LOOSE, "AX core/builders/base.py (logging_steps)", ratio=True),
    Row(("save_steps",), Name.SAVE_STEPS, None, _LOOSE, "AX schemas/config.py:1213", ratio=True),
    Row(("eval_steps",), Name.EVAL_STEPS, None, _LOOSE, "AX schemas/config.py:1194", ratio=True),
    Row(("sequence_len",), Name.SEQUENCE_LENGTH, 512, _LOOSE, "AX schemas/config.py:665"),
)

_STOPS: Final = "the schema refuses it"
_PAIRS_OF_KEYS: Final = (
    ("gradient_accumulation_steps", "batch_size", "AX schemas/validation.py:273-279"),
    ("warmup_steps", "warmup_ratio", "AX schemas/validation.py:295-299"),
    ("save_steps", "saves_per_epoch", "AX schemas/validation.py:312-316"),
    ("eval_steps", "evals_per_epoch", "AX schemas/validation.py:350-354"),
)
_EXCLUSIONS: Final = (
    *(Exclusion(((one,), (other,)), _STOPS, source, (_is_set(one), _is_set(other))) for one, other, source in _PAIRS_OF_KEYS),
    *(
        Exclusion(
            ((key,), ("micro_batch_size",)),
            "with sample_packing, ring attention takes a micro batch of 1 only",
            "AX schemas/validation.py:1659-1663",
            (
                Condition((key,), (*_NOTHING, 1), negated=True),
                Condition(("sample_packing",), (True,)),
                Condition(("micro_batch_size",), (*_NOTHING, 1), negated=True),
            ),
        )
        for key in ("context_parallel_size", "sequence_parallel_degree")
    ),
)
_TWO_OF: Final = (("micro_batch_size", "gradient_accumulation_steps"), ("micro_batch_size", "batch_size"), (*_STEPS, "batch_size"))
_REQUIREMENTS: Final = tuple(
    Requirement(
        ((one,), (other,)),
        "at least two of micro_batch_size, gradient_accumulation_steps and batch_size must be set",
        source="AX schemas/validation.py:218-227",
    )
    for one, other in _TWO_OF
)
_FILLS: Final = "the configured parallelisms must fill the world"
_FILLED: Final = "AX utils/distributed.py:320-381; accelerate parallelism_config.py:372-376 (total_size is not num_processes)"
_SPLIT: Final = (Name.TENSOR_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE)
_PARTS: Final = (Name.SHARD_SIZE, Name.REPLICATE_SIZE)
_MESH: Final = (
    *(Constraint("GBS202", (Name.WORLD_SIZE,), (*_SPLIT, part), needs=(part,), label=_FILLS, source=_FILLED) for part in _PARTS),
    Constraint(
        "GBS202",
        (*_SPLIT, *_PARTS),
        (Name.WORLD_SIZE,),
        when=tuple(Condition((key,), (*_NOTHING, 1), negated=True) for key in ("dp_shard_size", "dp_replicate_size")),
        needs=_PARTS,
        label=_FILLS,
        source=_FILLED,
    ),
)


def _equations(unit: str) -> tuple[Equation, ...]:
    """Return the equations for batches counted in `unit`."""
    return (
        WORLD,
        Equation(
            Name.DATA_PARALLEL_SIZE,
            (Name.WORLD_SIZE,),
            (Name.CONTEXT_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE),
            source="AX utils/config/__init__.py:223-230, docs/sequence_parallelism.qmd; a remainder stops: " + _FILLED,
        ),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source="AX utils/config/__init__.py:202-230, core/builders/base.py:639, 668"),
        Equation(
            Name.EVAL_GLOBAL_BATCH_SIZE,
            (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            unit=unit,
            source="AX core/builders/base.py:671-674; TF trainer.py:2873 (evaluate)",
        ),
    )


_FOREIGN: Final[tuple[KeyPath, ...]] = keys("architectures finetuning_type stage merge_method models apiVersion on jobs")
_TRAINS: Final[tuple[KeyPath, ...]] = keys("micro_batch_size num_epochs sample_packing dataset_prepared_path sequence_len")


def table(title: str, unit: str, *when: Condition) -> Framework:
    """Return the table of the trainers that one of the conditions in `when` chooses."""
    return Framework(
        name="axolotl",
        title=title,
        recognition=Recognition(
            all_of=(("base_model",),),
            one_of=(_TRAINS, keys("micro_batch_size gradient_accumulation_steps batch_size learning_rate num_epochs")),
            none_of=_FOREIGN,
            marks=keys("micro_batch_size sequence_len sample_packing dataset_prepared_path val_set_size lora_target_linear"),
            when=when,
        ),
        unit=unit,
        rows=(*_SIZES, *_EVALUATION, *_INTERVALS),
        equations=_equations(unit),
        constraints=_MESH,
        exclusions=_EXCLUSIONS,
        requirements=_REQUIREMENTS,
        assumed=((Name.TENSOR_PARALLEL_SIZE, 1), (Name.CONTEXT_PARALLEL_SIZE, 1)),
        also=frozenset(("batch_size", "eval_batch_size", "expert_parallel_size", "max_steps", "save_steps", "eval_steps")),
        names=keys("output_dir wandb_name wandb_run_id hub_model_id mlflow_run_name"),
        packing=Condition(("sample_packing",), (True,)),
        sequences_per_sample=2 if unit == "pairs" else 1,
        version="axolotl 0.18.0 (067b021c8)",
        source="AX utils/config/__init__.py:200-230 (normalize_config), core/builders/base.py:620-690",
        companions=(("deepspeed",),),
    )
