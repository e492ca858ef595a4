"""MosaicML runs (`mcli run -f`): `compute.gpus` processes, whose numbers the platform exports, and the recipe below `parameters`.

docs.mosaicml.com/projects/mcli/en/latest/training/yaml_schema.html; .../training/run_environment_variables.html (mcli 0.6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, items, listed, one_node, parts, size, stated, text, variables
from pytest_gbs.model.command import Assignment, Job, Machines
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.quantity import Name, Quantity

_PARAMETERS: Final = "/mnt/config/parameters.yaml"
_OF_NODE: Final = 8  # GPUs; a run of no more has one node


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield the run of a document: a command, an image, and the GPUs that it asks for."""
    run = child(document.root, "command")
    world = _gpus(document)
    if not isinstance(run, Scalar) or child(document.root, "image") is None or world is None:
        return
    machines = _machines(document, world)
    yield Job(parts(document, run), (), tuple(_environment(document, world, machines)), machines)


def _gpus(document: Document) -> Quantity | None:
    for path in (("compute", "gpus"), ("gpus",), ("gpu_num",)):
        found = size(document, child(document.root, *path), Name.WORLD_SIZE, ".".join(path))
        if found is not None:
            return found
    return None


def _machines(document: Document, world: Quantity) -> Machines:
    nodes = size(document, child(document.root, "compute", "nodes"), Name.NUM_NODES, "compute.nodes")
    if nodes is None and world.value <= _OF_NODE:
        nodes = one_node("compute.nodes")
    whole = nodes is not None and world.value % nodes.value == 0
    each = world._replace(name=Name.GPUS_PER_NODE, value=world.value // nodes.value) if nodes is not None and whole else None
    return Machines(nodes, each, (*_repositories(document), (_PARAMETERS, document.source.path.rpartition("/")[2])))


def _repositories(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the folder of each repository that is cloned; it is this one if it has the files that the command names."""
    for each in items(child(document.root, "integrations")):
        name = text(child(each, "path")) or (text(child(each, "git_repo")) or "").rpartition("/")[2]
        if name and "/" not in name:
            yield name, ""


def _environment(document: Document, world: Quantity, machines: Machines) -> Iterator[Assignment]:
    stated_here = child(document.root, "env_variables")
    yield from variables(document, stated_here)
    yield from listed(document, stated_here, "key")
    yield stated("WORLD_SIZE", str(world.value), world, world.key)
    if machines.nodes is not None and machines.gpus_per_node is not None:
        yield stated("NUM_NODES", str(machines.nodes.value), machines.nodes, "compute.nodes")
        yield stated("LOCAL_WORLD_SIZE", str(machines.gpus_per_node.value), machines.gpus_per_node, world.key)


FORMAT = JobFormat("MosaicML", "runs of mcli: command, image, compute.gpus, parameters", r"^command[ \t]*:", read)
