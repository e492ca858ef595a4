"""Two settings of one recipe that contradict each other.

Either the framework takes at most one of two keys, or a size is stated that its own factors do not give.

Only one of the two can be what the author wants. Which of them the run has depends on the framework, if it runs at all.

What the framework does: TRL stops with a `ValueError` if `generation_batch_size` and `steps_per_generation` are both set.
A framework that takes the global batch and its factors stops if they disagree, or corrects one of them, as its table
says; the finding is an error if it stops and a warning if it corrects.

How to fix it: keep the key that says what you mean and delete the other: it follows. If a stated size disagrees with its
factors, the finding shows both numbers with their arithmetic.

It stays silent if one of the keys is `null`, if a size is not known, and if a Python program of the repository writes one of
the keys as an override (`++policy.dtensor_cfg.enabled=false`): the recipe does not run as it stands. A comment that disagrees
is reported by the 1xx rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.arithmetic.wording import arithmetic, beside, called, leaves, listing, short
from pytest_gbs.frameworks.conditions import certain
from pytest_gbs.frameworks.constraints import in_versions
from pytest_gbs.model.equation import Enforcement
from pytest_gbs.model.framework import KeyChoice
from pytest_gbs.model.location import KeyPath, Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Related, Severity
from pytest_gbs.model.quantity import Conflict, Origin, Quantity
from pytest_gbs.model.record import Final
from pytest_gbs.model.rule import GRPO_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import is_set

# What people write about a batch is compared with the settings by the 1xx rules.
_PROSE: Final = (Origin.COMMENT, Origin.NAME)


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each pair of settings of `run` that contradict each other."""
    named: set[str] = set()
    for exclusion in run.framework.exclusions:
        present = [key for key in exclusion.keys if is_set(run.document, key, run.framework.loader)]
        if len(present) > 1 and all(certain(condition, run.document, run.framework.loader) for condition in exclusion.when):
            named.update(row.name for row in run.framework.rows if row.key in present)
            yield _exclusive(run, exclusion, present)
    for size in run.geometry.stated.values():
        if isinstance(size, Conflict) and size.name not in named and not _is_prose(size):
            yield _conflict(run, size)


def _is_prose(size: Conflict) -> bool:
    return any(leaf.origin in _PROSE for value in size.values for leaf in leaves(value))


def _exclusive(run: Run, exclusion: KeyChoice, present: list[KeyPath]) -> Finding:
    places = [place for key in present if (place := run.document.locate(key))]
    places.sort(key=lambda place: place.start)
    names = listing(map(dotted, present), last="and")
    message = f"{names} are both set" + (f"; {exclusion.label}" if exclusion.label else "") + in_versions(exclusion, run.framework)
    severity = Severity.WARNING if exclusion.doubt else Severity.ERROR
    related = tuple(Related(place, "also set") for place in places[:-1])
    return Finding(ITS_RULE, message, severity, places[-1], "set", related, holds="keep only one of them")


def _conflict(run: Run, size: Conflict) -> Finding:
    stated, given = size.values[0], size.values[-1]
    doubted = next((each for each in run.framework.equations if each.result == size.name and each.doubt), None)
    doubt = in_versions(doubted, run.framework) if doubted is not None else ""
    message = f"{stated.key or called(stated.name)} is {stated.value:,}, but its factors give {given.value:,}{doubt}"
    details = arithmetic(given, run.framework.equations)
    places = [leaf for value in size.values for leaf in leaves(value) if leaf.at is not None]
    at = _place(run, places)
    related = beside(places, at)
    severity, fixes = _severity(run, size.name), tuple(_fixes(run, stated, given))
    return Finding(ITS_RULE, message, severity, at, short(size.name), related, details, assumptions=run.assumptions, fixes=fixes)


def _fixes(run: Run, stated: Quantity, computed: Quantity) -> Iterator[Fix]:
    """Yield the changes of one factor that give the size as stated, then the size that the factors give."""
    from pytest_gbs.frameworks.repairs import change, fixes, reaching

    if computed.because and prod(part.value for part in computed.because) == computed.value:
        yield from fixes(reaching(run, computed, stated.value))
        target = change(run, stated, computed.value)
        yield from (target,) if target is not None else ()


def _severity(run: Run, name: str) -> str:
    """An error if the framework stops at the contradiction in all versions, or if nothing says that it goes on."""
    does = [equation for equation in run.framework.equations if equation.result == name]
    goes_on = bool(does) and all(each.mismatch in (Enforcement.CORRECTS, Enforcement.IGNORES) for each in does)
    return Severity.WARNING if goes_on or any(each.doubt for each in does) else Severity.ERROR


def _place(run: Run, places: list[Quantity]) -> Location:
    """The first of `places` that lies in the recipe, or the recipe's first character."""
    return next((leaf.at for leaf in places if leaf.at and leaf.at.source == run.path), Location(run.path))


_RECIPE = f"{GRPO_RECIPE}num_generations: 4\ngeneration_batch_size: 64\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="two settings contradict each other",
    bad=(Example((("grpo.yaml", _RECIPE + "steps_per_generation: 2\n"),)),),
    good=(Example((("grpo.yaml", _RECIPE + "steps_per_generation: null\n"),)),),
    check=check,
    certain_in_launch=True,
    settled_by_programs=True,
)
