"""llm-recipes: the global batch of the command line, as far as it holds whole micro batches of all ranks.

The script is like scripts/abci/instruction/Llama-3.1-8B/Llama-3.1-8B-instruct-exp1-1.sh of okoge-kaz/llm-recipes at 890d9dd.
"""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

PROGRAM = "from llama_recipes.finetuning import main\n\nmain()\n"
SCRIPT = (
    "mpirun -np 16 python examples/finetuning.py --seq-length 4096 --micro-batch-size 2 --global-batch-size {batch} --base-model {model}\n"
)


@pytest.mark.parametrize(
    "program", ["from my_recipes.finetuning import main\n", "print(1)\n"], ids=["another package", "a program that imports nothing"]
)
def test_another_program_of_that_name_is_not_read(program: str, tmp_path: Path) -> None:
    files = {"examples/finetuning.py": program, "run.sh": SCRIPT.format(batch=256, model="m")}
    assert batches(checked(tmp_path, files)) == []


@pytest.mark.parametrize(
    ("batch", "trained", "expected"),
    [
        pytest.param(256, 256, [], id="2 x 8 x 16"),
        pytest.param(272, 256, [], id="272 // 32 = 8, of 32 each"),
        pytest.param(16, 16, ["GBS202"], id="16 // 32 = 0, which it refuses"),
    ],
)
def test_the_batch_of_a_launch(batch: int, trained: int, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"examples/finetuning.py": PROGRAM, "run.sh": SCRIPT.format(batch=batch, model="m")})
    assert (batches(report), codes(report)) == ([trained], expected)
