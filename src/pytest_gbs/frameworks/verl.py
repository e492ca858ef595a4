"""verl's PPO and GRPO trainer: batches stated in prompts, trained in completions, and rounded down for each rank.

VERL is commit b178a3cd5 of volcengine/verl; `VERL workers/fsdp_workers.py:241` is a line of verl/. The defaults stand in
trainer/config, which Hydra composes below what a file or a command line says.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Exclusion, Framework, Loader, Recognition, Requirement, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._rollouts import (
    AS_LOADED,
    OPTIONAL,
    megatron_rows,
    rank_equations,
    realise_rank_batches,
    rollout_equations,
    some_completion,
    whole_micro_batches,
)

_ACTOR: Final = "actor_rollout_ref.actor"
_DYNAMIC: Final = key(f"{_ACTOR}.use_dynamic_bsz")
# Micro batches of a fixed number of completions, rather than filled by tokens.
_FIXED: Final = Condition(_DYNAMIC, (True,), negated=True, default=False)
# verl's own configuration, in which the micro batch is null; another program's may well have one.
_OWN: Final = (None, "ppo_trainer", "ppo_trainer.yaml", "ppo_megatron_trainer", "ppo_megatron_trainer.yaml")
_NO_PARENTS: Final = Condition(("defaults",), (None,))
# A file with a null here, as verl's own, waits for a command line to say it.
_LEFT_OPEN: Final = tuple(
    Condition(key(f"{_ACTOR}.{word}"), (None,), negated=True, default="absent")
    for word in ("ppo_micro_batch_size", "ppo_micro_batch_size_per_gpu")
)
_OWN_CONFIG: Final = Condition(("config-name",), _OWN)

# The fully asynchronous trainer has no rollout of its own size, and asserts that the key is 0.
_IN_STEP: Final = Condition(("async_training",), (None,))

_MICRO_SOURCE: Final = "VERL trainer/config/actor/actor.yaml:24 (null)"
_CHECKS: Final = "VERL utils/config.py:74-113 (validate_config)"

_ROWS: Final = (
    Row(
        key("data.train_batch_size"),
        Name.PROMPTS_PER_ROLLOUT,
        1024,
        AS_LOADED,
        "VERL trainer/config/data/legacy_data.yaml:42; experimental/fully_async_policy/fully_async_rollouter.py:77",
        "prompts",
        when=(_IN_STEP,),
    ),
    Row(
        key(f"{_ACTOR}.ppo_mini_batch_size"),
        Name.PROMPTS_PER_STEP,
        256,
        AS_LOADED,
        "VERL trainer/config/actor/actor.yaml:18; in prompts: workers/fsdp_workers.py:241",
        "prompts",
    ),
    Row(key("actor_rollout_ref.rollout.n"), Name.NUM_GENERATIONS, 1, AS_LOADED, "VERL trainer/config/rollout/rollout.yaml:108"),
    Row(key(f"{_ACTOR}.ppo_micro_batch_size_per_gpu"), Name.MICRO_BATCH_SIZE, None, OPTIONAL, _MICRO_SOURCE),
    Row(key(f"{_ACTOR}.ppo_micro_batch_size_per_gpu"), Name.FIXED_MICRO_BATCH_SIZE, None, OPTIONAL, _MICRO_SOURCE, when=(_FIXED,)),
    Row(
        key(f"{_ACTOR}.ppo_micro_batch_size"),
        Name.MICRO_STEP_BATCH_SIZE,
        None,
        OPTIONAL,
        "VERL trainer/config/actor/actor.yaml:21 (null, deprecated)",
        when=(_FIXED,),
    ),
    Row(key("trainer.n_gpus_per_node"), Name.GPUS_PER_NODE, 8, LENIENT, "VERL trainer/config/ppo_trainer.yaml:156"),
    Row(key("trainer.nnodes"), Name.NUM_NODES, 1, LENIENT, "VERL trainer/config/ppo_trainer.yaml:153"),
)
_SEQUENCE: Final = Row(
    key(f"{_ACTOR}.ulysses_sequence_parallel_size"),
    Name.SEQUENCE_PARALLEL_SIZE,
    1,
    LENIENT,
    "VERL trainer/config/actor/dp_actor.yaml:34; workers/fsdp_workers.py:170",
)


def _rows(*more: Row) -> tuple[Row, ...]:
    """Return the rows; the defaults are those of verl's own configuration, and another one that a launch names may differ."""
    rows = (*_ROWS, *more)
    defaults = tuple(row._replace(when=(*row.when, _OWN_CONFIG)) for row in rows if row.default is not None)
    return (*(row._replace(default=None) for row in rows), *defaults)


def _equations(parallel: tuple[str, ...], source: str) -> tuple[Equation, ...]:
    """Return the equations where ranks divide among `parallel`; a global micro batch, long deprecated, is divided like the rest."""
    ranks = Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), parallel, source=source)
    steps = Equation(
        Name.STEPS_PER_ROLLOUT,
        (Name.PROMPTS_PER_ROLLOUT,),
        (Name.PROMPTS_PER_STEP,),
        Rounding.FLOOR,
        Enforcement.IGNORES,
        source="VERL workers/actor/dp_actor.py:541 (split), protocol.py:822-827 (make_iterator)",
    )
    micro = (Name.MICRO_STEP_BATCH_SIZE,), (Name.DATA_PARALLEL_SIZE,), Rounding.FLOOR, Enforcement.CORRECTS
    return (
        world("VERL utils/config.py:87; trainer/main_ppo.py (init_resource_pool_mgr)"),
        ranks,
        *rollout_equations(source),
        steps,
        Equation(Name.MICRO_BATCH_SIZE, *micro, source=source),
        Equation(Name.FIXED_MICRO_BATCH_SIZE, *micro, source=source),
        *rank_equations(source),
    )


_SHARED: Final = (
    Constraint(
        "GBS207",
        (Name.PROMPTS_PER_ROLLOUT,),
        (Name.PROMPTS_PER_STEP,),
        at_least=1,
        when=(_FIXED,),
        label="a rollout must hold a mini batch",
        source="VERL workers/config/actor.py:202-207 (validate)",
    ),
    Constraint(
        "GBS202",
        (Name.PROMPTS_PER_STEP,),
        (Name.MICRO_STEP_BATCH_SIZE,),
        when=(_FIXED,),
        needs=(Name.MICRO_STEP_BATCH_SIZE,),
        label="the mini batch must hold whole micro batches of all ranks",
        source="VERL workers/config/actor.py:210-215 (validate)",
    ),
)
_FSDP_NORMALISES: Final = "VERL workers/fsdp_workers.py:239-262"
_FSDP_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.WORLD_SIZE,),
        when=(_FIXED,),
        label="a rollout must divide among the GPUs",
        source=_CHECKS,
    ),
    *_SHARED,
    some_completion(_FSDP_NORMALISES),
    whole_micro_batches(_FSDP_NORMALISES),
    Constraint(
        "GBS207",
        (Name.MICRO_STEP_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE,),
        at_least=1,
        when=(_FIXED,),
        needs=(Name.MICRO_STEP_BATCH_SIZE,),
        label="each rank must have a completion in a micro batch",
        source="VERL workers/config/actor.py:216-220 (validate)",
    ),
)
_MEGATRON_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE, Name.MICRO_BATCH_SIZE),
        when=(_FIXED,),
        needs=(Name.MICRO_BATCH_SIZE,),
        label="a rollout must hold whole micro batches of all ranks",
        source=_CHECKS,
    ),
    *_SHARED,
    Constraint(
        "GBS202",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.RANK_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        enforcement=Enforcement.STOPS_LATE,
        label="a rollout must hold whole mini batches",
        source="VERL workers/actor/megatron_actor.py:385 (make_minibatch_iterator), protocol.py:827",
    ),
    whole_micro_batches("VERL workers/megatron_workers.py:352-360; the pipeline schedule takes whole micro batches")._replace(
        enforcement=Enforcement.STOPS_LATE, when=(_FIXED,)
    ),
)

_FSDP: Final = Framework(
    name="verl",
    title="verl (RL, FSDP)",
    recognition=Recognition(
        one_of=(
            (("actor_rollout_ref",),),
            dotted(f"data.train_batch_size {_ACTOR}.ppo_mini_batch_size algorithm.adv_estimator critic"),
        ),
        weight=1,
    ),
    unit="completions",
    rows=_rows(_SEQUENCE),
    equations=_equations((Name.SEQUENCE_PARALLEL_SIZE,), "VERL workers/fsdp_workers.py:170-174, 239-262"),
    constraints=_FSDP_CONSTRAINTS,
    exclusions=(
        Exclusion(
            dotted(f"{_ACTOR}.ppo_micro_batch_size {_ACTOR}.ppo_micro_batch_size_per_gpu"),
            "verl stops: only the one per GPU is supported",
            "VERL workers/config/actor.py:178-184",
            when=(_FIXED,),
        ),
    ),
    requirements=(
        Requirement(
            dotted(f"{_ACTOR}.ppo_micro_batch_size_per_gpu {_ACTOR}.ppo_micro_batch_size"),
            "verl stops unless use_dynamic_bsz is on",
            when=(_FIXED, _IN_STEP, _NO_PARENTS, _OWN_CONFIG, *_LEFT_OPEN),
            source="VERL workers/config/actor.py:186-189",
        ),
    ),
    names=dotted("trainer.experiment_name trainer.default_local_dir"),
    loader=Loader.OMEGACONF,
    version="verl b178a3cd5",
    source="VERL workers/fsdp_workers.py:239-262 (normalize config)",
    derive=realise_rank_batches,
    arguments=Arguments.HYDRA,
)

_OF_MEGATRON: Final = (
    Condition(key(f"{_ACTOR}.megatron"), (None,), negated=True),
    Condition(key(f"{_ACTOR}.strategy"), ("megatron",)),
    Condition(("config-name",), _OWN[3:]),
)

FRAMEWORKS = (
    _FSDP,
    _FSDP._replace(
        title="verl (RL, Megatron)",
        recognition=_FSDP.recognition._replace(weight=2, when=_OF_MEGATRON),
        rows=_rows(*megatron_rows(f"{_ACTOR}.megatron")),
        equations=_equations(
            (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE),
            "VERL utils/config.py:91-104, workers/megatron_workers.py:352-360",
        ),
        constraints=_MEGATRON_CONSTRAINTS,
        source="VERL workers/megatron_workers.py:352-360 (normalize config)",
    ),
)
