"""prime-rl: TOML for an SFT trainer, whose batch counts packed rows, and for RL, whose batch counts rollouts.

PRIME is commit 559b4477 of PrimeIntellect-ai/prime-rl; `PRIME configs/sft.py:40` is a line of
packages/prime-rl-configs/src/prime_rl, `PRIME trainer/sft/train.py:113` of src/prime_rl. The configs are pydantic models.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Exclusion, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_INTEGER: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    why="the config takes whole numbers from 1",
)
_OPTIONAL: Final = _INTEGER._replace(null=Treatment.UNSET)

_SEVERAL_NODES: Final = Condition(("deployment", "type"), ("multi_node",), default="single_node")
_ONE_NODE: Final = _SEVERAL_NODES._replace(negated=True)
_GROUPED: Final = Condition(("deployment", "nodes_per_fsdp_group"), (None,), negated=True)


def _hardware(config: str, lines: tuple[int, int, int, int], nodes: int | None) -> tuple[Row, ...]:
    """Return the rows of the GPUs that train, whose fields stand at `lines` of `config`; those that infer have keys of their own."""
    per_node, gpus, number, group = (f"PRIME configs/{config}:{line}" for line in lines)
    return (
        Row(key("deployment.num_train_gpus"), Name.WORLD_SIZE, 1, LENIENT, gpus, when=(_ONE_NODE,)),
        Row(key("deployment.num_train_nodes"), Name.NUM_NODES, nodes, LENIENT, number, when=(_SEVERAL_NODES,)),
        Row(key("deployment.gpus_per_node"), Name.GPUS_PER_NODE, 8, LENIENT, per_node, when=(_SEVERAL_NODES,)),
        Row(key("deployment.nodes_per_fsdp_group"), Name.NODES_PER_REPLICA, None, LENIENT, group, when=(_SEVERAL_NODES,)),
    )


def _groups_of_nodes(source: str) -> Constraint:
    return Constraint(
        "GBS202",
        (Name.NUM_NODES,),
        (Name.NODES_PER_REPLICA,),
        when=(_SEVERAL_NODES, _GROUPED),
        label="the nodes must divide into groups that shard one copy of the model",
        source=source,
    )


_ASSERTS: Final = "PRIME trainer/sft/train.py:113-119"
# The config itself rounds down to the number of ranks (configs/rl.py:661-684); the trainer then stops where GPUs are left over.
_RANKS: Final = Equation(
    Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.CONTEXT_PARALLEL_SIZE,), source="PRIME trainer/parallel_dims.py:63-70"
)
_SFT: Final = Framework(
    name="prime-rl",
    title="prime-rl (SFT)",
    recognition=Recognition(
        one_of=(
            dotted("data.batch_size data.micro_batch_size data.seq_len"),
            dotted("model.name"),
            dotted("""
            deployment.num_train_gpus deployment.num_train_nodes deployment.type renderer.name monitors.wandb max_steps
            ckpt wandb bench matmul_precision
            """),
            dotted("optim data.name data.type deployment model.vlm model.lora"),
        ),
        none_of=dotted("orchestrator trainer training train step_scheduler distributed dataset"),
    ),
    unit="rows",
    rows=(
        Row(key("data.batch_size"), Name.GLOBAL_BATCH_SIZE, 128, _INTEGER, "PRIME configs/sft.py:40", "rows"),
        Row(key("data.micro_batch_size"), Name.MICRO_BATCH_SIZE, 1, _INTEGER, "PRIME configs/sft.py:46"),
        Row(key("data.seq_len"), Name.SEQUENCE_LENGTH, 128, _INTEGER, "PRIME configs/sft.py:43"),
        Row(key("model.cp"), Name.CONTEXT_PARALLEL_SIZE, 1, _INTEGER, "PRIME configs/trainer.py:224"),
        Row(("max_steps",), Name.MAX_STEPS, None, _OPTIONAL, "PRIME configs/sft.py (max_steps)"),
        *_hardware("sft.py", (151, 158, 174, 182), 2),
    ),
    equations=(
        world("PRIME configs/sft.py:150-183"),
        _RANKS,
        Equation(
            Name.GRADIENT_ACCUMULATION_STEPS,
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            source=_ASSERTS,
        ),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.GLOBAL_BATCH_SIZE, Name.CONTEXT_PARALLEL_SIZE),
            (Name.WORLD_SIZE, Name.MICRO_BATCH_SIZE),
            label="the batch must hold whole micro batches of all ranks",
            source=_ASSERTS,
        ),
        Constraint(
            "GBS202",
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE,),
            label="the batch must hold whole micro batches",
            source="PRIME configs/sft.py:52-58 (validate_batch_size)",
        ),
        _groups_of_nodes("PRIME configs/sft.py:592-600"),
    ),
    names=dotted("output_dir wandb.name monitors.wandb.name slurm.job_name"),
    version="prime-rl 559b4477",
    source=_ASSERTS,
    arguments=Arguments.FLAGS,
)

_BATCHING: Final = "PRIME configs/orchestrator.py:618-630 (resolve_batching)"


def _rollouts(section: str) -> Framework:
    """Return the table of the RL trainer as far as its orchestrator goes, whose settings stand in `section`."""
    batch, tokens, group = (key(f"{section}{word}") for word in ("batch_size", "token_batch_size", "group_size"))
    by_rollouts = Condition(tokens, (None,))
    return _SFT._replace(
        unit="completions",
        rows=(
            Row(batch, Name.GLOBAL_BATCH_SIZE, None, _OPTIONAL, "PRIME configs/orchestrator.py:508", "completions"),
            Row(batch, Name.GLOBAL_BATCH_SIZE, 128, _OPTIONAL, "PRIME configs/orchestrator.py:626-627", "completions", when=(by_rollouts,)),
            Row(tokens, Name.TOKENS_PER_STEP, None, _OPTIONAL, "PRIME configs/orchestrator.py:511", "tokens"),
            Row(group, Name.NUM_GENERATIONS, 1, _INTEGER, "PRIME configs/orchestrator.py:517"),
            Row(("max_steps",), Name.MAX_STEPS, None, _OPTIONAL, "PRIME configs/orchestrator.py, configs/rl.py (max_steps)"),
        ),
        equations=(Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=_BATCHING),),
        constraints=(
            Constraint(
                "GBS205",
                (Name.GLOBAL_BATCH_SIZE,),
                (Name.NUM_GENERATIONS,),
                when=(by_rollouts,),
                label="the batch must hold whole groups",
                source=_BATCHING,
            ),
        ),
        exclusions=(Exclusion((batch, tokens), "the config takes exactly one of them", source=_BATCHING),),
        source=_BATCHING,
    )


_RL: Final = _rollouts("orchestrator.")

FRAMEWORKS = (
    _SFT,
    _RL._replace(
        title="prime-rl (RL)",
        recognition=Recognition(
            one_of=((("orchestrator",),), dotted("trainer inference deployment model.name max_steps")),
            none_of=dotted("image orchestrator.enabled orchestrator.replicas"),
        ),
        rows=(
            *_RL.rows,
            Row(key("trainer.model.cp"), Name.CONTEXT_PARALLEL_SIZE, 1, _INTEGER, "PRIME configs/trainer.py:224"),
            *_hardware("rl.py", (173, 180, 200, 209), None),
        ),
        equations=(
            world("PRIME configs/rl.py:172-224"),
            _RANKS._replace(source="PRIME trainer/rl/train.py:126, trainer/parallel_dims.py:63-70"),
            *_RL.equations,
        ),
        constraints=(*_RL.constraints, _groups_of_nodes("PRIME configs/rl.py:686-691")),
    ),
    _rollouts("")._replace(
        title="prime-rl (orchestrator)",
        recognition=Recognition(
            one_of=(dotted("group_size token_batch_size"), dotted("train.source train.sampling"), dotted("model.name renderer client"))
        ),
    ),
)
