"""Which launches a check looks into."""

from pathlib import Path

import pytest

from pytest_gbs import Settings
from pytest_gbs.checking.launch_index import index_launches
from pytest_gbs.checking.repository import Repository
from pytest_gbs.files.worktree import WorkTree
from tests.cli.support import write
from tests.launches.building import recipe

LOOP = "for seed in 1 2 3; do accelerate launch --num_processes 8 train.py --config sft.yaml {}; done\n"


@pytest.mark.parametrize(
    ("words", "number"),
    [
        pytest.param("--gradient_accumulation_steps $seed", 3, id="each-turn-another-batch"),
        pytest.param("--seed $seed", 3, id="each-turn-another-word"),
        # locuslab/open-unlearning: 665 launches, of which 253 differ from each other.
        pytest.param("", 1, id="all-turns-alike"),
    ],
)
def test_turns_of_a_loop_that_are_alike_in_all_are_one_launch(tmp_path: Path, words: str, number: int) -> None:
    write(tmp_path, {"sft.yaml": recipe(), "train.py": "", "run.sh": LOOP.format(words)})
    index = index_launches(Repository(WorkTree(str(tmp_path)), Settings()))
    assert index is not None
    assert len(index.of_recipe["sft.yaml"]) == number
