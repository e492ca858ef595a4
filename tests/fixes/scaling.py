"""What the tests of scaling share: one file in memory, scaled and scaled back."""

from collections.abc import Mapping
from typing import NamedTuple

from pytest_gbs import Given
from pytest_gbs.fixes.scale import ScaleContext, Target, scale
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import Scaled, Stuck
from pytest_gbs.model.settings import Settings
from tests.support import check, in_memory


class Bench(NamedTuple):
    """One file in memory, with the hardware that it is said to be on."""

    source: Source
    here: Given = Given()

    def report(self, files: Mapping[str, Source], given: Given) -> Report:
        """The report on the file, or on what stands in its place."""
        tree = in_memory({self.source.path: self.source, **files})
        return check(tree, (self.source.path,), Settings(), given, keep_runs=True)

    def runs(self) -> list[Run]:
        """The recipes of the file."""
        report = self.report({}, self.here)
        return [run for file in report.files for run in file.runs if run.launch is None]

    def scale(self, run: Run, wish: Target) -> Scaled | Stuck:
        """What becomes of one recipe."""
        files = {self.source.path: self.source}
        path = self.source.path
        return scale(run, wish, ScaleContext(lambda name: files.get(name) or Unreadable(name, "no"), self.report, frozenset((path,))))


def scaled(text: str, to: Given, here: Given = Given(), name: str = "sft.yaml", most: int = 0) -> Scaled | Stuck:  # noqa: B008 (frozen)
    """What becomes of the one recipe in `text`."""
    bench = Bench(Source(name, text), here)
    (run,) = bench.runs()
    return bench.scale(run, Target(to, most))


def after(result: Scaled, before: Source) -> Source:
    """The file as it will be."""
    return next((new for _, new in result.files if new.path == before.path), before)


def and_back(result: Scaled, before: Source) -> Source | Stuck:
    """The file after the flags that undo a scale."""
    if not result.changes:
        return before
    assert result.back, "nothing says how to go back"
    words = result.back.split()
    flags = {words[index]: int(words[index + 1]) for index in range(0, len(words), 2)}
    here, to = (
        Given(flags.get(f"--{prefix}nodes"), flags.get(f"--{prefix}gpus-per-node"), flags.get(f"--{prefix}world-size"))
        for prefix in ("from-", "")
    )
    bench = Bench(after(result, before), here)
    for run in bench.runs():
        found = bench.scale(run, Target(to, 0, flags.get("--micro-batch-size", 0)))
        if isinstance(found, Stuck) or found.changes:
            return found if isinstance(found, Stuck) else after(found, bench.source)
    return bench.source
