"""TRL's trainers on pairs: DPO, ORPO, CPO (with SimPO) and reward models; each pair is two sequences on the GPU."""

from __future__ import annotations

from pytest_gbs.core.framework import Framework
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._trl import SOURCE, length_rows, recognition, table

_MARKS: Final = """
beta loss_type max_prompt_length max_target_length max_completion_length label_smoothing precompute_ref_log_probs
precompute_ref_batch_size reference_free rpo_alpha label_pad_token_id truncation_mode disable_dropout
generate_during_eval ref_model_init_kwargs model_adapter_name f_divergence_type loss_weights
"""


def _pairs(title: str, marks: str, paths: str, weight: int, source: str) -> Framework:
    how = recognition(marks, paths, weight)
    rows = length_rows(1024, f"{source} (max_length)")
    return table(title, how, "pairs", rows=rows, sequences_per_sample=2, source=f"{source}; {SOURCE}")


FRAMEWORKS = (
    _pairs("TRL (DPO)", _MARKS, "dpo ipo apo mmpo sppo", 20, "TRL dpo_config.py:188"),
    _pairs("TRL (ORPO)", _MARKS, "orpo", 4, "TRL experimental/orpo/orpo_config.py:80"),
    _pairs("TRL (CPO)", f"{_MARKS} cpo_alpha simpo_gamma gamma_beta_ratio", "cpo simpo", 3, "TRL experimental/cpo/cpo_config.py:100"),
    _pairs("TRL (Reward)", "center_rewards_coefficient disable_dropout", "reward rm rewards", 2, "TRL reward_config.py:142"),
)
