"""Jobs of Kubernetes: the command of a container, its variables and the GPUs of its limits, on as many pods as the job has.

The variables that a PyTorchJob sets: kubeflow/training-operator release-1.9 pkg/controller.v1/pytorch/envvar.go (setPodEnv).
What a TrainJob leaves to its runtime: kubeflow/trainer v2.0 pkg/runtime/framework/plugins/torch/torch.go, pkg/apis/trainer/v1alpha1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.launches.jobs._format import (
    Documents,
    JobFormat,
    assignment,
    child,
    command,
    entries,
    items,
    listed,
    node_count,
    one_node,
    size,
    stated,
    text,
    word,
)
from pytest_gbs.model.command import Assignment, Job, Machines, Word, Written, plain_word
from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.limits import MOST_JOB_ITEMS, MOST_JOBS, Exhausted

_RUNTIMES: Final = ("TrainingRuntime", "ClusterTrainingRuntime")
_KINDS: Final = ("Job", "Pod", "PyTorchJob", "MPIJob", "TrainJob", "JobSet", "LeaderWorkerSet")


class _Pods(NamedTuple):
    """Pods that are alike: their `spec`, how many of them the whole job has, and the variables that its controller sets.

    `gpus` are the GPUs of each node where something else says them than the containers that start the work. `containers` are those
    of the `spec` if it has none itself.
    """

    spec: Node | None
    nodes: Quantity | None
    environment: tuple[Assignment, ...] = ()
    gpus: Quantity | None = None
    containers: tuple[Node, ...] = ()


def read(document: Document, beside: Documents) -> Iterator[Job]:
    """Yield a job for each container that has a command; the texts of its ConfigMaps and its runtime may stand `beside` it."""
    kind, spec = text(child(document.root, "kind")), child(document.root, "spec")
    if child(document.root, "apiVersion") is None or kind not in _KINDS:
        return
    left, mounted, beside = MOST_JOBS, MOST_JOB_ITEMS, beside[:MOST_JOBS]
    words: dict[tuple[int, str], Word] = {}
    texts = {text(child(each.root, "metadata", "name")): each for each in beside if text(child(each.root, "kind")) == "ConfigMap"}
    for pods in _pods(document, kind, spec, beside):
        containers = items(child(pods.spec, "containers")) or pods.containers
        left -= 1 + len(containers)
        if left < 0:
            raise Exhausted(f"more than {MOST_JOBS} containers")
        for container in containers:
            written = tuple(islice(_mounted(container, pods.spec, texts, words), mounted + 1))
            mounted -= len(written)
            if mounted < 0:
                raise Exhausted(f"more than {MOST_JOB_ITEMS:,} mounted files")
            yield from _job(document, container, pods, written)


def _pods(document: Document, kind: str, spec: Node | None, beside: Documents) -> Iterator[_Pods]:
    if kind == "Pod":
        yield _Pods(spec, one_node("Pod"))
    elif kind == "TrainJob":
        yield from _train_job(document, spec, beside)
    elif kind == "PyTorchJob":
        yield from _torch_job(document, spec)
    elif kind == "MPIJob":
        workers = child(spec, "mpiReplicaSpecs", "Worker")
        gpus = next(filter(None, (_gpus(document, each) for each in items(child(_pod(workers), "containers")))), None)
        yield _Pods(_pod(child(spec, "mpiReplicaSpecs", "Launcher")), node_count(document, workers, "replicas"), (), gpus)
    elif kind == "JobSet":
        for each in items(child(spec, "replicatedJobs")):
            job = child(each, "template", "spec")
            yield _Pods(_pod(job), _product(node_count(document, each, "replicas"), node_count(document, job, "parallelism")))
    elif kind == "LeaderWorkerSet":
        template = child(spec, "leaderWorkerTemplate")
        nodes, leader = node_count(document, template, "size"), child(template, "leaderTemplate") or child(template, "workerTemplate")
        said = (stated("LWS_GROUP_SIZE", str(nodes.value), nodes, "size"),) if nodes is not None else ()
        yield _Pods(child(leader, "spec"), nodes, said)
    elif tasks := items(child(spec, "tasks")):  # of volcano
        yield _Pods(_pod(tasks[0]), _sum([node_count(document, each, "replicas") for each in tasks]))
    else:
        yield _Pods(_pod(spec), node_count(document, spec, "parallelism"))


def _pod(of: Node | None) -> Node | None:
    return child(of, "template", "spec")


def _torch_job(document: Document, spec: Node | None) -> Iterator[_Pods]:
    """Yield the pods of a PyTorchJob, of which those of the master run what all run."""
    replicas = child(spec, "pytorchReplicaSpecs")
    roles = [role for _, role in entries(replicas)]
    elastic = child(spec, "elasticPolicy")
    nodes = _sum([node_count(document, role, "replicas") for role in roles]) if elastic is None else None
    each = child(spec, "nprocPerNode")
    said = [*_torchrun(document, nodes, elastic or replicas)]
    if text(each) is not None:
        said.append(assignment(document, "PET_NPROC_PER_NODE", each))
    if nodes is not None:
        processes = size(document, each, Name.GPUS_PER_NODE, "nprocPerNode")
        said.append(stated("WORLD_SIZE", str(nodes.value * (processes.value if processes is not None else 1)), nodes, "replicas"))
    yield _Pods(_pod(child(replicas, "Master") or (roles[0] if roles else None)), nodes, tuple(said))


def _train_job(document: Document, spec: Node | None, beside: Documents) -> Iterator[_Pods]:
    """Yield the pods of a TrainJob, whose trainer is like a container; what it leaves out is said by its runtime `beside` it."""
    trainer, name = child(spec, "trainer"), text(child(spec, "runtimeRef", "name"))
    runtimes = (each.root for each in beside if text(child(each.root, "kind")) in _RUNTIMES)
    runtime = next((child(each, "spec") for each in runtimes if text(child(each, "metadata", "name")) == name), None)
    policy = child(runtime, "mlPolicy")
    nodes = size(document, child(trainer, "numNodes") or child(policy, "numNodes"), Name.NUM_NODES, "numNodes")
    each = assignment(document, "PET_NPROC_PER_NODE", child(trainer, "numProcPerNode") or child(policy, "torch", "numProcPerNode"))
    said = (*listed(document, child(trainer, "env")), *_torchrun(document, nodes, trainer), each)
    if trainer is not None and (items(child(trainer, "command")) or items(child(trainer, "args"))):
        yield _Pods(None, nodes, said, containers=(trainer,))
    for job in items(child(runtime, "template", "spec", "replicatedJobs")) if not items(child(trainer, "command")) else ():
        yield _Pods(_pod(child(job, "template", "spec")), nodes, said, _gpus(document, trainer))


def _torchrun(document: Document, nodes: Quantity | None, otherwise: Node | None) -> Iterator[Assignment]:
    """Yield the variable by which torchrun gets the number of nodes, unknown if the job leaves that open."""
    yield stated("PET_NNODES", str(nodes.value), nodes, nodes.key) if nodes is not None else assignment(document, "PET_NNODES", otherwise)


def _job(document: Document, container: Node, pods: _Pods, written: tuple[Written, ...]) -> Iterator[Job]:
    environment = (*listed(document, child(container, "env")), *pods.environment)
    variables = {each.name: each.value for each in environment}
    words = command(document, (*items(child(container, "command")), *items(child(container, "args"))), variables)
    if len(words) > 1 and (words[0].text or "").endswith("entrypoint.sh"):
        words = words[1:]  # as the entry points of images do, it sets up what is needed and starts what it is given
    if words:
        machines = Machines(pods.nodes, pods.gpus or _gpus(document, container), in_image=True)
        yield Job((), words, environment, machines, context=text(child(container, "name")) or "", written=written)


def _mounted(
    container: Node, spec: Node | None, texts: dict[str | None, Document], words: dict[tuple[int, str], Word]
) -> Iterator[Written]:
    """Yield the files that a container has from ConfigMaps of the same file, of which `words` are those that were read before."""
    volumes = {text(child(each, "name")): child(each, "configMap") for each in items(child(spec, "volumes"))}
    for mount in items(child(container, "volumeMounts")):
        volume, target, part = volumes.get(text(child(mount, "name"))), text(child(mount, "mountPath")), text(child(mount, "subPath"))
        document = texts.get(text(child(volume, "name"))) if volume is not None else None
        paths = {text(child(each, "key")): text(child(each, "path")) for each in items(child(volume, "items"))}
        for key, value in entries(child(document.root, "data")) if document is not None and target is not None else ():
            name = paths.get(key) if paths else key
            if document is not None and isinstance(value, Scalar) and name is not None and part in (None, name):
                at = Location(document.source.path, value.start, value.stop)
                path = f"{target}" if part is not None else f"{(target or '').rstrip('/')}/{name}"
                if (document.number, key) not in words:
                    words[document.number, key] = word(document, value)
                yield Written(plain_word(path, at), words[document.number, key], at)


def _gpus(document: Document, container: Node | None) -> Quantity | None:
    """The GPUs that a container asks for: `nvidia.com/gpu: 8` among its limits."""
    for resources in (child(container, "resources"), child(container, "resourcesPerNode")):
        for kind in ("limits", "requests"):
            for key, value in entries(child(resources, kind)):
                if key.endswith("/gpu"):
                    return size(document, value, Name.GPUS_PER_NODE, key)
    return None


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
