"""What the tables of torchtune's recipes share: keys, readings, and the two ways to count data-parallel ranks.

TT is torchtune bd2a0fc7c; `TT full_finetune_distributed.py:207` is a line of recipes, other paths are of torchtune/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Condition, Exclusion, Framework, Loader, Reading, Recognition, Requirement, Row, SameAs
from pytest_gbs.core.framework import Treatment as Does
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import keys

VERSION: Final = "torchtune bd2a0fc7c"

# The file goes through OmegaConf and converts nothing: a value fails where it is first used.
MICRO: Final = Reading(
    *(Does.STOPS_LATE,) * 9,
    why="the DataLoader takes only a positive whole number as its batch size",
)._replace(boolean=Does.ACCEPTS)
ACCUMULATION: Final = MICRO._replace(whole_float=Does.ACCEPTS, why="the recipe divides the number of micro batches by it")
DEGREE: Final = Reading(boolean=Does.ACCEPTS, why="parallel degrees are multiplied and held against the number of processes")
INTERVAL: Final = Reading(*(Does.AUTO,) * 9)._replace(null=Does.UNSET)

BATCH: Final[KeyPath] = ("batch_size",)
STEPS: Final[KeyPath] = ("gradient_accumulation_steps",)
COMPONENTS: Final[tuple[KeyPath, ...]] = (("optimizer", "_component_"), ("tokenizer", "_component_"))
# Keys of which each belongs to one recipe alone.
KD_KEYS: Final = keys("kd_loss teacher_model")
RL_KEYS: Final = keys("ppo_batch_size grpo_samples orchestration")

ROWS: Final = (
    Row(BATCH, Name.MICRO_BATCH_SIZE, None, MICRO, "TT full_finetune_distributed.py:446, lora_finetune_single_device.py:329"),
    Row(STEPS, Name.GRADIENT_ACCUMULATION_STEPS, None, ACCUMULATION, "TT full_finetune_distributed.py:207, 470"),
    Row(("tokenizer", "max_seq_len"), Name.SEQUENCE_LENGTH, None, INTERVAL, "TT models/llama3/_tokenizer.py (max_seq_len)"),
    Row(("save_every_n_steps",), Name.SAVE_STEPS, None, INTERVAL, "TT full_finetune_distributed.py:212, 479"),
)
VALIDATION: Final = (
    Row(
        ("batch_size_val",),
        Name.EVAL_MICRO_BATCH_SIZE,
        SameAs(Name.MICRO_BATCH_SIZE),
        MICRO,
        "TT full_finetune_distributed.py:453-459",
        when=(Condition(("dataset_val",), (None,), negated=True),),
    ),
    Row(("run_val_every_n_steps",), Name.EVAL_STEPS, None, INTERVAL, "TT full_finetune_distributed.py:214-219"),
)
MESH: Final = (
    Row(("tensor_parallel_dim",), Name.TENSOR_PARALLEL_SIZE, 1, DEGREE, "TT full_finetune_distributed.py:157"),
    Row(("context_parallel_dim",), Name.CONTEXT_PARALLEL_SIZE, 1, DEGREE, "TT full_finetune_distributed.py:165"),
    Row(("data_parallel_replicate_dim",), Name.REPLICATE_SIZE, 1, DEGREE, "TT full_finetune_distributed.py:170"),
    Row(
        ("data_parallel_shard_dim",),
        Name.SHARD_SIZE,
        None,
        DEGREE._replace(negative=Does.UNSET),
        "TT full_finetune_distributed.py:169, training/_distributed.py:81-83",
    ),
)

WORLD: Final = Equation(
    Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source="TT _cli/run.py:88-106 (torchrun: nnodes x nproc_per_node)"
)
ALL_RANKS: Final = Equation(
    Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source="TT full_dpo_distributed.py:693, knowledge_distillation_distributed.py:664"
)
MESH_RANKS: Final = (
    Equation(
        Name.DATA_PARALLEL_SIZE,
        (Name.WORLD_SIZE,),
        (Name.TENSOR_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE),
        source="TT training/_distributed.py:70-90, full_finetune_distributed.py:181-188, 826",
    ),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.REPLICATE_SIZE, Name.SHARD_SIZE), source="TT training/_distributed.py:81-90"),
)


def batch(unit: str, source: str = "TT full_finetune_distributed.py:94, 826, 920 (_gradient_accumulation_steps)") -> Equation:
    """Return the batch equation in `unit`."""
    return Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=source)


def validation(unit: str) -> Equation:
    """Return the equation of the validation batch in `unit`."""
    factors = (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    return Equation(Name.EVAL_GLOBAL_BATCH_SIZE, factors, unit=unit, source="TT full_finetune_distributed.py:453-459, 826")


_IN_BACKWARD: Final[KeyPath] = ("optimizer_in_bwd",)
_STEPS_IN_BACKWARD: Final = Condition(_IN_BACKWARD, (True,))
IN_BACKWARD: Final = (
    Exclusion(
        (STEPS, _IN_BACKWARD),
        "an optimizer that steps in the backward pass cannot accumulate, and the recipe stops",
        "TT full_finetune_distributed.py:228-232, full_finetune_single_device.py:157-160, ppo_full_finetune_single_device.py:436-440",
        (_STEPS_IN_BACKWARD, Condition(STEPS, (1, True), negated=True, default=1)),
    ),
    Exclusion(
        (("clip_grad_norm",), _IN_BACKWARD),
        "an optimizer that steps in the backward pass cannot clip, and the recipe stops",
        "TT full_finetune_distributed.py:223-227, full_finetune_single_device.py:153-156",
        (_STEPS_IN_BACKWARD,),
    ),
)
NEEDED: Final = (Requirement((STEPS,), "the recipe reads it without a default and stops", source="TT full_finetune_distributed.py:207"),)


def table(
    title: str,
    unit: str,
    recognition: Recognition,
    *,
    rows: tuple[Row, ...],
    equations: tuple[Equation, ...],
    assumed: tuple[tuple[str, int], ...] = (),
    source: str = "TT full_finetune_distributed.py:800-850 (_setup_data)",
) -> Framework:
    """Return the table of one kind of recipe."""
    return Framework(
        name="torchtune",
        title=title,
        recognition=recognition,
        unit=unit,
        rows=rows,
        equations=equations,
        exclusions=IN_BACKWARD,
        requirements=NEEDED,
        assumed=assumed,
        also=frozenset(("max_steps_per_epoch", "forward_batch_size", "ppo_batch_size")),
        names=keys("output_dir"),
        packing=Condition(("dataset", "packed"), (True,)),
        sequences_per_sample=2 if unit == "pairs" else 1,
        loader=Loader.OMEGACONF,
        version=VERSION,
        source=source,
        arguments=Arguments.PAIRS,
    )
