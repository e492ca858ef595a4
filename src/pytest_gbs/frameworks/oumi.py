"""oumi: nested files of a model, data and `training`, whose `trainer_type` chooses between TRL's trainers, verl's and its own.

OU is oumi d8ed07778; `OU training_params.py:233` is a line of src/oumi/core/configs/params, other paths of src/oumi. TF is transformers,
as in `_huggingface.py`.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Exclusion, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import WORLD

_TRAINER: Final[KeyPath] = ("training", "trainer_type")
_VERL: Final[KeyPath] = ("training", "verl_config_overrides")


def _trains_with(words: str, *, other: bool = False) -> Condition:
    """Return whether `trainer_type` is one of `words`, as the loader takes the names of an enumeration."""
    names = words.split()
    return Condition(_TRAINER, (*names, *(f"TrainerType.{name}" for name in names)), negated=other, default="HF")


# OmegaConf holds the file against typed classes: text and floats become whole numbers, a fraction is cut off.
_WHOLE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.AUTO,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    why="the DataLoader takes only a positive whole number as its batch size",
)
_ACCUMULATION: Final = _WHOLE._replace(
    zero=Treatment.STOPS, negative=Treatment.STOPS, why="TrainingParams asks for an accumulation of at least 1"
)
_LIMIT: Final = _WHOLE._replace(zero=Treatment.UNSET, negative=Treatment.UNSET, why="")
_LOOSE: Final = LENIENT._replace(null=Treatment.UNSET)

_EVALUATES: Final = Condition(("training", "eval_strategy"), ("no", False), negated=True, default="no")
_EVALUATES_BY_STEPS: Final = Condition(("training", "eval_strategy"), ("steps",), default="no")


def _row(key: str, name: str, default: int | None, reading: Reading, line: int, *when: Condition) -> Row:
    return Row(("training", key), name, default, reading, f"OU training_params.py:{line}", when=when)


_INTERVALS: Final = (
    _row("max_steps", Name.MAX_STEPS, None, _LIMIT, 259),
    _row("save_steps", Name.SAVE_STEPS, 500, _LIMIT, 284),
    _row("logging_steps", Name.LOGGING_STEPS, 50, _LOOSE, 455),
    _row("eval_steps", Name.EVAL_STEPS, 500, _LOOSE, 484, _EVALUATES_BY_STEPS),
    Row(("model", "model_max_length"), Name.SEQUENCE_LENGTH, None, _LOOSE, "OU training_config.py (max_seq_length_key)"),
)
_ROWS: Final = (
    _row("per_device_train_batch_size", Name.MICRO_BATCH_SIZE, 8, _WHOLE, 233),
    _row("gradient_accumulation_steps", Name.GRADIENT_ACCUMULATION_STEPS, 1, _ACCUMULATION, 248),
    _row("per_device_eval_batch_size", Name.EVAL_MICRO_BATCH_SIZE, 8, _WHOLE, 241, _EVALUATES),
    *_INTERVALS,
)
_RANKS: Final = Equation(
    Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source="TF trainer.py:2557-2573; OU core/trainers/oumi_trainer.py:780"
)

_DEEPSPEED: Final[KeyPath] = ("deepspeed", "train_batch_size")
_LEAVES_IT: Final = Exclusion(
    (_DEEPSPEED, _TRAINER),
    "with TRL's trainers and DeepSpeed, train_batch_size must be auto, and the config stops",
    "OU core/configs/training_config.py (__post_init__)",
    (
        Condition(("deepspeed", "enable_deepspeed"), (True,)),
        Condition(_DEEPSPEED, ("auto",), negated=True, default="auto"),
        _trains_with("TRL_SFT TRL_DPO TRL_KTO TRL_GRPO TRL_GKD TRL_GOLD"),
    ),
)


def _equations(unit: str) -> tuple[Equation, ...]:
    """Return the equations of the trainers that run on transformers, and of oumi's own, for batches counted in `unit`."""
    source = "OU training_params.py:935-945 (to_hf), core/trainers/oumi_trainer.py:304-330; TF trainer.py:2573"
    evaluation = (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    return (
        WORLD,
        _RANKS,
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=source),
        Equation(Name.EVAL_GLOBAL_BATCH_SIZE, evaluation, unit=unit, source="OU training_params.py:944; TF trainer.py:2873 (evaluate)"),
    )


def _table(title: str, unit: str, when: Condition) -> Framework:
    """Return the table of the trainers that `when` chooses."""
    return Framework(
        name="oumi",
        title=title,
        recognition=Recognition(
            all_of=(("model", "model_name"),),
            one_of=(
                (_TRAINER, ("training", "per_device_train_batch_size"), ("training", "gradient_accumulation_steps")),
                (("data", "train"), ("training", "output_dir")),
            ),
            marks=(("model", "model_name"), ("data", "train"), _TRAINER),
            when=(when,),
        ),
        unit=unit,
        rows=_ROWS,
        equations=_equations(unit),
        exclusions=(_LEAVES_IT,),
        names=(("training", "output_dir"), ("training", "run_name")),
        packing=Condition(("data", "train", "pack"), (True,)),
        sequences_per_sample=2 if unit == "pairs" else 1,
        loader=Loader.OMEGACONF,
        version="oumi d8ed07778",
        source="OU core/configs/base_config.py:188-220, training_params.py:801-985",
    )


_GROUP: Final[KeyPath] = ("training", "grpo", "num_generations")


def _online(table: Framework) -> Framework:
    """Return `table` with the groups of completions that TRL's GRPO trainer makes for each prompt."""
    source = "OU grpo_params.py:41, 125-150; trl 0.24.0 grpo_config.py (num_generations)"
    optional = _WHOLE._replace(null=Treatment.UNSET, zero=Treatment.STOPS, negative=Treatment.STOPS, why="GrpoParams asks for at least 1")
    prompts = Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=source)
    return table._replace(
        rows=(*table.rows, Row(_GROUP, Name.NUM_GENERATIONS, 8, optional, source)),
        equations=(*table.equations, prompts),
        constraints=(
            Constraint(
                "GBS205",
                (Name.GLOBAL_BATCH_SIZE,),
                (Name.NUM_GENERATIONS,),
                label="the generation batch must hold whole groups",
                source="OU train.py:172-190 warns; trl 0.24.0 grpo_config.py (generation_batch_size) stops",
            ),
        ),
        reserves=Condition(("training", "grpo", "use_vllm"), (True,)),
        shares=Condition(("training", "grpo", "vllm_mode"), ("colocate",)),
    )


_ACTOR: Final[KeyPath] = (*_VERL, "actor_rollout_ref", "actor")
_BY_VERL: Final = "OU core/trainers/verl_grpo_trainer.py, verl_trainer_config.yaml (verl 0.5.0)"


def _by_verl(table: Framework) -> Framework:
    """Return `table` with the sizes that verl is given; oumi's own batch keys do not reach it."""
    parts = (Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS)
    return table._replace(
        rows=(
            Row((*_ACTOR, "ppo_mini_batch_size"), Name.PROMPTS_PER_STEP, 256, _LOOSE, _BY_VERL, unit="prompts"),
            Row((*_VERL, "actor_rollout_ref", "rollout", "n"), Name.NUM_GENERATIONS, 1, _LOOSE, _BY_VERL),
            Row((*_ACTOR, "ppo_micro_batch_size_per_gpu"), Name.MICRO_BATCH_SIZE, None, _LOOSE, _BY_VERL, unit="completions"),
            Row((*_VERL, "data", "train_batch_size"), Name.PROMPTS_PER_ROLLOUT, 1024, _LOOSE, _BY_VERL, unit="prompts"),
            Row((*_VERL, "trainer", "n_gpus_per_node"), Name.GPUS_PER_NODE, None, _LOOSE, _BY_VERL),
            Row((*_VERL, "trainer", "nnodes"), Name.NUM_NODES, 1, _LOOSE, _BY_VERL),
        ),
        equations=(WORLD, Equation(Name.GLOBAL_BATCH_SIZE, parts, unit="completions", source=_BY_VERL)),
        exclusions=(),
        packing=None,
    )


_KTO: Final = _table("oumi (KTO)", "samples", _trains_with("TRL_KTO"))

FRAMEWORKS = (
    _table("oumi", "samples", _trains_with("TRL_DPO TRL_KTO TRL_GRPO VERL_GRPO", other=True)),
    _table("oumi (DPO)", "pairs", _trains_with("TRL_DPO")),
    _KTO._replace(
        constraints=(
            Constraint(
                "GBS207",
                (Name.MICRO_BATCH_SIZE,),
                at_least=2,
                when=(Condition(("training", "trainer_kwargs", "loss_type"), ("apo_zero_unpaired",), negated=True, default="kto"),),
                label="the KL term pairs each answer with another one of its micro batch",
                source="trl 0.24.0 kto_trainer.py (Actual (not effective) batch size must be > 1)",
            ),
        ),
    ),
    _online(_table("oumi (GRPO)", "completions", _trains_with("TRL_GRPO"))),
    _by_verl(_table("oumi (GRPO by verl)", "completions", _trains_with("VERL_GRPO"))),
)
