"""A whole check of a small repository: no internal error, and every place lies in its file."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import ROOT, repositories
from fuzz.target import Empty, Target, files, joined
from pytest_gbs import Given, Settings
from pytest_gbs.api import KEEP_RUNS, check
from pytest_gbs.files.overlay import OverlayTree


def _run(data: bytes) -> None:
    held = files(data)
    report = check(OverlayTree(Empty(), held), (), Settings(), Given(), KEEP_RUNS)
    assert report.internal == (), report.internal[0].words
    for finding in report.findings():
        for at in (finding.at, *(related.at for related in finding.related)):
            assert at.source not in held or 0 <= at.start <= at.stop <= len(held[at.source].text)


def seeds() -> Iterator[bytes]:
    """Yield the examples of the rules, and the guides."""
    yield from map(joined, repositories())
    for folder in sorted((ROOT / "examples/guides").iterdir()):
        found = [(str(path.relative_to(folder)), path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*")) if path.is_file()]
        yield joined(found)
    yield joined((("README.md", _DOCUMENT), ("good.yaml", _RECIPE), ("train.py", _PROGRAM), ("more.py", _MORE), ("run.sh", _SCRIPT)))


_RECIPE = """\
# 8 A100 GPUs, 2 nodes x 4 GPUs: 4 x 8 x 2 = 64 per step, 1024 x 64 tokens
model_name_or_path: x
output_dir: y
dataset_mixer: {a: 1.0}
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
_DOCUMENT = """\
# Train

We train on 8 GPUs with a global batch size of 64 (see `good.yaml`), for example:

```bash
# batch size 4 per GPU, on 2 nodes
accelerate launch --num_processes 8 train.py --config good.yaml
```

| recipe | GPUs | batch size |
|---|---|---|
| [good](good.yaml) | 8 | 64 |

The command above uses 4 nodes. To use fewer, set `--gradient_accumulation_steps=4`.
"""
_PROGRAM = """\
import argparse
from transformers import Trainer, TrainingArguments
from more import fill
p = argparse.ArgumentParser()
p.add_argument('--b', type=int, default=4)
args = p.parse_args()
fill(args)
Trainer(args=TrainingArguments('x', per_device_train_batch_size=args.b))
"""
_MORE = "def other(o):\n    setattr(o, 'c', 1)\n\ndef fill(o):\n    o.d = 2\n    other(o)\n"
_SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:4 --array=0-3
B=(2 4 8 16)  # of each job
while getopts "b:" o; do case $o in b) B=($OPTARG) ;; esac; done
[[ $B =~ ^[0-9]+$ ]] || exit 1
srun torchrun --nnodes 2 --nproc_per_node 4 train.py --b "${B[$SLURM_ARRAY_TASK_ID]}"  # GBS 64
"""

WORDS = (
    *(
        "per_device_train_batch_size: ",
        "gradient_accumulation_steps: ",
        "train_batch_size",
        "global_batch_size: ",
        "num_processes: ",
        "# GBS = ",
    ),
    *(
        " GPUs",
        " nodes",
        "auto",
        "deepspeed: ds.json\n",
        "torchrun --nproc_per_node ",
        "accelerate launch ",
        "--config ",
        "# gbs: ignore[GBS101]",
    ),
    *(
        "# gbs: 128 on 8 nodes x 8 gpus",
        "tensor_parallel_size: ",
        "max_steps: ",
        "-1",
        "0",
        "9999999999",
        "1e3",
        "null",
        "~",
        "\x1ea.yaml\n",
    ),
)
TARGET = Target(_run, seeds, WORDS)
