"""What a job should train on."""

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs.model.errors import UsageError
from pytest_gbs.runtime import Expected, expect_global_batch_size, expect_recipe

SIZES = "model_name_or_path: m\ndataset_name: d\nmax_length: 8\nper_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
LAUNCH = "accelerate launch --num_processes {} train.py --config a.yaml\n"


def recipe(folder: Path, text: str, *launches: int) -> str:
    """The path of a recipe with scripts that launch it."""
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    for number in launches:
        (folder / f"on_{number}.sh").write_text(LAUNCH.format(number), encoding="utf-8")
    return str(folder / "a.yaml")


def test_numbers_are_taken_as_they_are() -> None:
    assert expect_global_batch_size(64, micro=2) == Expected(64, 2, None, None)
    assert expect_global_batch_size(64, micro=2, accumulation=4, data_parallel=8) == Expected(64, 2, 4, 8)


@pytest.mark.parametrize("numbers", [(0, None, None, None), (64, -2, None, None), (64, 2, 4, 4)], ids=["zero", "negative", "product"])
def test_numbers_that_make_no_sense_are_refused(numbers: tuple[int, int | None, int | None, int | None]) -> None:
    rows, micro, accumulation, data_parallel = numbers
    with pytest.raises(UsageError):
        expect_global_batch_size(rows, micro=micro, accumulation=accumulation, data_parallel=data_parallel)


def test_what_a_recipe_claims_is_expected(tmp_path: Path) -> None:
    path = recipe(tmp_path, f"# global batch size 128 on 16 GPUs\n{SIZES}")
    assert expect_recipe(path) == Expected(128, 2, 4, 16, path)


def test_what_its_only_launch_gives_is_expected(tmp_path: Path) -> None:
    path = recipe(tmp_path, SIZES, 8)
    assert expect_recipe(path) == Expected(64, 2, 4, 8, path)


@pytest.mark.parametrize(
    ("text", "launches", "message"),
    [
        pytest.param("cake: true\n", (), "not a recipe", id="no recipe"),
        pytest.param(SIZES, (), "does not fix", id="open"),
        pytest.param(SIZES, (8, 16), "several global batch sizes: 64, 128", id="two launches"),
    ],
)
def test_a_recipe_that_fixes_no_batch_is_refused(tmp_path: Path, text: str, launches: tuple[int, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        expect_recipe(recipe(tmp_path, text, *launches))


def test_nothing_heavy_is_imported() -> None:
    script = (
        "import pytest_gbs.runtime, sys\nprint(*({'torch', 'transformers', 'lightning', 'yaml', 'argparse', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
