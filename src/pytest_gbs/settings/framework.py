"""A user's own framework, described in the right shape, as a table like the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_gbs.core.equation import Enforcement, Equation, world
from pytest_gbs.core.framework import (
    LENIENT,
    Arguments,
    Condition,
    Constraint,
    Exclusion,
    Framework,
    Loader,
    Reading,
    Recognition,
    Requirement,
    Row,
    SameAs,
    Switch,
    Text,
    Treatment,
)
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, PARALLEL, Name
from pytest_gbs.core.typed import Any, Final
from pytest_gbs.core.versions import in_eras
from pytest_gbs.settings.formulas import formula, relation
from pytest_gbs.settings.framework_shape import KINDS
from pytest_gbs.settings.meaning import Raw

# Nobody said what the framework does with an odd value: it is not known then, and no mistake.
_LENIENT: Final = LENIENT._replace(null=Treatment.UNSET)
_STRICT: Final = Reading(null=Treatment.UNSET)


def build_framework(raw: Raw, name: str, home: str) -> Framework:
    """Return the table that `raw` describes, called `name` where it does not say itself; what is no formula is left out.

    `home` says where it is described: the source of each fact that cites none.
    """
    rows = tuple(_rows(raw, home))
    unit = raw.get("unit", "samples")
    stated = tuple(equation for each in raw.get("equations", ()) if (equation := _equation(each, unit, home)) is not None)
    called: str = raw.get("name", name)
    recognition = _recognition(raw["recognise"])
    built = Framework(
        name=called,
        title=raw.get("title", called),
        recognition=recognition,
        unit=unit,
        rows=rows,
        equations=(*stated, *_usual(stated, rows, unit)),
        constraints=tuple(c for each in raw.get("constraints", ()) if (c := _constraint(each, home)) is not None),
        exclusions=tuple(_exclusion(each, home) for each in raw.get("exclusions", ())),
        requirements=tuple(
            Requirement(_keys(each["keys"]), each["label"], _when(each), each.get("source", home)) for each in raw.get("requirements", ())
        ),
        switches=tuple(_switch(each, home) for each in raw.get("switches", ())),
        texts=tuple(Text(_key(each["key"]), each["label"], each.get("source", home)) for each in raw.get("texts", ())),
        assumed=tuple((size, int(value)) for size, value in raw.get("assumed", {}).items()),
        also=frozenset(raw.get("also", ())),
        names=_keys(raw.get("names", ())),
        packing=_optional(raw, "packing"),
        sequences_per_sample=int(raw.get("sequences-per-sample", 1)),
        loader=raw.get("loader", Loader.PYYAML),
        version=raw.get("version", home),
        source=raw.get("source", home),
        reserves=_optional(raw, "reserves"),
        shares=_optional(raw, "shares"),
        arguments=raw.get("arguments", Arguments.FLAGS),
        companions=_keys(raw.get("companions", ())),
        imports=raw.get("imports", ""),
        package=raw.get("package", ""),
    )
    return in_eras(built)


def _key(text: str) -> KeyPath:
    """Return the path that `text` writes with dots; a dot behind a backslash is part of a key."""
    return tuple(part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", text))


def _keys(texts: Iterable[str]) -> tuple[KeyPath, ...]:
    return tuple(map(_key, texts))


def _condition(raw: Raw) -> Condition:
    if "present" in raw:
        return Condition(_key(raw["key"]), (None,), negated=raw["present"], said=raw.get("said", ""))
    values = tuple(raw["is"] if "is" in raw else raw["not"])
    return Condition(_key(raw["key"]), values, "not" in raw, raw.get("default"), raw.get("said", ""))


def _optional(raw: Raw, key: str) -> Condition | None:
    return _condition(raw[key]) if key in raw else None


def _when(raw: Raw) -> tuple[Condition, ...]:
    return tuple(map(_condition, raw.get("when", ())))


def _recognition(raw: Raw) -> Recognition:
    stated = raw.get("any-of", [])
    groups = (stated,) if stated and isinstance(stated[0], str) else stated
    return Recognition(
        all_of=_keys(raw.get("all-of", ())),
        one_of=tuple(map(_keys, groups)),
        none_of=_keys(raw.get("none-of", ())),
        marks=_keys(raw.get("marks", ())),
        paths=tuple(word.lower() for word in raw.get("paths", ())),
        weight=int(raw.get("weight", 0)),
        when=_when(raw),
        header=raw.get("header", False),
        syntax=raw.get("syntax", ""),
        files=tuple(raw.get("files", ())),
    )


def _rows(raw: Raw, home: str) -> Iterator[Row]:
    usual = _STRICT if raw.get("strict", False) else _LENIENT
    for key, described in raw["keys"].items():
        for each in described if isinstance(described, list) else [described]:
            yield _row(_key(key), {"size": each} if isinstance(each, str) else each, usual, home)


def _row(key: KeyPath, raw: Raw, usual: Reading, home: str) -> Row:
    default = raw.get("default")
    stated = {kind.replace("-", "_"): raw[kind] for kind in KINDS if kind in raw}
    return Row(
        key,
        raw["size"],
        SameAs(default, raw.get("unless", "")) if isinstance(default, str) else None if default is None else int(default),
        usual._replace(**stated, words=tuple(_words(raw)), why=raw.get("why", "")),
        raw.get("source", home),
        raw.get("unit", ""),
        int(raw.get("minimum", 1)),
        raw.get("ratio", False),
        _when(raw),
        raw.get("since"),
        raw.get("until"),
    )


def _words(raw: Raw) -> Iterator[tuple[str | int, str]]:
    """Yield the treatment of words and of numbers below 1: in TOML every key is text."""
    for word, found in raw.get("words", {}).items():
        yield word, found
        if re.fullmatch(r"-?[0-9]{1,9}", word):
            yield int(word), found


def _equation(raw: Any, unit: str, home: str) -> Equation | None:
    described = {"formula": raw} if isinstance(raw, str) else raw
    says = formula(described["formula"])
    if says is None:
        return None
    return Equation(
        says.result,
        says.product,
        says.divisors,
        described.get("rounding", says.rounding),
        described.get("mismatch", Enforcement.STOPS),
        described.get("unit", unit if says.result == Name.GLOBAL_BATCH_SIZE else ""),
        described.get("since"),
        described.get("until"),
        described.get("source", home),
    )


def _usual(stated: tuple[Equation, ...], rows: tuple[Row, ...], unit: str) -> Iterator[Equation]:
    """Yield what holds of every framework, where nothing else is stated: the batch, the ranks, the processes.

    Model parallelism takes ranks from data parallelism where a key holds its size.
    """
    results = {equation.result for equation in stated}
    parallel = tuple(name for name in PARALLEL if any(row.name == name for row in rows))
    usual = (
        world("definition"),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), parallel, source="definition"),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source="definition"),
    )
    return (equation for equation in usual if equation.result not in results)


def _constraint(raw: Any, home: str) -> Constraint | None:
    described = {"relation": raw} if isinstance(raw, str) else raw
    says = relation(described["relation"])
    if says is None:
        return None
    return Constraint(
        "GBS202" if says.at_least is None else "GBS207",
        says.dividend,
        says.divisor,
        says.at_least,
        described.get("enforcement", Enforcement.STOPS),
        _when(described),
        tuple(described.get("needs", ())),
        described.get("label", described["relation"]),
        described.get("source", home),
    )


def _exclusion(raw: Raw, home: str) -> Exclusion:
    label = raw.get("label", "the framework takes one of them")
    return Exclusion(_keys(raw["keys"]), label, raw.get("source", home), _when(raw))


def _switch(raw: Raw, home: str) -> Switch:
    return Switch(_condition(raw), tuple(raw["sizes"]), raw["label"], raw.get("source", home), raw.get("enforcement", Enforcement.IGNORES))


__all__ = ["build_framework"]
