"""gbs.toml, gbs.lock, a baseline and .gitignore: what they say, or one clear error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fuzz.seeds import ROOT, texts
from fuzz.target import Target
from pytest_gbs.files.gitignore import IgnoreFile
from pytest_gbs.history.baseline import parse as parse_baseline
from pytest_gbs.history.lockfile import read_lock
from pytest_gbs.model.location import Source
from pytest_gbs.rules import manuals
from pytest_gbs.settings.file import parse
from pytest_gbs.settings.reading import interpret

_RULES = {rule.code: rule.name for rule in manuals()}


def _settings(data: bytes) -> None:
    interpret(parse("gbs.toml", data, ()), _RULES, str(ROOT / "examples"))


def _lock(data: bytes) -> None:
    read_lock(Source("gbs.lock", data.decode("utf-8", "surrogateescape")))


def _baseline(data: bytes) -> None:
    parse_baseline(data.decode("utf-8", "replace"), "baseline.json")


def _ignore(data: bytes) -> None:
    found = IgnoreFile(data.decode("utf-8", "surrogateescape"))
    for path in ("a", "a/b.yaml", "x/y/z.txt", "é"):
        found.says(path, path.rpartition("/")[2], False)


_KINDS: tuple[Callable[[bytes], None], ...] = (_settings, _lock, _baseline, _ignore)


def _run(data: bytes) -> None:
    _KINDS[data[0] % len(_KINDS) if data else 0](data[1:])


def _seeds() -> Iterator[bytes]:
    for text in texts("gbs.toml"):
        yield b"0" + text.encode()
    yield b'0select = ["GBS1"]\nexclude = ["a/**"]\n[[expect]]\npaths = ["x/*.yaml"]\nglobal-batch-size = 64\n[versions]\ntrl = "0.15"\n'
    yield b'1version = 1\n"sft.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 16, claim = 128 }\n'
    yield b'2{"version": 1, "findings": [{"path": "a", "rule": "GBS101", "key": "x", "count": 1}]}'
    yield b"3*.yaml\n!a/b.yaml\n/x/**/y\n[a-z]?\\ \n#c\n"


TARGET = Target(
    _run, _seeds, ("[[hardware]]\n", "[frameworks.a]\n", "recognise.all-of = ", "keys = ", "select = ", "{a,b}", "**/", "[!a]", "unit = ")
)
