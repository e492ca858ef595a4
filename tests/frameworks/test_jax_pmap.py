"""Programs of JAX with pmap: the loader has the batch of all devices; numbers worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.run import Run
from tests.launches.building import checked, launched

# huggingface/diffusers 58eb52c0, examples/text_to_image/train_text_to_image_flax.py and controlnet/train_controlnet_flax.py, reduced.
PROGRAM = """\
import argparse
import jax, optax
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--train_batch_size", type=int, default=16, help="Batch size (per device); gradient accumulation multiplies it.")
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()
total_train_batch_size = {product}
loader = DataLoader(rows, shuffle=True, batch_size={given}, drop_last=True)
optimizer = optax.adamw(1e-4){more}
p_train_step = jax.pmap(train_step, "batch", donate_argnums=(0,))
for batch in loader:
    state, metric = p_train_step(state, batch)
"""
EACH = "args.train_batch_size * jax.local_device_count()"


def program(product: str = EACH, given: str = "total_train_batch_size", more: str = "") -> str:
    return PROGRAM.format(product=product, given=given, more=more)


def own(folder: Path, text: str) -> list[Run]:
    report = checked(folder, {"train.py": text})
    return [run for file in report.files for run in file.runs if run.framework.title == "JAX pmap"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(program(given="args.train_batch_size"), id="a loader for one device"),
        pytest.param(program(more="\noptimizer = optax.MultiSteps(optimizer, every_k_schedule=8)"), id="accumulated elsewhere"),
        pytest.param(program(product="args.train_batch_size * 8"), id="a number of devices"),
        pytest.param(program(product="args.train_batch_size * len(jax.devices())"), id="devices that are counted otherwise"),
        pytest.param(program().replace("jax.pmap(train_step,", "mine.pmap(train_step,"), id="pmap of something else"),
    ],
)
def test_what_is_not_plain_says_nothing(tmp_path: Path, text: str) -> None:
    assert own(tmp_path, text) == []


@pytest.mark.parametrize(
    ("product", "micro", "steps"),
    [
        pytest.param(EACH, 16, 1, id="of the devices of a process"),
        pytest.param("args.train_batch_size * jax.device_count()", 16, 1, id="of all devices"),
        pytest.param(f"{EACH} * args.accumulation_steps", 16, None, id="an accumulation that nothing gives"),
    ],
)
def test_each_device_has_its_part(tmp_path: Path, product: str, micro: int, steps: int | None) -> None:
    (run,) = own(tmp_path, program(product))
    assert (run.geometry.value(Name.MICRO_BATCH_SIZE), run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (micro, steps)


@pytest.mark.parametrize(("flags", "micro"), [("", 16), ("--train_batch_size 2", 2), ("--train_batch_size $N", None)])
def test_a_launch_has_its_flags(tmp_path: Path, flags: str, micro: int | None) -> None:
    (run,) = launched(checked(tmp_path, {"train.py": program(), "run.sh": f"python train.py {flags}\n"}))
    assert (run.framework.title, run.geometry.value(Name.MICRO_BATCH_SIZE)) == ("JAX pmap", micro)
    assert run.geometry.global_batch_size is None  # how many devices there are is not known
