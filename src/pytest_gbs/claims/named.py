"""Comparing what names state with a recipe and its launches: each number once, wherever it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import solve, symbolic
from pytest_gbs.arithmetic.wording import count, leaves, symbolic_product, symbolic_text
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.launch import JUDGES_NOTHING, Kind
from pytest_gbs.model.location import Location, grouped
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, RANK_FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run

_STATED: Final = (Origin.FILE, Origin.COMMENT)
# What a batch in a name may count; samples, if nothing else is trained on.
_BATCHES: Final = (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.GENERATION_BATCH_SIZE, Name.PROMPTS_PER_ROLLOUT)
# A framework's batch for which a learning rate is meant, whatever trains.
_REFERENCE: Final = "reference_batch_size"
_OWN: Final = (*RANK_FACTORS, *PARALLEL)


class NamedNumber(NamedTuple):
    """A number that names state, with the places of all names that do, and how it fares.

    `holds` is true if the settings or a launch give the number, false if they give another one, None if that is open.
    `has` says in words what they give, `fits` what the name would have to say, and `at` is a place that gives it.
    """

    declaration: Declaration
    places: tuple[Location, ...]
    holds: bool | None
    has: str = ""
    fits: str = ""
    at: Location | None = None
    run: Run | None = None


def named(recipe: Run, launched: Iterable[Run]) -> Iterator[NamedNumber]:
    """Yield each number that the names of `recipe` state, compared with it and its launches."""
    runs = [run for run in launched if run.launch is not None and run.launch.kind not in JUDGES_NOTHING]
    # A name that a parent has is that of the parent's runs.
    own = (each for each in recipe.declarations if each.weak and recipe.real(each.at).source == recipe.path)
    for same in grouped(((each.name, each.value), each) for each in own).values():
        bearing = [run for run in runs if any(_keeps_name(run, each) for each in same)]
        judge = _batch if same[0].name == Name.GLOBAL_BATCH_SIZE else _hardware
        yield judge(NamedNumber(same[0], tuple(recipe.real(each.at) for each in same), None), recipe, bearing)


def _keeps_name(run: Run, declaration: Declaration) -> bool:
    """Whether a launch still has the name: a command line may give its run another one, but leaves comments as they are."""
    if declaration.at.path is None or declaration.grammar == "bare":
        return True
    return declaration.text in getattr(run.document.get(*declaration.at.path), "text", "")


def _batch(said: NamedNumber, recipe: Run, launched: list[Run]) -> NamedNumber:
    """How a batch in a name fares: true if the recipe or a launch gives it, false if no number of GPUs does, or no launch."""
    value = said.declaration.value
    if (run := next((run for run in (recipe, *launched) if value in _values(run, _BATCHES)), None)) is not None:
        return said._replace(holds=True, run=run)
    if any(value in _in_part(run) for run in (recipe, *launched)):
        return said
    conditions = dict(said.declaration.conditions)
    gpus, world = conditions.get(Name.WORLD_SIZE), recipe.geometry.get(Name.WORLD_SIZE)
    known = world.value if isinstance(world, Quantity) else None
    # What a comment says of the hardware is known of the recipe, unless the name says on how many GPUs each has how much: `8xb32`.
    commented = isinstance(world, Quantity) and world.origin == Origin.COMMENT
    on_its_own = known in (None, gpus) or (commented and Name.MICRO_BATCH_SIZE in conditions)
    if gpus is not None and on_its_own and said.declaration.grammar != "bare":
        there = _on_its_hardware(said, recipe, gpus)
        if there.holds is not None:
            return there
    own = _without_launch(said, recipe)
    if own.holds is False or not launched:
        return own
    sizes = [run.geometry.get(Name.GLOBAL_BATCH_SIZE) for run in launched]
    if not all(isinstance(size, Quantity) for size in sizes) or any(_is_open(run) for run in launched):
        return own
    return _of_launch(said, launched[0], f"{launched[0].geometry.value(Name.GLOBAL_BATCH_SIZE):,}")


def _on_its_hardware(said: NamedNumber, recipe: Run, gpus: int) -> NamedNumber:
    """How a batch in a name fares that says on how many GPUs (`8xb32`, `64gpus-gbs128`): there, before accumulation, or as a reference."""
    micro, value = recipe.geometry.get(Name.MICRO_BATCH_SIZE), said.declaration.value
    there = _on_gpus(recipe, gpus).get(Name.GLOBAL_BATCH_SIZE)
    batches = [each * gpus for each in _of_one_device(recipe)]
    if value in (*batches, *_values(recipe, (_REFERENCE,))) or (isinstance(there, Quantity) and there.value == value):
        return said._replace(holds=True, run=recipe)
    if said.declaration.ambiguous or not isinstance(there, Quantity) or not isinstance(micro, Quantity) or micro.origin != Origin.FILE:
        return said
    has = f"the settings give {there.value:,} on {count(gpus, Name.WORLD_SIZE)}"
    return said._replace(holds=False, has=has, fits=f"{there.value:,}", at=micro.at)


def _on_gpus(recipe: Run, gpus: int) -> dict[str, Size]:
    """The sizes of a recipe on so many GPUs."""
    own = {name: size for name, size in recipe.geometry.stated.items() if name not in HARDWARE and not getattr(size, "because", ())}
    return solve({**own, Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, gpus, Origin.NAME)}, recipe.framework.equations)


def _values(run: Run, names: Iterable[str]) -> list[int]:
    return [value for name in names if (value := run.geometry.value(name)) is not None]


def _in_part(run: Run) -> tuple[int, ...]:
    """The batches that names state as well: those of one device, and that of one pass over all."""
    ranks = run.geometry.value(Name.DATA_PARALLEL_SIZE)
    return tuple(batch for each in _of_one_device(run)[:1] for batch in (each, each * (ranks or 1))) + _of_one_device(run)[1:]


def _of_one_device(run: Run) -> tuple[int, ...]:
    """The batches of one device: the micro batch, and what it takes per optimizer step."""
    micro, accumulation = (run.geometry.value(name) for name in RANK_FACTORS)
    return () if micro is None else (micro,) if accumulation is None else (micro, micro * accumulation)


def _is_open(run: Run) -> bool:
    """Whether a user may launch with another value without editing a file."""
    return any(assumption.by_default for assumption in run.assumptions)


def _of_launch(said: NamedNumber, run: Run, has: str) -> NamedNumber:
    assert run.launch is not None
    where = run.launch.at.source.rpartition("/")[2] if run.launch.at.stop else run.launch.command
    return said._replace(holds=False, has=f"the launch in {where} gives {has}", fits=has, at=run.launch.at, run=run)


def _without_launch(said: NamedNumber, run: Run) -> NamedNumber:
    """How a batch in a name fares with the recipe by itself: false if no number of GPUs that it leaves open gives it."""
    micro, size = run.geometry.get(Name.MICRO_BATCH_SIZE), run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if isinstance(size, Quantity) and not isinstance(micro, Quantity) and run.framework.unit == "samples" and _is_less(size, said):
        return said._replace(holds=False, has=f"the settings give {size.value:,}", fits=f"{size.value:,}", at=size.at)
    if not isinstance(micro, Quantity) or micro.origin != Origin.FILE or run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS) is None:
        return said
    stated = (run.geometry.get(name) for name in (Name.WORLD_SIZE, Name.NUM_NODES))
    if isinstance(size, Quantity) and any(isinstance(each, Quantity) and each.origin in _STATED for each in stated):
        return said._replace(holds=False, has=f"the settings give {size.value:,}", fits=f"{size.value:,}", at=micro.at)
    given = symbolic(Name.GLOBAL_BATCH_SIZE, {n: s for n, s in run.geometry.stated.items() if n in _OWN}, run.framework.equations)
    if given is None or reaching(given, said.declaration.holds) != ():
        return said
    fits = f"a multiple of {given.coefficient.numerator:,}" if given.coefficient.denominator == 1 and given.free else symbolic_text(given)
    return said._replace(holds=False, has=f"the settings give {symbolic_product(given)}", fits=fits, at=micro.at)


def _is_less(size: Quantity, said: NamedNumber) -> bool:
    """Whether the batch that a file gives is too small to have one of the named size as a part."""
    return size.origin == Origin.FILE and not size.stages and size.value < min(each.low for each in said.declaration.holds)


def _hardware(said: NamedNumber, recipe: Run, launched: list[Run]) -> NamedNumber:
    """How hardware in a name fares: by the recipe's own keys and comments, else by the scripts that launch it, if all agree."""
    declaration = said.declaration
    size = recipe.geometry.get(declaration.name)
    if isinstance(size, Quantity) and size.origin in _STATED:
        has = count(size.value, size.name)
        holds = declaration.value in (*_values(recipe, _meant(declaration)), *with_environment(recipe, declaration))
        return said._replace(holds=holds, has=f"the recipe has {has}", fits=has, at=size.at, run=recipe)
    scripts = [run for run in launched if run.launch is not None and run.launch.kind == Kind.SCRIPT]
    given = [(run, values) for run in scripts if (values := tuple(_of_start(run, declaration)))]
    if (run := next((run for run, values in given if declaration.value in values), None)) is not None:
        return said._replace(holds=True, run=run)
    if not given or len(given) < len(scripts) or any(_is_open(run) for run in scripts):
        return said
    run, values = given[0]
    return _of_launch(said, run, count(values[0], declaration.name))


def _meant(declaration: Declaration) -> tuple[str, ...]:
    """The sizes that hardware in a name may be: `8gpu` are those of a node, or all."""
    return (declaration.name, Name.GPUS_PER_NODE) if declaration.ambiguous else (declaration.name,)


def with_environment(run: Run, declaration: Declaration) -> Iterator[int]:
    """Yield the nodes in all where those that serve the environment come on top."""
    nodes, more = run.geometry.value(Name.NUM_NODES), run.geometry.value(Name.ENVIRONMENT_NODES)
    if declaration.name == Name.NUM_NODES and nodes is not None and more is not None:
        yield nodes + more


def _of_start(run: Run, declaration: Declaration) -> Iterator[int]:
    """Yield the values that a launch gives to what a name states; GPUs that the job has and training does not count, too."""
    known = _values(run, _meant(declaration))
    yield from known
    allocated = run.launch.start.allocated if run.launch is not None and run.launch.start is not None else None
    if known and allocated is not None:
        yield from (leaf.value for leaf in (allocated, *leaves(allocated)) if leaf.name in _meant(declaration))
