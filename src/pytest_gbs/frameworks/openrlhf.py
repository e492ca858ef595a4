"""OpenRLHF: no file but flags, dotted since 0.11 and plain before; the global batch is given, DeepSpeed checks what it gives.

ORLHF is commit 3c3be623 of OpenRLHF/OpenRLHF (after 0.11.0), ORLHF8 is 0.8.0; `ORLHF cli/train_sft.py:166` is a line of openrlhf/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Reading, Recognition, Row
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._rollouts import realise_rank_batches

_FLAG: Final = Reading(why="argparse converts it with int(), and DeepSpeed takes no batch below 1")
_DYNAMIC: Final = ("train", "dynamic_batch_enable")
_FIXED: Final = (
    Condition(_DYNAMIC, (True,), negated=True, default=False),
    Condition(("use_dynamic_batch",), (True,), negated=True, default=False),
)
_ACCUMULATES: Final = "ORLHF utils/deepspeed/deepspeed.py:104-116 (setup_distributed)"
_ASSERTS: Final = "ORLHF utils/deepspeed/deepspeed.py:451-456; deepspeed 0.19.8 runtime/config.py (_batch_assertion)"

# Flags that no other program has in these places.
_DOTTED: Final = dotted("""
ds.param_dtype ds.packing_samples ds.attn_implementation ckpt.output_dir actor.model_name_or_path data.prompt_dataset
rollout.n_samples_per_prompt
""")
_PLAIN: Final = dotted("pretrain zero_stage prompt_data rollout_batch_size actor_num_nodes")
_DOORS: Final = dotted("train.micro_batch_size train.batch_size rollout.batch_size ds.zero_stage micro_train_batch_size")
_ROLLS_OUT: Final = dotted("rollout.batch_size rollout.n_samples_per_prompt rollout_batch_size actor.num_nodes actor_num_nodes")


def _pair(name: str, keys: tuple[str, str], default: int | None, source: str, reading: Reading = _FLAG) -> tuple[Row, Row]:
    """Return the rows of one size: the dotted flag with its default, and the plain one of before."""
    new, old = (key(word) for word in keys)
    return Row(new, name, default, reading, source), Row(old, name, None, reading, f"ORLHF8: --{keys[1]}")


def _rows(script: str, micro: int, lines: tuple[int, int, int, int]) -> tuple[Row, ...]:
    """Return the rows that all scripts share, whose flags stand at `lines` of `script`: micro, batch, tensor, ring."""
    micro_at, batch_at, tensor_at, ring_at = (f"ORLHF cli/{script}:{line}" for line in lines)
    micro_keys = ("train.micro_batch_size", "micro_train_batch_size")
    return (
        *_pair(Name.GLOBAL_BATCH_SIZE, ("train.batch_size", "train_batch_size"), 128, batch_at),
        *_pair(Name.MICRO_BATCH_SIZE, micro_keys, micro, micro_at),
        *(row._replace(when=_FIXED) for row in _pair(Name.FIXED_MICRO_BATCH_SIZE, micro_keys, micro, micro_at)),
        *_pair(Name.TENSOR_PARALLEL_SIZE, ("ds.tensor_parallel_size", "ds_tensor_parallel_size"), 1, tensor_at, LENIENT),
        *_pair(Name.SEQUENCE_PARALLEL_SIZE, ("ds.ring_attn_size", "ring_attn_size"), 1, ring_at, LENIENT),
    )


_EQUATIONS: Final = (
    world("ORLHF cli/train_ppo_ray.py:41-75; deepspeed launcher: nodes x GPUs"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.SEQUENCE_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE), source=_ACCUMULATES),
    Equation(
        Name.GRADIENT_ACCUMULATION_STEPS,
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.FIXED_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        source=_ACCUMULATES,
    ),
)


_DIVIDES: Final = Constraint(
    "GBS202",
    (Name.GLOBAL_BATCH_SIZE,),
    (Name.FIXED_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
    when=_FIXED,
    label="the batch must hold whole micro batches of all ranks",
    source=_ASSERTS,
)


def _table(title: str, unit: str, rows: tuple[Row, ...], none_of: tuple[KeyPath, ...] = _ROLLS_OUT, weight: int = 0) -> Framework:
    """Return the table of the script `train_<title>.py`, whose name tells it from the others."""
    return Framework(
        name="openrlhf",
        title=f"OpenRLHF ({title})",
        recognition=Recognition(
            one_of=(_DOORS, (*_DOTTED, *_PLAIN)),
            none_of=none_of,
            paths=(title.lower(),),
            weight=weight,
        ),
        unit=unit,
        rows=tuple(row._replace(unit=unit) if row.name == Name.GLOBAL_BATCH_SIZE else row for row in rows),
        equations=_EQUATIONS,
        constraints=(_DIVIDES,),
        names=dotted("ckpt.output_dir logger.wandb.run_name save_path wandb_run_name"),
        sequences_per_sample=2 if unit == "pairs" else 1,
        version="OpenRLHF 3c3be623",
        source=f"{_ACCUMULATES}; {_ASSERTS}",
        arguments=Arguments.FLAGS,
    )


_ROLLOUT_SOURCE: Final = "ORLHF cli/train_ppo_ray.py"
_PPO_ROWS: Final = (
    *_rows("train_ppo_ray.py", 1, (393, 394, 353, 506)),
    *_pair(Name.PROMPTS_PER_ROLLOUT, ("rollout.batch_size", "rollout_batch_size"), 1024, f"{_ROLLOUT_SOURCE}:373"),
    *_pair(Name.NUM_GENERATIONS, ("rollout.n_samples_per_prompt", "n_samples_per_prompt"), 1, f"{_ROLLOUT_SOURCE}:414"),
    *_pair(Name.FORWARD_MICRO_BATCH_SIZE, ("rollout.micro_batch_size", "micro_rollout_batch_size"), 1, f"{_ROLLOUT_SOURCE}:377"),
    *_pair(Name.NUM_NODES, ("actor.num_nodes", "actor_num_nodes"), 1, f"{_ROLLOUT_SOURCE}:213", LENIENT),
    *_pair(Name.GPUS_PER_NODE, ("actor.num_gpus_per_node", "actor_num_gpus_per_node"), 8, f"{_ROLLOUT_SOURCE}:214", LENIENT),
)
_PPO: Final = _table("PPO", "completions", _PPO_ROWS, none_of=(), weight=1)
_LOCAL: Final = "ORLHF trainer/ppo_utils/replay_buffer.py:97-102 (setup_dynamic_batch)"

FRAMEWORKS = (
    _table("SFT", "samples", _rows("train_sft.py", 8, (166, 167, 209, 246)), weight=1),
    _table("DPO", "pairs", _rows("train_dpo.py", 8, (188, 189, 233, 278))),
    _table("RM", "pairs", _rows("train_rm.py", 1, (246, 247, 217, 224))),
    _PPO._replace(
        recognition=_PPO.recognition._replace(one_of=(*_PPO.recognition.one_of, _ROLLS_OUT)),
        equations=(
            *_PPO.equations,
            Equation(
                Name.GENERATION_BATCH_SIZE,
                (Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS),
                unit="completions",
                source=f"{_ROLLOUT_SOURCE}:711-717",
            ),
            Equation(
                Name.RANK_BATCH_SIZE,
                (Name.GLOBAL_BATCH_SIZE,),
                (Name.DATA_PARALLEL_SIZE,),
                Rounding.FLOOR,
                Enforcement.CORRECTS,
                source=_LOCAL,
            ),
        ),
        constraints=(
            _DIVIDES,
            Constraint(
                "GBS207",
                (Name.GENERATION_BATCH_SIZE,),
                (Name.FORWARD_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
                at_least=1,
                label="a rollout must hold a micro batch for each rank of the actor",
                source=f"{_ROLLOUT_SOURCE}:711-717",
            ),
        ),
        derive=realise_rank_batches,
    ),
)
