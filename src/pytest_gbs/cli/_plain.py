"""Arguments that need no parser: paths, and flags that take no value. argparse costs more than checking a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import argparse

    from pytest_gbs.cli._command import Command


class _Recorder:
    """Stands where a parser would, and writes down what it is told: defaults, flags without a value, and where paths go."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.flags: dict[str, tuple[str, str]] = {}
        self.positional: str | None = None
        self.simple = True

    def add_argument_group(self, *_: object, **__: object) -> _Recorder:
        return self

    def add_mutually_exclusive_group(self, *_: object, **__: object) -> _Recorder:
        self.simple = False
        return self

    def add_argument(self, *names: str, action: str = "store", default: Any = None, nargs: str | None = None, **_: object) -> None:
        long = next((name for name in names if name.startswith("--")), names[-1])
        target = long.lstrip("-").replace("-", "_")
        if not long.startswith("-"):
            self.simple = self.simple and nargs == "*" and self.positional is None
            self.positional = target
            return
        self.values[target] = False if action == "store_true" and default is None else default
        if action in ("store_true", "count"):
            self.flags.update((name, (target, action)) for name in names)


def plain(command: Command, words: Sequence[str], paths: Sequence[str] = ()) -> argparse.Namespace | None:
    """Return what the parser of `command` would make of `words` with `paths` behind them, or None where one of them needs it."""
    recorder = _Recorder()
    command.add_arguments(cast("argparse.ArgumentParser", recorder))
    if not recorder.simple or recorder.positional is None:
        return None
    found: list[str] = []
    for word in words:
        if word == "-" or not word.startswith("-"):
            found.append(word)
            continue
        if word not in recorder.flags:
            return None
        target, action = recorder.flags[word]
        recorder.values[target] = True if action == "store_true" else (recorder.values[target] or 0) + 1
    return cast("argparse.Namespace", SimpleNamespace(**recorder.values, **{recorder.positional: [*found, *paths]}))
