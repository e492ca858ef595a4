"""DeepSpeed: the JSON that says two of its three batch sizes, or leaves them to the Trainer as "auto".

DS is DeepSpeed commit edaa7221 (0.19.6); `DS runtime/config.py:942` is a line of deepspeed/. The solver and its assertions are the
same text in 0.19.8, which removed elasticity and refuses a file that has it. An `mpu` of the program (Megatron-DeepSpeed) divides
the data-parallel size further; the file does not say so.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import (
    Arguments,
    Condition,
    Constraint,
    Exclusion,
    Framework,
    Reading,
    Recognition,
    Requirement,
    Row,
    Treatment,
)
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_TRAIN: Final = ("train_batch_size",)
_MICRO: Final = ("train_micro_batch_size_per_gpu",)
_STEPS: Final = ("gradient_accumulation_steps",)
_ELASTIC: Final = ("elasticity", "enabled")
_SEQUENCE: Final = ("sequence_parallel_size",)

_SOLVER: Final = "DS runtime/config.py:942-985 (_set_batch_related_parameters)"
_CHECK: Final = "DS runtime/config.py:925-940 (_batch_assertion)"


def _absent(key: KeyPath) -> Condition:
    return Condition(key, (None,))


_SCALES: Final = Condition(_ELASTIC, (True,))
_FIXED: Final = Condition(_ELASTIC, (True,), negated=True)

# hjson hands values over as they are; the assertions compare them with 0 and with their product.
_SIZE: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    null=Treatment.UNSET,
    words=(("auto", Treatment.AUTO),),
    why="the batch sizes are divided, multiplied and compared with 0 as they are loaded",
)
_ENABLED: Final = Reading(*(Treatment.ELASTIC,) * 9)


def _rows() -> tuple[Row, ...]:
    elastic = "DS runtime/config.py:729-790 (compute_elastic_config)"
    sizes = ((_TRAIN, Name.GLOBAL_BATCH_SIZE, 20), (_MICRO, Name.MICRO_BATCH_SIZE, 96), (_STEPS, Name.GRADIENT_ACCUMULATION_STEPS, 108))
    alone = Row(_STEPS, Name.GRADIENT_ACCUMULATION_STEPS, 1, _SIZE, "DS runtime/config.py:973-981")
    split = "DS runtime/config.py:719-722, __init__.py:203-206"
    return (
        *(Row(_ELASTIC, name, reading=_ENABLED, source=elastic, when=(_SCALES,)) for _, name, _ in sizes),
        *(Row(key, name, None, _SIZE, f"DS runtime/constants.py:{line}", when=(_FIXED,)) for key, name, line in sizes),
        alone._replace(when=(_FIXED, _absent(_MICRO))),
        alone._replace(when=(_FIXED, _absent(_TRAIN))),
        Row(_SEQUENCE, Name.SEQUENCE_PARALLEL_SIZE, None, _SIZE, split),
    )


_EQUATIONS: Final = (
    world("DS launcher/launch.py:170-189"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.SEQUENCE_PARALLEL_SIZE,), source="DS runtime/config.py:709-727"),
    Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit="samples", source=_CHECK),
)


def _whole(divisor: tuple[str, ...], label: str, *absent: KeyPath, needs: tuple[str, ...]) -> Constraint:
    """Return the check that a size which follows by floor division gives the product back: it does where nothing was floored."""
    when = (_FIXED, *(_absent(key) for key in absent))
    return Constraint("GBS202", (Name.GLOBAL_BATCH_SIZE,), divisor, when=when, needs=needs, label=label, source=f"{_SOLVER}, {_CHECK}")


_CONSTRAINTS: Final = (
    _whole(
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        "the accumulation follows by division",
        _STEPS,
        needs=(Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE),
    ),
    _whole(
        (Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
        "the micro batch follows by division",
        _MICRO,
        needs=(Name.GLOBAL_BATCH_SIZE,),
    ),
    _whole(
        (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS),
        "the data-parallel size is a whole number",
        needs=(Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS),
    ),
)

# A file without any of the three, and without the interval of DeepSpeed's own log, is one that the program completes.
_NEEDED: Final = Requirement(
    (_TRAIN, _MICRO),
    "DeepSpeed stops at start: one of the two needs to be provided",
    when=(_FIXED, Condition(_STEPS, (None,), negated=True)),
    source="DS runtime/config.py:983-985",
)
_REQUIREMENTS: Final = (
    _NEEDED,
    _NEEDED._replace(when=(_FIXED, _absent(_STEPS), Condition(("steps_per_print",), (None,), negated=True))),
)

_KNOWN: Final = frozenset(
    str(key[0])
    for key in dotted("""
optimizer scheduler fp16 bf16 amp zero_optimization gradient_clipping prescale_gradients steps_per_print
wall_clock_breakdown memory_breakdown dump_state communication_data_type seq_parallel_communication_data_type
activation_checkpointing comms_logger flops_profiler tensorboard wandb csv_monitor monitor_config elasticity autotuning
checkpoint data_types compile tensor_parallel zero_allow_untested_optimizer zero_force_ds_cpu_optimizer sparse_attention
curriculum_learning data_efficiency compression_training pipeline hybrid_engine eigenvalue quantize_training
data_parallel_size managed_gradient_accumulation
""")
)
# Keys of GPT-NeoX, of model configurations and of launchers that hold keys of the same names.
_FOREIGN: Final = dotted("""
pipe_parallel_size pipe-parallel-size model_parallel_size model-parallel-size num_layers num-layers hidden_size
hidden-size architectures model_type distributed_type per_device_train_batch_size model_name_or_path autotuning_config
arg_mappings data_path data-path seq_length seq-length train_iters train-iters model data trainer
""")
_SIGNS: Final = dotted("""
zero_optimization.stage fp16.enabled bf16.enabled optimizer.type scheduler.type gradient_clipping steps_per_print
wall_clock_breakdown zero_allow_untested_optimizer elasticity.enabled
""")

FRAMEWORK = Framework(
    name="deepspeed",
    title="DeepSpeed",
    recognition=Recognition(
        one_of=(
            (("zero_optimization",), _MICRO, _TRAIN, ("steps_per_print",)),
            _SIGNS,
        ),
        none_of=_FOREIGN,
        marks=(("zero_optimization",), _MICRO, ("steps_per_print",)),
        syntax="json",
    ),
    unit="samples",
    rows=_rows(),
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    exclusions=(
        Exclusion(
            (_ELASTIC, _TRAIN, _MICRO, _STEPS),
            "elastic training chooses the batch sizes, and DeepSpeed stops at start",
            "DS runtime/config.py:757-769; 0.19.8 refuses elasticity itself",
            when=(_SCALES, Condition(("elasticity", "ignore_non_elastic_batch_info"), (True,), negated=True)),
        ),
    ),
    requirements=_REQUIREMENTS,
    assumed=((Name.SEQUENCE_PARALLEL_SIZE, 1),),
    also=_KNOWN,
    version="DeepSpeed edaa7221",
    source=f"DS runtime/config.py:699 (hjson); {_SOLVER}, {_CHECK}",
    arguments=Arguments.NONE,
    companion=True,
)
