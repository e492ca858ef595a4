"""Lines that state nothing but the micro batch or the accumulation."""

import pytest

from tests.claims.grammars.support import block, declared

MICRO, ACCUMULATION = "micro_batch_size", "gradient_accumulation_steps"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("batch size per GPU: 4", {MICRO: 4}),
        ("Per-device batch size: 4", {MICRO: 4}),
        ("micro batch size = 2", {MICRO: 2}),
        ("- Gradient accumulation steps: 16.", {ACCUMULATION: 16}),
        ("# number of gpus: 8\n# batch size per gpu: 4\n# gradient accumulation steps: 2\n# epoch: 1", {MICRO: 4, ACCUMULATION: 2}),
    ],
)
def test_a_line_of_its_own_states_it(text: str, stated: dict[str, int]) -> None:
    found = [each for each in declared(text) if each.grammar == "factor"]
    assert {each.name: each.value for each in found} == stated
    assert all(each.force == "states" and not each.weak for each in found)


def test_it_is_where_the_number_is() -> None:
    text = "Model\nbatch size per GPU: 4"
    (found,) = [each for each in declared(text) if each.grammar == "factor"]
    assert found.at == block(text).locate("sft.yaml", text.index("4"), len(text))
    assert found.text == "batch size per GPU: 4"


@pytest.mark.parametrize(
    "text",
    [
        "gradient_accumulation_steps: 4",
        "gradient-accumulation-steps: 4",
        "micro_batch_size=4",
        "accumulation: 4",
        "batch size: 4",
        "batch size per GPU: 4 or 8",
        "batch size per GPU: 4 x 2",
        "batch size per GPU: 4-8",
        "batch size per GPU: 4.5",
        "batch size per GPU: 0",
        "batch size per GPU: 99999999",
        "eval batch size per GPU: 4",
        "reduce the batch size per GPU: 4",
        "batch size per GPU of 4",
        "batch size per GPU:",
        "learning rate: 4",
    ],
)
def test_anything_more_is_left_alone(text: str) -> None:
    assert [each for each in declared(text) if each.grammar == "factor"] == []
