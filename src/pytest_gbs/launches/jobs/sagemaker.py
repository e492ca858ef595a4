"""Training jobs of SageMaker's Python SDK: the script of an estimator, its hyperparameters as flags, on so many instances of a type.

aws/sagemaker-training-toolkit src/sagemaker_training/torch_distributed.py (_create_command), smdataparallel.py, mpi.py, process.py;
aws/sagemaker-python-sdk doc/frameworks/pytorch/using_pytorch.rst ("Distributed PyTorch Training").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.jobs._format import Documents, JobFormat, child, entries, size, text, word
from pytest_gbs.model.command import Assignment, Folder, Job, Machines, Part, Word, plain_word
from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.shell.state import unknown

# GPUs of an instance, by its family and size (aws.amazon.com/ec2/instance-types, "Accelerated Computing"); all others have one.
_EIGHT: Final = ("p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge")
_LARGE: Final = {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
_OF_LARGE: Final = ("g4dn", "g5", "g6", "g6e")
_ONE: Final = ("p3.2xlarge", "p5.4xlarge")
_FOUR: Final = ("p3.8xlarge",)
_TORCHRUN: Final = "torch_distributed"
_PROCESS_FOR_EACH: Final = ("pytorchddp", "smdistributed", "mpi")
_SPLITS: Final = ("smdistributed", "modelparallel")  # the model, so that the processes are not all data-parallel
_RANKS: Final = ("RANK", "LOCAL_RANK")  # which each of those gets


def read(document: Document, _: Documents) -> Iterator[Job]:
    """Yield the job of an estimator: the call of a class that is given a script and instances."""
    entry = child(document.root, "entry_point")
    kind = child(document.root, "instance_type")
    if not isinstance(entry, Scalar) or text(entry) is None or kind is None:
        return
    nodes = size(document, child(document.root, "instance_count"), Name.NUM_NODES, "instance_count")
    machines = Machines(nodes, _gpus(document, kind))
    program = (word(document, entry), *_flags(document, child(document.root, "hyperparameters")))
    around = _around(document, machines, child(document.root, "distribution"), program[0].at)
    if around is not None:
        ranks = tuple(Assignment(name, _number(None, program[0].at)) for name in _RANKS if around[0].text == "mpirun")
        yield Job((), (*around, *program), ranks, machines, Folder(text(child(document.root, "source_dir")) or ""))


def _gpus(document: Document, kind: Node) -> Quantity | None:
    """The GPUs of an instance of this type (`ml.p4d.24xlarge`), unknown if it is none that has GPUs of NVIDIA."""
    match = _type().fullmatch(text(kind) or "")
    if match is None or not isinstance(kind, Scalar):
        return None
    family, large = match[1], match[2]
    name = f"{family}.{large}"
    counts = {**dict.fromkeys(_EIGHT, 8), **dict.fromkeys(_FOUR, 4), **dict.fromkeys(_ONE, 1)}
    number = _LARGE.get(large, 1) if family in _OF_LARGE and large != "metal" else counts.get(name)
    at = Location(document.source.path, kind.start, kind.stop)
    return Quantity(Name.GPUS_PER_NODE, number, Origin.LAUNCH, at=at, key="instance_type") if number else None


_type = lazy_pattern(r"ml\.([a-z][a-z0-9]{1,8})\.([a-z0-9]{1,12})")


def _around(document: Document, machines: Machines, distribution: Node | None, entry: Location) -> tuple[Word, ...] | None:
    """The words that start the script, which is named at `entry`: torchrun, mpirun, or plain Python; None if it is not known which."""
    at = Location(document.source.path, distribution.start, distribution.stop) if distribution is not None else entry
    how = [name for name, _ in entries(distribution)]
    if isinstance(distribution, Scalar) and text(distribution) is not None:
        return None
    nodes, each = machines.nodes, machines.gpus_per_node
    if _TORCHRUN in how:
        nodes_flag, each_flag = plain_word("--nnodes", at), plain_word("--nproc_per_node", at)
        return (plain_word("torchrun", at), nodes_flag, _number(nodes, at), each_flag, _number(each, at))
    if any(name in _PROCESS_FOR_EACH for name in how):
        stated = child(distribution, "mpi", "processes_per_host")
        each = size(document, stated, Name.GPUS_PER_NODE, "processes_per_host") if stated is not None else each
        split = child(distribution, *_SPLITS) is not None  # into as many parts as its options say, which need not stand here
        total = nodes._replace(value=nodes.value * each.value) if nodes is not None and each is not None and not split else None
        return (plain_word("mpirun", at), plain_word("-np", at), _number(total, at), plain_word("python", at))
    return None if how else (plain_word("python", at),)


def _number(quantity: Quantity | None, otherwise: Location) -> Word:
    at = quantity.at if quantity is not None and quantity.at is not None else otherwise
    part = Part(str(quantity.value), at, at) if quantity is not None else unknown("instances", at)
    return Word(part.text, part.text or "", at, (part,))


def _flags(document: Document, hyperparameters: Node | None) -> Iterator[Word]:
    """Yield the hyperparameters as the script gets them: `--name value`."""
    for name, value in entries(hyperparameters):
        at = Location(document.source.path, value.start, value.stop)
        yield plain_word(f"--{name}", at)
        yield word(document, value) if isinstance(value, Scalar) and text(value) is not None else _number(None, at)


FORMAT = JobFormat(
    "SageMaker",
    "estimators of SageMaker's Python SDK: entry_point, hyperparameters, instance_type, instance_count, distribution",
    r"^[ \t\"]*(?:from|import)[ \t]+sagemaker\b",
    read,
    "sagemaker",
)
