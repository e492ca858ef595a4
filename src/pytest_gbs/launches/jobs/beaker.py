"""Experiments of Beaker: each task's command and arguments, with its variables, on `replicas` machines of `resources.gpuCount` GPUs.

allenai/beaker-py 043cdc88, beaker/data_model/experiment_spec.py (ExperimentSpec, TaskSpec, EnvVar, TaskResources).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, command, items, listed, node_count, size, text
from pytest_gbs.model.command import Job, Machines
from pytest_gbs.model.document import Document
from pytest_gbs.model.quantity import Name


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield a job for each task of an experiment that has an image and a command."""
    for task in items(child(document.root, "tasks")):
        words = command(document, (*items(child(task, "command")), *items(child(task, "arguments"))), {})
        if words and child(task, "image") is not None:
            environment = tuple(listed(document, child(task, "envVars")))
            nodes = node_count(document, task, "replicas")
            gpus = size(document, child(task, "resources", "gpuCount"), Name.GPUS_PER_NODE, "gpuCount")
            yield Job((), words, environment, Machines(nodes, gpus, in_image=True), context=text(child(task, "name")) or "")


FORMAT = JobFormat("Beaker", "experiments of Beaker: tasks with image, command, arguments, replicas, gpuCount", r"^tasks[ \t]*:", read)
