"""TRL's PPOTrainer: a rollout of micro x accumulation x ranks completions, learnt from in mini batches."""

from __future__ import annotations

from pytest_gbs.core.framework import Constraint, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._trl import MICRO, SOURCE, recognition, table

NUM_MINI_BATCHES: Final = "num_mini_batches"

_MARKS: Final = """
num_mini_batches num_ppo_epochs whiten_rewards kl_coef cliprange vf_coef cliprange_value reward_model_path sft_model_path response_length
missing_eos_penalty stop_token total_episodes local_rollout_forward_batch_size num_sample_generations
"""

FRAMEWORK = table(
    "TRL (PPO)",
    recognition(_MARKS, "ppo", decisive="num_mini_batches num_ppo_epochs whiten_rewards vf_coef cliprange_value sft_model_path"),
    "completions",
    rows=(
        Row(
            (NUM_MINI_BATCHES,),
            NUM_MINI_BATCHES,
            1,
            MICRO._replace(why="the batch of each rank is divided by it"),
            "TRL experimental/ppo/ppo_config.py:133",
        ),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS),
            (NUM_MINI_BATCHES,),
            label="local_batch_size",
            source="TRL experimental/ppo/ppo_trainer.py:470-476 (exact_div)",
        ),
    ),
    source="TRL experimental/ppo/ppo_trainer.py:462-484; " + SOURCE,
)._replace(companions=())  # its own training loop never has the Trainer compare them (trainer_config_finalize)
