"""TRL's trainers that judge pairs of fresh answers: Online DPO, XPO and Nash-MD; the batch counts prompts, of two answers each."""

from __future__ import annotations

from pytest_gbs.frameworks._trl import COLOCATED, GENERATES_WITH_VLLM, SOURCE, recognition, table

FRAMEWORK = table(
    "TRL (Online DPO)",
    recognition(
        """judge reward_model_path reward_funcs missing_eos_penalty max_new_tokens temperature ds3_gather_for_generation beta loss_type
        use_vllm disable_dropout""",
        "online xpo nash",
        weight=5,
        decisive="judge reward_model_path missing_eos_penalty ds3_gather_for_generation",
    ),
    "prompts",
    sequences_per_sample=2,
    source="TRL experimental/online_dpo/online_dpo_trainer.py:358, 970, 1102-1103; " + SOURCE,
)._replace(reserves=GENERATES_WITH_VLLM, shares=COLOCATED)
