"""What the tests of the command line share: small recipes on disk, and running `gbs` among them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from pytest_gbs.cli import main

RECIPE = """\
# Config for 2 nodes of 8 x H100s with GBS 128
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: 4
gradient_accumulation_steps: {accumulation}
learning_rate: 2.0e-5
"""
GOOD = RECIPE.format(accumulation=2)
STALE = RECIPE.format(accumulation=4)
UNCLAIMED = GOOD.partition("\n")[2]
OPEN = GOOD.replace("2 nodes of 8 x H100s", "2 nodes")
LAUNCHER = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: {gpus}\n"


class Said(NamedTuple):
    """What one run of `gbs` came to."""

    code: int
    out: str
    err: str


Gbs: TypeAlias = Callable[..., Said]


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """`root` with `files` in it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    return root


def runner(capsys: pytest.CaptureFixture[str]) -> Gbs:
    """A function that runs `gbs` with its arguments in the current folder."""

    def gbs(*arguments: str) -> Said:
        code = main(arguments)
        return Said(code, *capsys.readouterr())

    return gbs
