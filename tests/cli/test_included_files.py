"""A file of a framework's own that a recipe names: its keys count as below the key that names it."""

from pathlib import Path

import pytest

from tests.cli.support import Gbs, write

KOHYA = "output_name: mine\npretrained_model_name_or_path: my/model\ntrain_batch_size: 2\ndataset_config: data/sets.toml\n"
ONE = "[[datasets]]\nresolution = 512\nbatch_size = 4\n"


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        pytest.param(ONE, "4 x GPUs", id="one data set"),
        pytest.param(ONE + ONE, "4 x GPUs", id="two alike"),
        pytest.param("[general]\nbatch_size = 3\n[[datasets]]\nresolution = 512\n", "3 x GPUs", id="said once for all"),
        pytest.param("[general]\nbatch_size = 3\n" + ONE, "4 x GPUs", id="a data set before what is said for all"),
        pytest.param(ONE + "[[datasets]]\nbatch_size = 2\n", "micro batch size x GPUs", id="two that differ"),
        pytest.param("[[datasets]]\nresolution = 512\n", "micro batch size x GPUs", id="it says nothing"),
        pytest.param("[[datasets]\n", "micro batch size x GPUs", id="no TOML"),
        pytest.param(None, "micro batch size x GPUs", id="no such file"),
    ],
)
def test_the_data_sets_give_the_batch(repo: Path, gbs: Gbs, sets: str | None, expected: str) -> None:
    write(repo, {"run.yaml": KOHYA, **({"data/sets.toml": sets} if sets is not None else {})})
    assert f"global batch size     {expected}" in gbs("show", "run.yaml").out


def test_a_path_that_leads_out_is_not_opened(repo: Path, gbs: Gbs) -> None:
    write(repo, {"run.yaml": KOHYA.replace("data/sets.toml", "../sets.toml")})
    (repo.parent / "sets.toml").write_text(ONE, encoding="utf-8")
    assert "4 x GPUs" not in gbs("show", "run.yaml").out


def test_flags_name_it_too(repo: Path, gbs: Gbs) -> None:
    command = "accelerate launch --num_processes 2 train_network.py --train_batch_size 2 --dataset_config data/sets.toml\n"
    write(repo, {"run.sh": command, "data/sets.toml": ONE})
    assert "8" in gbs("show", "run.sh").out.split()
