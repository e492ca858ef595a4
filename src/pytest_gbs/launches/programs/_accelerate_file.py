"""The YAML that `accelerate config` writes, and how many processes it really starts.

ACC is accelerate 1.15.0; `ACC utils/launch.py:216` is a line of src/accelerate.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from pytest_gbs.frameworks.reading import LONGEST
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.launch import LauncherFile, Problem
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.quantity import NO_NOTE, Name, Note, Noted, Origin, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.scalar import value_at

_BESIDE: Final = ("num_processes", "num_machines", "compute_environment", "mixed_precision", "machine_rank")
# ACC parallelism_config.py:290-377; the file's keys reach it as they are (ACC utils/launch.py:403-425).
_SIZES: Final = {
    "dp_replicate": "parallelism_config_dp_replicate_size",
    "dp_shard": "parallelism_config_dp_shard_size",
    "tp": "parallelism_config_tp_size",
    "cp": "parallelism_config_cp_size",
    "sp": "parallelism_config_sp_size",
}
_NAMES: Final = {"tp": Name.TENSOR_PARALLEL_SIZE, "cp": Name.CONTEXT_PARALLEL_SIZE, "sp": Name.SEQUENCE_PARALLEL_SIZE}
# torchrun counts the devices itself for these (torch/distributed/run.py, determine_local_world_size).
_COUNTED: Final = ("auto", "gpu", "cpu", "xpu")
# Keys that no version of accelerate knows there and that look like sizes (ACC commands/config/config_args.py:133-144).
_NO_KEYS: Final = (
    "gpus_per_node",
    "nproc_per_node",
    "num_gpus",
    "num_process",
    "num_nodes",
    "nnodes",
    "world_size",
    "num_machine",
    "gradient_accumulation_steps",
)


class _File(NamedTuple):
    """The values of one launcher file that count."""

    document: Document
    kind: object  # distributed_type as loaded
    processes: int | None
    machines: int
    mesh: dict[str, int]

    def value(self, *path: str) -> object:
        """The value at `path` as PyYAML loads it, None if there is none."""
        return _value(self.document, path)

    def has(self, *path: str) -> bool:
        """Whether the file has the key at `path`."""
        return path in self.document.keyed

    def at(self, *path: str) -> Location:
        """The place of the value at `path`, or of the file's first character if there is none."""
        return self.document.locate(path) or Location(self.document.source.path)


def owns(document: Document) -> bool:
    """Whether `document` is a launcher file of accelerate."""
    kind = document.get("distributed_type")
    return isinstance(kind, Scalar) and any((key,) in document.keyed for key in _BESIDE)


def read(document: Document) -> LauncherFile:
    """The processes that the file starts, and what in it contradicts itself; nothing of a file for another service.

    SageMaker starts one process for each GPU of its machines, whatever these keys say (ACC commands/launch.py, sagemaker_launcher).
    """
    kind = str(_value(document, ("distributed_type",)))
    if _value(document, ("compute_environment",)) == "AMAZON_SAGEMAKER":
        return LauncherFile(document.source.path, "accelerate", (), distributed=True, kind=kind)
    file = _File(document, _value(document, ("distributed_type",)), _processes(document), _machines(document), _mesh(document))
    distributed = file.kind not in ("NO", False)
    quantities = tuple(_quantities(file, distributed))
    problems = tuple(_problems(file, distributed))
    return LauncherFile(document.source.path, "accelerate", quantities, distributed, problems, kind)


def _value(document: Document, path: KeyPath) -> object:
    return value_at(document, path, Loader.PYYAML)


def _processes(document: Document) -> int | None:
    """`num_processes` where it is a number of processes; on one machine text will do (ACC utils/launch.py:225-226)."""
    value = _value(document, ("num_processes",))
    if isinstance(value, str) and _machines(document) == 1:
        value = whole_number(value, LONGEST)
    return value if type(value) is int else None


def _machines(document: Document) -> int:
    """`num_machines`, 1 if it is absent or less (ACC commands/config/config_args.py:182, utils/launch.py:216)."""
    value = _value(document, ("num_machines",))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and value > 1 else 1


def _mesh(document: Document) -> dict[str, int]:
    """The sizes of `parallelism_config`, 1 if one is absent; nothing if the file has none or one is not a number."""
    if not any(("parallelism_config", key) in document.keyed for key in _SIZES.values()):
        return {}
    sizes = {name: _value(document, ("parallelism_config", key)) for name, key in _SIZES.items()}
    present = {name: 1 if ("parallelism_config", _SIZES[name]) not in document.keyed else value for name, value in sizes.items()}
    whole = {name: value for name, value in present.items() if type(value) is int}
    return whole if len(whole) == len(present) else {}


def _quantities(file: _File, distributed: bool) -> Iterator[Quantity]:
    machines, processes = file.machines, file.processes
    at = file.at("num_processes")
    if not distributed:
        note = Note("a single process")
        yield Quantity(Name.WORLD_SIZE, 1, Origin.LAUNCHER, at=file.at("distributed_type"), key="distributed_type", note=note)
    elif processes is not None and processes >= machines:
        each = processes // machines
        note = Note(f"{processes} in the file", Noted.ROUNDED) if processes % machines else NO_NOTE
        yield Quantity(Name.WORLD_SIZE, each * machines, Origin.LAUNCHER, at=at, key="num_processes", note=note)
        if type(file.value("num_machines")) in (int, float):
            yield Quantity(Name.NUM_NODES, machines, Origin.LAUNCHER, at=file.at("num_machines"), key="num_machines")
        note = Note(f"{processes} processes on {machines} machines") if machines > 1 else NO_NOTE
        yield Quantity(Name.GPUS_PER_NODE, each, Origin.LAUNCHER, at=at, key="num_processes", note=note)
    elif processes in (None, -1) and type(file.value("num_machines")) in (int, float):
        yield Quantity(Name.NUM_NODES, machines, Origin.LAUNCHER, at=file.at("num_machines"), key="num_machines")
    for name, size in file.mesh.items():
        path = ("parallelism_config", _SIZES[name])
        if name in _NAMES and size >= 1 and path in file.document.keyed:
            yield Quantity(_NAMES[name], size, Origin.LAUNCHER, at=file.at(*path), key=_SIZES[name])
    yield from _data_parallel(file, distributed)
    yield from _accumulation(file)


def _data_parallel(file: _File, distributed: bool) -> Iterator[Quantity]:
    """Yield the ranks with data of their own: the processes, less those that share a model (ACC data_loader.py:1134-1163)."""
    shared = prod(file.mesh.get(name, 1) for name in _NAMES)
    processes = (file.processes or 0) // file.machines * file.machines if distributed else 1
    if processes >= 1 and shared >= 1 and processes % shared == 0 and file.kind != "MEGATRON_LM":
        key, at = ("num_processes", file.at("num_processes")) if distributed else ("distributed_type", file.at("distributed_type"))
        note = Note(f"{processes} processes / {shared}") if shared > 1 else NO_NOTE
        yield Quantity(Name.DATA_PARALLEL_SIZE, processes // shared, Origin.LAUNCHER, at=at, key=key, note=note)


def _accumulation(file: _File) -> Iterator[Quantity]:
    """Yield the accumulation that a DeepSpeed launch exports (ACC utils/launch.py:569-570), digits in text included."""
    path = ("deepspeed_config", "gradient_accumulation_steps")
    value = file.value(*path)
    if isinstance(value, str):
        value = whole_number(value, LONGEST)
    if type(value) is int and file.kind == "DEEPSPEED":
        key = ".".join(path)
        yield Quantity(Name.GRADIENT_ACCUMULATION_STEPS, value, Origin.LAUNCHER, at=file.at(*path), key=key)


def _problems(file: _File, distributed: bool) -> Iterator[Problem]:
    machines, processes = file.machines, file.processes
    at = file.at("num_processes")
    for key in _NO_KEYS:
        if (key,) in file.document.keyed:
            yield Problem(f"accelerate launch does not know the key {key} and stops", file.at(key))
    if not distributed:
        if processes is not None and processes > 1:
            related = ((file.at("distributed_type"), "no distribution"),)
            yield Problem(f"accelerate launch starts 1 process, not {processes}: distributed_type is NO", at, related, stops=False)
        return
    yield from _of_wrong_type(file)
    if ("num_machines",) in file.document.keyed and _is_null(file, "num_machines"):
        yield Problem("num_machines is null, not a number; accelerate launch stops", file.at("num_machines"), unless="--num_machines")
    if processes is None:
        if _is_null(file, "num_processes"):  # ACC commands/launch.py:1298, utils/launch.py:226
            message = "no num_processes: accelerate launch stops unless --num_processes is given"
            yield Problem(message, file.at("num_processes" if file.has("num_processes") else "distributed_type"), unless="--num_processes")
        return
    on = ((file.at("num_machines"), "machines"),) if ("num_machines",) in file.document.keyed else ()
    if processes == -1:
        yield Problem("num_processes -1: accelerate launch stops unless --num_processes is given", at, unless="--num_processes")
    elif processes < 1:
        yield Problem(f"num_processes must be at least 1, not {processes}; accelerate launch stops", at)
    elif processes < machines:
        yield Problem(f"{processes} processes on {machines} machines leave a machine without a process; accelerate launch stops", at, on)
    elif processes % machines:
        each = processes // machines
        message = f"accelerate launch starts {each * machines} processes, {each} on each of {machines} machines, not {processes}"
        yield Problem(message, at, on, stops=False)
    if file.mesh and processes >= machines:
        yield from _of_mesh(file, processes // machines * machines)


def _is_null(file: _File, key: str) -> bool:
    """Whether a key is absent or null, rather than something that is not a number."""
    node = file.document.get(key)
    return node is None or (isinstance(node, Scalar) and file.value(key) is None)


def _of_wrong_type(file: _File) -> Iterator[Problem]:
    """Yield what torchrun or a comparison refuses (torch/distributed/run.py; ACC utils/launch.py:216, 475)."""
    processes, machines = file.value("num_processes"), file.value("num_machines")
    plain = isinstance(processes, str) and (processes in _COUNTED or is_digits(processes) or "$" in processes or "{" in processes)
    if isinstance(processes, (bool, float)) or (isinstance(processes, str) and not (plain and file.machines == 1)):
        yield Problem(f"num_processes {processes!r} is not a whole number; accelerate launch stops", file.at("num_processes"))
    if isinstance(machines, str) and "$" not in machines and "{" not in machines:
        yield Problem(f"num_machines {machines!r} is text, not a number; accelerate launch stops", file.at("num_machines"))


def _of_mesh(file: _File, processes: int) -> Iterator[Problem]:
    """Yield what `ParallelismConfig` refuses (ACC parallelism_config.py:304-390)."""
    mesh = file.mesh
    places = {
        name: file.at("parallelism_config", key) for name, key in _SIZES.items() if ("parallelism_config", key) in file.document.keyed
    }
    at = next(iter(places.values()))
    related = tuple((place, name) for name, place in places.items() if mesh[name] != 1 and place != at)
    for name, size in mesh.items():
        if size < 1:
            yield Problem(f"{_SIZES[name]} is {size} and must be at least 1; training stops at start", places[name])
            return
    total = prod(mesh.values())
    if mesh["cp"] > 1 and mesh["sp"] > 1:
        message = f"context parallel {mesh['cp']} and sequence parallel {mesh['sp']} can't be combined; training stops at start"
        yield Problem(message, places["cp"], ((places["sp"], "sp"),))
    elif (mesh["tp"] > 1 or mesh["cp"] > 1) and mesh["dp_replicate"] > 1 and mesh["dp_shard"] == 1:
        message = "tensor or context parallelism needs dp_shard above 1 if dp_replicate is above 1; training stops at start"
        yield Problem(message, places["dp_replicate"], related)
    elif total not in (1, processes) and mesh["sp"] == 1:
        factors = " x ".join(f"{name} {size}" for name, size in mesh.items() if size != 1)
        message = (
            f"{factors}{f' = {total}' if ' x ' in factors else ''} is not the number of processes, {processes}; training stops at start"
        )
        yield Problem(message, file.at("num_processes"), ((at, "parallel sizes"), *related))
    elif file.kind == "FSDP" and total > 1 and file.value("fsdp_config", "fsdp_version") not in (2, "2"):
        message = "parallel sizes need fsdp_version 2; training stops at start"
        yield Problem(message, at, related)
