"""TRL's trainers on single judged answers: KTO, which mixes the answers of a micro batch, and BCO."""

from __future__ import annotations

from pytest_gbs.core.framework import Condition, Constraint
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._trl import SOURCE, length_rows, recognition, table

_MARKS: Final = """
beta loss_type max_prompt_length max_completion_length desirable_weight undesirable_weight precompute_ref_log_probs
precompute_ref_batch_size disable_dropout generate_during_eval ref_model_init_kwargs model_adapter_name truncation_mode
label_pad_token_id
"""

_KTO = table(
    "TRL (KTO)",
    recognition(_MARKS, "kto", weight=6),
    rows=length_rows(1024, "TRL kto_config.py:163 (max_length)"),
    constraints=(
        Constraint(
            "GBS207",
            (Name.MICRO_BATCH_SIZE,),
            at_least=2,
            when=(Condition(("loss_type",), ("apo_zero_unpaired",), negated=True, default="kto"),),
            label="the KL term pairs each answer with another one of its micro batch",
            source="TRL kto_trainer.py:777, 806-809; trl 0.14.0 kto_trainer.py:662",
        ),
    ),
    source="TRL kto_config.py:115-192; " + SOURCE,
)

_BCO = table(
    "TRL (BCO)",
    recognition(f"{_MARKS} prompt_sample_size min_density_ratio max_density_ratio", "bco", weight=1),
    rows=length_rows(1024, "TRL experimental/bco/bco_config.py:87 (max_length)"),
    source="TRL experimental/bco/bco_config.py:87; " + SOURCE,
)

FRAMEWORKS = (_KTO, _BCO)
