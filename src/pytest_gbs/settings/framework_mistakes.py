"""What is wrong with the description of a user's own framework beyond its shape."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.core import globs
from pytest_gbs.core.equation import Rounding
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.quantity import HARDWARE, Name
from pytest_gbs.core.typed import Any
from pytest_gbs.core.versions import parse_version
from pytest_gbs.frameworks._formulas import FORMULA, RELATION, formula, relation
from pytest_gbs.settings.framework_shape import SIZES
from pytest_gbs.settings.meaning import Problem, Raw


def mistakes(raw: Raw, built: Framework) -> Iterator[Problem]:
    """Yield what is wrong with `raw`, a description of the right shape of which `built` is the table."""
    yield from _wrong_notation(raw)
    yield from _wrong_sizes(raw, built)
    yield from _wrong_rows(raw)
    for number, glob in enumerate(raw["recognise"].get("files", ())):
        if wrong := globs.problem(glob):
            yield Problem(("recognise", "files", number), f'holds "{glob}", which {wrong}')
    for path, condition in _conditions(raw, ()):
        if sum(word in condition for word in ("is", "not", "present")) > 1:
            yield Problem(path, "says more than one of is, not and present; one of them is wanted")


def _wrong_notation(raw: Raw) -> Iterator[Problem]:
    for kind, part, reads, wanted in (("equations", "formula", formula, FORMULA), ("constraints", "relation", relation, RELATION)):
        for number, each in enumerate(raw.get(kind, ())):
            text = each if isinstance(each, str) else each[part]
            says = reads(text)
            if says is None:
                yield Problem((kind, number), f'holds "{text[:80]}", which is no {part}: {wanted} is wanted')
                continue
            used = (name for each in says if isinstance(each, (str, tuple)) for name in ((each,) if isinstance(each, str) else each))
            for name in dict.fromkeys(used):
                if name not in SIZES and name not in (Rounding.EXACT, Rounding.FLOOR):
                    yield Problem((kind, number), f'holds "{text[:80]}", where {name} is no size{_meant(name)}')


def _wrong_sizes(raw: Raw, built: Framework) -> Iterator[Problem]:
    """Yield each size that an equation is made of and that nothing gives."""
    given = {*HARDWARE, *(row.name for row in built.rows), *(name for name, _ in built.assumed)}
    results = {equation.result for equation in built.equations}
    for number, each in enumerate(raw.get("equations", ())):
        says = formula(each if isinstance(each, str) else each["formula"])
        for name in (*says.product, *says.divisors) if says else ():
            if says and name in SIZES and name not in given and name not in results and says.result not in given:
                yield Problem(("equations", number), f"needs {name}, which no key holds and no other equation gives")
    batches = [equation for equation in built.equations if equation.result == Name.GLOBAL_BATCH_SIZE]
    lacks = Name.MICRO_BATCH_SIZE not in given | results and Name.GLOBAL_BATCH_SIZE not in given
    if lacks and all(Name.MICRO_BATCH_SIZE in equation.product for equation in batches):
        yield Problem(("keys",), "has no key of the micro_batch_size or the global_batch_size")


def _wrong_rows(raw: Raw) -> Iterator[Problem]:
    for key, described in raw["keys"].items():
        for number, each in enumerate(described if isinstance(described, list) else [described]):
            path = ("keys", key, number) if isinstance(described, list) else ("keys", key)
            if isinstance(each, str):
                continue
            default = each.get("default")
            if isinstance(default, str) and default not in SIZES:
                yield Problem((*path, "default"), f'is "{default[:80]}", which is no size{_meant(default)}')
            yield from _wrong_bounds(each, path)
    for number, each in enumerate(raw.get("equations", ())):
        if isinstance(each, dict):
            yield from _wrong_bounds(each, ("equations", number))


def _wrong_bounds(raw: Raw, path: tuple[str | int, ...]) -> Iterator[Problem]:
    for bound in ("since", "until"):
        if bound in raw and parse_version(raw[bound]) is None:
            yield Problem((*path, bound), f'is "{raw[bound][:80]}": a version such as "0.16" is wanted')


def _meant(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:100], SIZES, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _conditions(part: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Raw]]:
    """Yield each condition of a table with its path."""
    if isinstance(part, list):
        for number, each in enumerate(part):
            yield from _conditions(each, (*path, number))
    elif isinstance(part, dict):
        if "key" in part:
            yield path, part
        for key, each in part.items():
            yield from _conditions(each, (*path, key))
