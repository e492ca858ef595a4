"""LLaMA-Factory on the Trainer of transformers, a table for each unit of the batch, which the value of `stage` decides.

LF is commit ff6d4d12e of hiyouga/LLaMA-Factory; `LF hparams/parser.py:117` is a line of src/llamafactory. TF is transformers 5.23.0.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Condition, Framework, Recognition, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import (
    ACCUMULATION_AS_LOADED,
    ASSUMED,
    AUTOTP,
    CONSTRAINTS,
    INTERVAL_AS_LOADED,
    MAX_STEPS_AS_LOADED,
    MICRO_AS_LOADED,
    NAMES,
    SHRINKS,
    accumulation_row,
    equations,
    evaluation_rows,
    interval_rows,
    micro_rows,
    realise_split_batches,
)
from pytest_gbs.frameworks._known import Known
from pytest_gbs.frameworks._llamafactory import (
    COMPANIONS,
    CUTOFF,
    LOADER,
    MEGATRON,
    OF_OTHERS,
    OPTIONAL,
    STREAMS,
    VERSION,
    stage,
    stages,
)

_BUFFER: Final = "ppo_buffer_size"
_PPO: Final = "LF train/ppo/trainer.py:99-105, 133, 205-210; hparams/finetuning_args.py:203"
_PACKS: Final = Condition(("packing",), (True,), default=False)
_PACKS_ALWAYS: Final = Condition(("packing",), (False,), negated=True)

_RAY: Final = Row(
    ("ray_num_workers",),
    Name.WORLD_SIZE,
    reading=OPTIONAL._replace(zero=Treatment.UNSET),
    source="LF hparams/training_args.py:43, train/tuner.py:308 (with USE_RAY=1); 1, its default, says nothing",
    minimum=2,
)
_ROWS: Final = (
    *micro_rows(MICRO_AS_LOADED),
    accumulation_row(ACCUMULATION_AS_LOADED),
    *evaluation_rows(MICRO_AS_LOADED),
    *interval_rows(INTERVAL_AS_LOADED, MAX_STEPS_AS_LOADED),
    CUTOFF,
    _RAY,
    AUTOTP,
)


def _table(title: str, when: Condition, unit: str = "samples") -> Framework:
    """Return the table of the stages that `when` names."""
    return Framework(
        name="llamafactory",
        title=title,
        recognition=Recognition(one_of=stages(), none_of=(*OF_OTHERS, *MEGATRON), when=(when,)),
        unit=unit,
        rows=_ROWS,
        equations=equations(unit),
        constraints=CONSTRAINTS,
        requirements=(STREAMS,),
        switches=(SHRINKS,),
        assumed=ASSUMED,
        also=Known("transformers"),
        names=NAMES,
        packing=_PACKS,
        loader=LOADER,
        version=VERSION,
        source="LF hparams/parser.py:112-127 (read_args), 149-163 (_parse_args); TF trainer.py:2557-2573",
        derive=realise_split_batches,
        arguments=Arguments.PAIRS,
        companions=COMPANIONS,
    )


_ROLLOUT: Final = Equation(Name.GENERATION_BATCH_SIZE, (Name.GLOBAL_BATCH_SIZE, _BUFFER), unit="prompts", source=_PPO)

FRAMEWORKS = (
    _table("LLaMA-Factory", stage("pt dpo rm ppo", negated=True)),
    _table("LLaMA-Factory (pre-training)", stage("pt"))._replace(packing=_PACKS_ALWAYS),
    _table("LLaMA-Factory (preferences)", stage("dpo rm"), "pairs")._replace(sequences_per_sample=2),
    _table("LLaMA-Factory (PPO)", stage("ppo"), "prompts")._replace(
        rows=(*_ROWS, Row((_BUFFER,), _BUFFER, 1, OPTIONAL, _PPO)),
        equations=(*equations("prompts"), _ROLLOUT),
    ),
)
