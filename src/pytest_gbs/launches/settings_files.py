"""Scripts that only set the variables of another one beside them: `config_DGXH100_8x8x2xtp4pp1cp2.sh` and `run.sub` of MLPerf.

The README of each benchmark says so: "source config_<system>.sh", then "sbatch -N $DGXNNODES run.sub", or "bash run_with_docker.sh".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_gbs.model.command import Assignment, Directive, Invocation, OtherFiles
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.launch import MisnamedSetting
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.script import read_environment

_OF_ONE_NODE: Final = "run_with_docker.sh"
_RUNNERS: Final = ("run.sub", _OF_ONE_NODE)
_NODES: Final = "DGXNNODES"
_DEMAND: Final = "DGXSYSTEM"
_SETTINGS: Final = "configs"
# What the parts of a name state, with the variables that hold it: two teams of the same company call degrees otherwise.
_STATED: Final = {
    "nodes": (_NODES,),
    "gpus": ("DGXNGPU",),
    "minibatch": ("MINIBS",),
    "tp": ("TP", "TENSOR_MODEL_PARALLEL"),
    "pp": ("PP", "PIPELINE_MODEL_PARALLEL"),
    "cp": ("CP", "CONTEXT_PARALLEL"),
}


def runner_of(path: str, is_there: Callable[[str], bool]) -> str | None:
    """The script whose variables the file at `path` sets, by its name and place; None if it is not such a file."""
    folder, _, name = path.rpartition("/")
    if not name.startswith("config_") or not name.endswith(".sh"):
        return None
    return next((each for above in _above(folder) for runner in _RUNNERS if is_there(each := f"{above}/{runner}".lstrip("/"))), None)


def _above(folder: str) -> Iterator[str]:
    """Yield the folders whose script reads settings in `folder`: that of `configs`, or of `configs/<system>`, else `folder` itself."""
    outer, _, inner = folder.rpartition("/")
    if inner == _SETTINGS:
        yield outer
    else:
        yield folder
        if outer.rpartition("/")[2] == _SETTINGS:
            yield outer.rpartition("/")[0]


def invocation(settings: Source, runner: Source, others: OtherFiles) -> Invocation | None:
    """How `runner` is started with `settings`; None if it does not ask for any, or they leave the number of nodes to others."""
    if _DEMAND not in runner.text or _NODES not in settings.text:
        return None
    environment = read_environment(settings, others)
    nodes = next((each for each in environment if each.name == _NODES), None)
    if nodes is None or nodes.value.text is None or (runner.path.endswith(_OF_ONE_NODE) and nodes.value.text != "1"):
        return None
    directives = (Directive("--nodes", nodes.value.text, nodes.value.value_at),) if runner.path.endswith(".sub") else ()
    return Invocation((), environment, directives)


def place(settings: Source, started: Invocation) -> Location:
    """Where a file of settings states its nodes: the place of its launch."""
    found = next((each.value.value_at for each in started.environment if each.name == _NODES), None)
    return found if found is not None and found.source == settings.path else Location(settings.path)


def misnamed(settings: Source, environment: tuple[Assignment, ...]) -> Iterator[MisnamedSetting]:
    """Yield what the name of a file of settings states and its own lines set otherwise."""
    match = _name().search(settings.path.rpartition("/")[2])
    own = {each.name: each.value for each in environment if each.value.value_at.source == settings.path and not each.value.default}
    for part, variables in _STATED.items() if match is not None else ():
        stated = match[part] if match is not None else None
        for variable in variables if stated is not None else ():
            value = own.get(variable)
            number = whole_number(value.text or "") if value is not None else None
            if value is not None and number is not None and number != int(stated or 0):
                yield MisnamedSetting(part, int(stated or 0), variable, number, value.value_at)


_name = lazy_pattern(
    r"_(?P<nodes>[0-9]{1,5})x(?P<gpus>[0-9]{1,3})x(?P<minibatch>[0-9]{1,5})"
    r"x?tp(?P<tp>[0-9]{1,4})pp(?P<pp>[0-9]{1,4})(?:cp(?P<cp>[0-9]{1,4}))?(?![0-9])",
    re.IGNORECASE,
)
