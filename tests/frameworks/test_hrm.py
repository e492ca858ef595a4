"""HRM and TRM: one batch for all processes, from a Hydra file that the command line changes; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

RECIPE = "data_path: data/sudoku\nglobal_batch_size: 768\nepochs: 100\nlr: 1e-4\npuzzle_emb_lr: 1e-2\n"
PROGRAM = """\
import hydra
@hydra.main(config_path="config", config_name="cfg_pretrain", version_base=None)
def launch(config):
    train(config)
launch()
"""
FILES = {"config/cfg_pretrain.yaml": RECIPE, "pretrain.py": PROGRAM}


@pytest.mark.parametrize(
    ("command", "batch", "found"),
    [
        pytest.param("torchrun --nproc-per-node 8 pretrain.py", 768, [], id="96 on each of 8"),
        pytest.param("torchrun --nproc-per-node 8 pretrain.py global_batch_size=2304", 2304, [], id="288 on each of 8"),
        pytest.param("python pretrain.py global_batch_size=384", 384, [], id="on any number of GPUs"),
        pytest.param("torchrun --nproc-per-node 8 pretrain.py global_batch_size=100", 100, ["GBS202"], id="100 / 8 is not whole"),
    ],
)
def test_all_processes_share_the_batch(tmp_path: Path, command: str, batch: int, found: list[str]) -> None:
    report = checked(tmp_path, {**FILES, "run.sh": f"{command}\n"})
    assert titled_batches(report) == [("HRM", batch)]
    assert codes(report) == found


def test_another_file_with_a_batch_for_all_processes_is_none(tmp_path: Path) -> None:
    report = checked(tmp_path, {"config.yaml": "data_path: data\nglobal_batch_size: 768\nlr: 1e-4\n"})
    assert report.recipes() == ()
