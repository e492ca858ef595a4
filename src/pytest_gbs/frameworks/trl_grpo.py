"""TRL's GRPOTrainer and RLOOTrainer: the batch counts completions, and each prompt has a group of `num_generations` of them.

Before trl 0.15 the micro batch counted prompts, each of which became `num_generations` completions in the same pass (trl 0.14.0
grpo_config.py:159-173, grpo_trainer.py:469); since then it counts completions (trl 0.15.0 grpo_trainer.py:343-350, 468).
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation
from pytest_gbs.core.framework import Constraint, Exclusion, Framework, Reading, Recognition, Row, SameAs, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.core.versions import in_eras
from pytest_gbs.frameworks._huggingface import EVALUATES
from pytest_gbs.frameworks._trl import (
    ACCUMULATION,
    COLOCATED,
    GENERATES_WITH_VLLM,
    MICRO,
    SOURCE,
    generation_constraints,
    generation_equations,
    recognition,
    table,
)

_MARKS: Final = """
num_generations num_generations_eval generation_batch_size steps_per_generation num_iterations reward_funcs reward_weights
max_completion_length max_prompt_length temperature beta epsilon scale_rewards loss_type use_vllm vllm_mode vllm_device
vllm_gpu_memory_utilization log_completions num_completions_to_print mask_truncated_completions dataset_prompt_column
"""
_DECISIVE: Final = """
num_generations generation_batch_size steps_per_generation reward_funcs reward_weights max_completion_length
num_completions_to_print mask_truncated_completions scale_rewards
"""

# The arguments are multiplied and divided while the config is made, so that most wrong types stop at once.
_GROUP: Final = Reading(
    quoted=Treatment.ACCEPTS, whole_float=Treatment.STOPS_LATE, boolean=Treatment.ACCEPTS, why="the generation batch is divided by it"
)
_OPTIONAL: Final = _GROUP._replace(null=Treatment.UNSET, zero=Treatment.STOPS_LATE, negative=Treatment.STOPS_LATE)
_MICRO: Final = MICRO._replace(null=Treatment.STOPS, collection=Treatment.STOPS)
# With steps_per_generation left open, the DataLoader's batch is micro x accumulation.
_ACCUMULATION: Final = ACCUMULATION._replace(null=Treatment.STOPS, collection=Treatment.STOPS, negative=Treatment.STOPS_LATE)


def _rows(config: str, lines: tuple[int, int, int, int, int], generations: int) -> tuple[Row, ...]:
    """Return the rows of one config, whose fields stand at `lines` of file `config`."""
    group, evaluation, batch, steps, iterations = (f"TRL {config}:{line}" for line in lines)
    same = SameAs(Name.NUM_GENERATIONS)
    per_generation = SameAs(Name.GRADIENT_ACCUMULATION_STEPS, unless=Name.GENERATION_BATCH_SIZE)
    evaluating = _OPTIONAL._replace(zero=Treatment.UNSET)
    return (
        Row(("num_generations",), Name.NUM_GENERATIONS, generations, _GROUP, group),
        Row(("num_generations_eval",), Name.EVAL_NUM_GENERATIONS, same, evaluating, evaluation, when=(EVALUATES,)),
        Row(("generation_batch_size",), Name.GENERATION_BATCH_SIZE, None, _OPTIONAL, batch, unit="completions"),
        Row(("steps_per_generation",), Name.STEPS_PER_GENERATION, per_generation, _OPTIONAL, steps),
        Row(("num_iterations",), Name.NUM_ITERATIONS, 1, _OPTIONAL, iterations),
    )


def _constraints(lines: str) -> tuple[Constraint, ...]:
    """Return what the config checks about itself, cited as `lines`."""
    return (
        *generation_constraints(lines),
        Constraint(
            "GBS205",
            (Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE),
            (Name.EVAL_NUM_GENERATIONS,),
            when=(EVALUATES,),
            label="the evaluation batch must hold whole groups",
            source=lines,
        ),
        Constraint("GBS205", (Name.NUM_GENERATIONS,), at_least=2, label="an advantage needs two completions", source=lines),
    )


_COMPLETIONS: Final = "0.15"  # the first version whose micro batch counts completions


def _with_eras(built: Framework) -> Framework:
    """Return the table of GRPO with what held while the micro batch counted prompts."""
    factors = (Name.MICRO_BATCH_SIZE, Name.NUM_GENERATIONS, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)
    source = "trl 0.14.0 grpo_trainer.py:469; grpo_config.py:159-173"
    old = Equation(Name.GLOBAL_BATCH_SIZE, factors, unit="completions", until=_COMPLETIONS, source=source)
    newer = (Name.GLOBAL_BATCH_SIZE, Name.GENERATION_BATCH_SIZE)
    defaults: dict[KeyPath, int] = {("per_device_train_batch_size",): 1, ("gradient_accumulation_steps",): 8}
    changed = [row for row in built.rows if row.key in defaults]
    older = (row._replace(default=defaults[row.key], until=_COMPLETIONS, source="trl 0.14.0 grpo_config.py:159-173") for row in changed)
    before = built._replace(
        rows=(*(row._replace(since=_COMPLETIONS) if row in changed else row for row in built.rows), *older),
        equations=(*(each._replace(since=_COMPLETIONS) if each.result in newer else each for each in built.equations), old),
        constraints=tuple(each._replace(since=_COMPLETIONS) if each.code == "GBS205" else each for each in built.constraints),
    )
    return in_eras(before)


def _online(title: str, how: Recognition, rows: tuple[Row, ...], lines: str) -> Framework:
    built = table(
        title,
        how,
        "completions",
        micro=_MICRO,
        accumulation=_ACCUMULATION,
        rows=rows,
        extra_equations=generation_equations(lines),
        constraints=_constraints(lines),
        source=f"{lines}; {SOURCE}",
    )
    eras = _with_eras(built) if title.endswith("(GRPO)") else built
    label = "both say how many completions one generation makes, and the config accepts only one of them"
    refuses = built.switches[0]._replace(
        label="auto_find_batch_size would break the groups, so the config refuses it", source=lines, enforcement=Enforcement.STOPS
    )
    return eras._replace(
        exclusions=(Exclusion((("generation_batch_size",), ("steps_per_generation",)), label, lines),),
        switches=(refuses,),
        reserves=GENERATES_WITH_VLLM,
        shares=COLOCATED,
    )


FRAMEWORKS = (
    _online(
        "TRL (GRPO)",
        recognition(_MARKS, "grpo gspo dapo", weight=8, decisive=_DECISIVE),
        _rows("grpo_config.py", (474, 481, 511, 518, 679), 8),
        "TRL grpo_config.py:1068-1119",
    ),
    _online(
        "TRL (RLOO)",
        recognition(f"{_MARKS} normalize_advantages", "rloo", weight=7, none_of="rloo_k", decisive=_DECISIVE),
        _rows("rloo_config.py", (297, 304, 334, 341, 501), 2),
        "TRL rloo_config.py:636-690",
    ),
)
