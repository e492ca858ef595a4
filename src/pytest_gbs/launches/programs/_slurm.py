"""What a Slurm job has: its nodes, tasks and GPUs, by `#SBATCH` lines, `sbatch` and `srun` options.

sbatch(1) and srun(1), Slurm 24.11: options of `srun` beat those of the job, a job's own beat nothing but `sbatch` options.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.launches.programs._words import devices, note, world
from pytest_gbs.model.command import Command, Directive, Wrapper, options
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.launch import LauncherContext, Problem, Start
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import NO_NOTE, Name, Note, Noted, Origin, Quantity, Reason, Unknown, together
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.slurm import asked_devices

_OPTIONS: Final = {
    "--nodes": ("--nodes", "-N"),
    "--ntasks": ("--ntasks", "-n"),
    "--ntasks-per-node": ("--ntasks-per-node",),
    "--gpus": ("--gpus", "-G"),
    "--gpus-per-node": ("--gpus-per-node",),
    "--gpus-per-task": ("--gpus-per-task",),
    "--gres": ("--gres",),
}


class Value(NamedTuple):
    """The value of an option of Slurm: its text, None if it is unknown, its place, and what fixed it."""

    text: str | None
    at: Location
    note: Note = NO_NOTE


def job(command: Command, context: LauncherContext) -> dict[str, Value]:
    """The options of the job that `command` runs in, by long name; nothing if no job is stated."""
    found = _stated(context.script.directives)
    for wrapper in command.wrappers:
        if wrapper.name == "sbatch":
            found.update({**_stated(wrapper.directives), **_given(wrapper)})
    return found


def step(command: Command, context: LauncherContext) -> dict[str, Value] | None:
    """The options that hold for the `srun` around a command, the job's included; None if no `srun` is around it."""
    around = [wrapper for wrapper in command.wrappers if wrapper.name == "srun"]
    if not around:
        return None
    own = _given(around[-1])
    left = job(command, context)
    if "--ntasks" in own:
        left.pop("--ntasks-per-node", None)
    elif "--ntasks-per-node" in own:
        left.pop("--ntasks", None)
    elif "--nodes" in own and count(own["--nodes"]) != count(left.get("--nodes")) and {"--ntasks", "--ntasks-per-node"} & left.keys():
        own["--ntasks"] = Value(None, own["--nodes"].at)  # `SLURM_NTASKS` of the job may hold on to other nodes
    return {**left, **own}


def _stated(directives: tuple[Directive, ...]) -> dict[str, Value]:
    return {each.name: Value(each.value, each.at) for each in directives if each.name in _OPTIONS}


def _given(wrapper: Wrapper) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, spellings in _OPTIONS.items():
        for each in options(wrapper.words, *spellings, start=1):
            if each.value is not None:
                found[name] = Value(each.value.text, each.value.value_at, note(each.value))
    return found


def count(value: Value | None) -> int | None:
    """A plain number; a range of nodes is none."""
    text = value.text if value is not None else None
    return whole_number(text) if text else None


def _gpus(value: Value | None) -> int | None:
    """The GPUs of `8`, `h100:8`, `gpu:8`, `gpu:h100:8`, `gpu`; None if it is about something else."""
    found = asked_devices(value.text) if value is not None and value.text else None
    return whole_number(found) if found is not None else None


def tasks(stated: dict[str, Value]) -> Quantity | Unknown:
    """The processes that `srun` starts over all nodes, unknown if the options of `sbatch` may decide."""
    total, each, nodes = (stated.get(name) for name in ("--ntasks", "--ntasks-per-node", "--nodes"))
    one, on = count(each), count(nodes)
    if total is not None:
        key, value, at = "--ntasks", count(total), total.at
    elif each is not None:
        key, value, at = "--ntasks-per-node", one * on if one is not None and on is not None else None, each.at
    elif nodes is not None:
        key, value, at = "--nodes", on, nodes.at
    else:
        return Unknown(Name.WORLD_SIZE, Reason.MISSING)
    if not value:
        return Unknown(Name.WORLD_SIZE, Reason.INTERPOLATED, at)
    how = f"{on} nodes x {one}" if key == "--ntasks-per-node" else "one task for each node" if key == "--nodes" else ""
    used = (total,) if total is not None else (each, nodes)
    notes = (Note(how), *(part.note for part in used if part is not None))
    return Quantity(Name.WORLD_SIZE, value, Origin.LAUNCH, at=at, key=key, note=together(notes))


def allocated(command: Command, context: LauncherContext) -> Quantity | None:
    """The GPUs of the job that a command runs in; None if the script leaves one of the factors open."""
    if command.machines is not None:
        nodes, each = command.machines.nodes, command.machines.gpus_per_node
        found = world(nodes, each) if nodes is not None and each is not None else None
        return found if isinstance(found, Quantity) and found.at is not None else None
    stated = job(command, context) or step(command, context)
    return _allocated(stated) if stated else None


def _allocated(stated: dict[str, Value]) -> Quantity | None:
    nodes = count(stated.get("--nodes"))
    for name in ("--gpus", "--gpus-per-node", "--gres", "--gpus-per-task"):
        value = stated.get(name)
        each = _gpus(value) if name != "--gres" or (value is not None and (value.text or "").startswith("gpu")) else None
        if value is None or each is None:
            continue
        times = 1 if name == "--gpus" else _tasks(stated) if name == "--gpus-per-task" else nodes
        if times is None or each * times < 1:
            return None
        how = "" if name == "--gpus" else f"{counted(times, 'task' if name == '--gpus-per-task' else 'node')} x {each}"
        return Quantity(Name.WORLD_SIZE, each * times, Origin.LAUNCH, at=value.at, key=name, note=Note(how))
    return None


def _tasks(stated: dict[str, Value]) -> int | None:
    found = tasks(stated)
    return found.value if isinstance(found, Quantity) else None


def within(start: Start, command: Command, context: LauncherContext) -> Start:
    """`start` with the GPUs of the job around it, and a problem where it starts more processes than there are GPUs."""
    gpus = allocated(command, context)
    if gpus is None:
        return start._replace(allocated=_more_visible(start, command), problems=(*start.problems, *_beyond_visible(start, command)))
    if _is_part(start, command):
        return start
    too_many = tuple(_too_many(start, gpus)) or _beyond_visible(start, command)
    problems = (*start.problems, *too_many, *_left_waiting(start, command, context))
    return start._replace(allocated=gpus, problems=problems)


def _more_visible(start: Start, command: Command) -> Quantity | None:
    """The GPUs that are visible where fewer processes are started on one machine, which may share a model among them; else None."""
    seen = devices(command) if command.variable("CUDA_VISIBLE_DEVICES") is not None else None
    started = next((size for size in start.sizes if size.name == Name.WORLD_SIZE), None)
    if not isinstance(seen, Quantity) or not isinstance(started, Quantity) or started.value >= seen.value:
        return None
    return seen._replace(name=Name.WORLD_SIZE, at=None)  # what names them need not change with the processes


def _beyond_visible(start: Start, command: Command) -> Iterator[Problem]:
    """Yield a problem if torchrun starts more processes on a machine than it sees GPUs, of which each process takes one by its rank."""
    seen = devices(command) if start.name == "torchrun" and command.variable("CUDA_VISIBLE_DEVICES") is not None else None
    each = next((size for size in start.sizes if size.name == Name.GPUS_PER_NODE), None)
    if isinstance(seen, Quantity) and isinstance(each, Quantity) and 0 < seen.value < each.value and each.at and seen.at:
        message = f"{counted(each.value, 'process')} are started on a machine, but CUDA_VISIBLE_DEVICES names {counted(seen.value, 'GPU')}"
        yield Problem(message, each.at, ((seen.at, "visible GPUs"),), stops=False)


def _is_part(start: Start, command: Command) -> bool:
    """Whether a launch counts on more nodes than the job of a file has, so that other jobs bring the rest: a Pod for each rank, say."""
    nodes = command.machines.nodes if command.machines is not None else None
    return nodes is not None and any(
        isinstance(size, Quantity) and size.name == Name.NUM_NODES and size.value > nodes.value for size in start.sizes
    )


def _left_waiting(start: Start, command: Command, context: LauncherContext) -> Iterator[Problem]:
    """Yield a problem if `srun` starts torchrun on more nodes than it is to wait for: the others are no part of the group."""
    stated = step(command, context) or {}
    nodes = next((size for size in start.sizes if size.name == Name.NUM_NODES), None)
    started, on = tasks(stated), stated.get("--nodes")
    if start.name != "torchrun" or not isinstance(nodes, Quantity) or not isinstance(started, Quantity) or nodes.at is None or on is None:
        return
    if started.value == count(on) and started.value > nodes.value:
        message = f"srun starts torchrun on {started.value} nodes, which wait for {nodes.value} of them"
        yield Problem(message, nodes.at, ((on.at, "nodes of the job"),), stops=False)


def _too_many(start: Start, gpus: Quantity) -> Iterator[Problem]:
    for size in start.sizes:
        if size.name == Name.WORLD_SIZE and isinstance(size, Quantity) and size.value > gpus.value and size.at and gpus.at:
            has = f"{gpus.note.words} = " if gpus.note.words else ""
            message = f"{counted(size.value, 'process')} are started, but the job has {has}{counted(gpus.value, 'GPU')}"
            yield Problem(message, size.at, ((gpus.at, "GPUs of the job"),), stops=size.note.kind != Noted.DEFAULT)
