"""PyTorch Lightning's command line: the batch of one device is the user's own key, the accumulation and the devices are the Trainer's.

PL is commit 7f0c343 of Lightning-AI/pytorch-lightning; `PL trainer/trainer.py:119` is a line of src/lightning/pytorch/.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document, Mapping, Scalar, Sequence
from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import Location
from pytest_gbs.core.quantity import FACTORS, Name, Reason, Size, Unknown
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_BATCH: Final = "PL trainer/trainer.py:119, 242; docs/source-pytorch/accelerators/gpu_faq.rst:26-32"
_SCHEDULER: Final = "GradientAccumulationScheduler"

# The key belongs to the user's own class; a DataLoader takes whole numbers above 0, whatever the class does with others.
_MICRO: Final = LENIENT
# jsonargparse 4.53 checks the type: it takes "8" for 8, and neither 8.0 nor true.
_ACCUMULATION: Final = Reading(
    quoted=Treatment.ACCEPTS,
    null=Treatment.AUTO,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.AUTO,
    why="the Trainer takes only a whole number for it",
)
# `devices: [2]` is one device, `"2"` are two, -1 and "auto" are all there are.
_HARDWARE: Final = _MICRO._replace(quoted=Treatment.ACCEPTS)
_TENSOR: Final = _MICRO
# ModelParallelStrategy takes a whole node as one tensor parallel group unless told otherwise; the other strategies have none.
_STRATEGY: Final = _MICRO._replace(
    quoted=Treatment.UNSET,
    text=Treatment.UNSET,
    null=Treatment.UNSET,
    collection=Treatment.UNSET,
    words=tuple(
        (f"{module}ModelParallelStrategy", Treatment.AUTO)
        for module in ("", "lightning.pytorch.strategies.", "lightning.pytorch.strategies.model_parallel.", "pytorch_lightning.strategies.")
    ),
)


_BATCHES: Final = dotted("data.init_args.batch_size data.batch_size model.init_args.batch_size")
_INIT: Final = ("trainer", "strategy", "init_args")
_ROWS: Final = (
    *(Row(key, Name.MICRO_BATCH_SIZE, None, _MICRO, "PL core/datamodule.py; the DataLoader of one process") for key in _BATCHES),
    Row(("trainer", "accumulate_grad_batches"), Name.GRADIENT_ACCUMULATION_STEPS, 1, _ACCUMULATION, _BATCH),
    Row(("trainer", "devices"), Name.GPUS_PER_NODE, None, _HARDWARE, "PL trainer/trainer.py:96"),
    Row(("trainer", "num_nodes"), Name.NUM_NODES, 1, _HARDWARE, "PL trainer/trainer.py:97"),
    Row((*_INIT, "tensor_parallel_size"), Name.TENSOR_PARALLEL_SIZE, None, _TENSOR, "PL strategies/model_parallel.py:90, 153-158"),
    Row(("trainer", "strategy", "class_path"), Name.TENSOR_PARALLEL_SIZE, 1, _STRATEGY, "PL strategies/model_parallel.py:153-158"),
    Row(("trainer", "max_steps"), Name.MAX_STEPS, None, _MICRO._replace(negative=Treatment.UNSET), "PL trainer/trainer.py:104"),
)
_EQUATIONS: Final = (
    world("PL strategies/ddp.py:227 (num_nodes x num_processes)"),
    Equation(
        Name.DATA_PARALLEL_SIZE,
        (Name.WORLD_SIZE,),
        (Name.TENSOR_PARALLEL_SIZE,),
        source="PL strategies/ddp.py:138; strategies/model_parallel.py:124-127, 153-158",
    ),
    Equation(
        Name.GLOBAL_BATCH_SIZE,
        FACTORS,
        unit="samples",
        source=_BATCH,
    ),
)


def schedule_accumulation(document: Document, _: dict[str, Size]) -> dict[str, Size]:
    """Return an accumulation that changes where a callback schedules it (PL callbacks/gradient_accumulation_scheduler.py), else nothing."""
    callbacks = document.get("trainer", "callbacks")
    for item in callbacks.items if isinstance(callbacks, Sequence) else ():
        for key, value in item.entries if isinstance(item, Mapping) else ():
            if getattr(key, "text", "") == "class_path" and isinstance(value, Scalar) and value.text.endswith(_SCHEDULER):
                at = Location(document.source.path, value.start, value.stop)
                return {Name.GRADIENT_ACCUMULATION_STEPS: Unknown(Name.GRADIENT_ACCUMULATION_STEPS, Reason.SCHEDULE, at)}
    return {}


FRAMEWORK = Framework(
    name="lightning",
    title="PyTorch Lightning (CLI)",
    recognition=Recognition(
        one_of=(
            dotted("data.class_path model.class_path"),
            dotted("trainer.accumulate_grad_batches trainer.max_epochs trainer.devices trainer.accelerator"),
            (*_BATCHES, ("trainer", "accumulate_grad_batches")),
        ),
        none_of=dotted("exp_manager model.global_batch_size model.micro_batch_size actor_rollout_ref trainer.train_batch_size"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=_EQUATIONS,
    version="Lightning 7f0c343",
    source=_BATCH,
    settle=schedule_accumulation,
)
