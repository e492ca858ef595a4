"""SkyRL: settings on the command line, batches stated in prompts and trained in completions; and its SFT trainer.

SKYRL is commit a9564572 of NovaSky-AI/SkyRL; `SKYRL config/config.py:1390` is a line of skyrl/train/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Recognition, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._rollouts import (
    AS_LOADED,
    rank_equations,
    rollout_equations,
    some_completion,
    whole_micro_batches,
)

_CHECKS: Final = "SKYRL utils/utils.py:58-191 (validate_batch_sizes)"
_MEGATRON: Final = Condition(("trainer", "strategy"), ("megatron",), default="fsdp")
_FSDP: Final = _MEGATRON._replace(negated=True)
# Micro batches of a fixed number of completions, rather than filled up to a number of tokens.
_FIXED: Final = Condition(("trainer", "max_tokens_per_microbatch"), (-1, 0, None), default=-1)
_CRITIC: Final = Condition(("trainer", "critic", "model", "path"), (None,), negated=True)
_MICRO: Final = key("trainer.micro_train_batch_size_per_gpu")

_ROWS: Final = (
    Row(key("trainer.train_batch_size"), Name.PROMPTS_PER_ROLLOUT, 1024, AS_LOADED, "SKYRL config/config.py:1390", "prompts"),
    Row(key("trainer.policy_mini_batch_size"), Name.PROMPTS_PER_STEP, 256, AS_LOADED, "SKYRL config/config.py:1396", "prompts"),
    Row(
        key("trainer.critic_mini_batch_size"),
        Name.CRITIC_PROMPTS_PER_STEP,
        256,
        AS_LOADED,
        "SKYRL config/config.py:1402",
        "prompts",
        when=(_CRITIC,),
    ),
    Row(key("generator.n_samples_per_prompt"), Name.NUM_GENERATIONS, 5, AS_LOADED, "SKYRL config/config.py:1225"),
    Row(_MICRO, Name.MICRO_BATCH_SIZE, 1, AS_LOADED, "SKYRL config/config.py:1406"),
    Row(_MICRO, Name.FIXED_MICRO_BATCH_SIZE, 1, AS_LOADED, "SKYRL config/config.py:1406-1412", when=(_FIXED,)),
    Row(key("trainer.micro_forward_batch_size_per_gpu"), Name.FORWARD_MICRO_BATCH_SIZE, 1, AS_LOADED, "SKYRL config/config.py:1409"),
    Row(key("trainer.placement.policy_num_nodes"), Name.NUM_NODES, 1, LENIENT, "SKYRL config/config.py:593"),
    Row(key("trainer.placement.policy_num_gpus_per_node"), Name.GPUS_PER_NODE, 1, LENIENT, "SKYRL config/config.py:594"),
    Row(
        key("trainer.policy.sequence_parallel_size"),
        Name.SEQUENCE_PARALLEL_SIZE,
        1,
        LENIENT,
        "SKYRL config/config.py:613",
        when=(_FSDP,),
    ),
    *(
        Row(
            key(f"trainer.policy.megatron_config.{word}_parallel_size"),
            name,
            1,
            LENIENT,
            f"SKYRL config/config.py:{line}",
            when=(_MEGATRON,),
        )
        for word, name, line in (
            ("tensor_model", Name.TENSOR_PARALLEL_SIZE, 449),
            ("pipeline_model", Name.PIPELINE_PARALLEL_SIZE, 453),
            ("context", Name.CONTEXT_PARALLEL_SIZE, 455),
        )
    ),
)
_PARALLEL: Final = (
    Name.TENSOR_PARALLEL_SIZE,
    Name.PIPELINE_PARALLEL_SIZE,
    Name.CONTEXT_PARALLEL_SIZE,
    Name.SEQUENCE_PARALLEL_SIZE,
)
_ALONE: Final = tuple((name, 1) for name in _PARALLEL)

_EQUATIONS: Final = (
    world("SKYRL utils/utils.py:82"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), _PARALLEL, source="SKYRL utils/utils.py:84-94"),
    *rollout_equations("SKYRL utils/utils.py:62-71"),
    Equation(
        Name.STEPS_PER_ROLLOUT,
        (Name.PROMPTS_PER_ROLLOUT,),
        (Name.PROMPTS_PER_STEP,),
        Rounding.FLOOR,
        Enforcement.IGNORES,  # a remainder is an error of its own
        source="SKYRL config/config.py:1396-1401",
    ),
    *rank_equations("SKYRL utils/utils.py:103-119"),
    Equation(
        Name.RANK_ROLLOUT_SIZE,
        (Name.GLOBAL_BATCH_SIZE, Name.STEPS_PER_ROLLOUT),  # the rollout, where it holds whole mini batches
        (Name.DATA_PARALLEL_SIZE,),
        Rounding.FLOOR,
        Enforcement.IGNORES,
        source="SKYRL utils/utils.py:120-122",
    ),
)


def _whole(dividend: str, divisor: str, label: str, lines: str) -> Constraint:
    return Constraint("GBS202", (dividend,), (divisor,), label=label, source=f"SKYRL utils/utils.py:{lines}")


_RL: Final = Framework(
    name="skyrl",
    title="SkyRL (RL)",
    recognition=Recognition(
        one_of=(
            dotted("trainer.policy_mini_batch_size trainer.micro_train_batch_size_per_gpu trainer.placement.policy_num_gpus_per_node"),
            dotted("generator trainer.policy.model.path trainer.train_batch_size"),
        ),
    ),
    unit="completions",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=(
        _whole(Name.PROMPTS_PER_ROLLOUT, Name.PROMPTS_PER_STEP, "a rollout must hold whole mini batches", "73, 96-99"),
        some_completion("SKYRL utils/utils.py:103-111"),
        whole_micro_batches("SKYRL utils/utils.py:112-119"),
        _whole(Name.RANK_ROLLOUT_SIZE, Name.RANK_BATCH_SIZE, "the rollout of one rank must hold whole mini batches", "124-129"),
        _whole(
            Name.PROMPTS_PER_ROLLOUT, Name.CRITIC_PROMPTS_PER_STEP, "a rollout must hold whole mini batches of the critic", "135-139"
        )._replace(when=(_CRITIC,)),
    ),
    assumed=_ALONE,
    names=dotted("trainer.run_name trainer.ckpt_path"),
    loader=Loader.OMEGACONF,
    version="SkyRL a9564572",
    source=_CHECKS,
    arguments=Arguments.PAIRS,
)

_SFT_MEGATRON: Final = Condition(("strategy",), ("megatron",), default="megatron")
_SFT_FSDP: Final = _SFT_MEGATRON._replace(negated=True)
_UNPACKED: Final = Condition(("use_sequence_packing",), (True,), negated=True, default=False)
_SFT_MICRO: Final = ("micro_train_batch_size_per_gpu",)
_SFT_CHECKS: Final = "SKYRL sft_trainer.py:1738-1753"


def _of_all_ranks(*divisor: str) -> Constraint:
    """Return the check of the SFT trainer, which leaves context and sequence parallelism out of its count of ranks."""
    model = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE)
    label = "the batch must hold whole micro batches of all ranks"
    return Constraint("GBS202", (Name.GLOBAL_BATCH_SIZE, *model), divisor, when=(_UNPACKED,), label=label, source=_SFT_CHECKS)


FRAMEWORKS = (
    _RL,
    _RL._replace(
        title="SkyRL (SFT)",
        recognition=Recognition(
            all_of=(_SFT_MICRO,),
            one_of=((_SFT_MICRO,), dotted("batch_size placement strategy model.path")),
            none_of=dotted("trainer generator"),
        ),
        unit="samples",
        rows=(
            Row(("batch_size",), Name.GLOBAL_BATCH_SIZE, 4, AS_LOADED, "SKYRL config/sft_config.py:223", "samples"),
            Row(_SFT_MICRO, Name.MICRO_BATCH_SIZE, 2, AS_LOADED, "SKYRL config/sft_config.py:224"),
            Row(_SFT_MICRO, Name.FIXED_MICRO_BATCH_SIZE, 2, AS_LOADED, "SKYRL sft_trainer.py:1725-1730", when=(_UNPACKED,)),
            Row(key("placement.num_nodes"), Name.NUM_NODES, 1, LENIENT, "SKYRL config/sft_config.py:54"),
            Row(key("placement.num_gpus_per_node"), Name.GPUS_PER_NODE, 4, LENIENT, "SKYRL config/sft_config.py:55"),
            Row(("sequence_parallel_size",), Name.SEQUENCE_PARALLEL_SIZE, 1, LENIENT, "SKYRL config/sft_config.py:137", when=(_SFT_FSDP,)),
            *(
                Row(
                    key(f"megatron_config.{word}_parallel_size"),
                    name,
                    default,
                    LENIENT,
                    f"SKYRL config/{source}",
                    when=(_SFT_MEGATRON,),
                )
                for word, name, default, source in (
                    ("tensor_model", Name.TENSOR_PARALLEL_SIZE, 2, "sft_config.py:130"),
                    ("pipeline_model", Name.PIPELINE_PARALLEL_SIZE, 2, "sft_config.py:131"),
                    ("context", Name.CONTEXT_PARALLEL_SIZE, 1, "config.py:455"),
                )
            ),
        ),
        equations=(
            world("SKYRL sft_trainer.py:890"),
            Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), _PARALLEL, source="SKYRL sft_trainer.py:888-894, sft_config.py:586-597"),
            Equation(
                Name.GRADIENT_ACCUMULATION_STEPS,
                (Name.GLOBAL_BATCH_SIZE,),
                (Name.FIXED_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
                source=_SFT_CHECKS,
            ),
        ),
        constraints=(_of_all_ranks(Name.WORLD_SIZE, Name.MICRO_BATCH_SIZE),),
        names=dotted("run_name ckpt_path"),
        source=_SFT_CHECKS,
    ),
)
