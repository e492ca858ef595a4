"""EasyR1, a fork of verl with keys of its own: batches stated in prompts, trained in completions, rounded down for each rank.

EASY is commit b44b311 of hiyouga/EasyR1; `EASY workers/fsdp_workers.py:142` is a line of verl/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Recognition, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._rollouts import (
    AS_LOADED,
    rank_equations,
    realise_rank_batches,
    rollout_equations,
    some_completion,
    whole_micro_batches,
)

_MICRO: Final = key("worker.actor.micro_batch_size_per_device_for_update")
# Micro batches of a fixed number of completions, rather than filled by tokens.
_FIXED: Final = Condition(key("worker.actor.dynamic_batching"), (False,), default=True)
_NORMALISES: Final = "EASY workers/fsdp_workers.py:141-151"
_CHECKS: Final = "EASY trainer/ray_trainer.py:211-219"

FRAMEWORK = Framework(
    name="verl",
    title="EasyR1",
    recognition=Recognition(
        one_of=(dotted("worker.actor"), dotted("data.rollout_batch_size worker.actor.global_batch_size trainer.n_gpus_per_node")),
    ),
    unit="completions",
    rows=(
        Row(key("data.rollout_batch_size"), Name.PROMPTS_PER_ROLLOUT, 512, AS_LOADED, "EASY trainer/config.py:47", "prompts"),
        Row(key("worker.actor.global_batch_size"), Name.PROMPTS_PER_STEP, 256, AS_LOADED, "EASY workers/actor/config.py:99", "prompts"),
        Row(key("worker.rollout.n"), Name.NUM_GENERATIONS, 1, AS_LOADED, "EASY workers/rollout/config.py:25"),
        Row(_MICRO, Name.MICRO_BATCH_SIZE, 4, AS_LOADED, "EASY workers/actor/config.py:101"),
        Row(_MICRO, Name.FIXED_MICRO_BATCH_SIZE, 4, AS_LOADED, "EASY workers/actor/dp_actor.py:240-245", when=(_FIXED,)),
        Row(key("worker.actor.ulysses_size"), Name.SEQUENCE_PARALLEL_SIZE, 1, LENIENT, "EASY workers/actor/config.py:123"),
        Row(key("trainer.n_gpus_per_node"), Name.GPUS_PER_NODE, 8, LENIENT, "EASY trainer/config.py:111"),
        Row(key("trainer.nnodes"), Name.NUM_NODES, 1, LENIENT, "EASY trainer/config.py:109"),
    ),
    equations=(
        world("EASY trainer/main.py:60"),
        Equation(
            Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.SEQUENCE_PARALLEL_SIZE,), source="EASY workers/fsdp_workers.py:130-134"
        ),
        *rollout_equations(_NORMALISES),
        Equation(Name.STEPS_PER_ROLLOUT, (Name.PROMPTS_PER_ROLLOUT,), (Name.PROMPTS_PER_STEP,), source=_CHECKS),
        *rank_equations(_NORMALISES),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.PROMPTS_PER_ROLLOUT,),
            (Name.PROMPTS_PER_STEP,),
            label="a rollout must hold whole batches of the actor",
            source=_CHECKS,
        ),
        some_completion(_NORMALISES),
        whole_micro_batches(_NORMALISES),
    ),
    names=dotted("trainer.experiment_name trainer.save_checkpoint_path"),
    loader=Loader.OMEGACONF,
    version="EasyR1 b44b311",
    source=_NORMALISES,
    derive=realise_rank_batches,
    arguments=Arguments.PAIRS,
)
