"""What is wrong with the plain description of a framework beyond its shape: names that stand for nothing, formulas, versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any, Final

from pytest_gbs.files import globs
from pytest_gbs.frameworks._building import READINGS
from pytest_gbs.frameworks._formulas import FORMULA, RELATION, formula, relation
from pytest_gbs.frameworks._notation import Path, Raw, words
from pytest_gbs.frameworks.versions import parse_bound, parse_version
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_ALIKE, MOST_ROWS, MOST_VERSIONS
from pytest_gbs.model.quantity import HARDWARE, Name
from pytest_gbs.settings.meaning import SettingsProblem

SIZES: Final = tuple(value for name, value in vars(Name).items() if name.isupper())
# Keys that hold conditions or their names, by the part of a description.
_WHEN: Final = ("when", "when-any", "default-when", "defaults-when", "condition", "packing", "partial-epochs", "reserves", "shares")
_CHECKS: Final = ("constraints", "exclusions", "requirements", "switches")
_TESTS: Final = ("is", "not", "present", "from")
_MOST: Final = 500  # words among which one that was meant is looked for


def mistakes(raw: Raw) -> Iterator[SettingsProblem]:
    """Yield what is wrong with `raw`, a plain description of the right shape, so that it can't be built or means nothing."""
    yield from _unknown_conditions(raw)
    yield from _unknown_readings(raw)
    yield from _wrong_notation(raw)
    yield from _unknown_sizes(raw)
    yield from _wrong_recognition(raw)
    yield from _wrong_versions(raw)
    yield from _too_many_rows(raw)
    for version, era in raw.get("before", {}).items():
        yield from (problem._replace(path=("before", version, *problem.path)) for problem in mistakes(era))


def missing_sizes(raw: Raw, built: Framework) -> Iterator[SettingsProblem]:
    """Yield each size that an equation of `raw` is made of and that nothing gives in its table `built`."""
    given = {*HARDWARE, *(row.name for row in built.rows), *(name for name, _ in built.assumed)}
    results = {equation.result for equation in built.equations}
    for path, text in _texts(raw, "equations", "formula"):
        equation = raw["equations"][path[1]]
        is_gone = isinstance(equation, dict) and "until" in equation  # with keys of its time
        says = formula(text) if not is_gone else None
        for name in (*says.product, *says.divisors) if says else ():
            if says and name not in given and name not in results and says.result not in given:
                yield SettingsProblem(path, f"needs {name}, which no key and no other equation gives")
    batches = [equation for equation in built.equations if equation.result == Name.GLOBAL_BATCH_SIZE]
    lacks = Name.MICRO_BATCH_SIZE not in given | results and Name.GLOBAL_BATCH_SIZE not in given
    if lacks and all(Name.MICRO_BATCH_SIZE in equation.product for equation in batches):
        yield SettingsProblem(("keys",), "has no key of the micro_batch_size or the global_batch_size")


def meant(word: str, known: Iterable[str]) -> str:
    """The advice which of the `known` words may have been meant by `word`, "" if none is near."""
    close = get_close_matches(word[:100], islice(known, _MOST), 1)
    return f"; did you mean {close[0]}?" if close else ""


def _tables(raw: Raw) -> Iterator[tuple[Path, Raw]]:
    """Yield each table of a description in which conditions, sizes and versions are named, with its path."""
    yield (), raw
    yield from (((part,), raw[part]) for part in ("recognise", "feeds-visible-gpus") if part in raw)
    yield from _rows(raw)
    for kind in (*_CHECKS, "equations", "removals"):
        yield from (((kind, number), each) for number, each in enumerate(raw.get(kind, ())) if isinstance(each, dict))


def _rows(raw: Raw) -> Iterator[tuple[Path, Raw]]:
    for key, described in raw["keys"].items():
        for number, each in enumerate(described if isinstance(described, list) else [described]):
            path: Path = ("keys", key, number) if isinstance(described, list) else ("keys", key)
            yield path, {"size": each} if isinstance(each, str) else each


def _unknown_conditions(raw: Raw) -> Iterator[SettingsProblem]:
    """Yield each name of a condition that there is not, and each condition that says several things at once."""
    known = raw.get("conditions", {})
    named: Iterator[tuple[Path, Any]] = ((("conditions", name), condition) for name, condition in known.items())
    for path, condition in chain(named, _conditions(raw)):
        if isinstance(condition, str):
            name = condition.removeprefix("not ")
            if name not in known:
                yield SettingsProblem(path, f'names the condition "{name[:80]}", and there is none of that name{meant(name, known)}')
            continue
        if sum(word in condition for word in _TESTS) > 1:
            yield SettingsProblem(path, "has more than one of is, not, present and from; keep one of them")
        for word in ("is", "not"):
            if isinstance(condition.get(word), str):
                yield SettingsProblem((*path, word), f'is "{condition[word][:80]}", and `let` has no list of that name')


def _conditions(raw: Raw) -> Iterator[tuple[Path, Any]]:
    """Yield each condition, or the name of one, that a description asks for."""
    for path, table in _tables(raw):
        if path[:1] == ("switches",) and "condition" not in table:
            yield path, table
        for word in _WHEN:
            stated = table.get(word, ())
            if isinstance(stated, list):
                yield from (((*path, word, number), each) for number, each in enumerate(stated))
            elif stated:
                yield (*path, word), stated


def _unknown_readings(raw: Raw) -> Iterator[SettingsProblem]:
    """Yield each name of a reading that there is not, and each reading that is like itself."""
    readings = raw.get("readings", {})
    known = {*readings, *READINGS}
    used: list[tuple[Path, str]] = [((*path, "reading"), table["reading"]) for path, table in _tables(raw) if "reading" in table]
    used += [(("readings", name, "like"), reading["like"]) for name, reading in readings.items() if "like" in reading]
    for path, name in used:
        if name not in known:
            yield SettingsProblem(path, f'is "{name[:80]}", and there is no reading of that name{meant(name, known)}')
    for name in readings:
        if _is_like_itself(name, readings):
            yield SettingsProblem(("readings", name, "like"), f"refers back to itself, or over more than {MOST_ALIKE} others")


def _is_like_itself(name: str, readings: Raw) -> bool:
    """Whether the reading `name` is like another, which is like another, without end."""
    for _ in range(MOST_ALIKE):
        if name not in readings:
            return False
        name = readings[name].get("like", "")
    return True


def _wrong_notation(raw: Raw) -> Iterator[SettingsProblem]:
    known = {*SIZES, *raw.get("sizes", ())}
    for kind, part, wanted in (("equations", "formula", FORMULA), ("constraints", "relation", RELATION)):
        for path, text in _texts(raw, kind, part):
            sizes = _sizes_in(text, part)
            if sizes is None:
                yield SettingsProblem(path, f'contains "{text[:80]}", which is not a {part}: expected {wanted}')
            for name in dict.fromkeys(sizes or ()):
                if name not in known:
                    yield SettingsProblem(path, f'contains "{text[:80]}", but {name[:80]} is not a size{meant(name, known)}')


def _sizes_in(text: str, part: str) -> tuple[str, ...] | None:
    """The sizes that a formula or a relation names, None if the text is neither."""
    if part == "formula":
        says = formula(text)
        return None if says is None else (says.result, *says.product, *says.divisors)
    holds = relation(text)
    return None if holds is None else holds.names


def _texts(raw: Raw, kind: str, part: str) -> Iterator[tuple[Path, str]]:
    for number, each in enumerate(raw.get(kind, ())):
        yield (kind, number), each if isinstance(each, str) else each[part]


def _unknown_sizes(raw: Raw) -> Iterator[SettingsProblem]:
    known = {*SIZES, *raw.get("sizes", ())}
    for path, name in _named_sizes(raw):
        if name not in known:
            yield SettingsProblem(path, f'is "{name[:80]}", which is not a size{meant(name, known)}')


def _named_sizes(raw: Raw) -> Iterator[tuple[Path, str]]:
    """Yield each size that a description names outside its formulas and relations."""
    for path, row in _rows(raw):
        yield path if isinstance(_at(raw, path), str) else (*path, "size"), row["size"]
        for word in ("default", "unless"):
            if isinstance(row.get(word), str):
                yield (*path, word), row[word]
    yield from ((("assumed", name), name) for name in raw.get("assumed", ()))
    for kind, part in (("constraints", "needs"), ("switches", "sizes")):
        for number, each in enumerate(raw.get(kind, ())):
            named = words(each.get(part, ())) if isinstance(each, dict) else ()
            yield from (((kind, number, part), name) for name in named)


def _at(raw: Any, path: Path) -> Any:
    for step in path:
        raw = raw[step]
    return raw


def _wrong_recognition(raw: Raw) -> Iterator[SettingsProblem]:
    how = raw["recognise"]
    if not words(how.get("all-of", ())) and not how.get("any-of", ()):
        yield SettingsProblem(("recognise",), "has no key by which a recipe is recognised")
    for number, glob in enumerate(how.get("files", ())):
        if wrong := globs.problem(glob):
            yield SettingsProblem(("recognise", "files", number), f'contains "{glob}", which {wrong}')


def _wrong_versions(raw: Raw) -> Iterator[SettingsProblem]:
    bounds = [((*path, word), table[word]) for path, table in _tables(raw) for word in ("since", "until") if word in table]
    versions = [(("before", each), (parse_bound(each) or ("", each))[1]) for each in raw.get("before", ())]
    for path, text in (*bounds, *(each for each in versions if each[1])):
        if parse_version(text) is None:
            yield SettingsProblem(path, f'is "{text[:80]}": expected a version such as "0.16"')
    dated = [path for path, _ in bounds if path[0] != "removals"]
    if versions and dated:
        yield SettingsProblem(dated[0], "is given together with before; give only one of the two")
    if len({text for _, text in bounds}) > MOST_VERSIONS:
        yield SettingsProblem((), f"distinguishes more than {MOST_VERSIONS} versions")


def _too_many_rows(raw: Raw) -> Iterator[SettingsProblem]:
    """Yield that the keys are too many: each spelling of a key and each condition of which one is enough makes one of its own."""
    number = 0
    for _, row in _rows(raw):
        either = row.get("when-any", ())
        number += (1 + len(words(row.get("spellings", ())))) * max(1, len(either) if isinstance(either, list) else 1)
    if number > MOST_ROWS:
        yield SettingsProblem(("keys",), f"cover more than {MOST_ROWS:,} keys")
