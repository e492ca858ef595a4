"""`#SBATCH` lines: the options a job states itself, and the variables that Slurm makes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Directive, Part, Word, Wrapper
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.limits import MOST_TURNS
from pytest_gbs.shell.state import ShellState, Variable, unknown
from pytest_gbs.shell.text import ShellText
from pytest_gbs.shell.wrappers import SWITCHES

if TYPE_CHECKING:
    from tree_sitter import Node

_LONG: Final = {
    "-N": "--nodes", "-n": "--ntasks", "-c": "--cpus-per-task", "-G": "--gpus", "-J": "--job-name", "-p": "--partition",
    "-t": "--time", "-o": "--output", "-e": "--error", "-A": "--account", "-C": "--constraint", "-w": "--nodelist",
    "-D": "--chdir", "-a": "--array", "-q": "--qos", "-d": "--dependency", "-x": "--exclude", "-S": "--core-spec",
}  # fmt: skip
_VARIABLES: Final = {
    "--nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "--ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "--gpus": ("SLURM_GPUS",),
    "--gpus-per-node": ("SLURM_GPUS_PER_NODE",),
    "--gpus-per-task": ("SLURM_GPUS_PER_TASK",),
    "--cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "--job-name": ("SLURM_JOB_NAME",),
}
# What an option of `srun` sets for its own step.
_OF_A_STEP: Final = {
    "--nodes": ("SLURM_STEP_NUM_NODES",),
    "--ntasks": ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"),
    "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
}


_option = lazy_pattern(r"(--[A-Za-z][\w-]*|-[A-Za-z])(?:=|[ \t]*(?=[^\s-])|(?=\s|$|-))(\"[^\"\n]*\"|'[^'\n]*'|[^\s#-][^\s]*)?")


def read_directives(text: ShellText, root: Node) -> tuple[Directive, ...]:
    """The options on the `#SBATCH` lines before the first command, as sbatch reads them."""
    found: list[Directive] = []
    for child in root.children:
        if child.type != "comment":
            if child.is_named:
                break
            continue
        start, stop = text.span(child)
        if text.string.startswith("#SBATCH", start) and text.string[start + 7 : start + 8] in (" ", "\t"):
            found += _line(text, start + 7, stop)
    return tuple(found)


def _line(text: ShellText, start: int, stop: int) -> list[Directive]:
    found: list[Directive] = []
    end = next((m.start() for m in re.finditer(r"\s#", text.string[start:stop])), stop - start) + start
    for match in _option().finditer(text.string, start, end):
        name = _LONG.get(match.group(1), match.group(1))
        value = match.group(2)
        if value is None:
            found.append(Directive(name, None, text.location(*match.span(1))))
            continue
        first, last = match.span(2)
        if value[0] in "\"'":
            first, last = first + 1, last - 1
        hidden = text.hidden(first, last)
        found.append(Directive(name, None if hidden or "{" in value else text.string[first:last], text.location(first, last)))
    return found


def set_variables(state: ShellState, directives: tuple[Directive, ...]) -> None:
    """Set the variables that sbatch exports for these options."""
    stated = {directive.name: directive for directive in directives}  # the last one wins
    for name, variables in _VARIABLES.items():
        directive = stated.get(name)
        value = _number(directive) if name not in ("--gpus-per-node", "--job-name") else directive and directive.value
        if directive is not None and value:
            for variable in variables:
                _set(state, variable, value, directive)
    _set_devices(state, stated)
    _set_tasks(state, stated)


ARRAY_TASK: Final = "SLURM_ARRAY_TASK_ID"


def array_tasks(directives: tuple[Directive, ...]) -> tuple[Part, ...]:
    """The numbers of the tasks of a job array (`--array=0-3`, `1,3`, `0-8:4%2`); nothing if there is none, or too many to read each."""
    directive = next((each for each in reversed(directives) if each.name == "--array"), None)
    found: dict[int, None] = {}
    for match in map(_tasks().fullmatch, ((directive.value if directive is not None else None) or "").partition("%")[0].split(",")):
        if match is None:
            return ()
        first, last, step = (
            int(match[group] or match["first"]) if group != "step" else int(match[group] or 1) for group in match.groupdict()
        )
        numbers = range(first, last + 1, step or 1)
        if len(numbers) + len(found) > MOST_TURNS:
            return ()
        found.update(dict.fromkeys(numbers))
    at = directive.at if directive is not None else Location("")
    return tuple(Part(str(number), at, at, ARRAY_TASK, note="sbatch --array") for number in found)


_tasks = lazy_pattern(r"(?P<first>[0-9]{1,7})(?:-(?P<last>[0-9]{1,7})(?::(?P<step>[0-9]{1,7}))?)?")


def read_options(words: tuple[Word, ...]) -> tuple[tuple[Directive, ...], int]:
    """The options of an `sbatch` or `srun` command, and the index of the script or command behind them."""
    found: list[Directive] = []
    index = 1
    while index < len(words) and words[index].starts_with.startswith("-"):
        known = words[index].starts_with
        name, equals, _ = known.partition("=")
        if not known.startswith("--") and len(known) > 2:
            name, value = known[:2], words[index].after(2)
        elif equals:
            value = words[index].after(len(name) + 1)
        elif name in SWITCHES or index + 1 >= len(words):
            found.append(Directive(_LONG.get(name, name), None, words[index].at))
            index += 1
            continue
        else:
            index += 1
            value = words[index]
        found.append(Directive(_LONG.get(name, name), value.text, value.value_at))
        index += 1
    return tuple(found), index


def _set(state: ShellState, name: str, value: str, directive: Directive) -> None:
    part = Part(value, directive.at, directive.at, name, note=f"sbatch {directive.name}")
    state.variables[name] = Variable((part,), exported=True)


def _number(directive: Directive | None) -> str | None:
    """The value where it is one number; `2-4` nodes is none."""
    value = directive.value if directive is not None else None
    return value if value is not None and whole_number(value) is not None else None


def asked_devices(value: str) -> str | None:
    """The number of GPUs in `8`, `h100:8`, `gpu:8` or `gpu:h100:8`; None if there is none."""
    if "," in value:
        return None
    last = value.split("(", maxsplit=1)[0].rsplit(":", maxsplit=1)[-1]
    return last if whole_number(last) is not None else "1" if value == "gpu" or value.startswith("gpu:") else None


def _count(directive: Directive | None) -> str | None:
    """The GPUs that an option asks for; None if it is not given, or not known."""
    return asked_devices(directive.value) if directive is not None and directive.value is not None else None


def _set_devices(state: ShellState, stated: dict[str, Directive]) -> None:
    directive = stated.get("--gpus-per-node") or stated.get("--gres") or _on_one_node(stated)
    if directive is None:
        _set_devices_of_tasks(state, stated)
        return
    count = _count(directive)
    if count is not None and (directive.name != "--gres" or (directive.value or "").startswith("gpu")):
        _set(state, "SLURM_GPUS_ON_NODE", count, directive)


def _on_one_node(stated: dict[str, Directive]) -> Directive | None:
    """The option with the GPUs of the whole job, if they can't be on several nodes: it has one node, or one GPU."""
    directive = stated.get("--gpus")
    count = _count(directive)
    return directive if count == "1" or (count is not None and _number(stated.get("--nodes")) == "1") else None


def _set_devices_of_tasks(state: ShellState, stated: dict[str, Directive]) -> None:
    """Set the GPUs of a node where they follow: tasks on each node x GPUs of a task."""
    directive, tasks = stated.get("--gpus-per-task"), _number(stated.get("--ntasks-per-node"))
    count = _count(directive)
    if directive is not None and count is not None and tasks is not None:
        _set(state, "SLURM_GPUS_ON_NODE", str(int(count) * int(tasks)), directive)


def _set_tasks(state: ShellState, stated: dict[str, Directive]) -> None:
    """Set the number of tasks where it follows: nodes x tasks on each."""
    each, nodes = stated.get("--ntasks-per-node"), stated.get("--nodes")
    if "--ntasks" in stated or each is None or nodes is None:
        return
    one, other = _number(each), _number(nodes)
    if one and other:
        for name in ("SLURM_NTASKS", "SLURM_NPROCS"):
            _set(state, name, str(int(one) * int(other)), each)


def _as_many_nodes(state: ShellState, option: Directive) -> bool:
    """Whether a step is on as many nodes as its job (`srun -N$SLURM_JOB_NUM_NODES`), so that each number of the job is the step's."""
    value = _number(option)
    known = (state.variables.get(name) for name in _VARIABLES["--nodes"])
    return option.name == "--nodes" and value is not None and all(each is not None and each.text == value for each in known)


# What Slurm sets in each task of a step, a number that is not the same in all of them (srun(1), output environment variables).
_OF_A_TASK: Final = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
# The same under the names of torch, as the container script "slurm2pytorch" hands them on.
_OF_TORCH: Final = {
    "RANK": "SLURM_PROCID", "LOCAL_RANK": "SLURM_LOCALID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_WORLD_SIZE": "SLURM_NTASKS_PER_NODE",
}  # fmt: skip
HANDS_RANKS_ON: Final = "slurm2pytorch"


def set_step_variables(state: ShellState, at: Location, wrappers: tuple[Wrapper, ...]) -> None:
    """Set what each `srun` among `wrappers` sets anew for its step: from its own options, or unknown if those are not numbers.

    torchrun sets a rank for each process, too.
    """
    if any(wrapper.name == "torchrun" for wrapper in wrappers):
        for name in _OF_TORCH:
            state.variables[name] = Variable((unknown(name, at)._replace(note="torchrun"),), exported=True)
    steps = [wrapper for wrapper in wrappers if wrapper.name == "srun"]
    if not steps:
        return
    stated = {each.name: each for step in steps for each in read_options(step.words)[0] if each.name in _OF_A_STEP}
    for option in ("--nodes", "--ntasks"):
        if option in stated and not _as_many_nodes(state, stated[option]):
            for name in (*_VARIABLES[option], "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE"):
                if name in state.variables:
                    state.forget(name, at)
    for option, names in _OF_A_STEP.items():
        directive = stated.get(option)
        value = _number(directive)
        for name in names if directive is not None and value is not None else ():
            _set(state, name, value or "", directive or stated[option])
    for name in _OF_A_TASK:
        state.variables[name] = Variable((unknown(name, at)._replace(note="srun"),), exported=True)
    if any(wrapper.name == HANDS_RANKS_ON for wrapper in wrappers):
        for name, source in _OF_TORCH.items():
            state.variables[name] = state.variables.get(source) or Variable((unknown(source, at)._replace(note="srun"),), exported=True)
