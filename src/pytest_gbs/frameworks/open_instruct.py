"""open-instruct of the Allen Institute: flat files for finetune.py and dpo.py, with dataset mixtures of their own.

OI is commit e6c3044aa of allenai/open-instruct; `OI finetune.py:179` is a line of open_instruct/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.framework import LENIENT, Framework, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import ACCUMULATION_AS_LOADED, FOREIGN, MICRO_AS_LOADED, SCRIPTS, TRAINS, WORLD, keys
from pytest_gbs.frameworks._known import Known

_MARKS: Final = keys("""
use_slow_tokenizer with_tracking checkpointing_steps dataset_mix_dir dataset_mixer_list keep_last_n_checkpoints add_bos
try_launch_beaker_eval_jobs hf_metadata_dataset use_flash_attn use_qlora average_logps objective_type
dataset_mixer dataset_name max_seq_length beta loss_type model_revision
""")
_DECISIVE: Final = keys("use_slow_tokenizer with_tracking dataset_mixer_list dataset_mix_dir")
# Keys of TRL's own that make it a recipe for TRL, whatever else it holds.
_TRLS: Final = keys("num_generations reward_funcs dataset_mixture max_prompt_length")

_OPTIONAL: Final = LENIENT._replace(null=Treatment.UNSET)
_ACCUMULATION: Final = ACCUMULATION_AS_LOADED._replace(negative=Treatment.STOPS_LATE, why="the total batch is multiplied and divided by it")


_MICRO: Final = Row(
    ("per_device_train_batch_size",), Name.MICRO_BATCH_SIZE, 8, MICRO_AS_LOADED, "OI finetune.py:201-203, olmo_core_utils.py:91"
)
_STEPS: Final = Row(
    ("gradient_accumulation_steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1, _ACCUMULATION, "OI finetune.py:179-181, olmo_core_utils.py:93"
)
_SHARED: Final = (
    Row(("max_seq_length",), Name.SEQUENCE_LENGTH, None, _OPTIONAL, "OI finetune.py:163, olmo_core_utils.py:103"),
    Row(("max_train_steps",), Name.MAX_STEPS, None, _OPTIONAL, "OI finetune.py:252, olmo_core_utils.py:107"),
    Row(("logging_steps",), Name.LOGGING_STEPS, None, _OPTIONAL, "OI finetune.py:183, olmo_core_utils.py:214"),
    Row(("checkpointing_steps",), Name.SAVE_STEPS, None, _OPTIONAL, "OI finetune.py:257, olmo_core_utils.py:234"),
)


def _table(title: str, unit: str, *, paths: str, weight: int, split: Row, divided: Equation) -> Framework:
    """Return the table of one script, which divides the world by the size in row `split`."""
    return Framework(
        name="open-instruct",
        title=title,
        recognition=Recognition(
            one_of=(keys("model_name_or_path per_device_train_batch_size"), _DECISIVE, TRAINS),
            none_of=(*FOREIGN, *SCRIPTS, *_TRLS),
            marks=_MARKS,
            paths=tuple(paths.split()),
            weight=weight,
        ),
        unit=unit,
        rows=(_MICRO, _STEPS, split, *_SHARED),
        equations=(WORLD, divided, Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=divided.source)),
        assumed=((split.name, 1),),
        also=Known("open-instruct"),
        names=keys("run_name exp_name output_dir"),
        sequences_per_sample=2 if unit == "pairs" else 1,
        version="open-instruct e6c3044aa",
        source=f"OI utils.py:681-757 (ArgumentParserPlus); {divided.source}",
    )


def _divided(by: str, rounding: str, mismatch: str, source: str) -> Equation:
    return Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (by,), rounding, mismatch, source=source)


FRAMEWORKS = (
    _table(
        "open-instruct (SFT)",
        "samples",
        paths="sft",
        weight=2,
        split=Row(("sequence_parallel_size",), Name.SEQUENCE_PARALLEL_SIZE, None, _OPTIONAL, "OI finetune.py:320"),
        divided=_divided(Name.SEQUENCE_PARALLEL_SIZE, Rounding.EXACT, Enforcement.STOPS, "OI finetune.py:380-386, 729-730"),
    ),
    _table(
        "open-instruct (DPO)",
        "pairs",
        paths="dpo simpo pref",
        weight=1,
        split=Row(("tensor_parallel_degree",), Name.TENSOR_PARALLEL_SIZE, None, _OPTIONAL, "OI dpo_utils.py:129"),
        divided=_divided(Name.TENSOR_PARALLEL_SIZE, Rounding.FLOOR, Enforcement.IGNORES, "OI dpo.py:174, 201-202; dpo_tune_cache.py:480"),
    ),
)
