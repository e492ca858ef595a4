"""What the batch of a recipe or a launch was, by `gbs.lock` or at an earlier revision, and whether it still is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import called, leaves
from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.equation import Equation, Monomial
from pytest_gbs.model.locked import PER_GPU, PER_RANK, LockedBatch, Record
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, Conflict, Name, Quantity, Size
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run

# A size of one is worth no word where it only divides the GPUs.
_DIVISORS: Final = (*PARALLEL, Name.EXPERT_PARALLEL_SIZE)


class Moved(NamedTuple):
    """An operand with the number it had and the number it has; None if it was, or is, not stated."""

    name: str
    before: int | None
    after: int | None


class Comparison(NamedTuple):
    """Whether a run still has the batch it is held to: `holds` None if that is unknown; `free` is what is not known then.

    `values` are those of the one free size for which it would hold. `now` is what the run has.
    """

    holds: bool | None
    now: Record | None
    free: tuple[str, ...] = ()
    values: tuple[int, ...] = ()


def record(run: Run) -> Record | None:
    """The batch of `run`, or None if neither it nor the part of one GPU is known."""
    batch, part = batch_size(run), _part(run)
    if batch is None and part is None:
        return None
    share, of = (str(part.coefficient), part.free[0]) if part is not None else ("", PER_GPU)
    return Record(run.framework.unit, batch, share, of, tuple(_operands(run)), _claim(run))


def is_known(run: Run) -> bool:
    """Whether the batch of `run` or the part of one GPU is known, so that there is a record of it."""
    return batch_size(run) is not None or _part(run) is not None


def _part(run: Run) -> Monomial | None:
    """The part of one GPU, None if it is not known."""
    found = per_gpu(run)
    return found if found is not None and found.free in ((PER_GPU,), (PER_RANK,)) else None


def batch_size(run: Run) -> int | None:
    """What trains per optimizer step, None if it is not known."""
    return run.geometry.global_batch_size


def per_gpu(run: Run) -> Monomial | None:
    """The symbolic batch with the hardware left open, whatever is known of it."""
    bare = {name: size for name, size in run.geometry.stated.items() if name not in HARDWARE and not _rests_on_hardware(size)}
    return symbolic(Name.GLOBAL_BATCH_SIZE, bare, run.framework.equations, keep=(PER_GPU,))


def _rests_on_hardware(size: Size) -> bool:
    if isinstance(size, Conflict):
        return any(map(_rests_on_hardware, size.values))
    return isinstance(size, Quantity) and bool(size.because) and any(leaf.name in HARDWARE for leaf in leaves(size))


def operands(run: Run) -> tuple[Quantity, ...]:
    """The stated sizes that the batch of `run` is made of, in the order of the product; none if it is stated itself."""
    size = run.geometry.said(Name.GLOBAL_BATCH_SIZE)
    if isinstance(size, Quantity) and not size.because:
        return ()
    names = dict.fromkeys(_below(Name.GLOBAL_BATCH_SIZE, {equation.result: equation for equation in run.framework.equations}, 0))
    sizes = (run.geometry.stated.get(name) for name in names)
    found = tuple(q for q in sizes if isinstance(q, Quantity) and not q.because)
    # Where a launcher gives nodes and the GPUs of each, their product says nothing more.
    given = {size.name for size in found}
    whole = given >= {Name.NUM_NODES, Name.GPUS_PER_NODE}
    return tuple(size for size in found if size.name != Name.WORLD_SIZE or not whole)


def _operands(run: Run) -> Iterator[tuple[str, int]]:
    for size in operands(run):
        if size.value != 1 or size.name not in _DIVISORS:
            yield size.name, size.value


def _below(name: str, by_result: dict[str, Equation], depth: int) -> Iterator[str]:
    """Yield the sizes that equations make `name` of, itself left out."""
    equation = by_result.get(name)
    for part in (*equation.product, *equation.divisors) if equation is not None and depth < 8 else ():
        yield part
        yield from _below(part, by_result, depth + 1)


def _claim(run: Run) -> int | None:
    """The number that a comment claims, rather one that counts what the batch counts: not 32 prompts of 256 completions."""
    if run.launch is not None:
        return None
    verified = [claim.declaration for claim in run.claims if claim.judgement.verified and not claim.declaration.per_rank]
    alike = [each for each in verified if each.unit in ("", run.framework.unit)]
    return next((each.value for each in (*alike, *verified)), None)


def moved(before: Record, after: Record) -> tuple[Moved, ...]:
    """The operands that differ, in the order of the product."""
    old, new = dict(before.operands), dict(after.operands)
    return tuple(Moved(name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name))


def change(operand: Moved) -> str:
    """The two numbers of an operand for people: `micro batch 4 to 8`, `nodes none to 2`."""
    before, after = ("none" if value is None else f"{value:,}" for value in (operand.before, operand.after))
    return f"{called(operand.name)} {before} to {after}"


def same_batch(before: Record, after: Record) -> bool | None:
    """Whether two records say the same of the batch, None if they don't know enough of it."""
    if before.unit != after.unit:
        return False
    if before.global_batch_size is not None and after.global_batch_size is not None:
        return before.global_batch_size == after.global_batch_size
    if before.share and after.share and before.of == after.of:
        return before.share == after.share if before.global_batch_size is None or before.share == after.share else None
    return None


def compare(locked: LockedBatch, run: Run) -> Comparison:
    """Whether `run` still has its locked batch."""
    before, now = locked.record, record(run)
    if now is None:
        return Comparison(None, None, (Name.GLOBAL_BATCH_SIZE,))
    if before.unit != now.unit:
        return Comparison(False, now)
    if locked.what_if and _depends_on_hardware(run):
        return _compare_shares(before, now)
    if before.global_batch_size is None:
        return _compare_shares(before, now)
    if now.global_batch_size is not None:
        return Comparison(before.global_batch_size == now.global_batch_size, now)
    found = symbolic(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations)
    values = reaching(found, (Interval(before.global_batch_size, before.global_batch_size),)) if found else None
    if found is None or values is None:
        return Comparison(None, now, found.free if found else (Name.GLOBAL_BATCH_SIZE,))
    return Comparison(None if values else False, now, found.free, values)


def _depends_on_hardware(run: Run) -> bool:
    found = per_gpu(run)
    return found is None or bool(found.free)


def _compare_shares(before: Record, now: Record) -> Comparison:
    if not before.share or not now.share or before.of != now.of:
        return Comparison(None, now, (Name.WORLD_SIZE,))
    return Comparison(before.share == now.share, now)


def key(run: Run, document: int) -> str:
    """What a record of `run` is called, the number of its launch left out: `a/sft.yaml`, `a/sft.yaml @ run.sh`."""
    recipe = run.path if document == 1 else f"{run.path} (document {document})"
    if run.launch is None:
        return recipe
    place = run.launch.at.source if run.launch.start is not None else f"[{run.launch.command}]"
    return recipe if place == run.path else f"{recipe} @ {place}"


def words(found: Record) -> str:
    """The batch for people: `128 samples`, `16 samples per GPU`."""
    number = found.share if found.global_batch_size is None else f"{found.global_batch_size:,}"
    unit = found.unit.removesuffix("s") if number == "1" else found.unit
    each = "GPU" if found.of == PER_GPU else "data-parallel rank"
    return f"{number} {unit} per {each}" if found.global_batch_size is None else f"{number} {unit}"
