"""Damaged inputs without coverage guidance, the same for the same seed: what the tests run for a moment."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from fuzz.target import Target

_SIGNS = [sign.encode("utf-8", "surrogatepass") for sign in "{}[]()<>\"'`\\$#&*!|>%@:,;=-+~?\n\t\r 0aé²\x00\u2028\ud800\ufeff"]


def inputs(target: Target, many: int, seed: int) -> Iterator[bytes]:
    """Yield `many` inputs made of the target's seeds and words."""
    chance = random.Random(seed)
    seeds = [*target.seeds(), b""]
    parts = [*_SIGNS, *(word.encode() for word in target.words)]
    for _ in range(many):
        data = chance.choice(seeds)
        for _ in range(chance.randint(1, 8)):
            data = _damaged(data, parts, chance)
        yield data


def _damaged(data: bytes, parts: Sequence[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    stop = min(len(data), start + chance.choice((0, 0, 1, 2, 10, 60)))
    other = chance.randrange(len(data) + 1)
    new = (chance.choice(parts), chance.choice(parts) * chance.choice((2, 9, 300)), data[start:stop] * 2, data[other : other + 40], b"")
    return data[:start] + chance.choice(new) + data[stop:]
