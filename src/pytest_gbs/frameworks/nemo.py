"""NeMo 1: Lightning configurations. Megatron models state the global batch; others take a batch per GPU and accumulate.

NM is commit 8cfedd72 of NVIDIA/NeMo; `NM modules/common/megatron/megatron_init.py:322` is a line of nemo/collections/nlp/. MC is
megatron-core 0.14.0, where the ramp-up of the batch still works.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Framework, Loader, Recognition, Requirement, Row
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import OPTIONAL, batch, data_parallel, intervals, path, paths
from pytest_gbs.frameworks._nemo import (
    CALCULATOR,
    EXPERTS,
    HARDWARE,
    INITIALISED,
    NAMES,
    SAMPLERS,
    SWITCHES,
    TRAIN,
    TRAINERS,
    WHOLE,
    WORLD,
    clamp_to_the_processes,
    degrees,
    given_batch,
)

_MODEL: Final = paths("model.micro_batch_size model.global_batch_size")
_TRAINING: Final = paths("model.data.train_ds")
_BATCH_PER_GPU: Final = paths("model.train_ds.batch_size model.train_ds.dataloader_params.batch_size")
_LIGHTNING: Final = "lightning 2.6.6 trainer/trainer.py (accumulate_grad_batches), torch DataLoader(batch_size) on every process"
# What generates or evaluates and does not train.
_NO_TRAINING: Final = paths("inference model.data.test_ds model.data.validation_ds checkpoint_dir")


def _megatron(title: str, how: Recognition, rows: tuple[Row, ...], requirements: tuple[Requirement, ...] = ()) -> Framework:
    return Framework(
        name="nemo",
        title=title,
        recognition=how,
        unit="samples",
        rows=(*rows, *HARDWARE),
        equations=(WORLD, data_parallel(INITIALISED), batch(CALCULATOR)),
        constraints=(*WHOLE, EXPERTS),
        requirements=requirements,
        switches=SWITCHES,
        names=NAMES,
        loader=Loader.OMEGACONF,
        version="NeMo 8cfedd72",
        source=f"{CALCULATOR}; {INITIALISED}",
        arguments=Arguments.HYDRA,
        settle=clamp_to_the_processes,
    )


def _required(*names: KeyPath) -> tuple[Requirement, ...]:
    label = "NeMo has no default for it and stops while the model is built"
    return tuple(Requirement((key,), label, (_NO_RETRIEVAL,), CALCULATOR, whole=True) for key in names)


# The models with retrieval of old count micro batches alone (NM models/language_modeling/megatron_retrieval_model.py).
_NO_RETRIEVAL: Final = Condition(("model", "chunk_size"), (None,))


_ALIGNER: Final = paths("trainer.sft trainer.dpo trainer.rm trainer.ppo trainer.knowledge_distillation")
_LENGTH: Final = "NM models/language_modeling/megatron_gpt_model.py:1637-1660 (cfg.data.seq_length, cfg.encoder_seq_length)"

_PRETRAINING: Final = _megatron(
    "NeMo (Megatron, pre-training)",
    Recognition(one_of=(_MODEL, TRAINERS), none_of=(*_TRAINING, *_NO_TRAINING, *_ALIGNER)),
    (
        *given_batch("model", CALCULATOR),
        *degrees(1),
        *intervals(_LENGTH, sequence_length="model.encoder_seq_length", max_steps="trainer.max_steps"),
    ),
    _required(*_MODEL),
)
_FINE_TUNING: Final = _megatron(
    "NeMo (Megatron, fine-tuning)",
    Recognition(one_of=((*TRAIN, *_MODEL), TRAINERS, _TRAINING), none_of=_ALIGNER),
    (
        *given_batch("model.data.train_ds", SAMPLERS),
        *given_batch("model", CALCULATOR),
        *degrees(None),
        *intervals(SAMPLERS, sequence_length="model.data.train_ds.max_seq_length", max_steps="trainer.max_steps"),
    ),
)
_PER_GPU: Final = Framework(
    name="nemo",
    title="NeMo (batch per GPU)",
    recognition=Recognition(one_of=(_BATCH_PER_GPU, TRAINERS), none_of=_MODEL),
    unit="samples",
    rows=(
        # Buckets of unlike length have batches of unlike size.
        Row(path("model.train_ds.bucketing_batch_size"), Name.MICRO_BATCH_SIZE, None, OPTIONAL, _LIGHTNING, minimum=1 << 40),
        Row(path("model.train_ds.batch_duration"), Name.MICRO_BATCH_SIZE, None, OPTIONAL, _LIGHTNING, minimum=1 << 40),
        *(Row(key, Name.MICRO_BATCH_SIZE, None, OPTIONAL, _LIGHTNING) for key in _BATCH_PER_GPU),
        Row(path("trainer.accumulate_grad_batches"), Name.GRADIENT_ACCUMULATION_STEPS, 1, LENIENT, _LIGHTNING),
        *HARDWARE,
        *intervals(_LIGHTNING, max_steps="trainer.max_steps"),
    ),
    equations=(WORLD, Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=_LIGHTNING), batch(_LIGHTNING)),
    names=NAMES,
    loader=Loader.OMEGACONF,
    version="NeMo 8cfedd72",
    source=_LIGHTNING,
    arguments=Arguments.HYDRA,
)

FRAMEWORKS = (_PRETRAINING, _FINE_TUNING, _PER_GPU)
