"""Values for tests of rules, built by hand: sizes with a place, and runs made of them."""

from pytest_gbs.arithmetic.solver import solve
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.document import Document
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Framework, Recognition, Row
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Outcome, Undetermined
from pytest_gbs.model.quantity import Name, Origin, Quantity, Size
from pytest_gbs.model.run import Cause, Claim, Geometry, Judgement, Run, World
from pytest_gbs.model.settings import Expectation
from pytest_gbs.readers import read

PATH = "sft.yaml"

EQUATIONS = (
    Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE)),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,)),
    Equation(Name.GLOBAL_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)),
)

TABLE = Framework(
    name="example",
    title="Example (a framework for tests)",
    recognition=Recognition(),
    unit="samples",
    rows=(
        Row(("per_device_train_batch_size",), Name.MICRO_BATCH_SIZE, 8),
        Row(("gradient_accumulation_steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1),
    ),
    equations=EQUATIONS,
)

# What a judgement may take for granted.
ASSUMED = (Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 3, "launch/a.yaml:3"),)
# Where each size stands in a recipe that is not read.
_PLACES = {Name.MICRO_BATCH_SIZE: 30, Name.GRADIENT_ACCUMULATION_STEPS: 60, Name.GLOBAL_BATCH_SIZE: 90}


def document(text: str = "") -> Document:
    """A document of which no rule here looks at the nodes."""
    return Document(Source(PATH, text), 1, "yaml", None, {}, (), ())


def parsed(text: str, path: str = PATH) -> Document:
    """The one document that `text` is, read as the file at `path`."""
    (found,) = read(Source(path, text))
    assert isinstance(found, Document), found
    return found


def view(text: str, table: Framework | None = TABLE, path: str = PATH) -> FileView:
    """What a rule about one file gets to see of `text`."""
    of = parsed(text, path)
    return FileView(of, table, read_sizes(of, table) if table else {}, None)


def shown(of: Document, at: Location) -> str:
    """The text that `at` spans."""
    return of.source.text[at.start : at.stop]


def place(start: int, path: str = PATH) -> Location:
    """A place two characters wide."""
    return Location(path, start, start + 2)


def size(name: str, value: int, origin: str = Origin.FILE) -> Quantity:
    """A size that stands in the recipe under its own name, or comes from elsewhere without a place."""
    at = place(_PLACES[name]) if origin == Origin.FILE and name in _PLACES else None
    return Quantity(name, value, origin, at=at, key=name)


def run(
    *sizes: Size,
    table: Framework = TABLE,
    policies: tuple[Expectation, ...] = (),
    claims: tuple[Claim, ...] = (),
    assumptions: tuple[Assumption, ...] = (),
    of: Document | None = None,
) -> Run:
    """A run with `sizes`, a tensor parallel size of 1, and all that follows from them."""
    known: dict[str, Size] = {Name.TENSOR_PARALLEL_SIZE: size(Name.TENSOR_PARALLEL_SIZE, 1, Origin.DEFAULT)}
    known.update({each.name: each for each in sizes})
    geometry = Geometry(solve(known, table.equations), {})
    return Run(of or document(), table, None, geometry, claims, (), policies, assumptions=assumptions)


def claim(name: str = Name.GLOBAL_BATCH_SIZE, value: int = 128) -> Claim:
    """A claim in the first line of the recipe."""
    declared = Declaration(name, value, (Interval(value, value),), place(2), f"GBS {value}", "test")
    open_yet = Judgement((), Cause.PRODUCT, Undetermined("GBS101", declared.at, declared.text))
    return Claim(declared, (World(Geometry({}, {})),), open_yet)


def micro(value: int) -> Quantity:
    """The micro batch size, as a key of the recipe."""
    return size(Name.MICRO_BATCH_SIZE, value)


def accumulation(value: int) -> Quantity:
    """The accumulation, as a key of the recipe."""
    return size(Name.GRADIENT_ACCUMULATION_STEPS, value)


def world(value: int, origin: str = Origin.SETTINGS) -> Quantity:
    """The world size, from outside the recipe."""
    return size(Name.WORLD_SIZE, value, origin)


def only(outcomes: list[Outcome]) -> Finding:
    """The one finding that `outcomes` are."""
    assert len(outcomes) == 1, outcomes
    (found,) = outcomes
    assert isinstance(found, Finding), found
    return found
