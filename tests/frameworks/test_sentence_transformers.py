"""`fit` of sentence-transformers: the batch of the loader that it is given, for each GPU; numbers worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.run import Run
from tests.launches.building import batches, checked

# UKPLab/sentence-transformers 85ec6455, examples/sentence_transformer/training/data_augmentation/train_sts_indomain_semantic.py, reduced.
TWO = """\
from torch.utils.data import DataLoader
from sentence_transformers import CrossEncoder, SentenceTransformer, losses
batch_size = 16
encoder = CrossEncoder("bert")
loader = DataLoader(gold, shuffle=True, batch_size=batch_size)
encoder.fit(train_dataloader=loader, epochs=1)
model = SentenceTransformer("bert")
loader = DataLoader(gold + silver, shuffle=True, batch_size=8)
loss = losses.CosineSimilarityLoss(model)
model.fit(train_objectives=[(loader, loss)], epochs=1)
"""
ONE = """\
from torch.utils.data import DataLoader
from sentence_transformers import SentenceTransformer, datasets, losses
{lines}
model.fit({given})
"""
PAIR = "train_objectives=[(loader, loss)]"


def trained(folder: Path, program: str) -> list[Run]:
    report = checked(folder, {"train.py": program})
    return [run for file in report.files for run in file.runs if run.framework.title == "sentence-transformers (fit)"]


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        pytest.param("loader = DataLoader(rows, batch_size=8)", "loader, loss", id="no objectives"),
        pytest.param("loader = make(rows, batch_size=8)", PAIR, id="a loader that something else makes"),
        pytest.param("loader = DataLoader(rows, batch_size=8)", "train_objectives=objectives()", id="objectives that something makes"),
        pytest.param("one = DataLoader(rows, batch_size=8)", "train_objectives=[(one, loss), (two, loss)]", id="one of two is not known"),
        pytest.param("loader = DataLoader(rows, batch_size=8)", "train_objectives=[*more, (loader, loss)]", id="more of them"),
        pytest.param("loader = DataLoader(rows, batch_size=8)", "rows, labels, train_batch=4", id="fit of another library"),
    ],
)
def test_what_is_not_plain_says_nothing(tmp_path: Path, lines: str, given: str) -> None:
    assert trained(tmp_path, ONE.format(lines=lines, given=given)) == []


def test_fit_of_another_package_is_left_alone(tmp_path: Path) -> None:
    program = TWO.replace("sentence_transformers", "mine")
    assert trained(tmp_path, program) == []


@pytest.mark.parametrize(
    ("lines", "given", "expected"),
    [
        pytest.param("loader = DataLoader(rows, shuffle=True, batch_size=128)", PAIR, 128, id="a loader of torch"),
        pytest.param("loader = datasets.NoDuplicatesDataLoader(rows, batch_size=64)", PAIR, 64, id="without duplicates"),
        pytest.param("loader = losses.ContrastiveTensionDataLoader(rows, 16, 8)  # batch 16", PAIR, 16, id="of contrastive tension"),
        pytest.param(
            "loader = DataLoader(rows, batch_size=4)\nboth = [(loader, loss)]", "train_objectives=both", 4, id="a list with a name"
        ),
        pytest.param(
            "a = DataLoader(x, batch_size=8)\nb = DataLoader(y, batch_size=4)", "train_objectives=[(a, loss), (b, loss)]", 4, id="the last"
        ),
    ],
)
def test_the_loader_has_the_batch_of_a_device(tmp_path: Path, lines: str, given: str, expected: int) -> None:
    (run,) = trained(tmp_path, ONE.format(lines=lines, given=given))
    assert run.geometry.value(Name.MICRO_BATCH_SIZE) == expected


def test_two_models_that_a_program_trains_have_batches_of_their_own(tmp_path: Path) -> None:
    assert [run.geometry.value(Name.MICRO_BATCH_SIZE) for run in trained(tmp_path, TWO)] == [16, 8]


def test_a_launch_trains_on_each_gpu(tmp_path: Path) -> None:
    program = ONE.format(lines="loader = DataLoader(rows, batch_size=32)", given=PAIR)
    report = checked(tmp_path, {"train.py": program, "run.sh": "torchrun --nproc_per_node 4 train.py\n"})
    assert batches(report) == [128]
