"""A recipe's interpolations are followed to the values that its program reads, through YAML's own aliases as well."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name, Quantity, Size, Unknown
from tests.launches.building import checked

HALOS = """\
train_datasets: [a]
test_datasets: [a]
exp_name: x
n_epochs: 1
loss: {{trainer: SFTTrainer, dataloader: SFTDataLoader}}
model: {{batch_size: 32, gradient_accumulation_steps: 2, eval_batch_size: 64}}
batches: 1024
{examples}
"""


def examples(text: str, tmp_path: Path) -> Size:
    """The number of examples of a HALOs recipe that says `text` of them."""
    (file,) = checked(tmp_path, {"sft.yaml": HALOS.format(examples=text)}).files
    return file.runs[0].geometry.get(Name.TRAIN_SAMPLES)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("n_examples: ${oc.env:EXAMPLES}", id="the environment"),
        pytest.param("z: &z ${oc.env:EXAMPLES}\nn_examples: *z", id="the environment behind an alias"),
        pytest.param("z: &z ${missing}\nn_examples: *z", id="a key that is not there behind an alias"),
    ],
)
def test_it_is_unknown(text: str, tmp_path: Path) -> None:
    assert isinstance(examples(text, tmp_path), Unknown)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("n_examples: ${batches}", id="one"),
        pytest.param("z: ${batches}\nn_examples: ${z}", id="two"),
        pytest.param("z: &z ${batches}\nn_examples: *z", id="behind an alias"),
        pytest.param("z: &z ${batches}\ny: *z\nn_examples: ${y}", id="an alias behind one"),
    ],
)
def test_an_interpolation_is_followed(text: str, tmp_path: Path) -> None:
    size = examples(text, tmp_path)
    assert isinstance(size, Quantity)
    assert size.value == 1024
