"""What each stage of a check made of a file, stage by stage: for people who change a rule, a framework or a grammar."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import computed
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.outcome import Finding, Undetermined
from pytest_gbs.model.quantity import HARDWARE, Quantity, Size, Unknown
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Claim, Run, World

_HOLDS = {True: "holds", False: "fails", None: "open"}


def render(report: Report, options: FormatOptions) -> str:
    """The stages of each file of `report`, which was made with its runs kept."""
    places = Places(report, options)
    return "\n".join("\n".join(_file(file, places)) + "\n" for file in report.files)


def _file(file: FileReport, places: Places) -> Iterator[str]:
    yield f"{file.path}, document {file.document}"
    yield f"  role        {file.role}{f': {file.problem}' if file.problem else ''}"
    yield f"  framework   {file.framework or 'none'}"
    for run in file.runs:
        yield from _run(run, places)
    yield "  outcomes"
    yield from (f"    {code}  {worst}" for code, worst in file.rules)
    located: tuple[Finding | Undetermined, ...] = (*file.findings, *file.undetermined)
    for outcome in located:
        yield f"    {places.where(outcome.at)}: {_outcome(outcome)}"
    yield f"  verdict     {file.verdict or 'none'}"


def _run(run: Run, places: Places) -> Iterator[str]:
    launch = run.launch
    yield f"  run         {'by itself' if launch is None else f'launched by {places.where(launch.at)} ({launch.kind}: {launch.command})'}"
    yield f"    table     {run.framework.title}, from {run.framework.version}"
    keys = sum(len(path) == 1 for path in run.document.keyed)
    yield f"    document  {keys} top-level keys, {len(run.document.comments)} comments"
    yield "    sizes"
    yield from (f"      {name}  {_size(size, run, places)}" for name, size in run.geometry.stated.items())
    yield from (f"      {name}  realised as {_size(size, run, places)}" for name, size in run.geometry.realised.items())
    yield "    statements"
    yield from (f"      {_declaration(each, places)}" for each in run.declarations)
    for claim in run.claims:
        yield from _claim(claim)


def _size(size: Size, run: Run, places: Places) -> str:
    """One size: its number, where it comes from, and what it was computed from; or why it is not known."""
    if isinstance(size, Unknown):
        return f"unknown: {size.reason}"
    if not isinstance(size, Quantity):
        return "conflict: " + ", ".join(str(each.value) for each in size.values)
    where = f" at {places.where(size.at)}" if size.at else ""
    how = f" = {computed(size, run.framework.equations)}" if size.because else ""
    return f"{size.value}{how}  {size.origin}{f' {size.key}' if size.key else ''}{where}"


def _declaration(each: Declaration, places: Places) -> str:
    conditions = ", ".join(f"{name}={value}" for name, value in each.conditions)
    given = f" on {conditions}" if conditions else ""
    return f"{each.name} {each.value}{given}  {each.force}, grammar {each.grammar}, {places.where(each.at)}: {each.text!r}"


def _claim(claim: Claim) -> Iterator[str]:
    """Yield a claim with each of its worlds, and what it comes to."""
    yield f"    claim     {claim.declaration.name} {claim.declaration.value}"
    for world, reading in zip(claim.worlds, claim.judgement.readings, strict=True):
        found = f", {reading.size.value}" if reading.size is not None else ""
        yield f"      world   {_hardware(world)}: {_HOLDS[reading.holds]}{found}"
    yield f"      judged  by {claim.judgement.cause}: {_outcome(claim.judgement.outcome)}"


def _hardware(world: World) -> str:
    sizes = world.geometry.stated
    known = (f"{name}={size.value} ({size.origin})" for name in HARDWARE if isinstance(size := sizes.get(name), Quantity))
    return ", ".join(known) or "hardware unknown"


def _outcome(outcome: object) -> str:
    if isinstance(outcome, Finding):
        return f"{outcome.severity}: {outcome.message}"
    return f"undetermined: {outcome.message}" if isinstance(outcome, Undetermined) else "verified"
