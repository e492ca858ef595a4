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
