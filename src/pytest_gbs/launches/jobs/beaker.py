"""Experiments of Beaker: each task's command and arguments, with its variables, on `replicas` machines of `resources.gpuCount` GPUs.

allenai/beaker-py 043cdc88, beaker/data_model/experiment_spec.py (ExperimentSpec, TaskSpec, EnvVar, TaskResources).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.launches.jobs._format import Documents, JobFormat, assignment, child, command, items, size, text
from pytest_gbs.model.command import Job, Machines
from pytest_gbs.model.document import Document
from pytest_gbs.model.quantity import Name, Origin, Quantity


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield a job for each task of an experiment that has an image and a command."""
    for task in items(child(document.root, "tasks")):
        words = command(document, (*items(child(task, "command")), *items(child(task, "arguments"))), {})
        if words and child(task, "image") is not None:
            variables = ((text(child(each, "name")), child(each, "value")) for each in items(child(task, "envVars")))
            environment = tuple(assignment(document, name, value) for name, value in variables if name)
            replicas = child(task, "replicas")
            nodes = size(document, replicas, Name.NUM_NODES, "replicas") if replicas is not None else _one()
            gpus = size(document, child(task, "resources", "gpuCount"), Name.GPUS_PER_NODE, "gpuCount")
            yield Job((), words, environment, Machines(nodes, gpus, in_image=True), context=text(child(task, "name")) or "")


def _one() -> Quantity:
    return Quantity(Name.NUM_NODES, 1, Origin.DEFAULT, key="replicas")


FORMAT = JobFormat("Beaker", "experiments of Beaker: tasks with image, command, arguments, replicas, gpuCount", r"^tasks[ \t]*:", read)
