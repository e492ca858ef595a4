"""Jobs of Kubernetes: the command of a container, its variables and the GPUs of its limits, on as many pods as the job has.

The variables that a PyTorchJob sets: kubeflow/training-operator release-1.9 pkg/controller.v1/pytorch/envvar.go (setPodEnv).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import JobFormat, assignment, child, command, entries, items, size, stated, text
from pytest_gbs.model.command import Assignment, Job, Machines
from pytest_gbs.model.document import Document, Node
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.limits import MOST_JOBS, Exhausted

_KINDS: Final = ("Job", "Pod", "PyTorchJob", "MPIJob", "TrainJob", "JobSet", "LeaderWorkerSet")


class _Pods(NamedTuple):
    """Pods that are alike: their containers, how many pods the whole job has, and the variables that its controller sets.

    `gpus` are the GPUs of each node where those are of other pods than the ones that start the work.
    """

    containers: tuple[Node, ...]
    nodes: Quantity | None
    environment: tuple[Assignment, ...] = ()
    gpus: Quantity | None = None


def read(document: Document) -> Iterator[Job]:
    """Yield a job for each container that has a command."""
    kind, spec = text(child(document.root, "kind")), child(document.root, "spec")
    if child(document.root, "apiVersion") is None or kind not in _KINDS:
        return
    left = MOST_JOBS
    for pods in _pods(document, kind, spec):
        left -= 1 + len(pods.containers)
        if left < 0:
            raise Exhausted(f"more than {MOST_JOBS} containers")
        for container in pods.containers:
            yield from _job(document, container, pods)


def _pods(document: Document, kind: str, spec: Node | None) -> Iterator[_Pods]:
    if kind == "Pod":
        yield _Pods(items(child(spec, "containers")), _one("Pod"))
    elif kind == "TrainJob":
        yield from _train_job(document, child(spec, "trainer"))
    elif kind == "PyTorchJob":
        yield from _torch_job(document, spec)
    elif kind == "MPIJob":
        workers = child(spec, "mpiReplicaSpecs", "Worker")
        gpus = next(filter(None, (_gpus(document, each) for each in _containers(workers))), None)
        yield _Pods(_containers(child(spec, "mpiReplicaSpecs", "Launcher")), _count(document, workers, "replicas"), (), gpus)
    elif kind == "JobSet":
        for each in items(child(spec, "replicatedJobs")):
            job = child(each, "template", "spec")
            yield _Pods(_containers(job), _product(_count(document, each, "replicas"), _count(document, job, "parallelism")))
    elif kind == "LeaderWorkerSet":
        template = child(spec, "leaderWorkerTemplate")
        nodes, leader = _count(document, template, "size"), child(template, "leaderTemplate") or child(template, "workerTemplate")
        said = (stated("LWS_GROUP_SIZE", str(nodes.value), nodes, "size"),) if nodes is not None else ()
        yield _Pods(items(child(leader, "spec", "containers")), nodes, said)
    elif tasks := items(child(spec, "tasks")):  # of volcano
        yield _Pods(_containers(tasks[0]), _sum([_count(document, each, "replicas") for each in tasks]))
    else:
        yield _Pods(_containers(spec), _count(document, spec, "parallelism"))


def _containers(of: Node | None) -> tuple[Node, ...]:
    return items(child(of, "template", "spec", "containers"))


def _torch_job(document: Document, spec: Node | None) -> Iterator[_Pods]:
    """Yield the pods of a PyTorchJob, of which those of the master run what all run."""
    replicas = child(spec, "pytorchReplicaSpecs")
    roles = [role for _, role in entries(replicas)]
    elastic = child(spec, "elasticPolicy")
    nodes = _sum([_count(document, role, "replicas") for role in roles]) if elastic is None else None
    each = child(spec, "nprocPerNode")
    said = [*_torchrun(document, nodes, elastic or replicas)]
    if text(each) is not None:
        said.append(assignment(document, "PET_NPROC_PER_NODE", each))
    if nodes is not None:
        processes = size(document, each, Name.GPUS_PER_NODE, "nprocPerNode")
        said.append(stated("WORLD_SIZE", str(nodes.value * (processes.value if processes is not None else 1)), nodes, "replicas"))
    yield _Pods(_containers(child(replicas, "Master") or (roles[0] if roles else None)), nodes, tuple(said))


def _train_job(document: Document, trainer: Node | None) -> Iterator[_Pods]:
    """Yield the pods of a TrainJob, whose trainer is like a container; what it leaves out is said by its runtime."""
    nodes = size(document, child(trainer, "numNodes"), Name.NUM_NODES, "numNodes")
    if trainer is not None:
        each = assignment(document, "PET_NPROC_PER_NODE", child(trainer, "numProcPerNode"))
        yield _Pods((trainer,), nodes, (*_torchrun(document, nodes, trainer), each))


def _torchrun(document: Document, nodes: Quantity | None, otherwise: Node | None) -> Iterator[Assignment]:
    """Yield the variable by which torchrun gets the number of nodes, unknown if the job leaves that open."""
    yield stated("PET_NNODES", str(nodes.value), nodes, nodes.key) if nodes is not None else assignment(document, "PET_NNODES", otherwise)


def _job(document: Document, container: Node, pods: _Pods) -> Iterator[Job]:
    own = [(text(child(each, "name")) or "", child(each, "value")) for each in items(child(container, "env"))]
    environment = (*(assignment(document, name, value) for name, value in own if name), *pods.environment)
    variables = {each.name: each.value for each in environment}
    words = command(document, (*items(child(container, "command")), *items(child(container, "args"))), variables)
    if words:
        machines = Machines(pods.nodes, pods.gpus or _gpus(document, container))
        yield Job((), words, environment, machines, context=text(child(container, "name")) or "")


def _gpus(document: Document, container: Node) -> Quantity | None:
    """The GPUs that a container asks for: `nvidia.com/gpu: 8` among its limits."""
    for resources in (child(container, "resources"), child(container, "resourcesPerNode")):
        for kind in ("limits", "requests"):
            for key, value in entries(child(resources, kind)):
                if key.endswith("/gpu"):
                    return size(document, value, Name.GPUS_PER_NODE, key)
    return None


def _one(key: str) -> Quantity:
    return Quantity(Name.NUM_NODES, 1, Origin.DEFAULT, key=key)


def _count(document: Document, node: Node | None, key: str) -> Quantity | None:
    """The number at `key`, 1 where there is none; None for a node that is not there."""
    if node is None:
        return None
    value = child(node, key)
    return size(document, value, Name.NUM_NODES, key) if value is not None else _one(key)


def _sum(counts: list[Quantity | None]) -> Quantity | None:
    known = [each for each in counts if each is not None]
    if not known or len(known) < len(counts):
        return None
    return next((each for each in known if each.at is not None), known[0])._replace(value=sum(each.value for each in known))


def _product(one: Quantity | None, other: Quantity | None) -> Quantity | None:
    if one is None or other is None:
        return None
    return (one if one.at is not None else other)._replace(value=one.value * other.value)


FORMAT = JobFormat(
    "Kubernetes",
    "Job, Pod, PyTorchJob, TrainJob, MPIJob, JobSet, LeaderWorkerSet and volcano's Job",
    rf"^[ \t]*kind[ \t]*:[ \t]*[\"']?(?:{'|'.join(_KINDS)})\b",
    read,
)
