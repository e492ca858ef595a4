"""What the tests of composition share: trees in memory, Hydra itself, and what both say in the same shape."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.composition import DocumentCache, compose
from pytest_gbs.composition.composed import Composed, Override, Unresolved, UnresolvedReason
from pytest_gbs.readers import read
from tests.support import in_memory

ERROR = "error"
# Reasons for which gbs may not know what OmegaConf knows.
UNREAD = (UnresolvedReason.UNSUPPORTED, UnresolvedReason.RESOLVER)


def tree(files: dict[str, str]) -> DocumentCache:
    """A tree that holds `files` and nothing else."""
    return DocumentCache(in_memory(files), read)


def composed(files: dict[str, str], *overrides: str, name: str = "config", **more: Any) -> Composed:
    """What we compose from folder `conf` of `files`."""
    return compose(tree(files), "conf", name, [Override(each) for each in overrides], **more)


def plain(data: object) -> Any:
    """`data` as OmegaConf shows it; `ERROR` for what it could not resolve."""
    if isinstance(data, Unresolved):
        return "???" if data.reason == UnresolvedReason.MISSING else ERROR
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [plain(value) for value in data]
    return data


def leaves(data: object) -> Iterator[object]:
    """Yield the scalars within `data`."""
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from leaves(value)
    else:
        yield data


def verdict(found: Composed) -> Any:
    """The configuration in order as the program would get it, or `ERROR`."""
    data = plain(found.data)
    unresolved = any(isinstance(value, Unresolved) and plain(value) == ERROR for value in leaves(found.data))
    return ERROR if found.problems or unresolved else ordered(data)


def ordered(data: Any) -> Any:
    """`data` such that comparing it compares the order of keys, and types of numbers, too."""
    if isinstance(data, dict):
        return [(key, ordered(value)) for key, value in data.items()]
    if isinstance(data, list | tuple):
        return ("list", [ordered(value) for value in data])
    return (type(data).__name__, repr(data))


def unsupported(data: object) -> bool:
    """Whether something within `data` is OmegaConf's syntax that gbs does not read."""
    return any(isinstance(each, Unresolved) and each.reason in UNREAD for each in leaves(data))


def hydra_says(folder: Path, config_dir: str, name: str, overrides: Sequence[str]) -> Any:
    """What Hydra itself composes, or `ERROR`; skip where it is not installed."""
    hydra = pytest.importorskip("hydra")
    omegaconf = pytest.importorskip("omegaconf").OmegaConf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with hydra.initialize_config_dir(version_base=None, config_dir=str(folder / config_dir)):
                found = hydra.compose(name, overrides=list(overrides))
                return ordered(omegaconf.to_container(found, resolve=True))
        except Exception:  # whatever it raises is a refusal
            return ERROR
