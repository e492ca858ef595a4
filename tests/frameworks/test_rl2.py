"""RL2 asks for prompts with several responses each; what it filters out no others come for."""

import pytest

from pytest_gbs.model.quantity import Name, Quantity

from .building import sizes, title

HEAD = "trainer: {project: mine, experiment_name: first}\nactor: {model_name: my/model%s}\n"
NEW = HEAD + "rollout:\n  train: {path: a, prompts_per_rollout: %s, responses_per_prompt: 8, dynamic_filtering: %s}\n"
OLD = HEAD + "rollout: {dynamic_filtering: %s}\ntrain_data: {path: a, prompts_per_rollout: %s}\n"
ROWS = HEAD % "" + "data: {path: a, batch_size: 32}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("trainer: {project: a, experiment_name: b}\ndata: {batch_size: 4}\n", id="no rows that it reads"),
        pytest.param("train_data: {path: a, prompts_per_rollout: 4}\n", id="no name of a run"),
        pytest.param(NEW % ("", 64, "true") + "actor_rollout_ref: {}\n", id="verl"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(NEW % ("", 64, "false"), [512, 512], id="64 x 8 in one step"),
        pytest.param(NEW % (", update_per_rollout: 4", 64, "false"), [512, 128], id="in four steps"),
        pytest.param(NEW % ("", 64, "true"), [512, None], id="some are left out"),
        pytest.param(NEW % ("", "null", "false"), [None, None], id="all prompts of the data"),
        pytest.param(OLD % ("", "false", 64), [64, 64], id="one response each"),
        pytest.param((OLD % ("", "false", 64)).replace("rollout: {dynamic_filtering: false}\n", ""), [64, None], id="left out by default"),
        pytest.param(ROWS, [None, 32], id="rows of a loader"),
        pytest.param(
            ROWS.replace("data: {path: a, ", "data: {train: {path: a, ").replace("32}", "32}}"), [None, 32], id="where they are now"
        ),
        pytest.param(ROWS.replace(", batch_size: 32", ""), [None, 128], id="by default"),
    ],
)
def test_a_step_takes_a_share_of_the_rollout_if_nothing_is_left_out(text: str, expected: list[int | None]) -> None:
    found = sizes(text)
    names = (Name.GENERATION_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE)
    assert [size.value if isinstance(size := found.get(name), Quantity) else None for name in names] == expected
