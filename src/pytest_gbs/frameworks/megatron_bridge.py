"""Megatron Bridge: YAML files that override a recipe in Python, so that what is not there comes from it and is not known.

MB is commit 067f987d of NVIDIA-NeMo/Megatron-Bridge, with the Megatron-Core that it pins; `MB training/config.py:1473` is a line of
src/megatron/bridge/.
"""

from __future__ import annotations

from pytest_gbs.core.framework import Arguments, Framework, Loader, Reading, Recognition, Row, SameAs, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import (
    DECREASES,
    OPTIONAL,
    TORCHRUN,
    absent,
    batch,
    data_parallel,
    evaluation,
    following_accumulation,
    intervals,
    path,
    paths,
    realise_running_batch,
    whole_accumulation,
)

_CALCULATOR: Final = "MB training/initialize.py:115-122; Megatron-LM 2a75ac12 megatron/core/num_microbatches_calculator.py"
_VALIDATED: Final = "MB training/config.py:1013-1027, 1433-1442, 1473-1478 (ConfigContainer.validate)"
_SIZE: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    why="the evaluation batch and the number of micro batches are computed from it",
)
# The check of the evaluation batch is another one where evaluation has a context-parallel size of its own.
_SAME_RANKS: Final = (absent(path("dist.eval_context_parallel_size")),)
_EVALUATION: Final = paths("validation.eval_global_batch_size train.eval_global_batch_size")
_MAY_DECREASE: Final = tuple(condition for condition in DECREASES if condition.key[0] == "train")
_STRICT: Final = tuple(condition._replace(negated=True) for condition in _MAY_DECREASE)
_DEGREES: Final = {
    "tensor_model_parallel_size": Name.TENSOR_PARALLEL_SIZE,
    "pipeline_model_parallel_size": Name.PIPELINE_PARALLEL_SIZE,
    "context_parallel_size": Name.CONTEXT_PARALLEL_SIZE,
}

FRAMEWORK = Framework(
    name="megatron-bridge",
    title="Megatron Bridge",
    recognition=Recognition(
        one_of=(
            paths("train.global_batch_size train.micro_batch_size train.train_iters train.train_samples"),
            paths("model dataset checkpoint scheduler optimizer logger ddp dist rng"),
        ),
        marks=(
            *paths("train.global_batch_size train.train_iters train.train_samples model.tensor_model_parallel_size model.seq_length"),
            *paths("dataset.seq_length checkpoint.save_interval scheduler.lr_warmup_iters scheduler.lr_decay_style logger.log_interval"),
            *paths("rng dist ddp"),
        ),
        none_of=paths("policy step_scheduler trainer data MODEL_ARGS base_model"),
    ),
    unit="samples",
    rows=(
        Row(path("train.global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _SIZE, _VALIDATED),
        Row(path("train.micro_batch_size"), Name.MICRO_BATCH_SIZE, None, _SIZE, _VALIDATED),
        *(Row(("model", key), name, None, OPTIONAL, _VALIDATED) for key, name in _DEGREES.items()),
        *(Row(key, Name.EVAL_GLOBAL_BATCH_SIZE, None, OPTIONAL, _VALIDATED) for key in _EVALUATION),
        *(
            Row(key, Name.EVAL_MICRO_BATCH_SIZE, SameAs(Name.MICRO_BATCH_SIZE), OPTIONAL, _VALIDATED)
            for key in paths("validation.eval_micro_batch_size train.eval_micro_batch_size")
        ),
        *intervals(
            "MB training/config.py:480-492; Megatron-LM 2a75ac12 megatron/training/training_config.py",
            sequence_length="model.seq_length",
            max_steps="train.train_iters",
            save_steps="checkpoint.save_interval",
            eval_steps="validation.eval_interval",
        ),
    ),
    equations=(
        TORCHRUN,
        data_parallel(_VALIDATED),
        batch(_CALCULATOR),
        following_accumulation(_CALCULATOR),
    ),
    constraints=(
        whole_accumulation(f"{_VALIDATED}; {_CALCULATOR}", _STRICT),
        whole_accumulation(_VALIDATED, (*_MAY_DECREASE, *_SAME_RANKS, *(absent(key) for key in _EVALUATION))),
        *evaluation(_VALIDATED, _EVALUATION[0], (*_SAME_RANKS, absent(_EVALUATION[1]))),
    ),
    names=paths("logger.wandb_exp_name logger.wandb_project checkpoint.save"),
    loader=Loader.OMEGACONF,
    version="Megatron-Bridge 067f987d",
    source=f"{_VALIDATED}; {_CALCULATOR}",
    derive=realise_running_batch,
    arguments=Arguments.HYDRA,
)
