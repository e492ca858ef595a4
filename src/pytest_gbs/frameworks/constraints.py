"""Judging what a framework checks itself: divisions without remainder and least sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from pytest_gbs.arithmetic.admissible import Multiples, dividing
from pytest_gbs.arithmetic.schedules import at_stage, changing
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import beside, called, computed, count, leaves, listing, quotient, short
from pytest_gbs.frameworks.conditions import certain
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.equation import Enforcement, Equation, Monomial, fixed, letter, ratio
from pytest_gbs.model.framework import Constraint, Framework, KeyChoice, Switch
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import RANKS, Name, Noted, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import Final
from pytest_gbs.model.run import Run

_DOES = {
    Enforcement.STOPS: "stops at start",
    Enforcement.STOPS_LATE: "stops during training",
    Enforcement.CORRECTS: "corrects it and continues",
    Enforcement.IGNORES: "continues without a warning",
}
# A size that is stated for this run, rather than one that follows.
_STATED: Final = (Origin.FILE, Origin.LAUNCH)
# The one command that starts a single process, which then has all GPUs of its node.
_ONE_PROCESS: Final = "python"


def judge(run: Run, rule: str) -> Iterator[Outcome]:
    """Yield one outcome for each constraint of `run`'s framework that the rule of this name reports and that applies here."""
    applying = [each for each in run.framework.constraints if each.rule == rule and applies(each, run)]
    changes = changing(run.geometry.stated) if applying else None
    for constraint in applying:
        if changes is None or changes.note.kind == Noted.RAMP_UP:
            yield from _certain(run, constraint, _judge_one(run, constraint))
        elif not constraint.fixed:
            yield from _certain(run, constraint, _judge_stages(run, constraint, changes))


def _certain(run: Run, constraint: Constraint, outcome: Outcome) -> Iterator[Outcome]:
    """Yield the `outcome` of a check; of one that only older versions make, which may be meant or not, that a failure is open."""
    if not constraint.only_before:
        yield outcome
    elif isinstance(outcome, Finding):
        package, commit = run.framework.package, run.framework.commit
        message = f"{outcome.message.partition(';')[0]}, which {package} before {constraint.only_before} refuses"
        yield Undetermined(ITS_RULE, outcome.at, message, (), f"true if {package} at {commit} is {constraint.only_before} or later")


def _judge_stages(run: Run, constraint: Constraint, changes: Quantity) -> Outcome:
    """The outcome of the first stage that violates `constraint`, or else of the last stage."""
    outcome = _judge_one(run, constraint)
    for value in changes.stages:
        sizes = at_stage(run.geometry.stated, changes._replace(value=value, stages=()), run.framework.equations)
        at_this = _judge_one(run._replace(geometry=run.geometry._replace(stated=sizes)), constraint)
        if isinstance(at_this, Finding):
            return at_this
    return outcome


def applies(constraint: Constraint, run: Run) -> bool:
    """Whether the framework would look at `constraint` in this run."""
    sizes = run.geometry.stated
    if constraint.either and not all(isinstance(sizes.get(name), Quantity) for name in constraint.names):
        return False
    if constraint.local and run.launch is not None and run.launch.start is not None and run.launch.command != _ONE_PROCESS:
        return False
    # Loops rather than all(): this is asked of several constraints for every recipe.
    for condition in constraint.when:
        if not certain(condition, run.document, run.framework.loader):
            return False
    for name in constraint.needs:
        size = sizes.get(name)
        if not isinstance(size, Quantity) or size.origin not in _STATED:
            return False
    return True


def _judge_one(run: Run, constraint: Constraint) -> Outcome:
    names = constraint.names
    at = place(run, names)
    if constraint.at_least is None and not constraint.either and (divides := _divides(constraint, run.geometry.stated)) is not None:
        return _decided(run, constraint, at) if divides else _violated(run, constraint, at)
    if constraint.either:
        return _judge_either(run, constraint, at)
    dividend, divisor = (_symbolic(names, run) for names in (constraint.dividend, constraint.divisor))
    if constraint.at_least is not None:
        return _judge_least(run, constraint, dividend, divisor, at)
    answer = None if dividend is None or divisor is None else dividing(dividend, divisor)
    if answer is True or (isinstance(answer, Multiples) and answer.everything):
        return _decided(run, constraint, at)
    if (answer is False or (isinstance(answer, Multiples) and answer.nothing)) and not _ranks_are_uneven(run, names):
        return _violated(run, constraint, at)
    message = f"{_called(constraint.dividend)} must be divisible by {_called(constraint.divisor)}"
    if isinstance(answer, Multiples):
        return Undetermined(ITS_RULE, at, message, (answer.name,), _implies(answer), claim=False)
    missing = tuple(sorted({*(dividend.free if dividend else ()), *(divisor.free if divisor else ())})) or names
    return Undetermined(ITS_RULE, at, message, missing, claim=False)


def _ranks_are_uneven(run: Run, names: tuple[str, ...]) -> bool:
    """Whether the GPUs do not divide among the parallel sizes: what divides by the data-parallel size has no cause of its own."""
    size = run.geometry.get(Name.DATA_PARALLEL_SIZE)
    if Name.DATA_PARALLEL_SIZE not in names or not isinstance(size, Unknown) or size.reason != Reason.NOT_WHOLE:
        return False
    return isinstance(run.geometry.get(Name.WORLD_SIZE), Quantity) and any(
        equation.result == Name.DATA_PARALLEL_SIZE and equation.product == (Name.WORLD_SIZE,) for equation in run.framework.equations
    )


def _divides(constraint: Constraint, sizes: Mapping[str, Size]) -> bool | None:
    """Whether the division leaves no remainder; None if a size is not known, or the divisor is zero."""
    top, bottom = _known(constraint.dividend, sizes), _known(constraint.divisor, sizes)
    return top % bottom == 0 if top is not None and bottom else None


def _known(names: tuple[str, ...], sizes: Mapping[str, Size]) -> int | None:
    """The product of sizes `names`, None if one of them is not known."""
    found = 1
    for name in names:
        size = sizes.get(name)
        if type(size) is not Quantity:
            return None
        found *= size.value
    return found


def _decided(run: Run, constraint: Constraint, at: Location) -> Verified:
    """The outcome of a division without remainder."""
    decides = _rests_on_hardware(run, constraint.names)
    return Verified(ITS_RULE, at, run.assumptions if decides else (), decides)


def _judge_least(run: Run, constraint: Constraint, dividend: Monomial | None, divisor: Monomial | None, at: Location) -> Outcome:
    """The outcome of a size, or of a quotient of sizes, that must be at least so large."""
    least = constraint.at_least or 0
    names = constraint.names
    if dividend is None or divisor is None or dividend.free or divisor.free:
        missing = (*dividend.free, *divisor.free) if dividend and divisor else names
        message = f"{quotient([_called(constraint.dividend)], filter(None, [_called(constraint.divisor)]))} must be at least {least}"
        return Undetermined(ITS_RULE, at, message, missing, claim=False)
    if dividend.coefficient >= least * divisor.coefficient:
        return Verified(ITS_RULE, at)
    message = f"{_quotient(run, constraint)} is less than {least}; {_does(run, constraint)}"
    advice, fixes = _ways_out(run, constraint)
    related, details = beside(_located(run, names), at), _worked_out(run, names)
    return Finding(ITS_RULE, message, _severity(constraint), at, related=related, details=details, holds=advice, fixes=fixes)


def _judge_either(run: Run, constraint: Constraint, at: Location) -> Outcome:
    """The outcome of two sizes of which one must divide the other; both are known, or the constraint does not apply."""
    assumptions = (*run.assumptions, Assumption(Assuming.ONE_PROCESS)) if constraint.local else run.assumptions
    one, other = (_known(names, run.geometry.stated) for names in (constraint.dividend, constraint.divisor))
    if one and other and 0 in (one % other, other % one):
        return Verified(ITS_RULE, at, assumptions, decides=True)
    names = constraint.names
    both = f"{_stated(run, constraint.dividend)} nor {_stated(run, constraint.divisor)}"
    message = f"neither {both} is divisible by the other; {_does(run, constraint)}"
    related, advice = beside(_located(run, names), at), _either_way(run, constraint)
    return Finding(ITS_RULE, message, _severity(constraint), at, _label(run, names), related, (), advice, assumptions)


def _either_way(run: Run, constraint: Constraint) -> str:
    """The nearest values with which the dividend would be a multiple of the divisor: `set model_axis_size to 2 or 4`."""
    from pytest_gbs.frameworks.repairs import divisors

    sizes = [size for name in constraint.names if isinstance(size := run.geometry.get(name), Quantity)]
    if len(sizes) != 2 or min(size.value for size in sizes) < 1:
        return ""
    values = divisors(sizes[1].value, sizes[0].value)
    return f"set {sizes[0].key or called(sizes[0].name)} to {listing(map(str, values))}"


def _quotient(run: Run, constraint: Constraint) -> str:
    """The sizes of a least size for people: `micro_batch_size 1`, `model.batch_size 8 / accumulation 8 = 1`."""
    text = quotient([_stated(run, constraint.dividend)], filter(None, [_stated(run, constraint.divisor)]))
    dividend, divisor = _symbolic(constraint.dividend, run), _symbolic(constraint.divisor, run)
    if not constraint.divisor or dividend is None or divisor is None or dividend.free or divisor.free or not divisor.coefficient:
        return text
    return f"{text} = {ratio(dividend.coefficient, divisor.coefficient)}"


def _violated(run: Run, constraint: Constraint, at: Location) -> Finding:
    names = constraint.names
    message = f"{_undivided(run, constraint.dividend)} divisible by {_stated(run, constraint.divisor)}; {_does(run, constraint)}"
    related, details = beside(_located(run, names), at), _worked_out(run, names)
    assumptions = run.assumptions if _rests_on_hardware(run, names) else ()
    nearest, fixes = _ways_out(run, constraint)
    advice = ", or ".join(filter(None, (_advice(run, constraint), nearest)))
    return Finding(ITS_RULE, message, _severity(constraint), at, _label(run, names), related, details, advice, assumptions, fixes)


def _undivided(run: Run, names: tuple[str, ...]) -> str:
    """`16 GPUs are not`, `global_batch_size 100 is not`; of GPUs whose number is unknown `no number of GPUs on 1 node is`."""
    if names == (Name.WORLD_SIZE,) and run.geometry.value(Name.WORLD_SIZE) is None:
        nodes = run.geometry.value(Name.NUM_NODES)
        return f"no number of GPUs{f' on {count(nodes, Name.NUM_NODES)}' if nodes else ''} is"
    return f"{_stated(run, names)} {'are' if _ends_with_gpus(run, names) else 'is'} not"


def _label(run: Run, names: tuple[str, ...]) -> str:
    nearest = _nearest(run, names)
    return short(nearest.name if nearest else names[-1])


def _ways_out(run: Run, constraint: Constraint) -> tuple[str, tuple[Fix, ...]]:
    """The values of one setting with which it would hold, in words, and as fixes, those of others behind them.

    What is divided comes first, since it is what the recipe asks for.
    """
    from pytest_gbs.frameworks.repairs import at_least, dividing, fixes

    top, bottom = (
        [s for n in names if isinstance(s := run.geometry.stated.get(n), Quantity)] for names in (constraint.dividend, constraint.divisor)
    )
    if len(top) != len(constraint.dividend) or len(bottom) != len(constraint.divisor):
        return "", ()
    found = dividing(run, top, bottom) if constraint.at_least is None else at_least(run, top, bottom, constraint.at_least)
    values = [str(repair.value) for repair in found if repair.key == found[0].key]
    return f"set {found[0].key} to {listing(values)}" if found else "", fixes(found)


def _advice(run: Run, constraint: Constraint) -> str:
    """The number of GPUs with which the division would leave no remainder, or "" if that is not the question."""
    stated = run.geometry.stated.items()
    sizes = {name: size for name, size in stated if name not in RANKS and all(leaf.name not in RANKS for leaf in leaves(size))}
    dividend, divisor = _symbolic(constraint.dividend, run, sizes), _symbolic(constraint.divisor, run, sizes)
    answer = dividing(dividend, divisor) if dividend and divisor else None
    if not isinstance(answer, Multiples) or answer.nothing or answer.name not in RANKS or _is_uneven(run, constraint):
        return ""
    if answer.within == 1:
        return "use 1 GPU"
    return f"use a number of GPUs that divides {answer.within:,}" if answer.within else f"use a multiple of {answer.of:,} GPUs"


def _is_uneven(run: Run, constraint: Constraint) -> bool:
    """Whether an operand has no value since a division leaves a remainder: what reports that division says how to fix it."""
    sizes = (run.geometry.get(name) for name in constraint.names)
    return any(isinstance(size, Unknown) and size.reason == Reason.NOT_WHOLE for size in sizes)


def _symbolic(names: tuple[str, ...], run: Run, sizes: dict[str, Size] | None = None) -> Monomial | None:
    """The product of sizes `names` as a symbolic value in what is not known."""
    stated = run.geometry.stated if sizes is None else sizes
    known = _known(names, stated)
    if known is not None:
        return fixed(known)
    found = fixed(1)
    for name in names:
        part = symbolic(name, stated, run.framework.equations)
        if part is None:
            if name not in RANKS:
                return None
            part = letter(name)
        found = found.times(part)
    return found


def _implies(answer: Multiples) -> str:
    what = "number of GPUs" if answer.name in RANKS else called(answer.name)
    if answer.within == 1:
        return f"true with {what} of 1 only"
    relation = f"divides {answer.within:,}" if answer.within else f"is a multiple of {answer.of:,}"
    return f"true if the {what} {relation}"


def _does(run: Run, constraint: Constraint) -> str:
    return f"{run.framework.title.split(' (')[0]} {_DOES[constraint.enforcement]}{in_versions(constraint, run.framework)}"


def in_versions(check: Constraint | KeyChoice | Equation | Switch, framework: Framework) -> str:
    """The end of a message whose check not every version makes: ` (before 0.4 it does not check this)`, ` (since verl 0.4)`."""
    since = None if isinstance(check, Switch) else check.since
    said = check.doubt or (f"since {framework.package} {since}" if since else "")
    return f" ({said})" if said else ""


def _severity(constraint: Constraint) -> str:
    stops = constraint.enforcement in (Enforcement.STOPS, Enforcement.STOPS_LATE) and not constraint.doubt
    return Severity.ERROR if stops else Severity.WARNING


def _stated(run: Run, names: tuple[str, ...]) -> str:
    """The sizes for people: with their numbers where known (`generation batch size 512`), else by name."""
    parts = []
    for name in names:
        size = run.geometry.stated.get(name)
        if not isinstance(size, Quantity):
            parts.append(called(name))
        elif name in RANKS and names != (Name.DATA_PARALLEL_SIZE,):
            parts.append(count(size.value, name))
        else:
            parts.append(f"{(size.key if name not in RANKS else '') or called(name)} {size.value:,}")
    text = " x ".join(parts)
    values = [s.value for n in names if isinstance(s := run.geometry.stated.get(n), Quantity)]
    return f"{text} = {prod(values):,}" if len(names) > 1 and len(values) == len(names) else text


def _ends_with_gpus(run: Run, names: tuple[str, ...]) -> bool:
    """Whether the sizes as stated for people end with several GPUs: `8 GPUs`."""
    known = [isinstance(run.geometry.stated.get(name), Quantity) for name in names]
    if names[-1] != Name.WORLD_SIZE or (len(names) > 1 and all(known)):
        return False
    return run.geometry.value(Name.WORLD_SIZE) != 1 and (known[-1] or len(names) > 1)


def _called(names: tuple[str, ...]) -> str:
    return " x ".join(called(name) for name in names)


def _worked_out(run: Run, names: tuple[str, ...]) -> tuple[str, ...]:
    """How each of sizes `names` was computed that was, a line each."""
    sizes = (size for name in names if isinstance(size := run.geometry.stated.get(name), Quantity) and size.because)
    return tuple(f"{called(size.name)} {size.value:,} = {computed(size, run.framework.equations)}" for size in sizes)


def _located(run: Run, names: tuple[str, ...]) -> list[Quantity]:
    """The numbers the sizes rest on that are in the recipe itself, each place once."""
    found: dict[Location, Quantity] = {}
    for name in names:
        for leaf in leaves(run.geometry.get(name)):
            if leaf.at is not None:
                found.setdefault(leaf.at, leaf)
    return list(found.values())


def _nearest(run: Run, names: tuple[str, ...]) -> Quantity | None:
    """The last operand that has a number of its own in the recipe: the divisor's rather than the dividend's.

    Of a launch it is one in the launching file, if there is any.
    """
    operands = [leaf for name in reversed(names) for leaf in leaves(run.geometry.get(name)) if leaf.at is not None]
    files = (run.path,) if run.launch is None else (run.launch.at.source, run.path)
    return next((leaf for file in files for leaf in operands if leaf.at and leaf.at.source == file), None)


def place(run: Run, names: tuple[str, ...]) -> Location:
    """Where to point: the divisor's own number in the recipe, else another operand, else the file's first character."""
    nearest = _nearest(run, names)
    return (nearest and nearest.at) or run.start


def _rests_on_hardware(run: Run, names: tuple[str, ...]) -> bool:
    return any(leaf.name in RANKS for name in names for leaf in leaves(run.geometry.get(name)))


def describe(run: Run, constraint: Constraint | Equation) -> str:
    """What `constraint` asks for, with the numbers that are known: `generation_batch_size 36 must be divisible by ...`."""
    if isinstance(constraint, Equation):
        result = run.geometry.stated.get(constraint.result)
        parts = quotient([_stated(run, constraint.product)], [_stated(run, (name,)) for name in constraint.divisors])
        name = (isinstance(result, Quantity) and result.key) or called(constraint.result)
        return f"{name} {result.value:,} must be {parts}" if isinstance(result, Quantity) else f"{name} must be {parts}"
    if constraint.at_least is not None:
        return f"{_quotient(run, constraint)} must be at least {constraint.at_least}"
    return f"{_stated(run, constraint.dividend)} must be divisible by {_stated(run, constraint.divisor)}"
