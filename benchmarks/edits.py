"""How fast `gbs lsp` answers an edit: `python -m benchmarks.edits [RECIPE ...]`.

The server is a process of its own, the editor the client of the tests. An edit is answered when the findings for its version have come.
Measured for a repository of 3,000 recipes and 1,000 launch scripts that is made for it, and for each RECIPE in the folder where it lies.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from benchmarks.recipes import TRL
from tests.lsp.editor import Editor, editor

SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
set -euo pipefail
CONFIG=recipes/{folder}/{name}.yaml
srun accelerate launch --config_file recipes/accelerate_configs/zero3.yaml --num_machines 2 --num_processes 16 \\
    train.py --config $CONFIG
"""
ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 8\n"


def make_repository(folder: Path, recipes: int = 3_000, scripts: int = 1_000) -> None:
    """Write recipes, a third of them launched by a script, and the launcher file that they share."""
    files = {"recipes/accelerate_configs/zero3.yaml": ACCELERATE, "gbs.toml": ""}
    for number in range(recipes):
        inside, name = f"family-{number // 100}", f"sft-{number}"
        files[f"recipes/{inside}/{name}.yaml"] = TRL.format(number=number)
        if number < scripts:
            files[f"scripts/{inside}/{name}.slurm"] = SCRIPT.format(folder=inside, name=name)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


async def answer(person: Editor, path: str) -> float:
    """The milliseconds until the findings of an edit of `path` have come: one digit more in a comment, and gone again."""
    text = person.texts[path]
    start = time.perf_counter()
    person.type(path, text.removesuffix("# x\n") if text.endswith("# x\n") else text + "# x\n")
    await person.findings(path)
    return (time.perf_counter() - start) * 1000


async def measure(folder: Path, paths: list[str], rounds: int) -> None:
    """Print what opening and editing each of `paths` takes."""
    async with editor(folder) as person:
        for path in paths:
            start = time.perf_counter()
            person.open(path)
            await person.findings(path)
            opened = (time.perf_counter() - start) * 1000
            taken = [await answer(person, path) for _ in range(rounds)]
            last = quantiles(taken, n=20)[-1]
            print(f"{path:<60} opened {opened:7.0f} ms, edit {median(taken):6.1f} ms, 19 of 20 within {last:6.1f} ms")
        for path in paths:
            taken = [await answer(person, path) for _ in range(rounds)]
            print(f"{path:<60} with all of these open, edit {median(taken):6.1f} ms")


def main() -> None:
    """Measure and print a line for each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recipes", nargs="*", type=Path, metavar="RECIPE")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    for recipe in args.recipes:
        asyncio.run(measure(recipe.resolve().parent, [recipe.name], args.rounds))
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        make_repository(folder)
        paths = ["recipes/family-3/sft-333.yaml", "scripts/family-3/sft-333.slurm", "recipes/accelerate_configs/zero3.yaml"]
        asyncio.run(measure(folder, paths, args.rounds))


if __name__ == "__main__":
    main()
