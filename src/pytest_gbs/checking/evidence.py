"""What is known of the hardware around a recipe: from the command line, the settings, its launches and launcher files nearby."""

from __future__ import annotations

from functools import partial

from pytest_gbs.checking.repository import Repository
from pytest_gbs.checking.runs import Context
from pytest_gbs.claims.worlds import Nearby, Sizes
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Lines, Source
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, Name, Note, Origin, Quantity
from pytest_gbs.model.record import TYPE_CHECKING
from pytest_gbs.model.settings import Expectation, Settings

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex

_FLAGS = ((Name.NUM_NODES, "--nodes"), (Name.GPUS_PER_NODE, "--gpus-per-node"), (Name.WORLD_SIZE, "--world-size"))


class HardwareLookup:
    """The hardware that recipes are judged on; `launches` is None until they are known, and if there are none."""

    def __init__(self, repository: Repository, settings: Settings, given: CommandLineHardware) -> None:
        self._repository, self._settings = repository, settings
        self.given = self._given(given)
        self.launches: LaunchIndex | None = None

    def context(self, path: str, policies: tuple[Expectation, ...]) -> Context:
        """What the recipe at `path` is judged by, `policies` beside its own."""
        nearby = partial(self._nearby, path)
        return Context(self._settings, self._hardware(path), self.given, nearby, policies, self._documented(path))

    def _documented(self, path: str) -> tuple[Declaration, ...]:
        if self.launches is None or not self.launches.documents:
            return ()
        from pytest_gbs.checking.documented import Subject

        return self.launches.documents.get(Subject(path), ())

    def _nearby(self, path: str) -> Nearby:
        """What is known of the GPUs per node around a recipe: by its launches, if all agree, else by launcher files."""
        around = self._repository.nearby(path)
        if self.launches is None:
            return around
        launched = self.launches.gpus_per_node(path)
        if launched is None or (around.gpus_per_node is not None and around.gpus_per_node.value == launched.value):
            return around
        source = self._repository.tree.read(launched.at.source) if launched.at is not None else None
        line = Lines(source.text).line_of(launched.at.start) if isinstance(source, Source) and launched.at is not None else 1
        where = f"{launched.at.source}:{line}" if launched.at is not None else launched.key
        assumption = Assumption(Assuming.LAUNCHES, launched.name, launched.value, where=where)
        return Nearby(launched, around.parallel, (assumption,))

    def _hardware(self, path: str) -> Sizes:
        if not self._settings.hardware:
            return {}
        from pytest_gbs.settings.hardware import hardware_for

        stated = hardware_for(self._settings, path)
        if stated is None:
            return {}
        note = Note(stated.origin)
        return {name: Quantity(name, value, Origin.SETTINGS, key=name.replace("_", "-"), note=note) for name, value in stated.sizes.items()}

    def _given(self, given: CommandLineHardware) -> Sizes:
        """The hardware of the command line as sizes, launcher files read."""
        sizes: Sizes = {}
        for path in given.launch_files:
            file = self._repository.launcher_file(path)
            found = file.quantities if file is not None else self._of_script(path)
            wanted = (*HARDWARE, *PARALLEL)
            sizes.update({q.name: q._replace(origin=Origin.LAUNCHER) for q in found if q.name in wanted})
        for (name, flag), value in zip(_FLAGS, given[:3], strict=True):
            if value is not None:
                sizes[name] = Quantity(name, value, Origin.GIVEN, key=flag)
        return sizes

    def _of_script(self, path: str) -> tuple[Quantity, ...]:
        """The sizes that the launches of a script give, all the same.

        Raises:
            UsageError: it launches nothing, or with unlike numbers of processes.
        """
        from pytest_gbs.launches.find import Scripts

        scripts = Scripts(self._repository.tree, (path,), lambda _: False)
        given = {tuple(sorted((q.name, q.value) for q in found.launch.quantities)): found for found in scripts.launches(path)}
        sized = [found.launch.quantities for found in given.values() if found.launch.quantities]
        if not given:
            raise UsageError(
                f"{path} is neither a launcher file nor a script that launches training (an accelerate config, a Slurm script)"
            )
        if len(sized) != 1:
            what = "does not state the number of processes" if not sized else "launches with different numbers of processes"
            raise UsageError(f"{path} {what}; give --world-size instead")
        return sized[0]
