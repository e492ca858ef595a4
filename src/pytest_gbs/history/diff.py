"""What became of the batch of each recipe and launch between two reports: matched by name, renames followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import sqrt
from typing import Final

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import called, symbolic_product
from pytest_gbs.claims.locked import Moved, batch_size, moved, record, same_batch
from pytest_gbs.history.lock import entries
from pytest_gbs.model.difference import Batch, BatchChange, Differences, Operand, Ran, Setting, Status, Topic
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.limits import MOST_COMPARED
from pytest_gbs.model.location import Lines, Source, Tree, dotted, grouped
from pytest_gbs.model.locked import Record
from pytest_gbs.model.quantity import FACTORS, Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report, Role
from pytest_gbs.model.run import Run

_TOPICS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("learning_rate", "lr", "max_lr", "peak_lr", "base_lr", "lr_max", "learning_rate_max"), Topic.LEARNING_RATE),
    **dict.fromkeys(
        ("warmup_ratio", "warmup_steps", "num_warmup_steps", "lr_warmup_steps", "warmup_iters", "lr_warmup_iters", "lr_warmup_fraction"),
        Topic.WARMUP,
    ),
    **dict.fromkeys(("lr_warmup_ratio", "lr_warmup_samples", "t_warmup", "warmup"), Topic.WARMUP),
    **dict.fromkeys(("num_train_epochs", "num_epochs", "epochs", "max_epochs", "total_epochs", "n_epochs"), Topic.LENGTH),
    **dict.fromkeys(
        ("max_steps", "train_iters", "total_steps", "train_steps", "max_steps_per_epoch", "total_training_steps"), Topic.LENGTH
    ),
    **dict.fromkeys(("max_duration", "num_steps", "training_steps", "total_limit"), Topic.LENGTH),
}
# Topics of steps rather than of epochs or fractions: what they mean in samples changes with the batch.
_STEPS: Final = ("steps", "iters")
_GUIDE: Final = (
    "a learning rate is tuned for a batch; linear and square-root scaling are rough guides only: what fits depends on optimizer, "
    "warmup, clipping, sequence length and data"
)
# The rules about a claim that is false, by its product or by a factor, and about one that is open now.
_PRODUCT: Final = "stale-declaration"
_FACTOR: Final = "stale-factor"
_OPEN: Final = "claim-no-longer-checked"
_ALIKE: Final = 0.5


class BatchState(NamedTuple):
    """One side: what it is called, its files, and the report on them, runs kept."""

    name: str
    tree: Tree
    report: Report


class _Side(NamedTuple):
    run: Run
    file: FileReport
    state: BatchState
    record: Record | None


def differences(base: BatchState, head: BatchState) -> Differences:
    """What became of the batch of each recipe and launch from `base` to `head`."""
    new_names = dict(_renames(base, head))
    before = {_renamed(name, side.run, new_names): side for name, side in _sides(base)}
    after = dict(_sides(head))
    changes = [found for name in {**before, **after} if (found := _change(before.get(name), after.get(name))) is not None]
    changes.sort(key=lambda change: (change.path, change.launch))
    rates = any(change.status == Status.CHANGED and _same_rate(change.settings) for change in changes)
    changes = list(_said_once(changes))
    recipes = {name.partition(" @ ")[0] for name in (*before, *after)}
    return Differences(base.name, head.name, tuple(changes), len(recipes), (_GUIDE,) if rates else ())


def since_run(ran: Ran, head: BatchState) -> Differences:
    """What became of the recipe of a job since it ran; its launches count only where it runs in no other way."""
    sides = [side for _, side in _sides(head) if side.run.path == ran.recipe]
    own = [side for side in sides if side.run.launch is None] or sides
    changes = tuple(found for side in own if (found := _since(ran, side)) is not None)
    return Differences(ran.name, head.name, changes, min(1, len(own)))


def _since(ran: Ran, side: _Side) -> BatchChange | None:
    """What became of one recipe since it ran; None if nothing did."""
    after = _batch(side)._replace(tokens=None, tokens_text="")  # a job counts rows
    before = Batch(ran.global_batch_size, f"{ran.global_batch_size:,}", after.unit)
    size = side.run.geometry.value
    factors = ((name, getattr(ran, name)) for name in FACTORS)
    operands = tuple(_operand(Moved(name, was, size(name)), side, side) for name, was in factors if was is not None and was != size(name))
    if after.value == before.value and not operands:
        return None
    status = Status.UNKNOWN if after.value is None else Status.SAME if after.value == before.value else Status.CHANGED
    factor = after.value / ran.global_batch_size if after.value else None
    return BatchChange(side.run.path, _launch(side), status, before, after, operands, factor=factor)


def _said_once(changes: list[BatchChange]) -> Iterator[BatchChange]:
    """Yield the changes, those of launches without what is said of their recipe already."""
    alone = {change.path: change for change in changes if not change.launch}
    for change in changes:
        recipe = alone.get(change.path) if change.launch else None
        if recipe is None or recipe.settings != change.settings:
            yield change
        else:
            yield change._replace(settings=(), notes=tuple(note for note in change.notes if note not in recipe.notes))


def _sides(state: BatchState) -> Iterator[tuple[str, _Side]]:
    return ((name, _Side(run, file, state, record(run))) for name, run, file in entries(state.report))


def _renamed(name: str, run: Run, new_names: Mapping[str, str]) -> str:
    """The name of a run as it is after the renames of its recipe and its script."""
    rest = name[len(run.path) :]
    script = run.launch.at.source if run.launch is not None and run.launch.start is not None else ""
    if script in new_names and script != run.path:
        rest = rest.replace(f" @ {script}", f" @ {new_names[script]}", 1)
    return new_names.get(run.path, run.path) + rest


def _renames(base: BatchState, head: BatchState) -> Iterator[tuple[str, str]]:
    """Yield each file that is gone with the new file that it became: the same text, or at least half of its lines."""
    old, new = set(base.tree.paths()), set(head.tree.paths())
    gone = _texts(base, old - new)
    come = _texts(head, new - old)
    pairs = [(a, b) for a in gone for b in come] if len(gone) * len(come) <= MOST_COMPARED else _by_name(gone, come)
    rated = ((_likeness(gone[a], come[b]), _base_name(a) == _base_name(b), a, b) for a, b in pairs)
    for _, _, a, b in sorted((each for each in rated if each[0] >= _ALIKE), key=lambda each: (-each[0], not each[1], each[2:])):
        if a in gone and b in come:
            yield a, b
            del gone[a], come[b]


def _texts(state: BatchState, paths: set[str]) -> dict[str, Counter[str]]:
    """The lines of those of `paths` that are recipes or launch them."""
    kept = {file.path for file in state.report.files if file.role in (Role.RECIPE, Role.LAUNCHER)}
    sources = (state.tree.read(path) for path in sorted(paths & kept))
    return {source.path: Counter(source.text.splitlines()) for source in sources if isinstance(source, Source)}


def _by_name(gone: Iterable[str], come: Iterable[str]) -> list[tuple[str, str]]:
    homes = grouped((_base_name(path), path) for path in come)
    return [(path, other) for path in gone for other in homes.get(_base_name(path), [])]


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    most = max(a.total(), b.total())
    return (a & b).total() / most if most else 0.0


def _change(before: _Side | None, after: _Side | None) -> BatchChange | None:
    """What became of one recipe or launch; None if nothing did."""
    side = after or before
    assert side is not None
    path = side.run.path
    launch = _launch(side)
    if before is None or after is None:
        status = Status.ADDED if before is None else Status.REMOVED
        return BatchChange(path, launch, status, before and _batch(before), after and _batch(after))
    renamed = before.run.path if before.run.path != path else ""
    status = _status(before, after)
    if not status and not (renamed and after.run.launch is None):
        return None
    changed = moved(before.record, after.record) if before.record and after.record else ()
    operands = tuple(_operand(each, before, after) for each in changed) or tuple(_stated(before, after))
    settings = tuple(_settings(before.run, after.run))
    notes = (*_notes(before, after, settings), *_claims(before, after)) if status == Status.CHANGED else ()
    notes = tuple(_claims(before, after)) if status == Status.UNKNOWN else notes
    factor = _factor(before, after)
    return BatchChange(path, launch, status or Status.RENAMED, _batch(before), _batch(after), operands, settings, renamed, notes, factor)


def _status(before: _Side, after: _Side) -> str:
    """What became of the batch; "" if neither it nor an operand of it is another one."""
    was, now = before.record, after.record
    if was is None or now is None:
        return Status.UNKNOWN if (was is None) != (now is None) else ""
    same = same_batch(was, now)
    if same is False or (same is None and was.share and now.share and was.of == now.of and was.share != now.share):
        return Status.CHANGED
    if same is None or (was.global_batch_size is not None and now.global_batch_size is None):
        return Status.UNKNOWN
    return Status.SAME if moved(was, now) else ""


def _launch(side: _Side) -> str:
    """Where the launch is: `scripts/run.sh:12`, `[name]` for one of the settings; "" for a recipe by itself."""
    launch = side.run.launch
    if launch is None:
        return ""
    line = _line(side, launch.at.source, launch.at.start)
    return (f"{launch.at.source}:{line}" if line else launch.at.source) if launch.start is not None else f"[{launch.command}]"


def _line(side: _Side, path: str, offset: int) -> int:
    source = side.state.tree.read(path)
    return Lines(source.text).line_of(offset) if isinstance(source, Source) else 0


def _batch(side: _Side) -> Batch:
    run, value = side.run, batch_size(side.run)
    tokens = run.geometry.value(Name.TOKENS_PER_STEP)
    text = f"{value:,}" if value is not None else _symbolic(run, Name.GLOBAL_BATCH_SIZE)
    length = run.geometry.value(Name.SEQUENCE_LENGTH)
    tokens_text = "" if length is None else f"{tokens:,}" if tokens is not None else _symbolic(run, Name.TOKENS_PER_STEP)
    return Batch(value, text, run.framework.unit, tokens, tokens_text)


def _symbolic(run: Run, name: str) -> str:
    found = symbolic(name, run.geometry.stated, run.framework.equations)
    if found is None or not found.free:
        return "unknown"
    return symbolic_product(found)


def _operand(each: Moved, before: _Side, after: _Side) -> Operand:
    side = after if each.after is not None else before
    size = side.run.geometry.get(each.name)
    at = size.at if isinstance(size, Quantity) else None
    where = (at.source, _line(side, at.source, at.start)) if at is not None else ("", 0)
    key = size.key if isinstance(size, Quantity) else ""
    return Operand(each.name, called(each.name), each.before, each.after, *where, key)


def _stated(before: _Side, after: _Side) -> Iterator[Operand]:
    """Yield the batch itself where both sides state it and differ."""
    a, b = (side.run.geometry.get(Name.GLOBAL_BATCH_SIZE) for side in (before, after))
    if isinstance(a, Quantity) and isinstance(b, Quantity) and not a.because and not b.because and a.value != b.value:
        yield _operand(Moved(Name.GLOBAL_BATCH_SIZE, a.value, b.value), before, after)


def _settings(before: Run, after: Run) -> Iterator[Setting]:
    """Yield learning rates, warmup, epochs and steps of both sides."""
    old, new = _found(before), _found(after)
    for key in {**new, **old}:
        a, b = old.get(key), new.get(key)
        if a == b and (_as_number(a) or 0) < 0:
            continue  # -1: not set
        yield Setting(_TOPICS[key.rpartition(".")[2]], key, a, b, a == b or _as_number(a) == _as_number(b) is not None)


def _found(run: Run) -> dict[str, str]:
    """The settings that go with the batch, by dotted key."""
    found = {}
    for path in run.document.keyed:
        if path[-1] in _TOPICS:
            node = run.document.get(*path)
            if isinstance(node, Scalar) and node.text:
                found[dotted(path)] = node.text
    return found


def _as_number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _notes(before: _Side, after: _Side, settings: tuple[Setting, ...]) -> Iterator[str]:
    """Yield what to think of where the batch changed."""
    factor = _factor(before, after)
    rate = _same_rate(settings)
    if rate is not None:
        guide = f": linear scaling would be x {factor:.3g}, square-root scaling x {sqrt(factor):.3g}" if factor else ""
        yield f"{rate.key} is the same, {rate.after}, for another batch{guide}"
    steps = [each for each in settings if each.topic != Topic.LEARNING_RATE and each.same and _counts_steps(each)]
    if steps and factor:
        words = " and ".join(f"{each.key} {each.after}" for each in steps)
        yield f"{words} {'is' if len(steps) == 1 else 'are'} the same number of steps, which is {factor:.3g} times the samples"


def _same_rate(settings: tuple[Setting, ...]) -> Setting | None:
    """The first learning rate, if all of them are what they were."""
    rates = [each for each in settings if each.topic == Topic.LEARNING_RATE]
    return rates[0] if rates and all(each.same for each in rates) else None


def _counts_steps(setting: Setting) -> bool:
    value = _as_number(setting.after)
    return setting.key.endswith(_STEPS) and value is not None and value >= 1


def _factor(before: _Side, after: _Side) -> float | None:
    """The factor by which the batch changed, if both batches have one unit and are known, or their part on one GPU is."""
    a, b = before.record, after.record
    if a is None or b is None or a.unit != b.unit:
        return None
    if a.global_batch_size and b.global_batch_size:
        return b.global_batch_size / a.global_batch_size
    if a.share and b.share and a.of == b.of:
        return float(Fraction(b.share) / Fraction(a.share))
    return None


def _claims(before: _Side, after: _Side) -> Iterator[str]:
    """Yield what became of a claim that was checked."""
    if before.record is None or before.record.claim is None or before.run.launch is not None:
        return
    rules, now = after.state.report.rule, dict(after.file.rules)
    product, factor = (now.get(rules(name).code) for name in (_PRODUCT, _FACTOR))
    if "violated" in (product, factor):
        yield f"the comment still says {before.record.claim:,} ({rules(_PRODUCT).code})"
    elif product == "undetermined":
        open_now = rules(_OPEN).code
        yield f"the comment's claim of {before.record.claim:,} was checked, and can no longer be decided ({open_now})"
