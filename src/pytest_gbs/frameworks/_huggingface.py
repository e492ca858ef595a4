"""What all tables on the Trainer of transformers share: its keys, its batch equation, and what it does with odd values.

TF is transformers 5.23.0 (`TF training_args.py:777` is a line of src/transformers), TF457 is 4.57.1.
"""

from __future__ import annotations

from pytest_gbs.core.constraints import holds
from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Loader, Reading, Removal, Row, SameAs, Switch, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final

VERSION: Final = "transformers 5.23.0"


def keys(words: str) -> tuple[KeyPath, ...]:
    """Return the top-level keys that `words` names."""
    return tuple((word,) for word in words.split())


_ON: Final = (True, "true", "True")
_NO: Final = ("no", False)

EVALUATES: Final = Condition(("eval_strategy",), _NO, negated=True, default="no")
EVALUATES_OLD: Final = Condition(("evaluation_strategy",), _NO, negated=True, default="no")
EVALUATES_AT_END: Final = Condition(("do_eval",), _ON, default=False)
EVALUATES_BY_STEPS: Final = Condition(("eval_strategy",), ("steps",), default="no")
EVALUATES_BY_STEPS_OLD: Final = Condition(("evaluation_strategy",), ("steps",), default="no")
SAVES_BY_STEPS: Final = Condition(("save_strategy",), ("steps",), default="steps")
LOGS_BY_STEPS: Final = Condition(("logging_strategy",), ("steps",), default="steps")
LOADS_BEST: Final = Condition(("load_best_model_at_end",), _ON, default=False)
SPLITS_BATCHES: Final = Condition(("accelerator_config", "split_batches"), (True,), default=False)
FINDS_BATCH_SIZE: Final = Condition(("auto_find_batch_size",), _ON, default=False)

# A YAML or JSON file goes through HfArgumentParser.parse_dict, which converts nothing: a value fails where it is first used.
MICRO_AS_LOADED: Final = Reading(
    quoted=Treatment.STOPS_LATE,
    text=Treatment.STOPS_LATE,
    whole_float=Treatment.STOPS_LATE,
    fraction=Treatment.STOPS_LATE,
    boolean=Treatment.ACCEPTS,
    null=Treatment.STOPS_LATE,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    collection=Treatment.STOPS_LATE,
    why="the DataLoader takes only a positive whole number as its batch size",
)
ACCUMULATION_AS_LOADED: Final = MICRO_AS_LOADED._replace(
    negative=Treatment.NO_STEPS,
    why="the Trainer divides the number of batches by it and counts micro batches up to it",
)
INTERVAL_AS_LOADED: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    zero=Treatment.AUTO,
    negative=Treatment.AUTO,
    why="TrainingArguments compares it with 1",
)
MAX_STEPS_AS_LOADED: Final = Reading(
    quoted=Treatment.STOPS_LATE,
    text=Treatment.STOPS_LATE,
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.STOPS_LATE,
    boolean=Treatment.ACCEPTS,
    null=Treatment.STOPS_LATE,
    zero=Treatment.UNSET,
    negative=Treatment.UNSET,
    collection=Treatment.STOPS_LATE,
    why="the Trainer compares it with 0",
)


def as_argument(reading: Reading) -> Reading:
    """Return `reading` for parsers that make values argparse defaults: text goes through int(), the rest is taken as loaded."""
    return reading._replace(quoted=Treatment.ACCEPTS, text=Treatment.STOPS)


def micro_rows(reading: Reading, source: str = "") -> tuple[Row, ...]:
    """Return the rows of the micro batch; the key of long ago wins, as long as transformers knows it."""
    old = reading._replace(null=Treatment.UNSET, zero=Treatment.UNSET)
    per_gpu = "TF457 training_args.py:868, 2189-2194 (train_batch_size); removed in transformers 5.0"
    return (
        Row(("per_gpu_train_batch_size",), Name.MICRO_BATCH_SIZE, reading=old, source=per_gpu),
        Row(("per_device_train_batch_size",), Name.MICRO_BATCH_SIZE, 8, reading, source or "TF training_args.py:777, 1820-1825"),
    )


def _removed(kind: str) -> Removal:
    """Return the batch key of long ago that is gone; bisected by wheels: transformers 4.57.1 has it, 5.0.0 has not."""
    key, instead = f"per_gpu_{kind}_batch_size", f"per_device_{kind}_batch_size"
    label = "the argument parser stops at a key that it does not know"
    return Removal((key,), "transformers", "5.0", label, "TF training_args.py, hf_argparser.py (parse_dict, parse_yaml_file)", instead)


REMOVED: Final = (_removed("train"), _removed("eval"))


def accumulation_row(reading: Reading, source: str = "") -> Row:
    """Return the row of the accumulation."""
    key = ("gradient_accumulation_steps",)
    return Row(key, Name.GRADIENT_ACCUMULATION_STEPS, 1, reading, source or "TF training_args.py:849, trainer.py:2510-2518")


def evaluation_rows(reading: Reading) -> tuple[Row, ...]:
    """Return the rows of the evaluation batch, which is used only where something evaluates."""
    source = "TF training_args.py:1128, trainer.py:2873; eval_strategy and do_eval: training_args.py:1106, 1489, 1570-1572"
    key = ("per_device_eval_batch_size",)
    when = (EVALUATES, EVALUATES_OLD, EVALUATES_AT_END)
    return tuple(Row(key, Name.EVAL_MICRO_BATCH_SIZE, 8, reading, source, when=(condition,)) for condition in when)


def interval_rows(interval: Reading, max_steps: Reading, logging_steps: int = 500, logging_source: str = "") -> tuple[Row, ...]:
    """Return the rows of what counts in optimizer steps; numbers below 1 are shares of the run."""
    logging = interval._replace(zero=Treatment.STOPS)
    evaluation = interval._replace(null=Treatment.UNSET, zero=Treatment.UNSET)
    every = SameAs(Name.LOGGING_STEPS)
    source = "TF training_args.py:1110, 1575-1583, 1739-1742"
    logs = logging_source or "TF training_args.py:1001, 1731-1738"
    saves = "TF training_args.py:1183, 1743-1746; trainer_callback.py:156-167, 583-587"
    return (
        Row(("max_steps",), Name.MAX_STEPS, None, max_steps, "TF training_args.py:779, trainer.py:2501-2503"),
        Row(("logging_steps",), Name.LOGGING_STEPS, logging_steps, logging, logs, ratio=True, when=(LOGS_BY_STEPS,)),
        Row(("save_steps",), Name.SAVE_STEPS, 500, interval, saves, ratio=True, when=(SAVES_BY_STEPS,)),
        Row(("eval_steps",), Name.EVAL_STEPS, every, evaluation, source, ratio=True, when=(EVALUATES_BY_STEPS,)),
        Row(("eval_steps",), Name.EVAL_STEPS, every, evaluation, source, ratio=True, when=(EVALUATES_BY_STEPS_OLD,)),
    )


AUTOTP: Final = Row(
    ("deepspeed", "tensor_parallel", "autotp_size"),
    Name.TENSOR_PARALLEL_SIZE,
    reading=LENIENT,
    source="TF trainer.py:2598-2600 (get_tp_size)",
)

WORLD: Final = Equation(
    Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source="accelerate 1.15.0 utils/launch.py:216-219 (prepare_multi_gpu_env)"
)
DATA_PARALLEL: Final = Equation(
    Name.DATA_PARALLEL_SIZE,
    (Name.WORLD_SIZE,),
    (Name.TENSOR_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE),
    Rounding.FLOOR,
    Enforcement.IGNORES,
    source="TF trainer.py:2572 (get_total_train_batch_size); TF457 trainer.py:2350 divides by tensor only, 4.40.2 by nothing",
)
ASSUMED: Final = ((Name.TENSOR_PARALLEL_SIZE, 1), (Name.CONTEXT_PARALLEL_SIZE, 1), (Name.SEQUENCE_PARALLEL_SIZE, 1))


def equations(unit: str) -> tuple[Equation, ...]:
    """Return the equations of the Trainer for batches counted in `unit`."""
    evaluation = (Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE)
    return (
        WORLD,
        DATA_PARALLEL,
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source="TF trainer.py:2573 (get_total_train_batch_size)"),
        Equation(Name.EVAL_GLOBAL_BATCH_SIZE, evaluation, unit=unit, source="TF trainer.py:2873 (evaluate)"),
    )


CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.MICRO_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE,),
        when=(SPLITS_BATCHES,),
        label="split_batches",
        source="accelerate 1.15.0 data_loader.py:160-164, 1184-1188",
    ),
    Constraint(
        "GBS208",
        (Name.SAVE_STEPS,),
        (Name.EVAL_STEPS,),
        when=(LOADS_BEST, EVALUATES_BY_STEPS, SAVES_BY_STEPS),
        label="load_best_model_at_end",
        source="TF training_args.py:1749-1774",
    ),
)

SHRINKS: Final = Switch(
    FINDS_BATCH_SIZE,
    (Name.MICRO_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE),
    "auto_find_batch_size shrinks the micro batch whenever memory runs out, and the accumulation stays as it is",
    "TF training_args.py:989, trainer.py:1571, 2689-2706",
)

NAMES: Final = keys("run_name output_dir hub_model_id hub_model_revision")


def realise_split_batches(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the global batch where `split_batches` makes the micro batch that of all ranks together, else nothing.

    The Trainer's own log still multiplies by the world (TF trainer.py:2573); accelerate 1.15.0 data_loader.py:127-137 splits.
    """
    micro, accumulation = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.GRADIENT_ACCUMULATION_STEPS)
    if type(micro) is not Quantity or type(accumulation) is not Quantity or not holds(SPLITS_BATCHES, document, Loader.PYYAML):
        return {}
    stated = sizes.get(Name.GLOBAL_BATCH_SIZE)
    unit = stated.unit if isinstance(stated, Quantity) else ""
    because = (micro, accumulation)
    return {
        Name.GLOBAL_BATCH_SIZE: Quantity(Name.GLOBAL_BATCH_SIZE, micro.value * accumulation.value, Origin.DERIVED, unit, because=because)
    }


# Keys of recipes, launchers and companions of others that hold keys of the same names as the Trainer's.
FOREIGN: Final = keys("""
base_model finetuning_type stage infer_backend export_dir tuner_type train_type sft_type rlhf_type split_dataset_ratio
device_groups colocate_groups distributed_type zero_optimization train_micro_batch_size_per_gpu architectures log_history apiVersion
""")
# One of these says that the file trains, rather than generates, filters or evaluates.
TRAINS: Final = keys("""
per_device_train_batch_size per_gpu_train_batch_size gradient_accumulation_steps learning_rate num_train_epochs max_steps
lr_scheduler_type warmup_ratio warmup_steps gradient_checkpointing optim save_steps save_strategy
""")
# Keys of the argument classes in transformers' own examples/pytorch/language-modeling (run_clm.py, run_mlm.py) that no script of
# TRL has.
SCRIPTS: Final = keys("""
block_size line_by_line validation_split_percentage mlm_probability keep_linebreaks config_overrides
""")
