"""TRL's SFTTrainer, and the recipes of alignment-handbook and open-r1 that run it; packed rows are its samples where it packs."""

from __future__ import annotations

from pytest_gbs.core.framework import Condition
from pytest_gbs.frameworks._trl import SOURCE, length_rows, recognition, table

FRAMEWORK = table(
    "TRL (SFT)",
    recognition(
        """max_seq_length packing eval_packing packing_strategy padding_free assistant_only_loss completion_only_loss dataset_text_field
        dataset_kwargs num_of_sequences neftune_noise_alpha response_template""",
        "sft cpt distill",
        weight=30,
    ),
    rows=length_rows(1024, "TRL sft_config.py:205 (max_length)"),
    packing=Condition(("packing",), (True, "true", "True"), default=False),
    source="TRL sft_config.py:143-255, sft_trainer.py:1143 (packing); " + SOURCE,
)
