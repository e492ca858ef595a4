"""transformers Trainer: a file of `TrainingArguments`, with the keys of the script that reads it."""

from __future__ import annotations

from pytest_gbs.core.framework import Framework, Recognition, Text
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
    VERSION,
    accumulation_row,
    as_argument,
    equations,
    evaluation_rows,
    interval_rows,
    micro_rows,
    realise_split_batches,
)
from pytest_gbs.frameworks._known import Known

# `2e-5` is text to PyYAML, and parse_dict converts nothing. The betas and epsilon of Adam are left out: some optimizers convert
# them (TF trainer_optimizer.py:275-280).
_TEXTS: Final = (
    Text(("learning_rate",), "the optimizer compares it with 0 and stops", "TF training_args.py:787; torch.optim.Optimizer.__init__"),
    Text(("weight_decay",), "the optimizer multiplies with it and stops", "TF trainer.py:1278 (handed over as loaded)"),
    Text(("max_grad_norm",), "the Trainer compares it with 0 and stops", "TF trainer.py:1930"),
    Text(("warmup_steps",), "TrainingArguments compares it with 0 and stops", "TF training_args.py:1800"),
    Text(("num_train_epochs",), "the Trainer multiplies with it and stops", "TF training_args.py:778, trainer.py:726, 2521"),
)

_SCRIPT = Framework(
    name="transformers",
    title="transformers Trainer (example script)",
    recognition=Recognition(
        one_of=((("per_device_train_batch_size",), ("model_name_or_path",), ("per_gpu_train_batch_size",)), SCRIPTS, TRAINS),
        none_of=FOREIGN,
        marks=SCRIPTS,
    ),
    unit="samples",
    rows=(
        *micro_rows(MICRO_AS_LOADED),
        accumulation_row(ACCUMULATION_AS_LOADED),
        *evaluation_rows(MICRO_AS_LOADED),
        *interval_rows(INTERVAL_AS_LOADED, MAX_STEPS_AS_LOADED),
        AUTOTP,
    ),
    equations=equations("samples"),
    constraints=CONSTRAINTS,
    switches=(SHRINKS,),
    texts=_TEXTS,
    assumed=ASSUMED,
    also=Known("transformers"),
    names=NAMES,
    version=VERSION,
    source="TF hf_argparser.py:408-428 (parse_yaml_file), trainer.py:2557-2573 (get_total_train_batch_size)",
    derive=realise_split_batches,
    companions=(("deepspeed",),),
    package="transformers",
    removals=REMOVED,
)

# Nothing in the file says which script reads it, so text in quotes may well be converted: only what no parser takes is a mistake.
_BARE = _SCRIPT._replace(
    title="transformers Trainer",
    recognition=Recognition(
        one_of=((("per_device_train_batch_size",), ("per_gpu_train_batch_size",)), (*TRAINS[2:], ("output_dir",))),
        none_of=FOREIGN,
        weight=10,
    ),
    rows=(
        *micro_rows(as_argument(MICRO_AS_LOADED)),
        accumulation_row(as_argument(ACCUMULATION_AS_LOADED)),
        *evaluation_rows(as_argument(MICRO_AS_LOADED)),
        *interval_rows(as_argument(INTERVAL_AS_LOADED), as_argument(MAX_STEPS_AS_LOADED)),
        AUTOTP,
    ),
    texts=(),
)

FRAMEWORKS = (_SCRIPT, _BARE)
