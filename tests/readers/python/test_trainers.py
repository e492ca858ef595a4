"""Trainers of a program's own that make the data loader themselves: the arguments that they are given do not say the batch then."""

import pytest

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED

PROGRAM = """\
from torch.utils.data import DataLoader
from transformers import Trainer, TrainingArguments

loader = DataLoader(data, batch_size=4)

class OwnTrainer(Trainer):
    def {}(self):
        {}

args = TrainingArguments("out", per_device_train_batch_size=8)
trainer = {}(model, args)
trainer.train()
"""


def batch(method: str, body: str, trainer: str = "OwnTrainer") -> str | None:
    documents = [each for each in read(Source("train.py", PROGRAM.format(method, body, trainer))) if isinstance(each, Document)]
    (found,) = (each for each in documents if each.called == "transformers.TrainingArguments")
    value = found.get("per_device_train_batch_size")
    assert isinstance(value, Scalar)
    return None if value.tag == COMPUTED else value.text


@pytest.mark.parametrize(
    ("method", "body", "trainer"),
    [
        pytest.param("get_eval_dataloader", "return loader", "OwnTrainer", id="for evaluation"),
        pytest.param("get_train_dataloader", "return loader", "Trainer", id="another trainer is made"),
        pytest.param("get_train_dataloader", "return wrap(super().get_train_dataloader())", "OwnTrainer", id="around the framework's"),
        pytest.param("get_train_dataloader", "return DataLoader(d, batch_size=self._train_batch_size)", "OwnTrainer", id="as transformers"),
        pytest.param(
            "get_train_dataloader", "return DataLoader(d, batch_size=self.args.train_batch_size)", "OwnTrainer", id="by its arguments"
        ),
    ],
)
def test_the_arguments_count_where_the_loader_goes_by_them(method: str, body: str, trainer: str) -> None:
    assert batch(method, body, trainer) == "8"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("return loader", "4", id="a loader of the module"),
        pytest.param("return DataLoader(data, batch_size=2)", "2", id="one of its own"),
        pytest.param("return DataLoader(data)", "1", id="one without a batch size"),
        pytest.param("return self.accelerator.prepare(DataLoader(data, batch_size=2))", "2", id="prepared"),
        pytest.param("return DataLoader(data, batch_sampler=sampler)", None, id="batches of a sampler"),
        pytest.param("return make_loader()", None, id="a function that is not seen"),
        pytest.param("return loader if x else other", None, id="one of two"),
        pytest.param("yield from loader", None, id="no loader at all"),
    ],
)
def test_a_loader_of_ones_own_counts(body: str, expected: str | None) -> None:
    assert batch("get_train_dataloader", body) == expected


OWN_DATA = """\
from transformers import Trainer, TrainingArguments

class PackedDataset:
    def __init__(self, path, batch_size=1):
        self.batch_size = batch_size

data = {}
trainer = Trainer(model, TrainingArguments("out", per_device_train_batch_size={}), train_dataset=data)
trainer.train()
"""


@pytest.mark.parametrize(
    ("data", "micro", "expected"),
    [
        pytest.param("PackedDataset('a.bin')", "1", "1", id="samples of one"),
        pytest.param("load_dataset('a', batch_size=8)", "1", "1", id="data of a library"),
        pytest.param("Dataset(path, batch_size=8)", "1", "1", id="a class that is not seen"),
        pytest.param("PackedDataset('a.bin', batch_size=8)", "4", "4", id="several samples make the batch"),
        pytest.param("PackedDataset('a.bin', batch_size=8)", "1", None, id="a sample may be a batch"),
        # Reduced from jammastergirish/unlearning-taxonomy: micro batches of 1, since "batches are already prepared".
        pytest.param("PackedDataset(batches)", "1", None, id="a sample is a batch"),
        pytest.param("PackedDataset(path, rows=forget_batches)", "4", "4", id="several of its batches make one"),
    ],
)
def test_a_data_set_with_a_batch_size_may_hold_batches(data: str, micro: str, expected: str | None) -> None:
    (found,) = (each for each in read(Source("train.py", OWN_DATA.format(data, micro))) if isinstance(each, Document))
    value = found.get("per_device_train_batch_size")
    assert isinstance(value, Scalar)
    assert (None if value.tag == COMPUTED else value.text) == expected
