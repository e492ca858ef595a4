"""NeMo Automodel: the global batch and the local batch are given, and the accumulation follows from the ranks.

AM is commit 36044ad3 of NVIDIA-NeMo/Automodel; `AM recipes/llm/train_ft.py:754` is a line of nemo_automodel/. A text that is a Python
literal counts as its value (AM components/config/loader.py:121-162).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, TORCHRUN, batch, data_parallel, intervals, path, paths, whole_accumulation

_SCHEDULER: Final = "AM components/training/step_scheduler.py:107-124, 379"
_LOCAL: Final = "AM recipes/llm/train_ft.py:754, recipes/vlm/finetune.py:650"
_SIZES: Final = "AM recipes/_dist_utils.py:41-48, 94-102; components/distributed/mesh_utils.py:44-45, 105-121"
_PIPELINE: Final = "AM recipes/llm/train_ft.py:543-549, components/distributed/pipelining/autopipeline.py:89-90"
_MESH: Final = "AM components/distributed/mesh_utils.py:288-345 (_create_fsdp2_device_mesh)"

_BATCH: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    why="the step scheduler compares it with 0 and divides by it",
)
# What is no whole number above 0 counts as not there.
_DEGREE: Final = Reading(*(Treatment.UNSET,) * 9)._replace(quoted=Treatment.ACCEPTS, boolean=Treatment.ACCEPTS)
_WITH_PIPELINE: Final = Condition(path("distributed.pp_size"), (1, None, 0), negated=True, default=1)
_MULTIMODAL: Final = Condition(("recipe",), ("FinetuneRecipeForMultimodal", "PretrainRecipeForMultimodal"))


def _degrees(**keys: str) -> Iterator[Row]:
    """Yield the rows of parallel sizes by name, which diffusion recipes write in `fsdp`."""
    for name, key in keys.items():
        default = None if name == Name.DATA_PARALLEL_SIZE else 1
        yield Row(path(f"distributed.{key}"), name, None, _DEGREE, _SIZES)
        yield Row(path(f"fsdp.{key}"), name, None, _DEGREE, "AM recipes/diffusion/train.py:815-841")
        if default:
            yield Row(path(f"distributed.{key}"), name, default, _DEGREE, _SIZES)


_ROWS: Final = (
    Row(
        path("step_scheduler.global_batch_size"),
        Name.GLOBAL_BATCH_SIZE,
        8,
        _BATCH,
        "AM recipes/multimodal/finetune.py:591",
        when=(_MULTIMODAL,),
    ),
    Row(
        path("step_scheduler.global_batch_size"),
        Name.GLOBAL_BATCH_SIZE,
        32,
        _BATCH,
        _SCHEDULER,
        when=(_MULTIMODAL._replace(negated=True),),
    ),
    Row(path("step_scheduler.local_batch_size"), Name.MICRO_BATCH_SIZE, 1, _BATCH, _LOCAL),
    *_degrees(
        data_parallel_size="dp_size",
        tensor_parallel_size="tp_size",
        pipeline_parallel_size="pp_size",
        context_parallel_size="cp_size",
        expert_parallel_size="ep_size",
        replicate_size="dp_replicate_size",
    ),
    Row(
        path("distributed.pipeline.pp_microbatch_size"),
        Name.PIPELINE_MICRO_BATCH_SIZE,
        1,
        LENIENT,
        _PIPELINE,
        when=(_WITH_PIPELINE,),
    ),
    *intervals(
        "AM components/training/step_scheduler.py:379-385",
        OPTIONAL,
        max_steps="step_scheduler.max_steps",
        save_steps="step_scheduler.ckpt_every_steps",
        eval_steps="step_scheduler.val_every_steps",
    ),
    *intervals("AM recipes/_typed_config.py (packed_sequence)", OPTIONAL, sequence_length="packed_sequence.packed_sequence_size"),
)
_CONSTRAINTS: Final = (
    whole_accumulation(_SCHEDULER),
    Constraint(
        "GBS202",
        (Name.MICRO_BATCH_SIZE,),
        (Name.PIPELINE_MICRO_BATCH_SIZE,),
        when=(_WITH_PIPELINE,),
        label="the local batch must hold whole micro batches of the pipeline",
        source=_PIPELINE,
    ),
)
_MESHES: Final = (
    Constraint(
        "GBS202",
        (Name.DATA_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE),
        (Name.EXPERT_PARALLEL_SIZE,),
        label="the ranks of one pipeline stage must divide among the experts",
        source=_MESH,
    ),
    Constraint(
        "GBS202",
        (Name.DATA_PARALLEL_SIZE,),
        (Name.REPLICATE_SIZE,),
        label="the data-parallel ranks must divide among the replicas",
        source=_MESH,
    ),
)


def _table(
    title: str,
    equations: tuple[Equation, ...],
    constraints: tuple[Constraint, ...],
    all_of: tuple[KeyPath, ...] = (),
    when: tuple[Condition, ...] = (),
) -> Framework:
    return Framework(
        name="automodel",
        title=title,
        recognition=Recognition(
            all_of=all_of,
            one_of=(paths("step_scheduler"), paths("recipe dist_env distributed fsdp"), paths("model")),
            weight=len(all_of),
            when=when,
        ),
        unit="samples",
        rows=_ROWS,
        equations=(TORCHRUN, *equations, batch(_SCHEDULER)),
        constraints=constraints,
        also=frozenset(("tp_size", "pp_size", "cp_size", "ep_size", "dp_size", "dp_replicate_size")),
        names=paths("wandb.name wandb.project checkpoint.checkpoint_dir"),
        version="Automodel 36044ad3",
        source=f"{_SCHEDULER}; {_SIZES}",
        arguments=Arguments.FLAGS,
    )


_SEPARATE: Final = ("separate_meshes",)
# Draft models are trained without a step scheduler.
_DRAFTS: Final = "AM recipes/llm/train_eagle1.py:219-325, train_eagle3.py:702, 889"
_DRAFT_ROWS: Final = (
    Row(path("recipe_args.micro_batch_size"), Name.MICRO_BATCH_SIZE, None, LENIENT, _DRAFTS),
    Row(path("recipe_args.grad_accumulation_steps"), Name.GRADIENT_ACCUMULATION_STEPS, 1, LENIENT, _DRAFTS),
    *intervals(_DRAFTS, sequence_length="recipe_args.seq_length", save_steps="recipe_args.ckpt_every_steps"),
)

FRAMEWORKS = (
    _table("NeMo Automodel", (data_parallel(_SIZES),), (*_CONSTRAINTS, *_MESHES)),
    # A teacher on GPUs of its own, which are part of the job (AM recipes/kd_utils.py:92-137).
    _table("NeMo Automodel (separate meshes)", (), _CONSTRAINTS, (_SEPARATE,), (Condition(_SEPARATE, (True,)),)),
    _table("NeMo Automodel (draft models)", (data_parallel(_SIZES),), ())._replace(
        recognition=Recognition(all_of=paths("recipe"), one_of=(paths("recipe_args.micro_batch_size"),), none_of=paths("step_scheduler")),
        rows=(*_DRAFT_ROWS, *(row for row in _ROWS if row.key[0] in ("distributed", "fsdp") and len(row.key) == 2)),
    ),
)
