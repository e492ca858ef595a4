"""The numbers in the comments of a recipe that follow its hardware and settings, and the edits that change them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from pytest_gbs.fixes.editing import Read
from pytest_gbs.fixes.scale_edits import EditableNumber, Values, digits_at
from pytest_gbs.model.declaration import Declaration, Factor, Force
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Edit
from pytest_gbs.model.quantity import FACTORS, HARDWARE, RANK_FACTORS, Name
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import ScaleChange, What


def comments(run: Run, old: Values, new: Values, read: Read) -> tuple[ScaleChange, ...]:
    """The changes of what comments state of the batch's factors and hardware, from the `old` sizes to the `new` ones.

    Only numbers that are those of the old sizes are touched: a comment may be about something else as well.
    """
    found: dict[Location, ScaleChange] = {}
    # "8 GPUs" beside a number of nodes are those of each; alone they are all there are.
    of_node = any(Name.NUM_NODES in (d.name, *(name for name, _ in d.conditions)) for d in run.declarations if d.force == Force.STATES)
    for declaration in run.declarations:
        if declaration.force == Force.STATES and not declaration.weak:
            for factor in _factors(declaration, old, of_node):
                at = digits_at(factor.at, factor.value, read)
                if at is not None and factor.name in new and new[factor.name] != factor.value:
                    change = EditableNumber(factor.name, factor.value, at, "comment").to(new[factor.name], What.COMMENT)
                    found.setdefault(at, change._replace(edit=_with_noun(change, read)))
    return tuple(found.values())


def _with_noun(change: ScaleChange, read: Read) -> Edit:
    """The edit of a number in a comment that takes the word behind it along: `8 nodes`, `1 node`.

    A word that does not go with its number as it stands stays as it is, and so does one with another noun behind it (`8 GPU node`):
    scaling back could not restore it.
    """
    source = read(change.at.source)
    match = _noun().match(source.text, change.at.stop) if isinstance(source, Source) else None
    if match is None or not isinstance(source, Source) or bool(match.group(2)) != (change.old != 1):
        return change.edit
    at = change.at._replace(stop=match.end())
    return Edit(at, source.text[at.start : at.stop], f"{change.new}{match.group(1)}{'s' if change.new != 1 else ''}")


@cache
def _noun() -> re.Pattern[str]:
    behind = "and|are|as|at|by|each|for|from|gives?|in|is|of|on|or|per|so|to|total|using|via|was|were|with|x"
    return re.compile(rf"(?m)([ \t](?:[Nn]ode|GPU|gpu|[Mm]achine|[Dd]evice))(s?)(?![\w-])(?=[ \t]*(?:$|[^\w \t]|(?:{behind})\b))")


def _factors(declaration: Declaration, old: Values, of_node: bool) -> Iterator[Factor]:
    """Yield the numbers of a statement that are sizes of `old`, each by the name of the size that it is."""
    names = _meanings(declaration, of_node)
    if declaration.name in (*HARDWARE, *FACTORS):
        yield from _named(Factor(declaration.value, declaration.name, declaration.at), names, old)
    if declaration.condition_places:
        for factor in declaration.stated_conditions():
            yield from _named(factor, names, old)
    if declaration.sum is None:
        return
    for factor in declaration.sum.factors:
        if factor.name:
            yield from _named(factor, names, old)
    yield from _unnamed([factor for factor in declaration.sum.factors if not factor.name], declaration, old)


def _meanings(declaration: Declaration, of_node: bool) -> tuple[str, ...]:
    """The sizes that "GPUs" may be in a statement, the likelier first."""
    if not declaration.ambiguous:
        return (Name.WORLD_SIZE,)
    return (Name.GPUS_PER_NODE, Name.WORLD_SIZE) if of_node else (Name.WORLD_SIZE, Name.GPUS_PER_NODE)


def _named(factor: Factor, meanings: tuple[str, ...], old: Values) -> Iterator[Factor]:
    """Yield `factor` if it is the size of `old` that it names."""
    for name in meanings if factor.name == Name.WORLD_SIZE else (factor.name,):
        if old.get(name) == factor.value:
            yield factor._replace(name=name)
            return


def _unnamed(factors: list[Factor], declaration: Declaration, old: Values) -> Iterator[Factor]:
    """Yield the bare numbers of a product by the names that they stand for, where each of them has one."""
    if not factors or declaration.sum is None:
        return
    taken = {factor.name for factor in declaration.sum.factors if factor.name}
    for hardware in ((Name.WORLD_SIZE,), (Name.NUM_NODES, Name.GPUS_PER_NODE), (Name.DATA_PARALLEL_SIZE,)):
        names = [n for n in (*RANK_FACTORS, *hardware) if n not in taken and n in old]
        paired = _paired(factors, names, old)
        if paired is not None:
            yield from paired
            return


def _paired(factors: Iterable[Factor], names: list[str], old: Values) -> list[Factor] | None:
    """Each factor with the first of `names` that has its value, or None if one is left over."""
    rest, paired = list(names), list[Factor]()
    for factor in factors:
        name = next((name for name in rest if old[name] == factor.value), None)
        if name is None:
            return None
        rest.remove(name)
        paired.append(factor._replace(name=name))
    return paired
