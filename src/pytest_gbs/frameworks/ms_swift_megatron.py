"""Megatron-SWIFT: the global batch is given, 16 unless stated, and the accumulation follows; under Ray each role has GPUs of its own.

SW is commit 3602360a5 (4.6.0.dev0) of modelscope/ms-swift; `SW megatron/arguments/megatron_args.py:948` is a line of swift/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Condition, Constraint, Framework, Reading, Recognition, Row
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import WORLD, keys
from pytest_gbs.frameworks._known import Known
from pytest_gbs.frameworks._swift import ARGUMENT, HANDED, NAMES, OPTIONAL, PACKS, PREFERENCES, SOURCE, TUNES, VERSION, intervals, rlhf
from pytest_gbs.frameworks._trl import COLOCATED, GENERATES_WITH_VLLM

_EXPERTS: Final = "expert_parallel_size"
_EXPERT_TENSORS: Final = "expert_tensor_parallel_size"
_ARGUMENTS: Final = "SW megatron/arguments/megatron_args.py"
_BATCH: Final = f"{_ARGUMENTS}:943-959 (_init_distributed)"
_RAY: Final = "SW ray/megatron/driver_utils.py:59-119, 156-161"
_GENERATES: Final = f"{_ARGUMENTS}:261-295 (resolve_generation_batch_size)"
_ALIGNED: Final = f"{_ARGUMENTS}:298-329 (validate_batch_dp_alignment)"
_DIVIDED: Final = ARGUMENT._replace(why="it becomes a word of the command line that int() reads, and the global batch is divided by it")


def _rows(key: str, name: str, default: int, reading: Reading, source: str) -> tuple[Row, ...]:
    """Return the rows of one size: what the role that trains has of its own goes before what all roles share."""
    return (
        Row(("train", key), name, None, reading, f"{source}; {_RAY}"),
        Row((key,), name, default, reading, source),
    )


_ROWS: Final = (
    *_rows("micro_batch_size", Name.MICRO_BATCH_SIZE, 1, _DIVIDED, f"{_ARGUMENTS}:482"),
    *_rows("global_batch_size", Name.GLOBAL_BATCH_SIZE, 16, _DIVIDED, f"{_ARGUMENTS}:483"),
    *_rows("tensor_model_parallel_size", Name.TENSOR_PARALLEL_SIZE, 1, _DIVIDED, f"{_ARGUMENTS}:592"),
    *_rows("pipeline_model_parallel_size", Name.PIPELINE_PARALLEL_SIZE, 1, _DIVIDED, f"{_ARGUMENTS}:593"),
    *_rows("context_parallel_size", Name.CONTEXT_PARALLEL_SIZE, 1, _DIVIDED, f"{_ARGUMENTS}:603"),
    *_rows("expert_model_parallel_size", _EXPERTS, 1, _DIVIDED, f"{_ARGUMENTS}:618"),
    *_rows("expert_tensor_parallel_size", _EXPERT_TENSORS, 1, _DIVIDED, f"{_ARGUMENTS}:619"),
    Row(("train", "gpus"), Name.WORLD_SIZE, None, OPTIONAL, _RAY),
    Row(("nnodes",), Name.NUM_NODES, None, OPTIONAL, _RAY),
    *HANDED,
    Row(("max_length",), Name.SEQUENCE_LENGTH, None, OPTIONAL, "SW megatron/arguments/megatron_base_args.py:39"),
    Row(("train_iters",), Name.MAX_STEPS, None, OPTIONAL, f"{_ARGUMENTS}:488"),
    *intervals(f"{_ARGUMENTS}:563, 633", "save_steps eval_steps logging_steps"),
)

_SPLIT: Final = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        label="the global batch must hold whole micro batches of all ranks",
        source=_BATCH,
    ),
    Constraint(
        "GBS202",
        (Name.WORLD_SIZE,),
        (_EXPERT_TENSORS, _EXPERTS, Name.PIPELINE_PARALLEL_SIZE),
        label="the ranks must divide among the experts",
        source="Megatron-LM d98e8a64 megatron/core/parallel_state.py (initialize_model_parallel, expert_decoder_rank_generator)",
    ),
)


def _equations(unit: str) -> tuple[Equation, ...]:
    return (
        WORLD,
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), _SPLIT, source=_BATCH),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=_BATCH),
    )


def _table(title: str, when: Condition, unit: str = "samples") -> Framework:
    """Return the table of the kinds of training that `when` names."""
    return Framework(
        name="megatron-swift",
        title=title,
        recognition=Recognition(
            all_of=keys("model"),
            one_of=(
                keys("""
                micro_batch_size global_batch_size tensor_model_parallel_size pipeline_model_parallel_size expert_model_parallel_size
                lr_warmup_fraction train_iters
                """),
                (*TUNES, ("train", "tuner_type")),
                keys("dataset cached_dataset"),
            ),
            none_of=keys("stage finetuning_type model_name_or_path per_device_train_batch_size train_dataset base_model"),
            when=(when,),
        ),
        unit=unit,
        rows=_ROWS,
        equations=_equations(unit),
        constraints=_CONSTRAINTS,
        also=Known("transformers"),
        names=NAMES,
        packing=PACKS,
        version=VERSION,
        source=f"{SOURCE}; {_BATCH}",
    )


_GENERATION_GIVEN: Final = Condition(("generation_batch_size",), (None,))
_GROUPS: Final = (
    *_rows("num_generations", Name.NUM_GENERATIONS, 8, ARGUMENT, f"{_ARGUMENTS}:76"),
    Row(("generation_batch_size",), Name.GENERATION_BATCH_SIZE, None, ARGUMENT, _GENERATES, unit="completions"),
    Row(("steps_per_generation",), Name.STEPS_PER_GENERATION, None, ARGUMENT, _GENERATES),
    Row(("steps_per_generation",), Name.STEPS_PER_GENERATION, 1, ARGUMENT, _GENERATES, when=(_GENERATION_GIVEN,)),
)
_GRPO_EQUATIONS: Final = (
    Equation(Name.GENERATION_BATCH_SIZE, (Name.GLOBAL_BATCH_SIZE, Name.STEPS_PER_GENERATION), unit="completions", source=_GENERATES),
    Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=_GENERATES),
)
_GRPO_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.GLOBAL_BATCH_SIZE,),
        needs=(Name.GENERATION_BATCH_SIZE,),
        label="a generation must feed whole optimizer steps",
        source=_GENERATES,
    ),
    Constraint(
        "GBS205",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.NUM_GENERATIONS,),
        label="the generation batch must hold whole groups",
        source=_GENERATES,
    ),
    Constraint(
        "GBS205",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.NUM_GENERATIONS, Name.DATA_PARALLEL_SIZE, Name.MICRO_BATCH_SIZE),
        label="the prompts of a generation must be whole micro batches of every rank",
        source=_ALIGNED,
    ),
    Constraint(
        "GBS205",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.WORLD_SIZE,),
        at_least=1,
        label="every process must have a completion of a generation",
        source=_ALIGNED,
    ),
)

FRAMEWORKS = (
    _table("Megatron-SWIFT", rlhf(f"grpo {PREFERENCES}", negated=True)),
    _table("Megatron-SWIFT (preferences)", rlhf(PREFERENCES), "pairs")._replace(sequences_per_sample=2),
    _table("Megatron-SWIFT (GRPO)", rlhf("grpo"), "completions")._replace(
        rows=(*_GROUPS, *_ROWS),
        equations=(*_equations("completions"), *_GRPO_EQUATIONS),
        constraints=(*_GRPO_CONSTRAINTS, *_CONSTRAINTS),
        reserves=GENERATES_WITH_VLLM,
        shares=COLOCATED,
    ),
)
