"""What the tables of LLaMA-Factory share: how its files are told from others, and keys that are the same on every backend."""

from __future__ import annotations

from pytest_gbs.core.framework import LENIENT, Condition, Loader, Requirement, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import TRAINS, keys

VERSION: Final = "LLaMA-Factory ff6d4d12e"

# A value that is judged nowhere: taken where it is a whole number.
OPTIONAL: Final = LENIENT._replace(null=Treatment.UNSET)

# Keys of the Megatron backends, which have tables of their own.
MEGATRON: Final = keys("""
tensor_model_parallel_size pipeline_model_parallel_size context_parallel_size expert_model_parallel_size
virtual_pipeline_model_parallel_size use_distributed_optimizer overlap_param_gather overlap_grad_reduce
""")
# to_container() without `resolve` (LF hparams/parser.py:120, v1/config/arg_parser.py:43).
LOADER: Final = Loader.OMEGACONF_AS_READ
OF_OTHERS: Final = keys("tuner_type train_type sft_type rlhf_type base_model zero_optimization export_dir")

# `deepspeed` is a path or the configuration itself.
COMPANIONS: Final = keys("deepspeed")

CUTOFF: Final = Row(("cutoff_len",), Name.SEQUENCE_LENGTH, 2048, OPTIONAL, "LF hparams/data_args.py:46")
STREAMS: Final = Requirement(
    keys("max_steps"),
    "a stream has no length, and LLaMA-Factory stops at start",
    when=(Condition(("streaming",), (True,), default=False),),
    source="LF hparams/parser.py:474-475",
)


def stages() -> tuple[tuple[KeyPath, ...], ...]:
    """Return the groups of keys of which each recipe has one: the method, and something that trains."""
    return keys("stage finetuning_type"), TRAINS


def stage(words: str, *, negated: bool = False) -> Condition:
    """Return the condition that the stage is one of `words`."""
    return Condition(("stage",), tuple(words.split()), negated, default="sft")
