"""Comment grammars: any comment gives sizes whose places lie in it, and any file name gives sizes too."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import documents, texts
from fuzz.target import Target
from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.claims.grammars.names import read_name
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import KeyPath, Location

_OWNERS: tuple[KeyPath | None, ...] = (None, ("global_batch_size",), ("gradient_accumulation_steps",), ("per_device_train_batch_size",))


def _run(data: bytes) -> None:
    text = data[1:].decode("utf-8", "replace")
    owner = _OWNERS[data[0] % len(_OWNERS)] if data else None
    block = CommentBlock(text, ((0, 0),), owner, "trailing" if owner else "header")
    for declaration in read_declarations((block,), "a.yaml"):
        assert declaration.value > 0
        for at in (declaration.at, *declaration.condition_places):
            assert 0 <= at.start < at.stop <= len(text)
    read_name(text[:200], Location("a.yaml"))


def _seeds() -> Iterator[bytes]:
    for text in (*texts(".yaml", ".sh", ".slurm"), *documents()):
        for line in text.split("\n"):
            words = line.partition("#")[2] or line
            if any(sign.isdigit() for sign in words):
                yield b"0" + words.strip().encode()


_WORDS = (
    "gbs global batch size effective per device micro accum grad_accum total tokens samples sequences prompts rollouts step GPUs GPU nodes"
    " node 8xH100 x * / = 2**10 1k 2M ~ about at most >= paper eval not-a-claim gbs: 1,024 4x8 dp=8 world size ranks each on with if"
)
TARGET = Target(_run, _seeds, tuple(f"{word} " for word in _WORDS.split()))
