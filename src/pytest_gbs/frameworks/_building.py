"""A framework, described in the right shape and with nothing abbreviated, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from pytest_gbs.frameworks import hooks
from pytest_gbs.frameworks._formulas import formula, relation
from pytest_gbs.frameworks._notation import Raw, words
from pytest_gbs.frameworks.versions import in_eras, parse_bound, parse_version
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Equation, world
from pytest_gbs.model.framework import (
    LENIENT,
    Constraint,
    Era,
    FeedsGpus,
    Framework,
    KeyChoice,
    Recognition,
    Removal,
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
_ONE_OF_THEM: Final = "the framework takes one of them"
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

    def conditions(self, stated: Any) -> tuple[Condition, ...]:
        """One condition, or a list of them."""
        return tuple(map(self.condition, [stated] if isinstance(stated, (str, dict)) else stated))

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


# What becomes of what a description says of a field; what is not here is taken as it is.
_MEANT: Final[dict[str, Callable[[Any, _Named], Any]]] = {
    **dict.fromkeys(("when", "partial_epochs", "reserves"), lambda stated, named: named.conditions(stated)),
    **dict.fromkeys(("condition", "packing", "shares"), lambda stated, named: named.condition(stated)),
    **dict.fromkeys(("all_of", "none_of", "marks", "keys", "names", "companions", "includes"), lambda stated, _: _keys(stated)),
    **dict.fromkeys(("calls", "programs", "uses", "needs", "sizes", "copies", "beside", "own_files"), lambda stated, _: words(stated)),
    **dict.fromkeys(("also", "unless", "one_gpu"), lambda stated, _: frozenset(words(stated))),
    **dict.fromkeys(("derive", "settle"), lambda stated, _: hooks.HOOKS.get(stated)),
    **dict.fromkeys(("minimum", "weight", "sequences_per_sample"), lambda stated, _: int(stated)),
    "key": lambda stated, _: _key(stated),
    "functions": lambda stated, _: tuple(
        (name, tuple((argument, _key(key)) for argument, key in keys.items())) for names, keys in stated.items() for name in words(names)
    ),
    "paths": lambda stated, _: tuple(word.lower() for word in words(stated)),
    "files": lambda stated, _: tuple(stated),
    "evidence": lambda stated, _: tuple(Evidence(file, text) for file, text in stated.items()),
}
_Kind = TypeVar("_Kind")


def _filled(kind: Callable[..., _Kind], raw: Raw, named: _Named, **made: Any) -> _Kind:
    """A named tuple of a `kind` with the fields that are `made`, and the others as `raw` says; one that it leaves out is as usual."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    said = {field: raw[key] for field in fields if field not in made and (key := field.replace("_", "-")) in raw}
    if "source" in fields:
        said.setdefault("source", named.home)
    return kind(**made, **{field: _MEANT[field](stated, named) if field in _MEANT else stated for field, stated in said.items()})


def build_framework(raw: Raw, name: str, home: str) -> Framework:
    """The table that `raw` describes, called `name` if it does not say itself; what is not a formula is left out.

    `raw` is plain, and all names in it are known. `home` says where it is described: the source of each fact that cites none.
    """
    named = _Named(raw, home)
    rows = tuple(_rows(raw, named))
    unit = raw.get("unit", "samples")
    stated = tuple(equation for each in raw.get("equations", ()) if (equation := _equation(each, unit, named)) is not None)
    called: str = raw.get("name", name)
    built = _filled(
        Framework,
        raw,
        named,
        name=called,
        title=raw.get("title", called),
        recognition=_filled(Recognition, raw["recognise"], named, one_of=tuple(_groups(raw["recognise"].get("any-of", ())))),
        unit=unit,
        rows=rows,
        equations=(*stated, *(_usual(stated, rows, unit) if raw.get("usual-equations", True) else ())),
        constraints=tuple(c for each in raw.get("constraints", ()) if (c := _constraint(each, named)) is not None),
        exclusions=tuple(_filled(KeyChoice, {"label": _ONE_OF_THEM, **each}, named) for each in raw.get("exclusions", ())),
        requirements=tuple(_filled(KeyChoice, each, named) for each in raw.get("requirements", ())),
        switches=tuple(_filled(Switch, {"condition": each, **each}, named) for each in raw.get("switches", ())),
        texts=tuple(_filled(Text, each, named) for each in raw.get("texts", ())),
        assumed=tuple((size, int(value)) for size, value in raw.get("assumed", {}).items()),
        version=raw.get("version", home),
        removals=tuple(_filled(Removal, {"package": raw.get("package", ""), **each}, named) for each in raw.get("removals", ())),
        feeds_gpus=_filled(FeedsGpus, raw["feeds-visible-gpus"], named) if "feeds-visible-gpus" in raw else None,
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


def _key(text: str) -> KeyPath:
    """The path that `text` writes with dots; a dot behind a backslash is part of a key."""
    return tuple(part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", text))


def _keys(stated: Any) -> tuple[KeyPath, ...]:
    return tuple(map(_key, words(stated)))


def _groups(stated: Any) -> Iterator[tuple[KeyPath, ...]]:
    """Yield the groups of keys of which a recipe has one each: a text or a list of keys is one, a list of such several."""
    several = not isinstance(stated, str) and any(isinstance(each, list) or " " in each for each in stated)
    yield from map(_keys, stated if several else [stated] if stated else ())


def _rows(raw: Raw, named: _Named) -> Iterator[Row]:
    usual = named.conditions(raw.get("defaults-when", ()))
    for key, described in raw["keys"].items():
        for each in described if isinstance(described, list) else [described]:
            stated = {"size": each} if isinstance(each, str) else each
            elsewhere = named.conditions(stated["default-when"]) if "default-when" in stated else usual
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
        enough = named.conditions(raw.get("when-any", ()))
        yield from (row._replace(when=(*row.when, condition)) for condition in enough) if enough else (row,)


def _row(key: KeyPath, raw: Raw, named: _Named) -> Row:
    default = raw.get("default")
    return _filled(
        Row,
        raw,
        named,
        key=key,
        name=raw["size"],
        default=SameAs(default, raw.get("unless", "")) if isinstance(default, str) else None if default is None else int(default),
        reading=_differing(named.reading(raw["reading"]) if "reading" in raw else named.usual, raw),
    )


def _equation(raw: Any, unit: str, named: _Named) -> Equation | None:
    described: Raw = {"formula": raw} if isinstance(raw, str) else raw
    says = formula(described["formula"])
    if says is None:
        return None
    is_batch = says.result in (Name.GLOBAL_BATCH_SIZE, Name.EVAL_GLOBAL_BATCH_SIZE)
    usual = {"rounding": says.rounding, "unit": unit if is_batch else ""}
    return _filled(Equation, {**usual, **described}, named, result=says.result, product=says.product, divisors=says.divisors)


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
    usual = {"rule": "batch-not-divisible" if says.at_least is None else "micro-batch-too-small", "label": described["relation"]}
    return _filled(Constraint, {**usual, **described}, named, dividend=says.dividend, divisor=says.divisor, at_least=says.at_least)
