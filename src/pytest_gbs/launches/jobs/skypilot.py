"""SkyPilot tasks: `num_nodes` machines with `resources.accelerators`, each of which runs `run` with the variables of `envs`.

Jobs of oumi are tasks too: `working_dir`, `user`, `storage_mounts` (oumi d8ed07778 src/oumi/core/configs/job_config.py).

docs.skypilot.co/en/latest/reference/yaml-spec.html; .../running-jobs/environment-variables.html (skypilot 0.10).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, entries, items, node_count, parts, size, stated, text, variables
from pytest_gbs.model.command import Assignment, Folder, Job, Machines
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import Document, Mapping, Node, Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.shell.wrappers import words_of

_KEYS: Final = words_of(
    "name workdir num_nodes resources envs secrets file_mounts volumes setup run service config event_callback inputs outputs "
    "experimental pool job user working_dir storage_mounts"
)
_FEW: Final = 1_000  # nodes whose addresses are listed


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield the task of a document: `run`, beside other keys of a task and no others."""
    found = dict(entries(document.root))
    run = found.get("run")
    if (
        not isinstance(run, Scalar)
        or not found.keys() <= _KEYS
        or not found.keys() & {"resources", "setup", "num_nodes", "workdir", "working_dir"}
    ):
        return
    nodes = node_count(document, document.root, "num_nodes")
    machines = Machines(nodes, _gpus(document, found.get("resources")), tuple(_mounts(found.get("file_mounts"))))
    folder = text(found.get("workdir")) or text(found.get("working_dir"))
    yield Job(parts(document, run), (), tuple(_environment(document, found, machines)), machines, Folder(folder or ""))


def _gpus(document: Document, resources: Node | None) -> Quantity | None:
    """The GPUs of each node, if all that SkyPilot may choose have as many."""
    asked = [resources, *(each for key in ("any_of", "ordered") for each in items(child(resources, key)))]
    found = [each for one in asked for each in _counts(document, child(one, "accelerators"))]
    first = found[0] if found else None
    return first if first is not None and all(each is not None and each.value == first.value for each in found) else None


def _counts(document: Document, accelerators: Node | None) -> Iterator[Quantity | None]:
    """Yield the number of each of several accelerators: `H100:8`, `{H100: 8}`, `{H100:8, A100:8}`, `[H100:8]`; None if it has none."""
    if isinstance(accelerators, Scalar) and text(accelerators) is not None:
        yield _count(document, accelerators, None)
    for each in items(accelerators):
        yield _count(document, each, None)
    for key, value in accelerators.entries if isinstance(accelerators, Mapping) else ():
        yield _count(document, key, value)


def _count(document: Document, named: Node, value: Node | None) -> Quantity | None:
    name, colon, count = (text(named) or "").partition(":")
    if name.lower().startswith("tpu") or not isinstance(named, Scalar):
        return None
    if text(value) is not None:
        return size(document, value, Name.GPUS_PER_NODE, "accelerators")
    number = whole_number(count.strip()) if colon else 1
    if not number:
        return None
    stop = named.stop - (not named.plain)
    at = Location(document.source.path, stop - len(count.strip()), stop) if colon else None
    return Quantity(Name.GPUS_PER_NODE, number, Origin.LAUNCH, at=at, key="accelerators")


def _mounts(file_mounts: Node | None) -> Iterator[tuple[str, str]]:
    """Yield the files and folders of the repository that lie elsewhere on the machines: `/configs: ./configs`."""
    for target, source in entries(file_mounts):
        path = text(source) or text(child(source, "source"))
        if path is not None and "://" not in path and not path.startswith(("/", "~")):
            yield target.rstrip("/"), path


def _environment(document: Document, task: dict[str, Node], machines: Machines) -> Iterator[Assignment]:
    yield from variables(document, task.get("envs"), task.get("secrets"), default=True)
    if machines.nodes is not None:
        count = machines.nodes.value
        yield stated("SKYPILOT_NUM_NODES", str(count), machines.nodes, "num_nodes")
        if count <= _FEW:
            yield stated("SKYPILOT_NODE_IPS", "\n".join(f"node-{rank}" for rank in range(count)), machines.nodes, "num_nodes")
    if machines.gpus_per_node is not None:
        yield stated("SKYPILOT_NUM_GPUS_PER_NODE", str(machines.gpus_per_node.value), machines.gpus_per_node, "accelerators")


# A `run` with settings below it is a section of a recipe.
_HINT = r"^run[ \t]*:(?![ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*[ \t]+[\w.-]+[ \t]*:(?:\s|$))"

FORMAT = JobFormat("SkyPilot", "tasks of SkyPilot and jobs of oumi: num_nodes, resources, envs, run", _HINT, read)
