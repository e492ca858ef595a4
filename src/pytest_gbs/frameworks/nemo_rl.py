"""NeMo RL: a global batch for the policy that is trained, rollouts that hold several of them, and GPUs that only generate.

NR is commit 7ea279ab of NVIDIA-NeMo/RL; `NR algorithms/grpo.py:864` is a line of nemo_rl/. Configurations inherit from others by
`defaults: parent.yaml`, so that a file by itself is rarely the whole recipe.
"""

from __future__ import annotations

from pytest_gbs.core.constraints import holds
from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import (
    Arguments,
    Condition,
    Constraint,
    Exclusion,
    Framework,
    Loader,
    Reading,
    Recognition,
    Requirement,
    Row,
    Treatment,
)
from pytest_gbs.core.quantity import Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, absent, batch, data_parallel, intervals, path, paths, whole_accumulation

_POLICY: Final = "NR models/policy/__init__.py:565-566 (PolicyConfig)"
_CLUSTER: Final = "NR algorithms/grpo.py:811-915 (setup)"
_RANKS: Final = "NR models/policy/lm_policy.py:113-194, 203-245"
_SHARDS: Final = "NR distributed/batched_data_dict.py:537-543, 1011-1013; models/policy/workers/dtensor_policy_worker_v2.py:413-424"
_ROLLOUT: Final = "NR algorithms/grpo.py:242-243, distributed/batched_data_dict.py:537-543"

# pydantic takes what denotes a whole number.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    why="pydantic takes a whole number, and the batch is divided by it",
)
_RESOURCE: Final = Reading(
    why="GPUs that generate and do not train must be counted: of each node, which is how many of one node or all of several"
)

_MEGATRON: Final = path("policy.megatron_cfg.enabled")
_DTENSOR: Final = path("policy.dtensor_cfg.enabled")
_ON: Final = {"megatron_cfg": Condition(_MEGATRON, (True,)), "dtensor_cfg": Condition(_DTENSOR, (True,))}
_WHOLE: Final = absent(("defaults",))  # nothing more comes from a parent
_APART: Final = Condition(path("policy.generation.colocated.enabled"), (False,))
_REWARDS: Final = Condition(path("env.reward_model.enabled"), (True,))
_TEACHERS: Final = paths("on_policy_distillation.non_colocated_teachers non_colocated_teachers")
_FORCED: Final = Condition(path("loss_fn.force_on_policy_ratio"), (True,))
_BINS: Final = tuple(Condition(path(f"policy.{key}.enabled"), (True,), negated=True) for key in ("dynamic_batching", "sequence_packing"))

_RESOURCES: Final = "policy.generation.colocated.resources"
_HARDWARE: Final = (
    Row(path("cluster.num_nodes"), Name.NUM_NODES, None, OPTIONAL, _CLUSTER, when=(_WHOLE,)),
    Row(path("cluster.gpus_per_node"), Name.GPUS_PER_NODE, None, OPTIONAL, _CLUSTER, when=(_WHOLE,)),
    Row(path(f"{_RESOURCES}.num_nodes"), Name.GENERATION_NODES, None, OPTIONAL, _CLUSTER, when=(_APART,)),
    Row(path(f"{_RESOURCES}.gpus_per_node"), Name.GENERATION_GPUS_PER_NODE, None, _RESOURCE, _CLUSTER, when=(_APART,)),
)
_BATCH: Final = (
    Row(path("policy.train_global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _SIZE, _POLICY),
    Row(path("policy.train_micro_batch_size"), Name.MICRO_BATCH_SIZE, None, _SIZE, _POLICY),
)


def _degree(backend: str, key: str, name: str, default: int | None = None) -> Row:
    return Row(path(f"policy.{backend}.{key}"), name, default, OPTIONAL, _RANKS, when=(_ON[backend],))


_DEGREES: Final = (
    _degree("megatron_cfg", "tensor_model_parallel_size", Name.TENSOR_PARALLEL_SIZE),
    _degree("megatron_cfg", "pipeline_model_parallel_size", Name.PIPELINE_PARALLEL_SIZE),
    _degree("megatron_cfg", "context_parallel_size", Name.CONTEXT_PARALLEL_SIZE),
    _degree("dtensor_cfg", "tensor_parallel_size", Name.TENSOR_PARALLEL_SIZE),
    _degree("dtensor_cfg", "pipeline_parallel_size", Name.PIPELINE_PARALLEL_SIZE, 1),
    _degree("dtensor_cfg", "context_parallel_size", Name.CONTEXT_PARALLEL_SIZE),
)
_CONSTRAINTS: Final = (
    whole_accumulation(_SHARDS, _BINS),
    *(
        Constraint(
            "GBS202",
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.DATA_PARALLEL_SIZE,),
            when=(bins._replace(negated=False),),
            label="the global batch is split among the data-parallel ranks",
            source=_SHARDS,
        )
        for bins in _BINS
    ),
)


def leave_out_generation(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the nodes, or the GPUs of the one node, that train where others only generate; unknown where nobody counts them."""
    reserved: dict[str, Size] = {name: Unknown(name, Reason.RESERVED) for name in (Name.NUM_NODES, Name.WORLD_SIZE)}
    if holds(_REWARDS, document, Loader.OMEGACONF) or any(key in document.keyed for key in _TEACHERS):
        return reserved
    if not holds(_APART, document, Loader.OMEGACONF):
        return {}
    nodes = sizes.get(Name.NUM_NODES)
    if not isinstance(nodes, Quantity):
        return reserved
    names = (Name.GPUS_PER_NODE, Name.GENERATION_GPUS_PER_NODE) if nodes.value == 1 else (Name.NUM_NODES, Name.GENERATION_NODES)
    all_of_them, generating = sizes.get(names[0]), sizes.get(names[1])
    if not isinstance(all_of_them, Quantity) or not isinstance(generating, Quantity) or all_of_them.value <= generating.value:
        return reserved
    note = f"{all_of_them.value} without the {generating.value} that generate"
    training = Quantity(names[0], all_of_them.value - generating.value, Origin.DERIVED, at=all_of_them.at, key=all_of_them.key, note=note)
    return {names[0]: training}


def _rollouts(section: str) -> tuple[tuple[Row, ...], tuple[Equation, ...], tuple[Constraint, ...]]:
    """Return what is added where completions are generated: rows of `section`, equations and constraints."""
    rows = (
        Row(path(f"{section}.num_prompts_per_step"), Name.PROMPTS_PER_ROLLOUT, None, OPTIONAL, _ROLLOUT),
        Row(path(f"{section}.num_generations_per_prompt"), Name.NUM_GENERATIONS, None, OPTIONAL, _ROLLOUT),
    )
    equations = (
        Equation(Name.GENERATION_BATCH_SIZE, (Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS), unit="completions", source=_ROLLOUT),
        Equation(Name.STEPS_PER_ROLLOUT, (Name.GENERATION_BATCH_SIZE,), (Name.GLOBAL_BATCH_SIZE,), source=_SHARDS),
        Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=_ROLLOUT),
    )
    rollout, step = (Name.GENERATION_BATCH_SIZE,), (Name.GLOBAL_BATCH_SIZE,)
    label = "the completions of a rollout are split into global batches"
    forced = "the ratio is 1 only where each rollout is one global batch"
    constraints = (
        Constraint("GBS202", rollout, step, label=label, source=_SHARDS),
        Constraint("GBS202", step, rollout, when=(_FORCED,), label=forced, source="NR algorithms/grpo.py:699-706"),
    )
    return rows, equations, constraints


def _table(kind: str, section: str, unit: str, generates: bool = False) -> Framework:
    """Return the table of one algorithm, whose settings stand in `section`."""
    rows, equations, constraints = _rollouts(section) if generates else ((), (), ())
    both = "only one of the two may train the policy"
    return Framework(
        name="nemo-rl",
        title=f"NeMo RL ({kind})",
        recognition=Recognition(
            all_of=(path("policy"), (section,)),
            one_of=(paths("policy.train_global_batch_size policy.train_micro_batch_size"),),
        ),
        unit=unit,
        rows=(
            *_BATCH,
            *_HARDWARE,
            *_DEGREES,
            *rows,
            *intervals(
                "NR algorithms/grpo.py (max_num_steps, val_period), utils/checkpoint.py (save_period)",
                sequence_length="policy.max_total_sequence_length",
                max_steps=f"{section}.max_num_steps",
                eval_steps=f"{section}.val_period",
                save_steps="checkpointing.save_period",
            ),
        ),
        equations=(world(_CLUSTER), data_parallel(_RANKS), batch(_SHARDS, unit), *equations),
        constraints=(*_CONSTRAINTS, *constraints),
        exclusions=(Exclusion((_MEGATRON, _DTENSOR), both, "NR models/policy/lm_policy.py:118-125", when=tuple(_ON.values())),),
        requirements=tuple(
            Requirement((row.key,), "NeMo RL has no default for it and stops at start", (_WHOLE,), _POLICY, whole=True) for row in _BATCH
        ),
        names=paths("logger.wandb.name logger.wandb.project checkpointing.checkpoint_dir"),
        sequences_per_sample=2 if unit == "pairs" else 1,
        loader=Loader.OMEGACONF,
        version="NeMo-RL 7ea279ab",
        source=f"{_POLICY}; {_RANKS}; {_SHARDS}",
        settle=leave_out_generation,
        arguments=Arguments.HYDRA,
    )


FRAMEWORKS = (
    _table("GRPO", "grpo", "completions", generates=True),
    _table("PPO", "ppo", "completions", generates=True),
    _table("distillation", "distillation", "completions", generates=True),
    _table("SFT", "sft", "samples"),
    _table("DPO", "dpo", "pairs"),
    _table("reward model", "rm", "pairs"),
)
