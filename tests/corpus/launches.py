"""How many launches of real repositories resolve: run as `python -m tests.corpus.launches FOLDER...`, each folder one repository."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_gbs.checking.launch_run import launch_run
from pytest_gbs.checking.repository import Repository
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.launches.find import FoundLaunch
from pytest_gbs.launches.resolve import LaunchResolver
from pytest_gbs.model.location import Lines, Source
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.settings import Settings

FULLY, PARTLY, NOT, NO_TABLE = "fully", "partly", "not", "no table"
FACTORS = (
    Name.MICRO_BATCH_SIZE,
    Name.GRADIENT_ACCUMULATION_STEPS,
    Name.DATA_PARALLEL_SIZE,
    Name.WORLD_SIZE,
    Name.NUM_NODES,
    Name.GPUS_PER_NODE,
)


class Resolved(NamedTuple):
    """One launch: where it stands, what it starts, and the sizes that are known of it."""

    script: str
    line: int
    kind: str
    command: str
    framework: str
    recipe: str
    sizes: dict[str, int]

    @property
    def share(self) -> str:
        """How much of its batch is known."""
        if not self.framework:
            return NO_TABLE
        if Name.GLOBAL_BATCH_SIZE in self.sizes:
            return FULLY
        return PARTLY if self.sizes else NOT


class Measured(NamedTuple):
    """A repository: its launches, each place once for each outcome, the scripts that crashed, and how long it took."""

    name: str
    launches: tuple[Resolved, ...]
    crashes: tuple[str, ...]
    seconds: float


def measure(folder: Path) -> Measured:
    """What is known of the launches of the repository that is laid out in `folder`."""
    start = time.process_time()
    repository = Repository(WorkTree(folder), Settings())
    resolver = LaunchResolver(repository.document_cache, repository.readable, repository.recognise)
    scripts, crashes = repository.scripts, list[str]()
    found: dict[tuple[object, ...], Resolved] = {}
    for path in scripts.paths if scripts is not None else ():
        try:
            each = [_resolved(repository, resolver, launch) for launch in scripts.launches(path)] if scripts is not None else []
        except Exception as error:  # what a measurement counts
            crashes.append(f"{path}: {error!r}")
            continue
        found.update({(*one[:6], *one.sizes.items()): one for one in each})
    return Measured(folder.name, tuple(found.values()), tuple(crashes), time.process_time() - start)


def _resolved(repository: Repository, resolver: LaunchResolver, found: FoundLaunch) -> Resolved:
    at = found.launch.at
    source = repository.tree.read(at.source)
    line = Lines(source.text).line_of(at.start) if isinstance(source, Source) else 0
    resolved = resolver.resolve(found)
    if resolved is None:
        sizes = {size.name: size.value for size in found.launch.quantities if size.name in FACTORS}
        return Resolved(at.source, line, found.launch.kind, found.start.name, "", "", sizes)
    given = {name: resolved.size(size) for name, size in read_sizes(resolved.document, resolved.framework).items()}
    run = launch_run(resolved, given, None, ())
    stated = run.geometry.stated
    sizes = {name: size.value for name in (*FACTORS, Name.GLOBAL_BATCH_SIZE) if isinstance(size := stated.get(name), Quantity)}
    kind = run.launch.kind if run.launch is not None else ""
    return Resolved(at.source, line, kind, found.start.name, resolved.framework.name, "" if resolved.alone else resolved.recipe, sizes)


def table(measured: list[Measured]) -> Iterator[str]:
    """Yield a line for each repository and one for all."""
    shares = (FULLY, PARTLY, NOT, NO_TABLE)
    yield f"{'repository':28} {'launches':>8} " + " ".join(f"{share:>8}" for share in shares) + f" {'crashes':>8} {'seconds':>8}"
    for name, launches, crashes, seconds in (*measured, _all(measured)):
        counts = [sum(one.share == share for one in launches) for share in shares]
        yield f"{name:28} {len(launches):8} " + " ".join(f"{n:8}" for n in counts) + f" {len(crashes):8} {seconds:8.1f}"


def _all(measured: list[Measured]) -> Measured:
    launches = tuple(one for each in measured for one in each.launches)
    crashes = tuple(crash for each in measured for crash in each.crashes)
    return Measured("all", launches, crashes, sum(each.seconds for each in measured))


def main(folders: list[str]) -> None:
    """Print the table, and each launch with what is known of it."""
    measured = [measure(Path(folder)) for folder in folders]
    for each in measured:
        for one in each.launches:
            sizes = " ".join(f"{name}={value}" for name, value in one.sizes.items())
            what = f"{one.framework or '-'} {one.recipe}".rstrip()
            sys.stdout.write(f"{each.name}/{one.script}:{one.line}: {one.share}: {one.kind}: {one.command}: {what}: {sizes}\n")
        sys.stdout.writelines(f"{each.name}: crash: {crash}\n" for crash in each.crashes)
    sys.stdout.writelines(f"{line}\n" for line in table(measured))


if __name__ == "__main__":
    main(sys.argv[1:])
