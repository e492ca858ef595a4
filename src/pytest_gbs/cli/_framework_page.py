"""What is known of one framework: its keys and sizes, its equations, what it checks, and where each of it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_gbs.arithmetic.wording import called, quotient, short
from pytest_gbs.checking.rulebook import OF_TABLE, Rulebook
from pytest_gbs.cli._table import write_table
from pytest_gbs.formats._markdown import cell
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Enforcement, Equation, Rounding
from pytest_gbs.model.framework import Arguments, Constraint, Framework, Row, SameAs
from pytest_gbs.model.location import dotted
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import Rule

_COMMAND_LINE: Final = {
    Arguments.FLAGS: "--key value",
    Arguments.PAIRS: "key=value",
    Arguments.HYDRA: "Hydra's key=value",
    Arguments.YACS: "--option value, KEY.IN.CAPITALS value",
    Arguments.BOTH: "--option value, key=value",
    Arguments.NONE: "changes no setting",
}
_MISMATCH: Final = {
    Enforcement.STOPS: "stops",
    Enforcement.STOPS_LATE: "stops during training",
    Enforcement.CORRECTS: "corrects it",
    Enforcement.IGNORES: "continues",
    Enforcement.YIELDS: "takes what is stated",
}


class _Section(NamedTuple):
    """A table of a page: what it is about, and its columns and rows."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def page(table: Framework, rules: Iterable[Rule], format_name: str) -> str:
    """The page of `table` as text or Markdown; of `rules` those are named that not every framework asks for."""
    markdown = format_name == "markdown"
    title = f"# {cell(table.title)}" if markdown else table.title
    parts = [title, write_table(("", ""), list(_facts(table, rules)), format_name).lstrip("\n")]
    for section in _sections(table):
        if section.rows:
            head = f"## {section.title}" if markdown else f"{section.title}:"
            parts.append(f"{head}\n\n{write_table(section.head, section.rows, format_name)}")
    return "\n".join(part if part.endswith("\n") else f"{part}\n" for part in parts)


def formula(equation: Equation) -> str:
    """The right side of an equation for people: `micro x accumulation x data-parallel`."""
    sign = {Rounding.FLOOR: "//", Rounding.CEIL: "/ (up)"}.get(equation.rounding, "/")
    return quotient(map(short, equation.product), map(short, equation.divisors), sign)


def condition(stated: Condition) -> str:
    """A condition for people: `packing is true`, `eval_strategy is not no`."""
    key = dotted(stated.key)
    if stated.values == (None,):
        return f"{key} is {'set' if stated.negated else 'not set'}"
    values = dict.fromkeys("not set" if value is None else _value(value) for value in stated.values)
    return f"{key} is {'not ' if stated.negated else ''}{' or '.join(values)}"


def _value(value: object) -> str:
    """A value as YAML writes it; `true` stands for the texts that mean it as well."""
    return str(value).lower() if str(value) in ("True", "False") else str(value)


def all_of(conditions: Iterable[Condition]) -> str:
    """Words for conditions of which all must hold."""
    return " and ".join(map(condition, conditions))


def relation(constraint: Constraint) -> str:
    """What a constraint asks of sizes: `global batch is a multiple of micro x data-parallel`."""
    top, below = quotient(map(short, constraint.dividend), ()), map(short, constraint.divisor)
    if constraint.at_least is not None:
        return f"{quotient(map(short, constraint.dividend), below)} >= {constraint.at_least}"
    either = ", or vice versa" if constraint.either else ""
    return f"{top} is a multiple of {quotient(below, ())}{either}"


def _facts(table: Framework, rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    yield "a batch counts", table.unit
    how = table.recognition
    asked = [("every recipe has", how.all_of)] if how.all_of else []
    asked += [("and one of" if asked or number else "every recipe has one of", group) for number, group in enumerate(how.one_of)]
    yield from ((title, ", ".join(map(dotted, keys))) for title, keys in asked)
    if how.when:
        yield "and", " or ".join(map(condition, how.when))
    yield "command line", _COMMAND_LINE[table.arguments]
    if table.eras:
        found = (f"{era.package or table.package} {era.until}".strip() for era in table.eras if era.until)
        yield "other before", ", ".join(found)
    special = [rule for rule in Rulebook(rules).about(table) if rule.frameworks or rule.needs in OF_TABLE]
    if special:
        yield "rules of its own", ", ".join(f"{rule.code} {rule.name}" for rule in special)
    yield "read from", table.version
    yield "source", table.source


def _sections(table: Framework) -> Iterator[_Section]:
    yield _Section("Keys", ("key", "size", "default", "only if", "source"), [_row(each) for each in table.rows])
    equations = [(called(e.result), formula(e), e.unit, _MISMATCH[e.mismatch], e.source) for e in table.equations]
    yield _Section("Equations", ("size", "is", "in", "if all are stated and disagree", "source"), equations)
    yield _Section("What it checks", ("what", "how", "only if", "source"), [*_checks(table)])
    removed = [(dotted(each.key), f"{each.package} {each.since}", each.instead, each.source) for each in table.removals]
    yield _Section("Keys that are gone", ("key", "since", "now", "source"), removed)


def _row(row: Row) -> tuple[str, ...]:
    default = row.default
    default_text = f"as {called(default.name)}" if isinstance(default, SameAs) else "" if default is None else str(default)
    unit = f" ({row.unit})" if row.unit else ""
    return dotted(row.key), f"{called(row.name)}{unit}", default_text, all_of(row.when), row.source


def _checks(table: Framework) -> Iterator[tuple[str, ...]]:
    for constraint in table.constraints:
        yield constraint.label, relation(constraint), all_of(constraint.when), constraint.source
    for required in table.requirements:
        yield required.label, f"one of {', '.join(map(dotted, required.keys))}", all_of(required.when), required.source
    for exclusion in table.exclusions:
        yield exclusion.label, f"at most one of {', '.join(map(dotted, exclusion.keys))}", all_of(exclusion.when), exclusion.source
    for switch in table.switches:
        yield switch.label, f"{', '.join(map(called, switch.sizes))} not fixed", all_of((switch.condition, *switch.when)), switch.source
    for text in table.texts:
        yield text.label, f"{dotted(text.key)} is not text", "", text.source
