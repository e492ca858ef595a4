"""What the tables of TRL share; the trainers differ in unit, in defaults, and in what they check.

TRL is commit f2cd57710 (1.10.0.dev0) of huggingface/trl; `TRL grpo_config.py:474` is a line of trl/trainer. alignment-handbook
and open-r1 build on TRL's configs and read their recipes with TRL's parser.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import (
    ACCUMULATION_AS_LOADED,
    ASSUMED,
    AUTOTP,
    CONSTRAINTS,
    FOREIGN,
    INTERVAL_AS_LOADED,
    MAX_STEPS_AS_LOADED,
    MICRO_AS_LOADED,
    NAMES,
    REMOVED,
    SCRIPTS,
    SHRINKS,
    TRAINS,
    accumulation_row,
    as_argument,
    equations,
    evaluation_rows,
    interval_rows,
    keys,
    micro_rows,
    realise_split_batches,
)
from pytest_gbs.frameworks._known import Known

VERSION: Final = "trl f2cd57710 (1.10.0.dev0)"
SOURCE: Final = "TRL scripts/utils.py:303-370 (TrlParser); TF trainer.py:2557-2573"


# Values become argparse defaults (TRL scripts/utils.py:352-370): text is converted, everything else bypasses the conversion.
MICRO: Final = as_argument(MICRO_AS_LOADED)
ACCUMULATION: Final = as_argument(ACCUMULATION_AS_LOADED)
MAX_STEPS: Final = as_argument(MAX_STEPS_AS_LOADED)
# The intervals are floats: text such as 1e3 is a number to argparse.
INTERVAL: Final = INTERVAL_AS_LOADED._replace(quoted=Treatment.ACCEPTS, text=Treatment.AUTO)
_LENGTH: Final = MICRO._replace(
    null=Treatment.AUTO, zero=Treatment.AUTO, negative=Treatment.AUTO, why="sequences are cut to so many tokens"
)
_PLACEHOLDER: Final = LENIENT._replace(quoted=Treatment.ACCEPTS)

# vLLM takes GPUs of its own unless both share them: one more in trl 0.14, a server's in 0.18 (vllm_mode "server" by default then,
# "colocate" now: TRL grpo_config.py:584).
GENERATES_WITH_VLLM: Final = Condition(("use_vllm",), (True, "true", "True"), default=False)
COLOCATED: Final = Condition(("vllm_mode",), ("colocate",))

# Keys that only scripts of TRL, alignment-handbook and open-r1 have, whichever trainer they run.
COMMON: Final = keys("""
dataset_name dataset_config dataset_mixer dataset_mixture datasets dataset_splits dataset_configs dataset_train_split
dataset_test_split dataset_num_proc max_length use_peft lora_r lora_target_modules load_in_4bit load_in_8bit chat_template
chat_template_path attn_implementation model_revision model_init_kwargs eos_token hub_model_revision system_prompt
""")

# TRL's command line forwards keys that no dataclass has to `accelerate launch` (TRL cli/commands/training.py:58-72).
HARDWARE: Final = (
    Row(
        ("num_processes",),
        Name.WORLD_SIZE,
        reading=_PLACEHOLDER,
        source="TRL cli/commands/training.py:58-72; accelerate 1.15.0 commands/launch.py --num_processes: total over all machines",
    ),
    Row(
        ("num_machines",),
        Name.NUM_NODES,
        reading=_PLACEHOLDER,
        source="TRL cli/commands/training.py:58-72; accelerate 1.15.0 commands/launch.py --num_machines",
    ),
)


def length_rows(default: int | None, source: str) -> tuple[Row, ...]:
    """Return the rows of the sequence length, with its older name."""
    old = "trl 0.14.0 sft_config.py (max_seq_length); TRL has max_length alone"
    return (
        Row(("max_length",), Name.SEQUENCE_LENGTH, default, _LENGTH, source),
        Row(("max_seq_length",), Name.SEQUENCE_LENGTH, None, _LENGTH, old),
    )


def generation_equations(source: str) -> tuple[Equation, ...]:
    """Return how many completions one generation makes, and how many prompts a step has, cited as `source`."""
    generated = (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE, Name.STEPS_PER_GENERATION)
    return (
        Equation(Name.GENERATION_BATCH_SIZE, generated, unit="completions", source=source),
        Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=source),
    )


def generation_constraints(source: str) -> tuple[Constraint, ...]:
    """Return what a generation must hold: whole micro batches of all ranks, and whole groups."""
    generated = (Name.GENERATION_BATCH_SIZE,)
    ranks, whole = (Name.MICRO_BATCH_SIZE, Name.WORLD_SIZE), "generation_batch_size must hold whole micro batches of all ranks"
    return (
        Constraint("GBS202", generated, ranks, needs=generated, label=whole, source=source),
        Constraint("GBS205", generated, (Name.NUM_GENERATIONS,), label="the generation batch must hold whole groups", source=source),
    )


def recognition(marks: str, paths: str, weight: int = 0, none_of: str = "", decisive: str = "") -> Recognition:
    """Return how a variant is told from the others: by `marks` beside the common ones, then by path.

    With `decisive` keys the document must have one of them or another mark of the variant; without, common marks do.
    """
    own = keys(marks)
    doors = keys("model_name_or_path per_device_train_batch_size per_gpu_train_batch_size")
    return Recognition(
        one_of=(doors, TRAINS, keys(decisive) if decisive else (*own, *COMMON)),
        none_of=(*FOREIGN, *SCRIPTS, *keys(none_of)),
        marks=(*own, *COMMON),
        paths=tuple(paths.split()),
        weight=weight,
    )


def table(
    title: str,
    how: Recognition,
    unit: str = "samples",
    *,
    micro: Reading = MICRO,
    accumulation: Reading = ACCUMULATION,
    rows: tuple[Row, ...] = (),
    extra_equations: tuple[Equation, ...] = (),
    constraints: tuple[Constraint, ...] = (),
    packing: Condition | None = None,
    sequences_per_sample: int = 1,
    source: str = "",
) -> Framework:
    """Return the table of one trainer of TRL: what is common to all, and what it has of its own."""
    logging_source = "TRL base_config.py:54 (_BaseConfig); TF training_args.py:1731-1738"
    return Framework(
        name="trl",
        title=title,
        recognition=how,
        unit=unit,
        rows=(
            *micro_rows(micro),
            accumulation_row(accumulation),
            *rows,
            *evaluation_rows(MICRO),
            *interval_rows(INTERVAL, MAX_STEPS, 10, logging_source),
            *HARDWARE,
            AUTOTP,
        ),
        equations=(*equations(unit), *extra_equations),
        constraints=(*constraints, *CONSTRAINTS),
        switches=(SHRINKS,),
        assumed=ASSUMED,
        also=Known("trl"),
        names=NAMES,
        packing=packing,
        sequences_per_sample=sequences_per_sample,
        version=VERSION,
        source=source or SOURCE,
        derive=realise_split_batches,
        imports="trl",
        companions=(("deepspeed",),),
        package="trl",
        removals=REMOVED,
    )
