"""What the tables of ms-swift and Megatron-SWIFT share: every value of the file becomes a word of the command line.

SW is commit 3602360a5 (4.6.0.dev0) of modelscope/ms-swift; `SW cli/main.py:38` is a line of swift/.
"""

from __future__ import annotations

from pytest_gbs.core.framework import LENIENT, Condition, Reading, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import keys

VERSION: Final = "ms-swift 3602360a5 (4.6.0.dev0)"
SOURCE: Final = "SW cli/main.py:38-71 (parse_yaml_args)"

# str() writes the value as a word and int() reads it back: 8.0, true and null are none that int() takes.
ARGUMENT: Final = Reading(quoted=Treatment.ACCEPTS, why="it becomes a word of the command line that int() reads")
# A value that is judged nowhere: taken where it is a whole number.
OPTIONAL: Final = LENIENT._replace(quoted=Treatment.ACCEPTS, null=Treatment.UNSET)
# What counts in steps may be off (0, -1), or a share of the run.
INTERVAL: Final = OPTIONAL._replace(zero=Treatment.UNSET, negative=Treatment.UNSET)

NAMES: Final = keys("run_name output_dir add_version model_name")
PREFERENCES: Final = "dpo orpo simpo cpo rm"

# The GPUs of the recipe itself: variables that the command sets before it starts torchrun.
_STARTS: Final = f"{SOURCE}, 74-83 (get_torchrun_args)"
HANDED: Final = (
    Row(("ENV", "NPROC_PER_NODE"), Name.GPUS_PER_NODE, None, OPTIONAL, _STARTS),
    Row(("ENV", "NNODES"), Name.NUM_NODES, None, OPTIONAL, _STARTS),
)

PACKS: Final = Condition(("packing",), (True, "true"), default=False)
TUNES: Final = keys("tuner_type train_type rlhf_type split_dataset_ratio")
# Keys of which each recipe that trains has one.
TRAINING: Final = keys("per_device_train_batch_size gradient_accumulation_steps num_train_epochs save_steps warmup_ratio")
OF_OTHERS: Final = keys("""
stage finetuning_type base_model model_name_or_path zero_optimization distributed_type sampler_type sampler_engine infer_backend
micro_batch_size global_batch_size tensor_model_parallel_size pipeline_model_parallel_size expert_model_parallel_size
lr_warmup_fraction train_iters train
""")


def rlhf(words: str, *, negated: bool = False) -> Condition:
    """Return the condition that the kind of training is one of `words`."""
    return Condition(("rlhf_type",), tuple(words.split()), negated)


def intervals(source: str, words: str) -> tuple[Row, ...]:
    """Return the rows of the sizes `words`, whose keys are their names."""
    return tuple(Row((word,), word, None, INTERVAL, source, ratio=True) for word in words.split())
