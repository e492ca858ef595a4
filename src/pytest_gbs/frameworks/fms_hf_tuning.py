"""fms-hf-tuning of IBM: a flat JSON file with the arguments of transformers' Trainer and of its own SFT script.

FMS is fms-hf-tuning d3c30a035; `FMS sft_trainer.py:181` is a line of tuning/. TF is transformers, as in `_huggingface.py`; the pin is
transformers 4.55 and trl 0.19.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Condition, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import (
    EVALUATES,
    FOREIGN,
    MAX_STEPS_AS_LOADED,
    MICRO_AS_LOADED,
    NAMES,
    SHRINKS,
    TRAINS,
    WORLD,
    keys,
)
from pytest_gbs.frameworks._known import Known

# The script asks for an int above 0 before anything else is done; true is an int to Python.
_ACCUMULATION: Final = Reading(boolean=Treatment.ACCEPTS, why="the script asks for a whole number of at least 1")

_OWN: Final = keys("training_data_path data_config_path")
# Keys that a recipe for TRL may have as well stand here too, so that this table has more of its marks than TRL's have.
_MARKS: Final = keys("""
training_data_path data_config_path validation_data_path tokenizer_name_or_path use_flash_attn peft_method accelerate_launch_args
save_model_dir response_template instruction_template dataset_text_field data_formatter_template packing max_seq_length chat_template
padding_free multipack trackers
""")
_FORMULA: Final = "FMS sft_trainer.py:360-460 (SFTTrainer); transformers 4.55.4 trainer.py (get_total_train_batch_size)"

FRAMEWORK: Final = Framework(
    name="fms-hf-tuning",
    title="fms-hf-tuning",
    recognition=Recognition(
        all_of=keys("model_name_or_path"),
        one_of=(_OWN, TRAINS),
        none_of=FOREIGN,
        marks=_MARKS,
    ),
    unit="samples",
    rows=(
        Row(
            ("per_device_train_batch_size",),
            Name.MICRO_BATCH_SIZE,
            8,
            MICRO_AS_LOADED,
            "FMS config/configs.py:196; TF training_args.py:777",
        ),
        Row(("gradient_accumulation_steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1, _ACCUMULATION, "FMS sft_trainer.py:181-184"),
        Row(
            ("per_device_eval_batch_size",),
            Name.EVAL_MICRO_BATCH_SIZE,
            8,
            MICRO_AS_LOADED,
            "FMS config/configs.py:270; TF training_args.py:1128",
            when=(EVALUATES,),
        ),
        Row(("max_seq_length",), Name.SEQUENCE_LENGTH, 4096, LENIENT, "FMS config/configs.py:26, 200"),
        Row(("max_steps",), Name.MAX_STEPS, None, MAX_STEPS_AS_LOADED, "FMS config/configs.py:196; TF training_args.py:779"),
    ),
    equations=(
        WORLD,
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=_FORMULA),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit="samples", source=_FORMULA),
        Equation(
            Name.EVAL_GLOBAL_BATCH_SIZE,
            (Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE),
            unit="samples",
            source="transformers 4.55.4 trainer.py (evaluate)",
        ),
    ),
    switches=(SHRINKS,),
    also=Known("trl"),
    names=NAMES,
    packing=Condition(("packing",), (True, "true", "True"), default=False),
    version="fms-hf-tuning d3c30a035",
    source="FMS sft_trainer.py:636-706 (parse_arguments), build/accelerate_launch.py",
)
