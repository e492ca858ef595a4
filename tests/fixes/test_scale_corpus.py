"""Real recipes, scaled to 1, 2, 4, 16 and 64 GPUs: the batch is kept or a reason given, and the way back gives the original bytes."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.decode import decode
from pytest_gbs.fixes.current_batch import effective
from pytest_gbs.fixes.scale import Target
from pytest_gbs.model.location import Source
from pytest_gbs.model.scaling import Scaled, Stuck
from tests.fixes.scaling import Bench, after, and_back
from tests.support import corpus

# Every so many files; GBS_CORPUS=all in the environment takes each of them, which lasts minutes.
STEP = 1 if os.environ.get("GBS_CORPUS") == "all" else 67
SIZES = (1, 2, 4, 16, 64)


def _files() -> Iterator[Source]:
    folder = corpus()
    lines = (folder / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for line in lines[::STEP]:
        path = line.split("\t")[0]
        if Path(path).suffix in (".yaml", ".yml", ".json", ".toml") and (folder / path).is_file():
            source = decode(path, (folder / path).read_bytes())
            if isinstance(source, Source):
                yield source


def _results(source: Source, world: int) -> Iterator[tuple[Bench, Scaled | Stuck]]:
    for here in (Given(), Given(world_size=8)):
        bench = Bench(source, here)
        found = [(bench, bench.scale(run, Target(Given(world_size=world)))) for run in bench.runs()]
        if not any(isinstance(result, Stuck) and "give --from-" in result.reason for _, result in found):
            break
    yield from found


def _but_for_a_word(back: Source | Stuck, source: Source) -> bool:
    """Whether only words that did not go with their number came back otherwise: `designed for 1 GPUs`."""
    odd = re.search(r"\b(?:1 (?:node|GPU)s|(?!1 )\d+ (?:node|GPU))\b", source.text)
    either = [re.sub(r"(\d (?:node|GPU))s\b", r"\1", each.text) for each in (back, source) if isinstance(each, Source)]
    return odd is not None and either[0] == either[-1] and isinstance(back, Source)


@pytest.mark.parametrize("world", SIZES)
def test_real_recipes_keep_their_batch_or_say_why_not(world: int) -> None:
    kept = 0
    for source in _files():
        for bench, result in _results(source, world):
            where = f"{source.path} on {world}"
            if isinstance(result, Stuck):
                assert result.reason, where
                continue
            there = Bench(after(result, source), Given(world_size=world))
            assert result.target in {effective(run.geometry) for run in there.runs()}, where
            if result.changes and not result.back:
                continue  # it did not run as it was
            back = and_back(result, bench.source)
            assert back == source or _but_for_a_word(back, source), where
            kept += 1
    assert kept > 10
