"""Lightning's Trainer in a program: the loader of one process times the accumulation times the devices of all nodes."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

MODULE = """\
import lightning.pytorch as pl
from torch.utils.data import DataLoader

class Data(pl.LightningDataModule):
    def __init__(self, path, batch_size=8):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        loader = DataLoader(self.train, shuffle=True, batch_size=self.batch_size)
        return loader

    def val_dataloader(self):
        return DataLoader(self.test, batch_size=100)

# GBS 64
trainer = pl.Trainer(devices=4, num_nodes=2, accumulate_grad_batches=2)
trainer.fit(model, datamodule=Data("x", batch_size=4))
"""
OPTIONS = """\
import argparse
import pytorch_lightning as pl
from torch.utils.data import DataLoader

class Net(pl.LightningModule):
    def __init__(self, batch_size, rate=0.1):
        super().__init__()
        self.save_hyperparameters()

    def train_dataloader(self):
        return DataLoader(rows, self.hparams.batch_size)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--gpus", type=int, default=2)
    args = parser.parse_args()
    pl.Trainer(devices=args.gpus, strategy="ddp").fit(Net(args.batch))
"""
LOADER = """\
import lightning as L
from torch.utils.data import DataLoader

loader = DataLoader(rows, batch_size=3)
trainer = L.Trainer(devices=2, accumulate_grad_batches=5)
trainer.fit(model, loader, DataLoader(others, batch_size=7))
"""


SCHEDULED = """\
import lightning as L
from lightning.pytorch.callbacks import GradientAccumulationScheduler
from torch.utils.data import DataLoader

scheduler = GradientAccumulationScheduler(scheduling={0: 4, 8: 2})
trainer = L.Trainer(devices=2, callbacks=[scheduler])  # global batch size: 24
trainer.fit(model, DataLoader(rows, batch_size=3))
"""
MANUAL = """\
import lightning as L
from torch.utils.data import DataLoader

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self.layer(batch).mean() / 4)
        {when}
            self.optimizers().step()
            self.optimizers().zero_grad()

trainer = L.Trainer(devices=2)  # global batch size: 24
trainer.fit(Net(), DataLoader(rows, batch_size=3))
"""


def known(folder: Path, program: str) -> list[int | None]:
    """The global batch of each recipe in a repository with nothing but the program."""
    report = checked(folder, {"train.py": program})
    return [run.geometry.value("global_batch_size") for file in report.files for run in file.runs]


@pytest.mark.parametrize(
    ("program", "change"),
    [
        pytest.param(MODULE, ("lightning.pytorch", "my_lightning"), id="a Trainer of another package"),
        pytest.param(MODULE, ("trainer =", "other = pl.Trainer(devices=1)\ntrainer ="), id="two Trainers"),
        pytest.param(MODULE, ("loader = DataLoader(", "loader = Loader("), id="a loader of another kind"),
        pytest.param(MODULE, ("return loader", "return [loader, loader]"), id="several loaders"),
        pytest.param(MODULE, ("trainer.fit(", "class More:\n    def train_dataloader(self): return DataLoader(a)\nfit("), id="two modules"),
        pytest.param(LOADER, ("fit(model, loader", "fit(model, train_dataloaders=mixed(loader)"), id="a loader that something wraps"),
    ],
)
def test_a_trainer_whose_loader_is_not_plain_is_not_a_recipe(tmp_path: Path, program: str, change: tuple[str, str]) -> None:
    assert change[0] in program
    assert known(tmp_path, program.replace(*change)) == []


@pytest.mark.parametrize(
    ("program", "change"),
    [
        pytest.param(MODULE, ("devices=4", "devices=-1"), id="all devices"),
        pytest.param(MODULE, ("devices=4", "devices='auto'"), id="devices of the machine"),
        pytest.param(MODULE, ("devices=4, ", "devices=4, strategy='dp', "), id="devices that share a batch"),
        pytest.param(MODULE, ("devices=4, ", "devices=4, strategy=Parallel(4), "), id="a strategy of its own"),
        pytest.param(MODULE, ("trainer.fit", "Data('y', batch_size=2)\ntrainer.fit"), id="two data modules"),
        pytest.param(MODULE, ("trainer.fit", "class More(Data): pass\ntrainer.fit"), id="a class that is made from it"),
        pytest.param(MODULE, ("trainer.fit", "data.batch_size = 9\ntrainer.fit"), id="a size that is set later"),
        pytest.param(MODULE, ("batch_size=self.batch_size)", "batch_sampler=self.batches)"), id="a sampler of batches"),
        pytest.param(MODULE, ("trainer.fit", "trainer.accumulate_grad_batches = fit()\ntrainer.fit"), id="steps that are set later"),
        pytest.param(MODULE, ("trainer.fit", "Tuner(trainer).scale_batch_size(model)\ntrainer.fit"), id="the largest that fits"),
        pytest.param(OPTIONS, ("save_hyperparameters", "keep"), id="arguments that nothing keeps"),
        pytest.param(OPTIONS, ("default=2", "default=None"), id="an option without default"),
    ],
)
def test_what_the_program_does_not_fix_is_unknown(tmp_path: Path, program: str, change: tuple[str, str]) -> None:
    assert change[0] in program
    assert known(tmp_path, program.replace(*change)) == [None]


@pytest.mark.parametrize(
    ("program", "batch"),
    [
        pytest.param(MODULE, 64, id="4 x 2 x 8"),
        pytest.param(MODULE.replace(", batch_size=4)", ")"), 128, id="the default: 8 x 2 x 8"),
        pytest.param(OPTIONS, 32, id="16 x 1 x 2"),
        pytest.param(LOADER, 30, id="3 x 5 x 2"),
        pytest.param(LOADER.replace("trainer.fit", "trainer.accumulate_grad_batches = 4\ntrainer.fit"), 24, id="set later: 3 x 4 x 2"),
        pytest.param(LOADER.replace("devices", "auto_scale_batch_size='power', devices"), 30, id="nothing tunes it"),
    ],
)
def test_the_batch_of_a_trainer(tmp_path: Path, program: str, batch: int) -> None:
    assert known(tmp_path, program) == [batch]


ELSEWHERE = """\
import argparse
from dataclasses import dataclass
import pytorch_lightning as pl
from data.rows import Rows

@dataclass
class Config:
    batch_size: int = 6

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=4)
args = parser.parse_args()
rows = Rows(batch_size=args.batch_size)
trainer = pl.Trainer(devices=2, accumulate_grad_batches=5)
trainer.fit(Net(), datamodule=rows)
"""
ROWS = """\
import pytorch_lightning as pl
from torch.utils.data import DataLoader

class Rows(pl.LightningDataModule):
    def __init__(self, batch_size: int = 32):
        self.batch_size = batch_size

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=self.batch_size)

    def val_dataloader(self):
        return DataLoader(self.rows, batch_size=1)
"""


def known_of_two(folder: Path, program: str, rows: str) -> list[int | None]:
    """The global batch of each recipe in a repository with the program, whose data module is in another file."""
    report = checked(folder, {"train.py": program, "data/rows.py": rows, "data/__init__.py": ""})
    return [run.geometry.value("global_batch_size") for file in report.files for run in file.runs]


@pytest.mark.parametrize(
    ("change", "batch"),
    [
        pytest.param(("from data.rows", "from package.rows"), [], id="a package"),
        pytest.param(("datamodule=rows", "datamodule=chosen(rows)"), [], id="a function that may change it"),
        pytest.param(("trainer =", "rows.batch_size = 9\ntrainer ="), [], id="a size that is set later"),
        pytest.param(("rows = Rows", "if x:\n    rows = Other()\nrows = Rows"), [], id="one of two modules"),
        pytest.param(("rows = Rows(batch_size=args.batch_size)", "rows = Rows(*sizes)"), [], id="arguments that are not known"),
        pytest.param(("batch_size=args.batch_size", "batch_size=64 // torch.cuda.device_count()"), [], id="the machine"),
        pytest.param(("", ""), [40], id="4 x 5 x 2"),
        pytest.param(("batch_size=args.batch_size", ""), [320], id="the default: 32 x 5 x 2"),
        pytest.param(("fit(Net(), datamodule=rows)", "fit(rows)"), [40], id="a model with a loader of its own"),
        pytest.param(("fit(Net(), datamodule=rows)", "fit(Net(), rows)"), [40], id="without its name"),
    ],
)
def test_a_data_module_of_another_file(tmp_path: Path, change: tuple[str, str], batch: list[int | None]) -> None:
    assert change[0] in ELSEWHERE
    assert known_of_two(tmp_path, ELSEWHERE.replace(*change, 1), ROWS) == batch


@pytest.mark.parametrize(
    ("given", "batch"),
    [("args", [40]), ("Config()", [60]), ("Config(batch_size=3)", [30]), ("Config(batch_size=more())", []), ("other", [])],
)
def test_a_data_module_of_another_file_that_gets_a_configuration(tmp_path: Path, given: str, batch: list[int]) -> None:
    rows = ROWS.replace("batch_size: int = 32", "config").replace("self.batch_size = batch_size", "self.config = config")
    rows = rows.replace("=self.batch_size", "=self.config.batch_size")
    assert known_of_two(tmp_path, ELSEWHERE.replace("batch_size=args.batch_size", given), rows) == batch


@pytest.mark.parametrize(
    "change",
    [
        ("return DataLoader(self.rows, batch_size=self.batch_size)", "return self.loader()"),
        ("def train_dataloader", "def train_loader"),
        ("class Rows(pl", "class Rows(Base): pass\nclass Others(pl"),
    ],
)
def test_a_data_module_of_another_file_that_is_not_plain(tmp_path: Path, change: tuple[str, str]) -> None:
    assert known_of_two(tmp_path, ELSEWHERE, ROWS.replace(*change, 1)) == []


def test_each_of_several_trainers_has_the_loader_that_it_is_handed(tmp_path: Path) -> None:
    """As notebooks of courses have them: `trainer` again and again, or one in each function."""
    first = LOADER + "more = DataLoader(rows, batch_size=4)\n"
    second = "trainer = L.Trainer(devices=1)\ntrainer.fit(model, more)\ntrainer.fit(model, more)\n"
    assert known(tmp_path, first + second) == [30, 4]
    assert known(tmp_path, first + second.replace("trainer.fit(model, more)\n", "", 1)) == [30, 4]
    assert known(tmp_path, first + second.replace("trainer.fit(model, more)", "trainer.fit(model, loader)", 1)) == [30]
    assert known(tmp_path, first + second.replace("trainer.fit", "other.fit")) == [30]
    inside = "def train(n):\n    trainer = L.Trainer(devices=1)\n    trainer.fit(model, DataLoader(rows, n))\ntrain(6)\n"
    assert sorted(filter(None, known(tmp_path, first + inside))) == [6, 30]


def test_a_launch_gives_the_options(tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.py": OPTIONS, "run.sh": "python train.py --batch 5 --gpus 4\n"})) == [20]


def test_a_comment_above_the_trainer_is_checked_against_it(tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"train.py": MODULE.replace("GBS 64", "GBS 48")})) == ["GBS101"]
    assert codes(checked(tmp_path, {"train.py": MODULE})) == []


@pytest.mark.parametrize(
    ("devices", "batch"),
    [
        pytest.param("devices=[]", None, id="an empty list"),
        pytest.param("devices=-1", None, id="all devices"),
        pytest.param("gpus=-1", None, id="all GPUs"),
        pytest.param("gpus=None", None, id="no GPUs"),
        pytest.param("gpus=count()", None, id="a number of GPUs that is not known"),
        pytest.param("gpus=2 if cuda() else 0", None, id="two GPUs or none"),
        pytest.param("devices=1 if cuda() else 4", None, id="one device or four"),
        pytest.param("devices=1 if cuda() else 'auto'", None, id="one device or all"),
        pytest.param("devices=1 if cuda() else None", 15, id="one device in either case"),
        pytest.param("gpus=0 if not cuda() else 1", 15, id="one GPU or the CPU"),
        pytest.param("devices=[0]", 15, id="one device by its number"),
        pytest.param("devices=[2, 3]", 30, id="two of them"),
        pytest.param("gpus=2", 30, id="GPUs"),
        pytest.param("gpus=[5]", 15, id="one GPU by its number"),
        pytest.param("gpus=4, devices=2", 30, id="devices count"),
    ],
)
def test_devices_are_counted(tmp_path: Path, devices: str, batch: int | None) -> None:
    assert known(tmp_path, LOADER.replace("devices=2", devices)) == [batch]


@pytest.mark.parametrize(
    ("program", "batch"),
    [
        pytest.param(SCHEDULED, None, id="a callback"),
        pytest.param(MANUAL.format(when="if (batch_idx + 1) % 4 == 0:"), None, id="its own steps"),
        pytest.param(MANUAL.format(when="if True:"), 6, id="a step for each batch"),
    ],
)
def test_an_accumulation_that_the_program_decides_on_is_not_known(tmp_path: Path, program: str, batch: int | None) -> None:
    report = checked(tmp_path, {"train.py": program})
    assert [run.geometry.value("global_batch_size") for file in report.files for run in file.runs] == [batch]
    assert codes(report) == (["GBS101"] if batch else [])
