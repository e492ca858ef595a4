"""NeMo's SpeechLM has the batch in its training set and the degrees in its strategy."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title, value

RECIPE = """\
data:
  train_ds: {{global_batch_size: {batch}, micro_batch_size: {micro}, max_seq_length: 4096{more}}}
strategy: {{tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: 1, context_parallel_size: 1}}
"""


def recipe(batch: object = 32, micro: object = 2, tensor: int = 2, more: str = "") -> str:
    return RECIPE.format(batch=batch, micro=micro, tensor=tensor, more=more)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "data: {train_ds: {batch_duration: 360, batch_size: null}}\nstrategy: {tensor_parallel_size: 1}\n", id="filled by seconds"
        ),
        pytest.param("data: {validation_ds: {global_batch_size: 8}}\nstrategy: {tensor_model_parallel_size: 2}\n", id="it validates"),
        pytest.param("data: {train_ds: {global_batch_size: 8, micro_batch_size: 2}}\nstrategy: ddp\n", id="another strategy"),
    ],
)
def test_others_are_left_alone(text: str) -> None:
    assert title(text) is None


# 8 GPUs / 2 = 4 ranks, 32 / (2 x 4) = 4 micro batches.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(recipe(), (32, 4), id="stated"),
        pytest.param(recipe(tensor=4), (32, 8), id="fewer ranks"),
        pytest.param(recipe(more=", use_lhotse: true"), (None, None), id="filled by seconds"),
        pytest.param(recipe(batch="'???'"), (None, None), id="to be filled in"),
    ],
)
def test_the_training_set_has_the_batch(text: str, expected: tuple[int | None, int | None]) -> None:
    assert title(text) == "NeMo (SpeechLM)"
    found = sizes(text, world_size=8)
    assert (found.value(Name.GLOBAL_BATCH_SIZE), value(found.stated.get(Name.GRADIENT_ACCUMULATION_STEPS))) == expected


SPEECHLM2 = """\
model: {{pretrained_llm: my/model, pretrained_asr: my/ears}}
trainer: {{devices: -1, num_nodes: 1, accumulate_grad_batches: 2{trainer}}}
data:
  train_ds: {{shuffle: true, {batch}}}
  validation_ds: {{batch_size: 1}}
"""


# 4 x 2 x 8 GPUs, or 8 / 2 ranks.
@pytest.mark.parametrize(
    ("batch", "trainer", "expected"),
    [
        pytest.param("batch_size: 4", "", 64, id="so many recordings for each GPU"),
        pytest.param("batch_size: 4", ", strategy: {tensor_parallel_size: 2, data_parallel_size: 4}", 32, id="two GPUs for one model"),
        pytest.param("batch_size: 4, batch_duration: null", "", 64, id="no seconds"),
        pytest.param("batch_size: 4, batch_duration: 100", "", None, id="at most so many, filled by seconds"),
        pytest.param("batch_size: null, batch_tokens: 4000", "", None, id="filled by tokens"),
        pytest.param("bucket_batch_size: [8, 4]", "", None, id="each bucket has its own"),
    ],
)
def test_speechlm2_takes_so_many_recordings(batch: str, trainer: str, expected: int | None) -> None:
    text = SPEECHLM2.format(batch=batch, trainer=trainer)
    assert title(text) == "NeMo (speechlm2)"
    assert sizes(text, world_size=8).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_a_model_without_ears_is_not_of_speechlm2() -> None:
    assert title(SPEECHLM2.format(batch="batch_size: 4", trainer="").replace("pretrained_asr", "pretrained_vlm")) != "NeMo (speechlm2)"
