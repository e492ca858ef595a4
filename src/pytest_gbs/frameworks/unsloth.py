"""unsloth's command line and studio: one nested file, and a batch per device under `training`.

UN is commit 015bdef0d of unslothai/unsloth; `UN unsloth_cli/config.py:24` is a line of it.
"""

from __future__ import annotations

from pytest_gbs.core.framework import LENIENT, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import ASSUMED, equations

_CONFIG: Final = "UN unsloth_cli/config.py:17-33 (TrainingConfig)"
# The command line names the keys of all sections without their section.
_FLAGS: Final = "UN unsloth_cli/config.py:67-78 (apply_overrides), options.py:58-106"

# pydantic converts numbers in quotes and floats without a fraction, and takes true for 1.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    why="pydantic reads it as a whole number, and the Trainer needs it positive",
)
_STEPS: Final = _SIZE._replace(negative=Treatment.NO_STEPS)
_OFF: Final = LENIENT._replace(null=Treatment.UNSET, zero=Treatment.UNSET)


def _training(key: str) -> KeyPath:
    return ("training", key)


FRAMEWORK = Framework(
    name="unsloth",
    title="unsloth",
    recognition=Recognition(
        one_of=(
            tuple(map(_training, ("batch_size", "gradient_accumulation_steps", "max_seq_length"))),
            (("lora", "lora_r"), *map(_training, ("load_in_4bit", "training_type", "train_on_completions"))),
            tuple(map(_training, ("learning_rate", "num_epochs", "max_steps"))),
        ),
    ),
    unit="samples",
    rows=(
        Row(("batch_size",), Name.MICRO_BATCH_SIZE, None, _SIZE, _FLAGS),
        Row(("gradient_accumulation_steps",), Name.GRADIENT_ACCUMULATION_STEPS, None, _STEPS, _FLAGS),
        Row(_training("batch_size"), Name.MICRO_BATCH_SIZE, 2, _SIZE, _CONFIG),
        Row(_training("gradient_accumulation_steps"), Name.GRADIENT_ACCUMULATION_STEPS, 4, _STEPS, _CONFIG),
        Row(_training("max_seq_length"), Name.SEQUENCE_LENGTH, 2048, _OFF, _CONFIG),
        Row(_training("max_steps"), Name.MAX_STEPS, None, _OFF, f"{_CONFIG}; 0 counts in epochs"),
        Row(_training("save_steps"), Name.SAVE_STEPS, None, _OFF, f"{_CONFIG}; 0 saves at the end"),
    ),
    equations=equations("samples")[:3],
    assumed=ASSUMED,
    names=(("model",), _training("output_dir"), ("logging", "wandb_project")),
    version="unsloth 015bdef0d",
    source="UN unsloth_cli/config.py:17-33, 107-128 (training_kwargs); TF trainer.py:2573",
)
