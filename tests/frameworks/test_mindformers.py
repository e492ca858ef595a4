"""MindSpore Transformers: a batch for each group, times the micro batches of a pipeline; numbers worked out by hand."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title

RUN = "use_parallel: {on}\nrunner_config: {{batch_size: {batch}, sink_mode: true, gradient_accumulation_steps: {steps}}}\n"
MODE = "parallel: {{parallel_mode: {mode}}}\n"
GROUPS = "parallel_config: {{data_parallel: {data}, model_parallel: 4, pipeline_stage: {stages}, micro_batch_num: {micro}}}\n"


def recipe(
    *, batch: int = 2, steps: int = 4, mode: object = 1, data: object = 8, stages: int = 1, micro: int = 16, on: str = "true"
) -> str:
    """A file of mindformers with these numbers."""
    return RUN.format(batch=batch, steps=steps, on=on) + MODE.format(mode=mode) + GROUPS.format(data=data, stages=stages, micro=micro)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe() + "run_mode: predict\n", id="it generates"),
        pytest.param(recipe() + "run_mode: eval\n", id="it evaluates"),
        pytest.param("runner_config: {batch_size: 2}\nmodel: {type: mine}\n", id="a runner of somebody's own"),
        pytest.param("parallel_config: {data_parallel: 2}\nbatch_size: 8\n", id="no runner"),
    ],
)
def test_what_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(recipe(), None, 64, id="2 x 4 steps x 8 groups"),
        pytest.param(recipe() + "run_mode: finetune\n", None, 64, id="as it is named"),
        pytest.param(recipe(stages=2), None, 256, id="2 x 16 of the pipeline x 8; nothing else accumulates"),
        pytest.param(recipe(stages=2) + "micro_batch_interleave_num: 2\n", None, 512, id="interleaved"),
        pytest.param(recipe() + "micro_batch_interleave_num: 2\n", None, 128, id="interleaved, no pipeline"),
        pytest.param(recipe(mode="SEMI_AUTO_PARALLEL"), None, 64, id="a mode by its name"),
        pytest.param(recipe(mode=0), 16, 128, id="2 x 4 x 16 devices, whatever the groups"),
        pytest.param(recipe(mode=0), None, None, id="unknown devices"),
        pytest.param(recipe(data="auto"), None, None, id="unknown groups"),
        pytest.param(recipe(on="false"), None, None, id="not in parallel"),
    ],
)
def test_the_batch_of_a_file(text: str, world: int | None, expected: int | None) -> None:
    assert sizes(text, **({"world_size": world} if world else {})).value(Name.GLOBAL_BATCH_SIZE) == expected
