"""A recipe together with what launches it: the thing that rules judge."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_gbs.model.assumption import Assumption
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import PYTHON, Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.launch import Launch
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.outcome import Finding, Outcome, Undetermined, Verified
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple
from pytest_gbs.model.settings import Expectation

if TYPE_CHECKING:
    from pytest_gbs.model.locked import LockedBatch


class Geometry(NamedTuple):
    """The sizes of one run in one world: as stated, and those that training really has if the framework rounds or corrects.

    What people are asked about goes by what training has, what the framework checks by what is stated.
    """

    stated: dict[str, Size]
    realised: dict[str, Size]

    def get(self, name: str) -> Size:
        """Size `name` as training has it, `Unknown(missing)` if nothing gives it."""
        return self.realised.get(name) or self.said(name)

    def said(self, name: str) -> Size:
        """Size `name` as stated, `Unknown(missing)` if nothing gives it."""
        return self.stated.get(name) or Unknown(name, Reason.MISSING)

    def value(self, name: str) -> int | None:
        """The number of size `name` as training has it, or None if it is not known."""
        size = self.get(name)
        return size.value if type(size) is Quantity else None

    @property
    def global_batch_size(self) -> int | None:
        """Samples (or whatever the framework's unit is) per optimizer step over all ranks."""
        return self.value(Name.GLOBAL_BATCH_SIZE)


class World(NamedTuple):
    """One admissible reading of a claim: the hardware it is judged on, and what that assumes.

    `weak` is true if a framework default or another weaker assumption carries it, so that a violation only warns.
    `doubt` says which evidence did not count since it contradicts itself.
    """

    geometry: Geometry
    assumptions: tuple[Assumption, ...] = ()
    weak: bool = False
    doubt: str = ""


class Reading(NamedTuple):
    """How a claim fares in one world: `True` holds, `False` fails, `None` open; with the values for which it would hold."""

    holds: bool | None
    size: Quantity | None  # what the settings give, if it is known
    free: tuple[str, ...] = ()
    values: tuple[int, ...] = ()


class Cause:
    """What is wrong with a claim, in the order in which causes are looked for."""

    ARITHMETIC: Final = "arithmetic"  # it is wrong in itself
    FACTOR: Final = "factor"  # a factor of it is set to something else
    PRODUCT: Final = "product"  # the settings give another number, or it is not known


class Judgement(NamedTuple):
    """What became of a claim: how it fares in each of its worlds, what that comes to, and the cause that is looked at for it."""

    readings: tuple[Reading, ...]
    cause: str
    outcome: Outcome

    @property
    def verified(self) -> bool:
        """True where it holds."""
        return isinstance(self.outcome, Verified)

    @property
    def finding(self) -> Finding | None:
        """What is wrong with it, if anything is."""
        return self.outcome if isinstance(self.outcome, Finding) else None

    @property
    def open(self) -> Undetermined | None:
        """Why it is open, if it is."""
        return self.outcome if isinstance(self.outcome, Undetermined) else None


class Claim(NamedTuple):
    """A declared size with the worlds in which it may be meant, the preferred reading first, and its one judgement."""

    declaration: Declaration
    worlds: tuple[World, ...]
    judgement: Judgement


class Companion(NamedTuple):
    """A DeepSpeed configuration that a run reads beside its recipe: its document, and the place that names it.

    `of_launcher` is true if the launcher file names it, rather than the recipe.
    """

    document: Document
    named: Location
    of_launcher: bool = False


class Run(NamedTuple):
    """One recipe as one launch runs it (`launch` None: by itself).

    `geometry` is what is shown: the sizes in the best world known. `claims` are judged in worlds of their own.
    `declarations` are all that the file's comments and names state, of whatever force.
    `policies` are what the settings expect of it, or what a job trained on.
    `companions` are DeepSpeed configurations that the recipe or its launch names.

    A `document` that is made up of several files, or of a file and a command line, has `places`: where the value at each key path
    really stands. The `document` of a launch has the settings of the command line in it. Its `claims` compare
    numbers: each has one world, that of the launch.

    `locked` is the run's entry in `gbs.lock`, `base` its batch at the earlier revision that the check is against.
    `documented` are claims of documents that are certainly about the recipe by itself; its `declarations` have all that may be.
    `unread` is the code point where reading the comments ended since they state more than is read, None if all were read.
    """

    document: Document
    framework: Framework
    launch: Launch | None
    geometry: Geometry
    claims: tuple[Claim, ...]
    declarations: tuple[Declaration, ...]
    policies: tuple[Expectation, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    companions: tuple[Companion, ...] = ()
    places: Mapping[KeyPath, Location] | None = None
    locked: LockedBatch | None = None
    base: LockedBatch | None = None
    unread: int | None = None
    documented: tuple[Claim, ...] = ()

    def real(self, at: Location) -> Location:
        """The place in a real file of `at`, which may be that of a key or a value in a document that is made up; comments never are."""
        if self.places is None or at.path is None or at.source != self.document.source.path:
            return at
        made_up = any((node.start, node.stop) == (at.start, at.stop) for node in self.document.keyed.get(at.path, ()))
        return self.places.get(at.path, at) if made_up else at

    @property
    def path(self) -> str:
        """The recipe's path in its tree."""
        return self.document.source.path

    @property
    def shown_in(self) -> str:
        """The path of the file that it is shown with: the script if a command starts a Python program, else the recipe."""
        return self.launch.at.source if self.launch is not None and self.document.syntax == PYTHON else self.path

    @property
    def start(self) -> Location:
        """Where it starts: the command that launches it, or the first character of its file; hardware of the settings starts nothing."""
        return self.launch.at if self.launch is not None and self.launch.at.stop else Location(self.path)

    @property
    def open_claims(self) -> tuple[Claim, ...]:
        """The claims that can't be decided."""
        return tuple(claim for claim in self.claims if claim.judgement.open is not None)

    @property
    def stated_factors(self) -> tuple[Declaration, ...]:
        """The micro batches and accumulations that comments state by themselves."""
        return tuple(each for each in self.declarations if each.name in RANK_FACTORS and each.force == Force.STATES)

    def at(self, name: str) -> Location | None:
        """The place of size `name` in a file, or None if it is in no file."""
        size = self.geometry.stated.get(name)
        return size.at if isinstance(size, (Quantity, Unknown)) else None


class NodeClaim(NamedTuple):
    """What is kept of a claim for rules that compare recipes: where it is, and the GPUs per node it would need.

    `gpus_per_node` is None if the claim names no node count or needs no whole number of GPUs.
    """

    path: str
    declaration: Declaration
    num_nodes: int
    gpus_per_node: int | None
    needed: str  # for people: "64 = 2 x 4 nodes x 8 GPUs"
