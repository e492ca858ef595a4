"""The batch geometry of recipes as JSON: every size with its status, origin, place and arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_gbs.arithmetic.epoch import Epoch
from pytest_gbs.arithmetic.schedules import stages_of
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.formats import _entries as entries
from pytest_gbs.formats._arithmetic import arithmetic, division
from pytest_gbs.formats._json import taken
from pytest_gbs.formats._places import Places
from pytest_gbs.frameworks.epochs import epoch_of
from pytest_gbs.frameworks.feasible import feasible_world_sizes
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.launch import Launch, LauncherFile
from pytest_gbs.model.quantity import FIRST, HARDWARE, Conflict, Name, Quantity, Reason, Size, Unknown
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run


def recipes(report: Report, places: Places) -> list[dict[str, Any]]:
    """An entry for each recipe, one more for each launch of it, and one for each launcher file that was asked for."""
    found: list[dict[str, Any]] = []
    alone = not any(file.runs for file in report.files)
    for file in report.files:
        found.extend(_recipe(file, run, places) for run in file.runs)
        if file.launcher is not None and (file.named or alone):
            found.append(_launcher(file, file.launcher, places))
    return found


def _recipe(file: FileReport, run: Run, places: Places) -> dict[str, Any]:
    stated, equations = run.geometry.stated, run.framework.equations
    names = dict.fromkeys((*FIRST, *stated))
    realised = {name: size for name, size in run.geometry.realised.items() if stated.get(name) != size}
    return {
        "path": places.path(run.path),
        "document": run.document.number,
        **({"part": file.part} if file.part else {}),
        "framework": run.framework.name,
        "unit": run.framework.unit,
        "verdict": file.verdict,
        "launch": _launch(run.launch, places) if run.launch else None,
        "quantities": {name: _size(name, run, places) for name in names},
        "realised": {name: quantity(size, equations, places) for name, size in realised.items() if isinstance(size, Quantity)},
        "declarations": [_declaration(declaration, places) for declaration in run.declarations],
        "feasible_world_sizes": feasible_world_sizes(run),
        **({"epoch": _epoch(run, places.options.examples)} if places.options.examples else {}),
        "assumptions": list(map(assumed, run.assumptions)),
    }


def _epoch(run: Run, examples: int) -> dict[str, Any] | None:
    """What an epoch of so many examples comes to, None if that is not known."""
    epoch, most = epoch_of(run, examples), run.geometry.value(Name.MAX_STEPS)
    unreached = epoch.unreached(most) if epoch and most else None
    return epoch_json(epoch) | {"dropped": epoch.dropped, "unreached": unreached} if epoch else None


def epoch_json(epoch: Epoch) -> dict[str, Any]:
    """The full steps of an epoch, and what they leave."""
    return {"dataset_size": epoch.examples, "full_steps": epoch.full_steps, "left": epoch.left}


def _launcher(file: FileReport, launcher: LauncherFile, places: Places) -> dict[str, Any]:
    return {
        "path": places.path(file.path),
        "document": file.document,
        "framework": None,
        "launcher": launcher.launcher,
        "unit": None,
        "verdict": None,
        "launch": None,
        "quantities": {size.name: quantity(size, (), places) for size in launcher.quantities},
        "realised": {},
        "declarations": [],
        "feasible_world_sizes": {},
        "assumptions": [],
    }


def _size(name: str, run: Run, places: Places) -> dict[str, Any]:
    size: Size = run.geometry.said(name)
    if isinstance(size, Quantity):
        entry = quantity(size, run.framework.equations, places)
        stages = stages_of(name, run.geometry.stated, run.framework.equations)
        if stages:
            del entry["value"]
            entry = {**entry, "status": "schedule", "stages": list(stages)}
        if name == Name.GLOBAL_BATCH_SIZE:
            entry.setdefault("unit", run.framework.unit)
        return entry
    if isinstance(size, Conflict):
        return {"status": "conflict", "values": [quantity(each, run.framework.equations, places) for each in size.values]}
    return _unknown(size, run, places)


def _unknown(size: Unknown, run: Run, places: Places) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": "schedule" if size.reason == Reason.SCHEDULE else "unknown", "reason": size.reason}
    found = symbolic(size.name, run.geometry.stated, run.framework.equations)
    if found is not None and found.free and size.name not in HARDWARE:
        whole = found.coefficient.denominator == 1
        coefficient = str(found.coefficient.numerator) if whole else f"{found.coefficient.numerator}/{found.coefficient.denominator}"
        entry["law"] = " x ".join([coefficient, *found.free])
    entry |= {"arithmetic": text} if (text := division(size, run)) else {}
    if size.at is not None:
        entry["location"] = entries.location(size.at, places)
    return entry


def quantity(size: Quantity, equations: Iterable[Equation], places: Places) -> dict[str, Any]:
    """One known size; what says nothing is left out."""
    entry: dict[str, Any] = {"status": "known", "value": size.value}
    entry |= {"unit": size.unit} if size.unit else {}
    entry["origin"] = size.origin
    optional = {"key": size.key, "arithmetic": arithmetic(size, equations), "note": size.note.words}
    entry |= {name: text for name, text in optional.items() if text}
    if size.at is not None:
        entry["location"] = entries.location(size.at, places)
    return entry


def _launch(launch: Launch, places: Places) -> dict[str, Any]:
    position = places.position(launch.at)
    line = {"line": position.line} if position else {}
    return {"path": places.path(launch.at.source), **line, "kind": launch.kind, "command": launch.command}


def _declaration(declaration: Declaration, places: Places) -> dict[str, Any]:
    return {
        **taken(declaration, "name value unit force"),
        "conditions": dict(declaration.conditions),
        "location": entries.location(declaration.at, places),
        **taken(declaration, "text grammar exact weak"),
    }
