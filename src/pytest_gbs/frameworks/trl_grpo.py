"""TRL's GRPOTrainer and RLOOTrainer: the batch counts completions, and each prompt has a group of `num_generations` of them.

Up to trl 0.15 the micro batch counted prompts (trl 0.14.0 grpo_trainer.py:469); since then completions.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation
from pytest_gbs.core.framework import Constraint, Exclusion, Framework, Reading, Recognition, Row, SameAs, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import EVALUATES
from pytest_gbs.frameworks._trl import ACCUMULATION, COLOCATED, GENERATES_WITH_VLLM, MICRO, SOURCE, recognition, table

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


def _equations(lines: str) -> tuple[Equation, ...]:
    generated = (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE, Name.STEPS_PER_GENERATION)
    return (
        Equation(Name.GENERATION_BATCH_SIZE, generated, unit="completions", source=lines),
        Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=lines),
    )


def _constraints(lines: str) -> tuple[Constraint, ...]:
    """Return what the config checks about itself, cited as `lines`."""
    return (
        Constraint(
            "GBS202",
            (Name.GENERATION_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE),
            needs=(Name.GENERATION_BATCH_SIZE,),
            label="generation_batch_size must hold whole micro batches of all ranks",
            source=lines,
        ),
        Constraint(
            "GBS205",
            (Name.GENERATION_BATCH_SIZE,),
            (Name.NUM_GENERATIONS,),
            label="the generation batch must hold whole groups",
            source=lines,
        ),
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


def _online(title: str, how: Recognition, rows: tuple[Row, ...], lines: str) -> Framework:
    built = table(
        title,
        how,
        "completions",
        micro=_MICRO,
        accumulation=_ACCUMULATION,
        rows=rows,
        extra_equations=_equations(lines),
        constraints=_constraints(lines),
        source=f"{lines}; {SOURCE}",
    )
    label = "both say how many completions one generation makes, and the config accepts only one of them"
    refuses = built.switches[0]._replace(
        label="auto_find_batch_size would break the groups, so the config refuses it", source=lines, enforcement=Enforcement.STOPS
    )
    return built._replace(
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
