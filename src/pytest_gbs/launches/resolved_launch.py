"""What a launch runs: its recipe's path, document and table, and the sizes with their real places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_gbs.composition.composed import NOT_APPLIED
from pytest_gbs.composition.whole import locate, really
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import NamedTuple

# The table of a document, which a program with this name and these imports reads.
Recognises = Callable[[Document, Program], Framework | None]


class ResolvedLaunch(NamedTuple):
    """A launch with what it runs: the recipe's path (the script's, if there is none), its document, and its table.

    `alone` is true if no file of the tree is the recipe. `document` is made up where the command line or several files have
    a part in it; `places` maps its key paths to real places then. `sources` are the files that were composed. `total` is the
    global batch size that the program keeps in each world, dividing the accumulation by the number of processes. `assumed` are the
    variables whose defaults the recipe takes from the script. `changed` are the arguments that the program may set itself, "" any.
    """

    found: FoundLaunch
    recipe: str
    document: Document
    framework: Framework
    alone: bool = False
    places: Mapping[KeyPath, Location] | None = None
    sources: tuple[str, ...] = ()
    total: int | None = None
    assumed: tuple[str, ...] = ()
    changed: Mapping[str, Location] = MappingProxyType({})

    def sizes(self) -> dict[str, Size]:
        """The sizes that the document states, at their real places, and the accumulation that `accelerate launch` exports.

        A program on accelerate takes the exported number, whatever it asks for (accelerate 1.15.0, accelerator.py:546-548).
        """
        sizes = {name: self.size(size) for name, size in read_sizes(self.document, self.framework).items()}
        if self.changed:
            factors = [row for row in self.framework.rows if row.name in (*RANK_FACTORS, Name.GLOBAL_BATCH_SIZE)]
            places = ((row.name, self.changed.get(str(row.key[-1]), self.changed.get(""))) for row in factors)
            sizes |= {name: Unknown(name, Reason.COMPUTED, at) for name, at in places if at is not None}
        if not self.framework.companions:  # the Trainer of transformers compares it with its own
            sizes |= {size.name: size for size in self.found.start.sizes if size.name == Name.GRADIENT_ACCUMULATION_STEPS}
        if self.total is None:
            return sizes
        lost = sizes.pop(Name.GRADIENT_ACCUMULATION_STEPS, None)
        at = lost.at if isinstance(lost, Unknown) else None
        sizes[Name.GLOBAL_BATCH_SIZE] = Quantity(Name.GLOBAL_BATCH_SIZE, self.total, Origin.FILE, self.framework.unit, at)
        return sizes

    def locate(self, at: Location) -> Location:
        """The place in a real file of `at`, a place in the document."""
        return locate(at, self.document, self.places)

    def size(self, size: Size) -> Size:
        """`size`, read from the document, with real places; what the command line gives, or fails to give, says so."""
        if isinstance(size, Unknown) and size.at is not None and _is_not_applied(self.document, size.at):
            size = size._replace(reason=Reason.NOT_APPLIED)
        size = really(size, self.document, self.places)
        if not isinstance(size, Quantity) or size.at is None or size.origin != Origin.FILE:
            return size
        given = size.at.source in (self.found.launch.at.source, self.found.script.path)
        return size._replace(origin=Origin.LAUNCH) if given else size


def _is_not_applied(document: Document, at: Location) -> bool:
    """Whether the value at `at`, a place in `document`, is what an override would set that was not applied."""
    node = document.get(*at.path) if at.path else None
    return isinstance(node, Scalar) and node.text == NOT_APPLIED
