"""An option that stands there more than once names files that are read one over the other, as jsonargparse reads them."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

# Reduced from frothywater/melody-pretrain (d262c9d), script/ablation_infilling/finetune.sh and three files that it names.
TRAINER = "seed_everything: 42\ntrainer: {accelerator: gpu, strategy: ddp}\ndata: {num_workers: 8}\n"
SMALL = "trainer: {max_steps: 100000, devices: 2, accumulate_grad_batches: 1}\nmodel: {class_path: acme.Model}\ndata: {batch_size: 128}\n"
CLM = "trainer: {max_steps: 20000, devices: 2, accumulate_grad_batches: 1}\ndata: {batch_size: 4}\n"
MAIN = "from lightning.pytorch.cli import LightningCLI\nfrom acme import Data, Model\n\nLightningCLI(Model, Data)\n"
FILES = {"config/trainer.yaml": TRAINER, "config/small.yaml": SMALL, "config/clm.yaml": CLM, "main.py": MAIN}


def run(words: str) -> dict[str, str]:
    return {**FILES, "run.sh": f"python main.py fit {words}\n"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("--config config/small.yaml --config config/gone.yaml", id="one of them is not in the tree"),
        pytest.param("--config config/small.yaml --config $OTHER", id="a variable names one of them"),
        pytest.param("--config config/small.yaml --config config/list.yaml", id="a list over a mapping"),
    ],
)
def test_files_of_which_one_can_not_be_read_have_no_batch(words: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {**run(words), "config/list.yaml": "data: [1]\n"})) in ([], [None])


def test_a_repeated_option_for_data_leaves_the_recipe_as_it_is(tmp_path: Path) -> None:
    files = run("--data_file config/trainer.yaml --data_file config/clm.yaml --config config/small.yaml")
    assert batches(checked(tmp_path, files)) == [256]


def test_what_another_file_claims_is_not_said_of_the_launch(tmp_path: Path) -> None:
    files = run("--config config/small.yaml --config config/clm.yaml")
    claimed = {**files, "config/small.yaml": f"# global batch size 256 on 2 GPUs\n{SMALL}"}
    assert codes(checked(tmp_path, claimed)) == []


@pytest.mark.parametrize(
    ("words", "batch"),
    [
        pytest.param("--config config/small.yaml", 256, id="128 x 2: one file"),
        pytest.param("--config config/trainer.yaml --config config/small.yaml", 256, id="128 x 2: the first says nothing of it"),
        pytest.param("--config config/small.yaml --config config/clm.yaml", 8, id="4 x 2: the later one counts"),
        pytest.param("--config=config/trainer.yaml --config=config/small.yaml --config=config/clm.yaml", 8, id="4 x 2: three, with ="),
        pytest.param("--config config/clm.yaml --config config/small.yaml", 256, id="128 x 2: in their order"),
        pytest.param("--config config/small.yaml --config config/clm.yaml --data.batch_size 16", 32, id="16 x 2: the flag behind them"),
        pytest.param("--config config/small.yaml --config config/trainer.yaml --trainer.devices 8", 1024, id="128 x 8"),
    ],
)
def test_each_file_is_read_over_those_before_it(words: str, batch: int, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, run(words))) == [batch]
