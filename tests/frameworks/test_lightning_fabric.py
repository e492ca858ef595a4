"""Programs on Lightning Fabric: the batch of one process times the accumulation times the devices of all nodes.

The program is like pretrain/tinyllama.py of jzhang38/TinyLlama and its descendants (radarFudan/TinyLlama at bf12224): 512 rows for the
eight devices of a node, 512 / 8 / 8 = 8 micro batches of 8 on each.
"""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked

PROGRAM = """\
import lightning as L
from torch.utils.data import DataLoader

num_of_devices = 8
global_batch_size = 512
micro_batch_size = 8
batch_size = global_batch_size // num_of_devices
steps = batch_size // micro_batch_size

def setup(precision=None):
    fabric = L.Fabric(devices=num_of_devices, strategy="fsdp", precision=precision)
    fabric.launch(main)

def main(fabric):
    loader, others = both(batch_size=micro_batch_size)
    loader, others = fabric.setup_dataloaders(loader, others)
    train(fabric, loader)

def both(batch_size):
    return one(batch_size=batch_size), one(batch_size=batch_size)

def one(batch_size):
    return DataLoader(rows, batch_size=batch_size, pin_memory=True)

def train(fabric, loader):
    for number, data in enumerate(loader):
        is_accumulating = (number + 1) % steps != 0
        with fabric.no_backward_sync(model, enabled=is_accumulating):
            fabric.backward(model(data) / steps)
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()

setup()
"""


def known(folder: Path, program: str) -> list[int | None]:
    """The global batch of each recipe in a repository with nothing but the program."""
    report = checked(folder, {"train.py": program})
    return [run.geometry.value("global_batch_size") for file in report.files for run in file.runs]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(("lightning as L", "my_lightning as L"), [], id="a Fabric of another package"),
        pytest.param(("fabric.launch", "L.Fabric(devices=2)\n    fabric.launch"), [], id="two of them"),
        pytest.param(('"fsdp"', "L.ModelParallelStrategy()"), [], id="a model that is shared"),
        pytest.param(('"fsdp"', '"dp"'), [None], id="a batch that is shared"),
        pytest.param(("devices=num_of_devices", "devices='auto'"), [None], id="devices of the machine"),
        pytest.param(("num_of_devices = 8", "num_of_devices = 1"), [None], id="one device, a placeholder"),
        pytest.param(("num_of_devices = 8", "num_of_devices = count()"), [None], id="devices that the program counts"),
        pytest.param(("!= 0", "== 0"), [None], id="steps at another time"),
        pytest.param(("not is_accumulating", "is_accumulating"), [None], id="steps the other way around"),
        pytest.param(("micro_batch_size = 8", "micro_batch_size = 8 if big else 4"), [None], id="a micro batch that depends"),
    ],
)
def test_what_the_program_does_not_fix_is_unknown(tmp_path: Path, change: tuple[str, str], expected: list[None]) -> None:
    assert change[0] in PROGRAM
    assert known(tmp_path, PROGRAM.replace(*change)) == expected


def test_a_quotient_may_be_a_float(tmp_path: Path) -> None:
    """Lit-LLaMA, finetune/full.py: `batch_size = 128 / devices`, of which a remainder is taken."""
    program = PROGRAM.replace("// num_of", "/ num_of")
    assert known(tmp_path, program.replace("512", "500").replace("// micro", "/ micro")) == [None]
    assert known(tmp_path, program.replace("512", "500")) == [448]  # 500 / 8 // 8 = 7 batches of 8 on 8 devices
    assert known(tmp_path, program) == [512]


def test_the_batch_of_a_program(tmp_path: Path) -> None:
    assert known(tmp_path, PROGRAM) == [512]
    assert known(tmp_path, PROGRAM.replace("devices=num", "num_nodes=2, devices=num")) == [1024]


@pytest.mark.parametrize(
    ("launch", "batch"),
    [
        ("fabric run --devices 8 train.py", 512),
        # Each node divides among its own devices: twice the rows on two of them.
        ("lightning run model \\\n  --devices=8 \\\n  --num-nodes=2 \\\n  train.py --precision 16", 1024),
        ("fabric run --devices auto train.py", None),
    ],
)
def test_the_batch_of_a_launch(tmp_path: Path, launch: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, {"train.py": PROGRAM, "README.md": f"```\n{launch}\n```\n"})) == [batch]
