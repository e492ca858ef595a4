"""Generations do not fill whole groups.

GRPO and RLOO compare the completions of one prompt with each other, so each generation batch must hold whole groups of
`num_generations` completions. The batch is micro batch x GPUs x steps per generation: a recipe that works on 7 GPUs (one of eight went to
vLLM) may stop on 8. TRL raises ValueError when the trainer's config is built, on every rank.

How to fix it: choose `num_generations` as a divisor of the generation batch, or use a number of GPUs that the finding names.

If the number of GPUs is not known, nothing is reported: `gbs show` lists the numbers on which the recipe runs.
"""

from functools import partial

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.rule import About, Example, Needs, Rule, Scope, written_in

_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/prompts
reward_funcs: [accuracy]
num_generations: 14
per_device_train_batch_size: 16
gradient_accumulation_steps: 4
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CHECKED,
    summary="generations do not fill whole groups",
    bad=(Example((("grpo.yaml", _RECIPE),), ("--world-size", "8")),),
    good=(Example((("grpo.yaml", _RECIPE),), ("--world-size", "7")),),
    check=partial(judge, rule="group-not-divisible"),
    about=About.HARDWARE,
    explained_by=("unsatisfiable-batch",),
)
