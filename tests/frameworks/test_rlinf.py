"""RLinf: the batch of the actor is stated; in reasoning it follows from the rollout."""

import pytest

from tests.frameworks.building import sizes, title, value

EMBODIED = """\
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied}
actor: {micro_batch_size: 4, global_batch_size: 128}
"""
REASONING = """\
cluster: {num_nodes: 2, component_placement: {actor: 0-15}}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 4}
data: {rollout_batch_size: 64}
actor: {global_batch_size: 7}
"""


@pytest.mark.parametrize(
    ("text", "named", "batch"),
    [
        pytest.param(EMBODIED, "RLinf", 128, id="stated"),
        pytest.param(EMBODIED.replace("embodied", "sft"), "RLinf", 128, id="fine-tuning"),
        pytest.param(
            EMBODIED.replace("{task_type: embodied}", "{task_type: embodied, only_eval: true}"), "RLinf", "missing", id="evaluation"
        ),
        pytest.param(REASONING, "RLinf (reasoning)", 128, id="64 x 8 / 4"),
        pytest.param(REASONING.replace(", n_minibatches: 4", ""), "RLinf (reasoning)", 512, id="one step: 64 x 8"),
        pytest.param(REASONING.replace(": 4", ": '${n}'"), "RLinf (reasoning)", "missing", id="a variable that is not there"),
    ],
)
def test_the_batch_of_the_actor(text: str, named: str, batch: int | str | None) -> None:
    assert title(text) == named
    assert value(sizes(text).get("global_batch_size")) == batch


@pytest.mark.parametrize("text", [EMBODIED.replace("embodied", "embodied_eval"), EMBODIED.replace(", global_batch_size: 128", "")])
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None
