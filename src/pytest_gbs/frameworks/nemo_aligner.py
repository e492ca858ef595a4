"""NeMo-Aligner: NeMo's configurations for Megatron models, with the algorithm's settings below `trainer`.

NA is commit af2b3bd9 of NVIDIA/NeMo-Aligner; `NA models/nlp/gpt/megatron_gpt_dpo_model.py:429` is a line of nemo_aligner/. A parallel size
that is not there comes from the checkpoint.
"""

from __future__ import annotations

from pytest_gbs.core.framework import Arguments, Framework, Loader, Recognition, Row
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import batch, data_parallel, intervals, paths
from pytest_gbs.frameworks._nemo import (
    CALCULATOR,
    EXPERTS,
    HARDWARE,
    INITIALISED,
    NAMES,
    SAMPLERS,
    SWITCHES,
    TRAIN,
    WHOLE,
    WORLD,
    clamp_to_the_processes,
    degrees,
    given_batch,
)

_BATCH: Final = paths("model.global_batch_size model.micro_batch_size")
_ANY: Final = (*_BATCH, *TRAIN)


def _table(kind: str, doors: tuple[KeyPath, ...], unit: str, rows: tuple[Row, ...]) -> Framework:
    return Framework(
        name="nemo-aligner",
        title=f"NeMo-Aligner ({kind})",
        recognition=Recognition(one_of=(doors, _ANY)),
        unit=unit,
        rows=(*rows, *HARDWARE, *degrees(None), *intervals(SAMPLERS, sequence_length="model.encoder_seq_length")),
        equations=(WORLD, data_parallel(INITIALISED), batch(CALCULATOR, unit)),
        constraints=(*WHOLE, EXPERTS),
        switches=SWITCHES,
        names=NAMES,
        sequences_per_sample=2 if unit == "pairs" else 1,
        loader=Loader.OMEGACONF,
        version="NeMo-Aligner af2b3bd9",
        source="NA models/nlp/gpt/megatron_gpt_dpo_model.py:429-449; data/nlp/builders.py:417",
        settle=clamp_to_the_processes,
        arguments=Arguments.HYDRA,
    )


_MODEL_ROWS: Final = tuple(given_batch("model", CALCULATOR))
FRAMEWORKS = (
    _table("SFT", paths("trainer.sft"), "samples", (*given_batch("model.data.train_ds", SAMPLERS), *_MODEL_ROWS)),
    _table("preference pairs", paths("trainer.dpo trainer.rm model.dpo"), "pairs", _MODEL_ROWS),
    _table("PPO", paths("trainer.ppo trainer.reinforce trainer.rs"), "completions", _MODEL_ROWS),
)
