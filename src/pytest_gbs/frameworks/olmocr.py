"""olmOCR: micro batch and accumulation under `training`, in a loop of its own that is one process and knows no other.

OCR is commit f7cfe4c of allenai/olmocr (0.4.27); `OCR train.py:507` is a line of olmocr/train. The loop has been there since 0.3.0; before,
a Trainer of transformers took the same keys, and on how many GPUs it shared them out is not known from the recipe.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Arguments, Era, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_STEP: Final = "OCR train.py:507, 642-664 (a step wherever the samples seen are whole multiples of micro batch x accumulation)"
_ALONE: Final = "OCR train.py:281-290, 430-431 (a plain DataLoader and one device; the file imports no torch.distributed)"
_EVALUATES: Final = "OCR config.py:213; train.py:554-564, 217-239"

# The config class converts nothing. A DataLoader takes whole numbers from 1; what divides by the accumulation takes 8.0 as well.
_MICRO: Final = Reading(why="a DataLoader takes whole numbers from 1")
_EVAL: Final = _MICRO._replace(null=Treatment.STOPS_LATE)
_STEPS: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.GOES_ON,
    boolean=Treatment.AUTO,
    negative=Treatment.NO_STEPS,
    why="the number of samples is divided by it",
)
_EVERY: Final = LENIENT  # 0 is never, and no number of steps
_LENGTH: Final = LENIENT._replace(null=Treatment.UNSET)

_ROWS: Final = (
    Row(key("training.per_device_train_batch_size"), Name.MICRO_BATCH_SIZE, 1, _MICRO, f"OCR config.py:212; {_STEP}"),
    Row(key("training.gradient_accumulation_steps"), Name.GRADIENT_ACCUMULATION_STEPS, 8, _STEPS, f"OCR config.py:214; {_STEP}"),
    Row(key("training.per_device_eval_batch_size"), Name.EVAL_MICRO_BATCH_SIZE, 1, _EVAL, _EVALUATES),
    Row(key("training.collator_max_token_len"), Name.SEQUENCE_LENGTH, None, _LENGTH, "OCR config.py:266; train.py:97-101"),
    Row(key("training.eval_steps"), Name.EVAL_STEPS, 500, _EVERY, "OCR config.py:242; train.py:688-689"),
    Row(key("training.save_steps"), Name.SAVE_STEPS, 500, _EVERY, "OCR config.py:244; train.py:706-707"),
    Row(key("training.logging_steps"), Name.LOGGING_STEPS, 10, _EVERY, "OCR config.py:253; train.py:672-673"),
)
_BEFORE: Final = Framework(
    name="olmocr",
    title="olmOCR",
    recognition=Recognition(
        # The folder of checkpoints is made of the run's name, and without a data set the first one fails (OCR train.py:375, 400).
        all_of=dotted("dataset.train run_name"),
        one_of=(
            dotted("training.per_device_train_batch_size training.gradient_accumulation_steps training.collator_max_token_len"),
            dotted("model.name model.use_flash_attention"),
        ),
        none_of=dotted("model.model_name trainer"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=(
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            FACTORS,
            unit="samples",
            source=f"{_STEP}; olmocr 0.2.3 train/train.py:190-258 (Trainer)",
        ),
        Equation(
            Name.EVAL_GLOBAL_BATCH_SIZE,
            (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            unit="samples",
            source=f"{_EVALUATES}; {_ALONE}",
        ),
    ),
    names=dotted("run_name"),
    version="olmocr 0.4.27",
    source=f"{_STEP}; {_ALONE}",
    arguments=Arguments.NONE,
    package="olmocr",
)
FRAMEWORK = _BEFORE._replace(assumed=((Name.DATA_PARALLEL_SIZE, 1),), eras=(Era("0.3.0", _BEFORE),))
