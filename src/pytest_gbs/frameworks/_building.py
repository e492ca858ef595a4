"""A framework, described in the right shape and with nothing abbreviated, as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pytest_gbs.frameworks import hooks
from pytest_gbs.frameworks._formulas import formula, relation
from pytest_gbs.frameworks._notation import Raw, words
from pytest_gbs.frameworks.versions import in_eras, parse_bound, parse_version
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Enforcement, Equation, world
from pytest_gbs.model.framework import (
    LENIENT,
    Arguments,
    Constraint,
    Era,
    Exclusion,
    FeedsGpus,
    Framework,
    Loader,
    Recognition,
    Removal,
    Requirement,
    Row,
    SameAs,
    Switch,
    Text,
    Treatment,
    ValueReading,
)
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pins import Evidence
from pytest_gbs.model.quantity import FACTORS, PARALLEL, Name

KINDS: Final = ("quoted", "text", "whole-float", "fraction", "boolean", "null", "zero", "negative", "collection")

# What a framework does with odd values where its table says nothing: not known, and no mistake; with `strict` it stops.
_CONVERTING: Final = LENIENT._replace(null=Treatment.UNSET)
_STRICT: Final = ValueReading(null=Treatment.UNSET)
READINGS: Final = {"any": LENIENT, "usual": _CONVERTING, "strict": ValueReading()}


class _Named:
    """The conditions and readings that a description gives a name, and where it is."""

    def __init__(self, raw: Raw, home: str) -> None:
        self.home = home
        self._conditions: Raw = raw.get("conditions", {})
        self._readings: Raw = raw.get("readings", {})
        self.usual = self.reading(raw["reading"]) if "reading" in raw else _STRICT if raw.get("strict", False) else _CONVERTING

    def condition(self, stated: Any) -> Condition:
        """A condition: one that is described here, or one by name, `not` in front of it turns it round."""
        if isinstance(stated, str):
            turned = stated.startswith("not ")
            found = self.condition(self._conditions[stated.removeprefix("not ")])
            return found._replace(negated=not found.negated) if turned else found
        key = _key(stated["key"])
        if "present" in stated:
            return Condition(key, (None,), stated["present"], stated.get("default"), stated.get("said", ""), stated.get("of-files", False))
        if "from" in stated:
            return Condition(key, tuple(range(stated["from"], stated["to"] + 1)))
        values = tuple(None if value == "null" else value for value in (stated["is"] if "is" in stated else stated["not"]))
        return Condition(key, values, "not" in stated, stated.get("default"), stated.get("said", ""))

    def when(self, raw: Raw, key: str = "when") -> tuple[Condition, ...]:
        stated = raw.get(key, ())
        return tuple(map(self.condition, [stated] if isinstance(stated, (str, dict)) else stated))

    def optional(self, raw: Raw, key: str) -> Condition | None:
        return self.condition(raw[key]) if key in raw else None

    def reading(self, stated: Any) -> ValueReading:
        """What happens with odd values: as described here, or as the name says; `like` another with differences."""
        if isinstance(stated, str):
            return self.reading(self._readings[stated]) if stated in self._readings else READINGS[stated]
        return _differing(self.reading(stated["like"]) if "like" in stated else ValueReading(), stated)


def _differing(base: ValueReading, raw: Raw) -> ValueReading:
    """`base` with what `raw` says of single kinds of values, or of all of them at once."""
    changes: Raw = dict.fromkeys(map(_field, KINDS), raw["all"]) if "all" in raw else {}
    changes.update({_field(kind): raw[kind] for kind in KINDS if kind in raw})
    if "words" in raw:
        changes["words"] = tuple(_words(raw["words"]))
    if "why" in raw:
        changes["why"] = raw["why"]
    return base._replace(**changes) if changes else base


def _field(kind: str) -> str:
    return kind.replace("-", "_")


def _words(stated: Raw) -> Iterator[tuple[str | int, str]]:
    """Yield the treatment of words and of numbers below 1: in TOML every key is text, and so a number is one without its quotes."""
    for word, found in stated.items():
        yield int(word) if re.fullmatch(r"-?[0-9]{1,9}", word) else word, found


def build_framework(raw: Raw, name: str, home: str) -> Framework:
    """The table that `raw` describes, called `name` if it does not say itself; what is not a formula is left out.

    `raw` is plain, and all names in it are known. `home` says where it is described: the source of each fact that cites none.
    """
    named = _Named(raw, home)
    rows = tuple(_rows(raw, named))
    unit = raw.get("unit", "samples")
    stated = tuple(equation for each in raw.get("equations", ()) if (equation := _equation(each, unit, named)) is not None)
    called: str = raw.get("name", name)
    built = Framework(
        name=called,
        title=raw.get("title", called),
        recognition=_recognition(raw["recognise"], named),
        unit=unit,
        rows=rows,
        equations=(*stated, *(_usual(stated, rows, unit) if raw.get("usual-equations", True) else ())),
        constraints=tuple(c for each in raw.get("constraints", ()) if (c := _constraint(each, named)) is not None),
        exclusions=tuple(_exclusion(each, named) for each in raw.get("exclusions", ())),
        requirements=tuple(_requirement(each, named) for each in raw.get("requirements", ())),
        switches=tuple(_switch(each, named) for each in raw.get("switches", ())),
        texts=tuple(Text(_key(each["key"]), each["label"], each.get("source", home)) for each in raw.get("texts", ())),
        assumed=tuple((size, int(value)) for size, value in raw.get("assumed", {}).items()),
        also=frozenset(words(raw.get("also", ()))),
        names=_keys(raw.get("names", ())),
        packing=named.optional(raw, "packing"),
        partial_epochs=named.when(raw, "partial-epochs"),
        sequences_per_sample=int(raw.get("sequences-per-sample", 1)),
        loader=raw.get("loader", Loader.PYYAML),
        version=raw.get("version", home),
        source=raw.get("source", home),
        derive=_hook(raw.get("derive")),
        reserves=named.when(raw, "reserves"),
        shares=named.optional(raw, "shares"),
        arguments=raw.get("arguments", Arguments.FLAGS),
        companions=_keys(raw.get("companions", ())),
        includes=_keys(raw.get("includes", ())),
        settle=_hook(raw.get("settle")),
        companion=raw.get("companion", False),
        flags=raw.get("flags", False),
        package=raw.get("package", ""),
        removals=tuple(_removal(each, raw.get("package", ""), home) for each in raw.get("removals", ())),
        copies=words(raw.get("copies", ())),
        beside=words(raw.get("beside", ())),
        one_gpu=frozenset(words(raw.get("one-gpu", ()))),
        feeds_gpus=_feeds_gpus(raw["feeds-visible-gpus"], named) if "feeds-visible-gpus" in raw else None,
    )
    return _in_eras(built, raw, name, home)


def _in_eras(built: Framework, raw: Raw, name: str, home: str) -> Framework:
    """`built` with its eras: those of `since` and `until`, or those of `before`, what it was before a version by version."""
    if "before" not in raw:
        return in_eras(built)
    eras = []
    for text, table in raw["before"].items():
        package, version = parse_bound(text) or ("", text)
        eras.append(Era(version, build_framework(table, name, home), package))
    return built._replace(eras=tuple(sorted(eras, key=lambda era: (era.package, not era.until, parse_version(era.until) or ()))))


def _hook(name: str | None) -> Any:
    return None if name is None else hooks.HOOKS.get(name)


def _key(text: str) -> KeyPath:
    """The path that `text` writes with dots; a dot behind a backslash is part of a key."""
    return tuple(part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", text))


def _keys(stated: Any) -> tuple[KeyPath, ...]:
    return tuple(map(_key, words(stated)))


def _recognition(raw: Raw, named: _Named) -> Recognition:
    return Recognition(
        all_of=_keys(raw.get("all-of", ())),
        one_of=tuple(_groups(raw.get("any-of", ()))),
        none_of=_keys(raw.get("none-of", ())),
        marks=_keys(raw.get("marks", ())),
        paths=tuple(word.lower() for word in words(raw.get("paths", ()))),
        weight=int(raw.get("weight", 0)),
        when=named.when(raw),
        header=raw.get("header", False),
        syntax=raw.get("syntax", ""),
        files=tuple(raw.get("files", ())),
        calls=words(raw.get("calls", ())),
        imports=raw.get("imports", ""),
        programs=words(raw.get("programs", ())),
        uses=words(raw.get("uses", ())),
        common_name=raw.get("common-name", False),
        yields=raw.get("yields", False),
    )


def _groups(stated: Any) -> Iterator[tuple[KeyPath, ...]]:
    """Yield the groups of keys of which a recipe has one each: a text or a list of keys is one, a list of such several."""
    several = not isinstance(stated, str) and any(isinstance(each, list) or " " in each for each in stated)
    yield from map(_keys, stated if several else [stated] if stated else ())


def _rows(raw: Raw, named: _Named) -> Iterator[Row]:
    usual = named.when(raw, "defaults-when")
    for key, described in raw["keys"].items():
        for each in described if isinstance(described, list) else [described]:
            stated = {"size": each} if isinstance(each, str) else each
            elsewhere = named.when(stated, "default-when") if "default-when" in stated else usual
            for row in _spelt(key, stated, named):
                if row.default is None or not elsewhere:
                    yield row
                else:
                    yield row._replace(default=None)
                    yield row._replace(when=(*row.when, *elsewhere))


def _spelt(key: str, raw: Raw, named: _Named) -> Iterator[Row]:
    """Yield the rows of one key: for each of its spellings, and for each condition of which one is enough.

    A row may name another `key`: the keys of one size are tried in the order in which they stand.
    """
    for spelling in (raw.get("key", key), *words(raw.get("spellings", ()))):
        row = _row(_key(spelling), raw, named)
        enough = named.when(raw, "when-any")
        yield from (row._replace(when=(*row.when, condition)) for condition in enough) if enough else (row,)


def _row(key: KeyPath, raw: Raw, named: _Named) -> Row:
    default = raw.get("default")
    return Row(
        key,
        raw["size"],
        SameAs(default, raw.get("unless", "")) if isinstance(default, str) else None if default is None else int(default),
        _differing(named.reading(raw["reading"]) if "reading" in raw else named.usual, raw),
        raw.get("source", named.home),
        raw.get("unit", ""),
        int(raw.get("minimum", 1)),
        raw.get("ratio", False),
        named.when(raw),
        raw.get("since"),
        raw.get("until"),
        _evidence(raw),
    )


def _equation(raw: Any, unit: str, named: _Named) -> Equation | None:
    described: Raw = {"formula": raw} if isinstance(raw, str) else raw
    says = formula(described["formula"])
    if says is None:
        return None
    return Equation(
        says.result,
        says.product,
        says.divisors,
        described.get("rounding", says.rounding),
        described.get("mismatch", Enforcement.STOPS),
        described.get("unit", unit if says.result in (Name.GLOBAL_BATCH_SIZE, Name.EVAL_GLOBAL_BATCH_SIZE) else ""),
        described.get("since"),
        described.get("until"),
        described.get("source", named.home),
        named.when(described),
    )


def _usual(stated: tuple[Equation, ...], rows: tuple[Row, ...], unit: str) -> Iterator[Equation]:
    """Yield what holds of every framework, if nothing else is stated: the batch, the ranks, the processes.

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


def _constraint(raw: Any, named: _Named) -> Constraint | None:
    described: Raw = {"relation": raw} if isinstance(raw, str) else raw
    says = relation(described["relation"])
    if says is None:
        return None
    usual = "batch-not-divisible" if says.at_least is None else "micro-batch-too-small"
    return Constraint(
        described.get("rule", usual),
        says.dividend,
        says.divisor,
        says.at_least,
        described.get("enforcement", Enforcement.STOPS),
        named.when(described),
        words(described.get("needs", ())),
        str(described.get("label", described["relation"])),
        described.get("source", named.home),
        described.get("since"),
        described.get("until"),
        described.get("fixed", False),
        described.get("either", False),
        described.get("local", False),
        _evidence(described),
        by_trainer=described.get("by-trainer", False),
    )


def _exclusion(raw: Raw, named: _Named) -> Exclusion:
    label = raw.get("label", "the framework takes one of them")
    return Exclusion(
        _keys(raw["keys"]), label, raw.get("source", named.home), named.when(raw), raw.get("since"), raw.get("until"), _evidence(raw)
    )


def _requirement(raw: Raw, named: _Named) -> Requirement:
    whole, source = raw.get("whole", False), raw.get("source", named.home)
    return Requirement(_keys(raw["keys"]), raw["label"], named.when(raw), source, whole, raw.get("since"), raw.get("until"), _evidence(raw))


def _evidence(raw: Raw) -> tuple[Evidence, ...]:
    return tuple(Evidence(file, text) for file, text in raw.get("evidence", {}).items())


def _switch(raw: Raw, named: _Named) -> Switch:
    condition = named.condition(raw.get("condition", raw))
    enforcement = raw.get("enforcement", Enforcement.IGNORES)
    return Switch(condition, words(raw["sizes"]), raw["label"], raw.get("source", named.home), enforcement, named.when(raw))


def _feeds_gpus(raw: Raw, named: _Named) -> FeedsGpus:
    return FeedsGpus(words(raw["uses"]), named.when(raw), frozenset(words(raw.get("unless", ()))), raw.get("source", named.home))


def _removal(raw: Raw, package: str, home: str) -> Removal:
    package, source = raw.get("package", package), raw.get("source", home)
    return Removal(_key(raw["key"]), package, raw["since"], raw["label"], source, raw.get("instead", ""))
