"""What the tables of NeMo 1 and NeMo-Aligner share: Lightning's hardware keys, Megatron's sizes and the ramp-up of the batch.

NM is commit 8cfedd72 of NVIDIA/NeMo; `NM modules/common/megatron/megatron_init.py:322` is a line of nemo/collections/nlp/. MC is
megatron-core 0.14.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.core.digits import whole_number
from pytest_gbs.core.document import Document, Scalar, Sequence
from pytest_gbs.core.equation import Enforcement, world
from pytest_gbs.core.framework import Condition, Constraint, Reading, Row, Switch, Treatment
from pytest_gbs.core.quantity import Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.core.schedules import RAMP_UP, ramp
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, absent, path, paths, present, whole_accumulation

INITIALISED: Final = "NM modules/common/megatron/megatron_init.py:301-337 (fake_initialize_model_parallel)"
CALCULATOR: Final = "MC num_microbatches_calculator.py (ConstantNumMicroBatchesCalculator); NM megatron_init.py:173-190"
SAMPLERS: Final = "NM data/language_modeling/megatron/data_samplers.py:52-58, megatron_batch_samplers.py:104-109"
_TRAINER: Final = "lightning 2.6.6 trainer/trainer.py, trainer/connectors/accelerator_connector.py (devices, num_nodes)"

SIZE: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    null=Treatment.AUTO,
    why="the number of micro batches is computed from it while the model is built",
)
# A parallel size below 1 or of another type is read in many places; the number of GPUs is what the table needs.
_DEGREE: Final = OPTIONAL
# -1, "auto", a list of device numbers.
_DEVICES: Final = OPTIONAL._replace(zero=Treatment.STOPS, why="Lightning takes no devices of which there are none")

# NeMo asks for lightning above 2.2.1, and from 2.1 on (_check_device_config_and_set_final_flags) nothing is converted.
_NODES: Final = OPTIONAL._replace(
    quoted=Treatment.STOPS,
    text=Treatment.STOPS,
    whole_float=Treatment.STOPS,
    fraction=Treatment.STOPS,
    zero=Treatment.STOPS,
    negative=Treatment.STOPS,
    why="Lightning takes nothing but a whole number above 0, and what oc.env gives is text",
)

# `devices: 1` is what configurations hold until somebody says on which machine they run, and all there are is no number either.
_NO_PLACEHOLDER: Final = Condition(path("trainer.devices"), (1, -1, "-1", "auto", None), negated=True)
HARDWARE: Final = (
    Row(path("trainer.num_nodes"), Name.NUM_NODES, None, _NODES, _TRAINER, when=(_NO_PLACEHOLDER,)),
    Row(path("trainer.devices"), Name.GPUS_PER_NODE, None, _DEVICES, _TRAINER, when=(_NO_PLACEHOLDER,)),
)
WORLD: Final = world(_TRAINER)
TRAINERS: Final = paths("trainer.devices trainer.num_nodes trainer.max_steps trainer.max_epochs trainer.accumulate_grad_batches")
TRAIN: Final = paths("model.data.train_ds.global_batch_size model.data.train_ds.micro_batch_size")
NAMES: Final = paths("name run.name exp_manager.name exp_manager.exp_dir")


def given_batch(parent: str, source: str) -> Iterator[Row]:
    """Yield the rows of the global batch and the micro batch under the key path `parent`."""
    yield Row(path(f"{parent}.global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, SIZE, source)
    yield Row(path(f"{parent}.micro_batch_size"), Name.MICRO_BATCH_SIZE, None, SIZE, source)


def degrees(default: int | None) -> Iterator[Row]:
    """Yield the rows of the parallel sizes, which have no default where a checkpoint brings them along."""
    source = "NM models/language_modeling/megatron_base_model.py:199-207"
    yield Row(path("model.tensor_model_parallel_size"), Name.TENSOR_PARALLEL_SIZE, default, _DEGREE, source)
    yield Row(path("model.pipeline_model_parallel_size"), Name.PIPELINE_PARALLEL_SIZE, default, _DEGREE, source)
    yield Row(path("model.context_parallel_size"), Name.CONTEXT_PARALLEL_SIZE, 1, _DEGREE, source)
    yield Row(path("model.expert_model_parallel_size"), Name.EXPERT_PARALLEL_SIZE, 1, _DEGREE, source)


EXPERTS: Final = Constraint(
    "GBS202",
    (Name.WORLD_SIZE,),
    (Name.EXPERT_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE),
    when=(Condition(path("model.expert_model_parallel_size"), (1, None), negated=True),),
    label="the processes must divide among experts, tensor and pipeline ranks",
    source="MC parallel_state.py (initialize_model_parallel: expert_tensor_model_pipeline_parallel size)",
)
_RAMP: Final = path("model.rampup_batch_size")
_RAMP_LENGTH: Final = 3  # start, increment, samples
_MOST_DIGITS: Final = 11
# With a ramp-up nothing looks at the last global batch before it is reached.
WHOLE: Final = (
    whole_accumulation(f"{CALCULATOR}; {SAMPLERS}", (absent(_RAMP),)),
    whole_accumulation("MC num_microbatches_calculator.py:474-483", (present(_RAMP),), Enforcement.STOPS_LATE),
)
SWITCHES: Final = (
    Switch(
        present(_RAMP),
        (Name.GLOBAL_BATCH_SIZE,),
        "rampup_batch_size starts with a smaller global batch and reaches the one that is stated after so many samples",
        "MC num_microbatches_calculator.py:380-508 (RampupBatchsizeNumMicroBatchesCalculator); NM megatron_base_model.py:210",
    ),
    # Numbers one by one: an interpolation is none of them.
    Switch(
        Condition(path("trainer.accumulate_grad_batches"), tuple(range(2, 257))),
        (Name.GRADIENT_ACCUMULATION_STEPS,),
        "trainer.accumulate_grad_batches must be 1: the accumulation follows from the batch sizes, and NeMo stops at start",
        "NM models/language_modeling/megatron_gpt_model.py:1959-1962, megatron_bert_model.py:223",
        Enforcement.STOPS,
    ),
)


def clamp_to_the_processes(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the parallel sizes as the processes allow them, and the global batch with the stages of its ramp-up."""
    return {**_clamp_to_the_processes(sizes), **_ramp_up(document, sizes)}


def _ramp_up(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the global batch with the stages on the way to it (MC num_microbatches_calculator.py:380-508)."""
    end, node = sizes.get(Name.GLOBAL_BATCH_SIZE), document.get(*_RAMP)
    if not isinstance(end, Quantity) or end.origin == Origin.DERIVED or not isinstance(node, Sequence):
        return {}
    numbers = [whole_number(item.text, _MOST_DIGITS) if isinstance(item, Scalar) and item.plain else None for item in node.items]
    start, increment = numbers[:2] if len(numbers) == _RAMP_LENGTH and None not in numbers else (None, None)
    stages = ramp(start, increment, end.value) if start is not None and increment is not None else ()
    return {end.name: end._replace(stages=stages, note=RAMP_UP)} if stages else {}


def _clamp_to_the_processes(sizes: dict[str, Size]) -> dict[str, Size]:
    """Return each model-parallel size that is more than there are processes as so many, which NeMo does without a word.

    A node that can't hold the model by the product of these sizes is a placeholder: a launcher or a search for a good layout fills
    the number of nodes in (auto_configurator/base_configs of NeMo-Framework-Launcher).
    """
    processes = sizes.get(Name.WORLD_SIZE)
    if not isinstance(processes, Quantity):
        return {}
    clamped: dict[str, Size] = {}
    degree = 1
    for name in (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE):
        size = sizes.get(name)
        if isinstance(size, Quantity) and size.value > processes.value:
            note = f"{size.value}, clamped to the GPUs"
            clamped[name] = Quantity(name, processes.value, Origin.DERIVED, at=size.at, key=size.key, because=(processes,), note=note)
        degree *= size.value if isinstance(size, Quantity) else 1
    nodes = sizes.get(Name.NUM_NODES)
    if not clamped and degree > processes.value and isinstance(nodes, Quantity) and nodes.origin == Origin.FILE and nodes.value == 1:
        return {Name.NUM_NODES: Unknown(Name.NUM_NODES, Reason.PLACEHOLDER, nodes.at)}
    return clamped
