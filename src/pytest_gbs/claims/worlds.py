"""The hardware worlds of a recipe: one that is shown, and for each claim those in which it may be meant.

Evidence for a claim, best first: the claim itself, other comments of the file, the recipe's own hardware keys, the command
line, the settings, launcher files nearby. Evidence for what is shown: the command line, own keys, comments, settings.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from pytest_gbs.arithmetic.solver import solve, symbolic
from pytest_gbs.frameworks.conditions import Applied
from pytest_gbs.model.assumption import Assumption
from pytest_gbs.model.declaration import Declaration, Force, Interval, without_partners
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.quantity import HARDWARE, NO_NOTE, PARALLEL, RANK_FACTORS, Name, Note, Noted, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.run import Geometry, World

# No single machine has more GPUs than this, bar a rack of 72 that counts as one.
_PER_NODE_AT_MOST: Final = 16
PER_NODE_USUAL: Final = 8
_TRAINERS_KEY: Final = "per_device_train_batch_size"
_EITHER: Final = Note(kind=Noted.EITHER)

Sizes = dict[str, Quantity]


class Nearby(NamedTuple):
    """What the launcher files near a recipe agree on: GPUs per node, parallel sizes, and what it takes to believe them."""

    gpus_per_node: Quantity | None = None
    parallel: tuple[Quantity, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    disagreement: str = ""


class HardwareEvidence(NamedTuple):
    """Everything known of a recipe's hardware beside its comments. `nearby` is asked only where something is missing."""

    own: Sizes
    given: Sizes
    settings: Sizes
    nearby: Callable[[], Nearby]


class HardwareWorld(NamedTuple):
    """One hardware world: its sizes, what it assumes, and in words why evidence for it did not count."""

    sizes: Sizes
    assumptions: tuple[Assumption, ...] = ()
    doubt: str = ""


def geometry(sizes: dict[str, Size], hardware: Mapping[str, Size], applied: Applied, document: Document) -> Geometry:
    """All sizes that follow from the recipe's own and one hardware world."""
    real, framework = applied
    known: dict[str, Size] = {name: size for name, size in sizes.items() if name not in HARDWARE}
    known.update(hardware)
    for name, value in framework.assumed:
        if name not in known:
            known[name] = Quantity(name, value, Origin.DEFAULT)
    stated = solve(known, framework.equations)
    if framework.settle and (settled := framework.settle(document, stated)):
        stated = solve({**known, **settled}, framework.equations)
    realised = framework.derive(document, stated) if framework.derive else {}
    if real.equations != framework.equations:
        found = solve(known, real.equations)
        realised.update((name, size) for name, size in found.items() if isinstance(size, Quantity) and size != stated.get(name))
        return Geometry(stated, realised)
    return Geometry(stated, _following(realised, stated, framework) if realised else {})


def _following(realised: dict[str, Size], stated: dict[str, Size], framework: Framework) -> dict[str, Size]:
    """`realised` with the sizes that follow from it, such as tokens per step, in place of those that follow from what is stated."""
    kept = {name: size for name, size in stated.items() if not (isinstance(size, Quantity) and _rests_on(size, realised))}
    equations = [equation for equation in framework.equations if equation.result not in realised]
    found = solve({**kept, **realised}, equations)
    follows = {name: size for name, size in found.items() if name not in kept and isinstance(size, Quantity)}
    return {**realised, **follows}


def _rests_on(size: Quantity, names: Container[str]) -> bool:
    """Whether `size` was computed from one of the sizes `names`."""
    return any(part.name in names or _rests_on(part, names) for part in size.because)


def shown(declarations: tuple[Declaration, ...], said: Sizes, evidence: HardwareEvidence) -> HardwareWorld:
    """The hardware that is shown for a recipe without a launch; empty if nothing says anything.

    `said` is the hardware that the comments of the file state; without any, their history is shown.
    """
    given = evidence.given
    if _is_whole(given):
        return HardwareWorld(given)
    own = {**evidence.own, **given}
    if _is_whole(own):
        return HardwareWorld(own)
    return _readings(said or said_in_comments(declarations, Force.HISTORY), evidence, given)[0]


def readings(declaration: Declaration, said: Sizes, evidence: HardwareEvidence, sizes: dict[str, Size]) -> tuple[HardwareWorld, ...]:
    """The hardware worlds in which `declaration` may be meant, the preferred one first.

    `said` is the hardware that the comments of the file state.
    """
    own = _conditions(declaration) or _left_over(declaration, sizes)
    ranks = sizes.get(Name.DATA_PARALLEL_SIZE)
    if isinstance(ranks, Quantity) and ranks.origin == Origin.FILE:  # a setting as any other, which the claim may have wrong
        own.pop(Name.DATA_PARALLEL_SIZE, None)
    if own:
        firm = {name: said[name] for name in said if name not in own}
        if _is_whole(own) or Name.DATA_PARALLEL_SIZE in own:
            firm = {}
        elif Name.NUM_NODES in own and Name.NUM_NODES not in said:  # a total of another node count says nothing about this one
            firm = {name: size for name, size in firm.items() if name != Name.WORLD_SIZE or size.note.kind == Noted.EITHER}
        elif Name.NUM_NODES in own and Name.WORLD_SIZE in firm and said[Name.NUM_NODES].at == own[Name.NUM_NODES].at:
            firm[Name.WORLD_SIZE] = firm[Name.WORLD_SIZE]._replace(note=_EITHER)  # said where no node count is
        return _readings({**own, **firm}, evidence, {})
    return _readings(said, evidence, {})


def _is_whole(sizes: Sizes) -> bool:
    """Whether `sizes` say on how many GPUs in all."""
    return Name.WORLD_SIZE in sizes or sizes.keys() >= {Name.NUM_NODES, Name.GPUS_PER_NODE}


def _conditions(declaration: Declaration) -> Sizes:
    """The hardware that the claim's own statement names."""
    found: Sizes = {}
    for value, name, place in declaration.stated_conditions():
        if name in HARDWARE or name in PARALLEL or name == Name.DATA_PARALLEL_SIZE:
            note = _EITHER if declaration.ambiguous and name == Name.WORLD_SIZE else NO_NOTE
            found[name] = Quantity(name, value, Origin.COMMENT, at=place, note=note)
    return found


def _left_over(declaration: Declaration, sizes: dict[str, Size]) -> Sizes:
    """The GPUs of a product without names (`16x(1)x8`): what is left when micro batch and accumulation have their partners.

    In a product of tokens the sequence length has one as well: `1 x 16 x 1024 = 16,384 tokens`.
    """
    stated = declaration.sum
    names = (*RANK_FACTORS, Name.SEQUENCE_LENGTH) if declaration.unit == "tokens" else RANK_FACTORS
    settings = [size for name in names if isinstance(size := sizes.get(name), Quantity)]
    if stated is None or stated.divisors or any(factor.name for factor in stated.factors) or len(settings) < len(names):
        return {}
    rest, unmatched = without_partners(stated, (size.value for size in settings))
    if unmatched or len(rest) != 1:
        return {}
    return {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, rest[0].value, Origin.COMMENT, at=rest[0].at)}


def said_in_comments(declarations: tuple[Declaration, ...], force: str) -> Sizes:
    """The hardware that comments of this force state, by itself or with a batch; none of which they state two values."""
    found: Sizes = {}
    uneven = set[str]()
    for declaration in declarations:
        if declaration.force == force and not declaration.weak:
            for size in _stated(declaration):
                if found.setdefault(size.name, size).value != size.value:
                    uneven.add(size.name)
    return {name: size for name, size in found.items() if name not in uneven}


def is_of_other_settings(declaration: Declaration, seen: Geometry) -> bool:
    """Whether a statement names micro batch and accumulation, and neither is what the recipe has in the world `seen` that it states.

    Such a product was written for another recipe, or for this one before it was changed, and its hardware with it. Where the recipe
    states the global batch, the accumulation follows from the micro batch, and only one of the two is another.
    """
    batch = seen.said(Name.GLOBAL_BATCH_SIZE)
    if isinstance(batch, Quantity) and not batch.because:
        return False
    stated = declaration.sum.factors if declaration.sum is not None else ()
    named = [factor for factor in (*stated, *declaration.stated_conditions()) if factor.name in RANK_FACTORS]
    return len({factor.name for factor in named}) == len(RANK_FACTORS) and all(_differs(seen.said(each.name), each.value) for each in named)


def quotes_another_program(declaration: Declaration, document: Document, framework: Framework) -> bool:
    """Whether a statement gives the micro batch by the key of transformers' Trainer, which neither this framework nor the file has.

    `# FLA: per_device_train_batch_size=128, 8 GPUs` in a recipe of Megatron names what it is compared with.
    """
    text = document.source.text
    factors = (*(declaration.sum.factors if declaration.sum else ()), *declaration.stated_conditions())
    keyed = (each for each in factors if each.name == Name.MICRO_BATCH_SIZE and each.at.source == document.source.path)
    if not any(text[: each.at.start].rstrip(" =:").endswith(_TRAINERS_KEY) for each in keyed):
        return False
    said = sum(block.text.count(_TRAINERS_KEY) for block in document.comments)
    return text.count(_TRAINERS_KEY) == said and all(row.key[-1] != _TRAINERS_KEY for row in framework.rows)


def _differs(size: Size, value: int) -> bool:
    """Whether `size` is certainly not `value`: another number, or none that is whole."""
    return size.value != value if isinstance(size, Quantity) else isinstance(size, Unknown) and size.reason == Reason.NOT_WHOLE


def _stated(declaration: Declaration) -> Iterable[Quantity]:
    """The hardware that one statement is about or names."""
    if declaration.name in HARDWARE:
        note = _EITHER if declaration.ambiguous else NO_NOTE
        return (Quantity(declaration.name, declaration.value, Origin.COMMENT, at=declaration.at, note=note),)
    return (size for size in _conditions(declaration).values() if size.name in HARDWARE)


def _readings(said: Sizes, evidence: HardwareEvidence, given: Sizes) -> tuple[HardwareWorld, ...]:
    """The worlds that `said` may mean, filled up with evidence."""
    said = {**said, **given}
    world = said.get(Name.WORLD_SIZE)
    nodes = said.get(Name.NUM_NODES) or evidence.own.get(Name.NUM_NODES)
    if world is not None and world.note.kind == Noted.EITHER and nodes is not None and nodes.value > 1 and Name.GPUS_PER_NODE not in said:
        return _both(said, world, nodes)
    if world is not None or Name.DATA_PARALLEL_SIZE in said:
        return (HardwareWorld(_consistent(said)),)
    if nodes is None:
        return (_without_nodes(said, evidence),)
    return (_with_nodes({**said, Name.NUM_NODES: nodes}, evidence),)


def _both(said: Sizes, world: Quantity, nodes: Quantity) -> tuple[HardwareWorld, ...]:
    """The two readings of "8 GPUs" beside a number of nodes: that many on each, or in all."""
    rest = {name: size for name, size in said.items() if name != Name.WORLD_SIZE}
    each = HardwareWorld({**rest, Name.NUM_NODES: nodes, Name.GPUS_PER_NODE: world._replace(name=Name.GPUS_PER_NODE, note=NO_NOTE)})
    total = HardwareWorld(_consistent({**rest, Name.NUM_NODES: nodes, Name.WORLD_SIZE: world._replace(note=NO_NOTE)}))
    if world.value > _PER_NODE_AT_MOST:
        return (total,)
    return (each, total) if world.value <= PER_NODE_USUAL else (total, each)


def _consistent(said: Sizes) -> Sizes:
    """`said` without a node count or GPUs per node that do not divide the total; the total is the better witness."""
    world = said.get(Name.WORLD_SIZE)
    if world is None:
        return said
    part = [name for name in (Name.NUM_NODES, Name.GPUS_PER_NODE) if name in said]
    if len(part) == 2 and said[part[0]].value * said[part[1]].value != world.value:
        return {name: size for name, size in said.items() if name not in part}
    return {name: size for name, size in said.items() if name not in part or world.value % size.value == 0}


def _without_nodes(said: Sizes, evidence: HardwareEvidence) -> HardwareWorld:
    """The world of a claim that names no nodes: own keys, then the command line, then settings, whichever has a total."""
    for source in (evidence.own, evidence.given, evidence.settings):
        merged = {**source, **said}
        if _is_whole(merged):
            return HardwareWorld(_consistent(merged))
    return HardwareWorld(said)


def _with_nodes(said: Sizes, evidence: HardwareEvidence) -> HardwareWorld:
    """The world of a claim that names its nodes, with the best evidence for the GPUs of each."""
    if Name.GPUS_PER_NODE in said:
        return HardwareWorld(said)
    nodes = said[Name.NUM_NODES].value
    for source in (evidence.own, evidence.given, evidence.settings):
        if Name.GPUS_PER_NODE in source:
            return HardwareWorld({**said, Name.GPUS_PER_NODE: source[Name.GPUS_PER_NODE]})
        total = source.get(Name.WORLD_SIZE)
        if total is not None and source is evidence.own and total.value % nodes == 0:
            return HardwareWorld({**said, Name.WORLD_SIZE: total})
    nearby = evidence.nearby()
    if nearby.gpus_per_node is None:
        return HardwareWorld(said, doubt=nearby.disagreement)
    return HardwareWorld({**said, Name.GPUS_PER_NODE: nearby.gpus_per_node}, nearby.assumptions)


def world(geometry: Geometry, hardware: HardwareWorld) -> World:
    """One world of a claim; it is weak where a default of the framework is a factor of the batch."""
    factors = (geometry.get(name) for name in RANK_FACTORS)
    weak = any(isinstance(size, Quantity) and size.origin == Origin.DEFAULT for size in factors)
    return World(geometry, hardware.assumptions, weak, hardware.doubt)


def multiplied(declaration: Declaration, geometry: Geometry) -> Declaration | None:
    """The claim of the global batch that `8 * num_gpus` makes in one world, any other as it is; None if its GPUs are unknown."""
    each = declaration.value if declaration.name == Name.RANK_BATCH_SIZE else declaration.per_rank
    if not each:
        return declaration
    world = geometry.get(Name.WORLD_SIZE)
    if not isinstance(world, Quantity):
        return None
    value = each * world.value
    return declaration._replace(name=Name.GLOBAL_BATCH_SIZE, value=value, holds=(Interval(value, value),), per_rank=each)


def grows_with_gpus(geometry: Geometry, framework: Framework) -> bool:
    """Whether each of an unknown number of GPUs takes the same whole part of the global batch."""
    wanted = symbolic(Name.GLOBAL_BATCH_SIZE, geometry.stated, framework.equations)
    return wanted is not None and wanted.free == (Name.WORLD_SIZE,) and not wanted.under and wanted.coefficient.denominator == 1
