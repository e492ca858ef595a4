"""One recipe for `gbs show`: a line for each size, with its number, its arithmetic and its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import Fraction, assumed, called, count, degree, fraction, listing, several, short, symbolic_text
from pytest_gbs.formats._arithmetic import arithmetic, division, number, rounded, uneven_division
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._origins import changes, origin, unknown
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_steps import ShownLine, batch_text, stages, steps
from pytest_gbs.frameworks.conditions import packs
from pytest_gbs.frameworks.feasible import feasible_world_sizes
from pytest_gbs.model.equation import Monomial
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import grouped
from pytest_gbs.model.quantity import PARALLEL, RANK_FACTORS, RANKS, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.run import Claim, Run

_EXAMPLES: Final = {Name.GPUS_PER_NODE: (4, 8), Name.NUM_NODES: (1, 8)}
_LISTED: Final = 8
_GROUPS: Final = (Name.NUM_GENERATIONS, Name.STEPS_PER_GENERATION, Name.GENERATION_BATCH_SIZE)
_ROLLOUTS: Final = (Name.PROMPTS_PER_ROLLOUT, Name.STEPS_PER_ROLLOUT)


def title(run: Run) -> str:
    """The framework and what one sample is: `TRL (SFT), samples are packed rows`."""
    framework = run.framework
    if packs(run):
        return f"{framework.title}, {framework.unit} are packed rows"
    return framework.title if framework.unit == "samples" else f"{framework.title}, batches count {framework.unit}"


def lines(run: Run, launched: Iterable[Run], places: Places) -> Iterator[ShownLine]:
    """Yield the lines of a recipe: the batch, its factors, what follows from it, and where it runs."""
    feasible = feasible_world_sizes(run)
    yield _batch(run, feasible, places)
    for name in RANK_FACTORS:
        yield _stated(run, name, places)
    yield _data_parallel(run, places)
    yield _world(run, places)
    kept = run.geometry.value(Name.STEPS_PER_ROLLOUT) not in (None, 1)
    for name in (*_GROUPS, *(_ROLLOUTS if kept else ()), Name.PROMPTS_PER_STEP):
        if name in run.geometry.stated:
            yield _stated(run, name, places)
        elif name == Name.PROMPTS_PER_STEP and (prompts := _symbolic(run, name)):
            yield ShownLine(called(name), "", prompts)
    yield from steps(run, places)
    for name in (Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS):
        size = run.geometry.get(name)
        if isinstance(size, Quantity) and size.value != getattr(run.geometry.said(name), "value", None):
            yield ShownLine("really", number(size.value), f"{called(name)} that trains = {arithmetic(size, run.framework.equations)}")
    yield from _names(run, places)
    yield ShownLine("runs on", "", _runs_on(run, feasible))
    for other in launched:
        yield ShownLine("launched by", "", _launched(other, run, places))
    for assumption in run.assumptions:
        yield ShownLine("assuming", "", places.words(assumed(assumption)))


def _names(run: Run, places: Places) -> Iterator[ShownLine]:
    """Yield a line for each number that the names of a recipe state."""
    weak = (each for each in run.declarations if each.weak and run.launch is None)
    where_of = ((each, places.line(each.at, run.shown_in) if each.at.path else "the file's name") for each in weak)
    for (value, name), where in grouped(((each.value, each.name), where) for each, where in where_of).items():
        yield ShownLine("name says", number(value), f"{called(name)}, {listing(where, last='and')}")


def launcher_lines(file: LauncherFile, places: Places) -> Iterator[ShownLine]:
    """Yield the lines of a launcher file: the sizes it gives."""
    for size in file.quantities:
        yield ShownLine(called(size.name), number(size.value), origin(size, places, file.path) or arithmetic(size, ()))


def _batch(run: Run, feasible: dict[str, Any], places: Places) -> ShownLine:
    size = run.geometry.said(Name.GLOBAL_BATCH_SIZE)
    label = called(Name.GLOBAL_BATCH_SIZE)
    declared = "; ".join(_declared(run, claim, places) for claim in run.claims)
    if isinstance(size, Quantity):
        text = _origin_text(run, size, places)
        return ShownLine(label, number(size.value), f"{text:<35} {declared}" if declared else text)
    found = symbolic(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations)
    if found is None or not found.free or not isinstance(size, Unknown):
        return ShownLine(label, "", "; ".join(filter(None, (_unknown_text(run, size, Name.GLOBAL_BATCH_SIZE, places), declared))))
    examples = _examples(found, feasible)
    return ShownLine(label, "", "   ".join(filter(None, (symbolic_text(found), f"({examples})" if examples else "", declared))))


def _examples(found: Monomial, feasible: dict[str, Any]) -> str:
    """The values of a symbolic size on usual numbers of GPUs: `128 on 8, 1024 on 64`."""
    name = found.free[0]
    if len(found.free) != 1 or name not in RANKS:
        return ""
    values: Iterable[int] = _EXAMPLES.get(name, (8, 64))
    if name == Name.WORLD_SIZE:
        numbers = feasible.get("sizes")
        values = feasible.get("reaching_declared") or (values if numbers is None else [n for n in values if n in numbers] or numbers)
    results = ((found.coefficient * value, value) for value in list(values)[:2])
    shown = [f"{result.numerator} on {value}" for result, value in results if result.denominator == 1]
    return ", ".join(shown)


def _declared(run: Run, claim: Claim, places: Places) -> str:
    """What a comment declares and whether the settings agree, each claim on hardware of its own."""
    declaration = claim.declaration
    what = f"{number(declaration.value)}{' tokens' if declaration.unit == 'tokens' else ''}"
    where = places.line(declaration.at, run.shown_in)
    readings = claim.judgement.readings
    size = run.geometry.get(declaration.name)
    if any(reading.holds for reading in readings):
        elsewhere = isinstance(size, Quantity) and not declaration.admits(size.value)
        verdict = "agrees on the hardware it names" if elsewhere else "agrees"
    elif all(reading.holds is False for reading in readings):
        given = readings[0].size
        verdict = f"does not agree, settings give {number(given.value)}" if given else "does not agree"
    else:
        verdict = "open"
    return f"declared {what} at {where}: {verdict}"


def _stated(run: Run, name: str, places: Places) -> ShownLine:
    size = run.geometry.said(name)
    if not isinstance(size, Quantity):
        return ShownLine(called(name), _symbolic(run, name) or "-", _unknown_text(run, size, name, places))
    return ShownLine(called(name), number(size.value), _origin_text(run, size, places))


def _origin_text(run: Run, size: Quantity, places: Places) -> str:
    """How `size` was computed, or where it comes from, with its stages where it changes: `= 64 / (2 x 4): first 2, 4, then 8`."""
    computed = arithmetic(size, run.framework.equations)
    return f"= {computed}{changes(stages(run, size.name))}" if computed else origin(size, places, run.shown_in)


def _unknown_text(run: Run, size: Size, name: str, places: Places) -> str:
    """Why a size has no number: `2 / (2 x 8) is not a whole number`."""
    found = division(size, run)
    return f"{found} is not a whole number" if found else unknown(size, name, places, run.shown_in)


def _symbolic(run: Run, name: str) -> str:
    """The symbolic value of an unknown size: `4 x GPUs`; empty if it has none."""
    found = symbolic(name, run.geometry.stated, run.framework.equations)
    return symbolic_text(found) if found and found.free else ""


def _data_parallel(run: Run, places: Places) -> ShownLine:
    size = run.geometry.get(Name.DATA_PARALLEL_SIZE)
    label = called(Name.DATA_PARALLEL_SIZE)
    if not isinstance(size, Quantity):
        if (found := uneven_division(size, run)) is not None:
            return ShownLine(label, "-", f"{_shared(found)} is not a whole number")
        split = [q for name in PARALLEL if isinstance(q := run.geometry.get(name), Quantity)]
        text = _divided("GPUs", split) if split else unknown(size, Name.DATA_PARALLEL_SIZE, places, run.shown_in)
        divisors = next((each.divisors for each in run.framework.equations if each.result == Name.DATA_PARALLEL_SIZE), ())
        open_ones = [called(name) for name in divisors if not isinstance(run.geometry.get(name), Quantity)]
        more = f"; {listing(open_ones, last='and')} not stated" if split and open_ones else ""
        return ShownLine(label, "" if split else "-", text + more)
    found = fraction(size, run.framework.equations)
    if found is None:
        return ShownLine(label, number(size.value), origin(size, places, run.shown_in))
    return ShownLine(label, number(size.value), f"= {_shared(found)}{rounded(size, found)}")


def _shared(found: Fraction) -> str:
    """The GPUs and what they are divided by: `64 GPUs / (tensor 2 x context 4)`."""
    return _divided(" x ".join(count(q.value, q.name) for q in found.top), found.bottom)


def _divided(top: str, sizes: Iterable[Quantity]) -> str:
    bottom = " x ".join(degree(size) for size in sizes if size.value > 1)
    return f"{top} / ({bottom})" if bottom else top


def _world(run: Run, places: Places) -> ShownLine:
    size = run.geometry.get(Name.WORLD_SIZE)
    label = called(Name.WORLD_SIZE)
    if not isinstance(size, Quantity):
        nodes = run.geometry.get(Name.NUM_NODES)
        if isinstance(nodes, Quantity) and isinstance(size, Unknown) and size.reason == Reason.MISSING:
            missing = unknown(run.geometry.get(Name.GPUS_PER_NODE), Name.GPUS_PER_NODE, places, run.shown_in)
            return ShownLine(label, "", f"{_part(nodes, places, run)} x GPUs per node, {missing}")
        return ShownLine(label, "", _unknown_text(run, size, Name.WORLD_SIZE, places))
    found = fraction(size, run.framework.equations)
    if found is None:
        comment = "comment, " if size.origin == Origin.COMMENT else ""
        return ShownLine(label, number(size.value), comment + origin(size, places, run.shown_in))
    if found.bottom:
        return ShownLine(label, number(size.value), f"= {arithmetic(size, run.framework.equations)}")
    if all(q.origin == Origin.SETTINGS for q in found.top):  # which say once where both are
        where = origin(found.top[0], places, run.shown_in)
        return ShownLine(label, number(size.value), f"= {' x '.join(map(_counted, found.top))} ({where})")
    return ShownLine(label, number(size.value), "= " + " x ".join(_part(q, places, run) for q in found.top))


def _part(size: Quantity, places: Places, run: Run) -> str:
    """`8 nodes (line 1)`, or `8 (zero3.yaml)` for GPUs per node."""
    where = origin(size, places, run.shown_in)
    return _counted(size) + (f" ({where})" if where else "")


def _counted(size: Quantity) -> str:
    return str(size.value) if size.name == Name.GPUS_PER_NODE else count(size.value, size.name)


def _runs_on(run: Run, feasible: dict[str, Any]) -> str:
    """The line with the number of GPUs of the recipe, and the numbers on which its batch is the declared one."""
    sizes = feasible.get("sizes", [])
    if "undecided" in feasible:
        verb = "is" if len(feasible["undecided"]) == 1 else "are"
        text = f"not known, since {listing(map(called, feasible['undecided']), last='and')} {verb} not"
    elif feasible.get("all"):
        text = "any number of GPUs"
    elif not sizes:
        return "no number of GPUs"
    elif "at_most" in feasible:
        more = ", ..." if len(sizes) > _LISTED or feasible["at_most"] != sizes[-1] else ""
        text = f"{listing(map(str, sizes[:_LISTED])) if not more else ', '.join(map(str, sizes[:_LISTED])) + more} GPUs"
        text = "1 GPU" if text == "1 GPUs" else text
    elif "multiple_of" in feasible:
        text = f"multiples of {feasible['multiple_of']} GPUs"
    else:
        text = f"{sizes[0]} GPUs and more"
    reaching = feasible.get("reaching_declared")
    if reaching is None:
        return text
    declared = next(c.declaration.value for c in run.claims if c.declaration.name == Name.GLOBAL_BATCH_SIZE)
    if not reaching:
        return f"{text}; {number(declared)} on none of them"
    return f"{text}; {number(declared)} only on {several(reaching)}"


def _launched(run: Run, recipe: Run, places: Places) -> str:
    """What launches the recipe, on which hardware, and the batch that this gives."""
    assert run.launch is not None
    at, position = run.launch.at, places.position(run.launch.at)
    where = f"{escape(places.path(at.source))}:{position.line}" if position and at.stop else escape(run.launch.command)
    world = run.geometry.value(Name.WORLD_SIZE)
    on = f" on {count(world, Name.WORLD_SIZE)}" if world is not None else ""
    changed = [
        f"{short(name)} {number(value)}"
        for name in RANK_FACTORS
        if (value := run.geometry.value(name)) is not None and value != recipe.geometry.value(name)
    ]
    override = f" with {listing(changed, last='and')}" if changed else ""
    batch = run.geometry.value(Name.GLOBAL_BATCH_SIZE)
    same = ", the same" if batch is not None and batch == recipe.geometry.value(Name.GLOBAL_BATCH_SIZE) else ""
    return f"{where}{on}{override}: {batch_text(run)}{same}"
