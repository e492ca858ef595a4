"""What the grammars read in the comments of one file, brought together: each number once, conditions with their claims."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

from pytest_gbs.claims.grammars._owner import is_evaluation
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import COMPUTED, DIVIDED, PRINTED, CommentBlock
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name
from pytest_gbs.model.record import Final

BATCHES: Final = frozenset((Name.GLOBAL_BATCH_SIZE, Name.TOKENS_PER_STEP, Name.PROMPTS_PER_STEP))
_NEAR: Final = 120
_OFF: Final = "not-a-claim"

Read = tuple[CommentBlock, tuple[Declaration, ...]]


def resolved(found: Sequence[Read], blocks: Iterable[CommentBlock] = ()) -> tuple[Declaration, ...]:
    """The declarations of a file in order, from those of each of its blocks.

    `blocks` are all blocks of the file: one of them may switch off what is behind the same key.
    """
    off = _switched_off(blocks)
    every: list[Declaration] = []
    for block, declarations in found:
        spans = _off_spans(block, off)
        kept = [d for d in declarations if not _is_off(d, spans) and not (d.name in BATCHES and _is_about_evaluation(block))]
        read = _alternatives(_with_hardware(block, _once(kept)))
        every.extend(read if block.placement not in (PRINTED, COMPUTED, DIVIDED) else [each._replace(by=block.placement) for each in read])
    if any(declaration.exact for declaration in every):
        every = [declaration for declaration in every if declaration.exact or declaration.name not in BATCHES]
    return tuple(sorted(every, key=lambda declaration: (declaration.at.start, declaration.name)))


def _is_about_evaluation(block: CommentBlock) -> bool:
    """Whether the key that the block belongs to makes it be about evaluation."""
    return is_evaluation(block.owner) and (block.placement == "trailing" or "batch" in str((block.owner or ("",))[-1]))


def _once(declarations: Iterable[Declaration]) -> list[Declaration]:
    """`declarations` with each number read once, by the grammar that says most of it."""
    kept: list[Declaration] = []
    for declaration in sorted(declarations, key=_says, reverse=True):
        same = next((i for i, other in enumerate(kept) if _is_same(declaration, other)), None)
        if same is None:
            kept.append(declaration)
        else:
            kept[same] = _merged(kept[same], declaration)
    return kept


def _says(declaration: Declaration) -> tuple[bool, bool, bool, int]:
    return (declaration.exact, declaration.sum is not None, bool(declaration.unit), len(declaration.conditions))


def _is_same(one: Declaration, other: Declaration) -> bool:
    if one.name != other.name and not (one.name in BATCHES and other.name in BATCHES):
        return False
    if one.at.start < other.at.stop and other.at.start < one.at.stop:
        return True
    # "global batch size 128: 2 x 16 x 4 = 128" says it twice.
    if one.name not in BATCHES or (one.name, one.value, one.holds, one.force) != (other.name, other.value, other.holds, other.force):
        return False
    near = abs(one.at.start - other.at.start) < _NEAR and not (one.sum and other.sum)
    return near and all(dict(other.conditions).get(name, value) == value for name, value in one.conditions)


def _merged(best: Declaration, other: Declaration) -> Declaration:
    """`best` with what only `other` knows; a number that `best` takes for one size is not another."""
    known = {name for name, _ in best.conditions} | {factor.name for factor in (best.sum.factors if best.sum else ())}
    pairs = zip(other.conditions, other.condition_places, strict=True)
    more = [(pair, at) for pair, at in pairs if pair[0] not in known and at not in best.condition_places]
    return best._replace(
        conditions=(*best.conditions, *(pair for pair, _ in more)),
        condition_places=(*best.condition_places, *(at for _, at in more)),
        unit=best.unit or other.unit,
        ambiguous=best.ambiguous or (other.ambiguous and any(name == Name.WORLD_SIZE for (name, _), _ in more)),
    )


def _with_hardware(block: CommentBlock, declarations: list[Declaration]) -> list[Declaration]:
    """`declarations` with the hardware of a paragraph as a condition of its batch, where the batch's own statement names none."""
    if not any(d.name in BATCHES for d in declarations) or not any(d.name in HARDWARE for d in declarations):
        return declarations
    breaks = [match.start() for match in _blank().finditer(block.text)]
    places = [_paragraph(block, declaration.at, breaks) for declaration in declarations]
    return [
        _conditioned(d, [other for other, at in zip(declarations, places, strict=True) if at == here])
        if d.name in BATCHES and not d.exact
        else d
        for d, here in zip(declarations, places, strict=True)
    ]


_blank = lazy_pattern(r"\n[ \t#]*(?=\n)")


def _paragraph(block: CommentBlock, at: Location, breaks: list[int]) -> int:
    return bisect_right(breaks, block.offset(at.start))


def _conditioned(batch: Declaration, paragraph: list[Declaration]) -> Declaration:
    if any(name in HARDWARE or name == Name.DATA_PARALLEL_SIZE for name, _ in batch.conditions):
        return batch
    stated = [d for d in paragraph if d.name in HARDWARE and d.force == Force.STATES]
    values = {d.name: d for d in stated}
    if any(values[d.name].value != d.value for d in stated):
        return batch
    ambiguous = Name.WORLD_SIZE in values and values[Name.WORLD_SIZE].ambiguous
    return batch._replace(
        conditions=(*batch.conditions, *((d.name, d.value) for d in values.values())),
        condition_places=(*batch.condition_places, *(d.at for d in values.values())),
        ambiguous=batch.ambiguous or ambiguous,
    )


def _alternatives(declarations: list[Declaration]) -> list[Declaration]:
    """`declarations` with the batches of one block that advise what to set on which hardware no longer stating it.

    `8 GPUs: 8 * 1 * 16 = 128`, `64 GPUs: 64 * 1 * 2 = 128`: at most one of them is about this recipe. Nor do those that set a key for
    each: `For 8 GPUs: global_batch_size=8`, `For 1 GPU: global_batch_size=1`.
    """
    keys = [d for d in declarations if d.name in BATCHES and d.force == Force.STATES and "_" in d.text and "=" in d.text]
    if len({setup for d in keys if (setup := _setup(d, HARDWARE))}) > 1 and len({d.value for d in keys}) > 1:
        declarations = [d._replace(force=Force.ADVISES) if d in keys else d for d in declarations]
    batches = [
        d
        for d in declarations
        if d.name in BATCHES and d.force == Force.STATES and (d.sum is not None or any(n in RANK_FACTORS for n, _ in d.conditions))
    ]
    setups = {(_setup(d, HARDWARE), _setup(d, RANK_FACTORS), d.sum is not None and tuple(f.value for f in d.sum.factors)) for d in batches}
    if len({hardware for hardware, _, _ in setups if hardware}) < 2 or len({(sizes, factors) for _, sizes, factors in setups}) < 2:
        return declarations
    return [d._replace(force=Force.ADVISES) if d in batches else d for d in declarations]


def _setup(batch: Declaration, names: Collection[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(pair for pair in batch.conditions if pair[0] in names))


def _switched_off(blocks: Iterable[CommentBlock]) -> frozenset[KeyPath]:
    """The keys above which a comment that says nothing else switches off what is behind them."""
    return frozenset(block.owner for block in blocks if _OFF in block.text and block.owner and _own_lines(block) is None)


_marker = lazy_pattern(r"gbs:[ \t]*not-a-claim")


def _own_lines(block: CommentBlock) -> list[tuple[int, int]] | None:
    """The lines of the block's text that a marker switches off; None if it is on a line of its own: all."""
    spans: list[tuple[int, int]] = []
    stop = 0
    while match := _marker().search(block.text, stop):  # one for each line: a line may be long, and full of them
        start = block.text.rfind("\n", 0, match.start()) + 1
        if not block.text[start : match.start()].strip(" \t#"):
            return None
        end = block.text.find("\n", match.end())
        stop = len(block.text) if end < 0 else end
        spans.append((start, stop))
    return spans


def _off_spans(block: CommentBlock, off: frozenset[KeyPath]) -> list[Location] | None:
    """The places of the file that markers in a block switch off, ascending; None if all of the block is."""
    if block.owner in off:
        return None
    lines = _own_lines(block) if _OFF in block.text else []
    return None if lines is None else [block.locate("", start, stop) for start, stop in lines]


def _is_off(declaration: Declaration, spans: list[Location] | None) -> bool:
    if spans is None:
        return True
    number = bisect_right(spans, declaration.at.start, key=lambda span: span.start)
    return number > 0 and declaration.at.start < spans[number - 1].stop
