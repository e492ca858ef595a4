"""The sizes that `accelerate launch` gives: its own options, which beat those of its configuration file.

ACC is accelerate 1.15.0; `ACC launch.py:1250` is a line of src/accelerate/commands/launch.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.launches.programs._in_recipe import document_of, word_at
from pytest_gbs.launches.programs._ranks import gets_rank
from pytest_gbs.launches.programs._words import Split, asked, devices, fallback, named_devices, names, number, option, reason, uses
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.launch import LauncherContext, LauncherFile, Problem
from pytest_gbs.model.quantity import NO_NOTE, Name, Note, Noted, Origin, Quantity, Reason, Unknown, together
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.scalar import value_at

# ACC launch.py:156-870, the options with action="store_true"; the last ones are of older versions.
SWITCHES: Final = names(
    "h help q quiet cpu multi_gpu tpu enable_cpu_affinity dynamo_use_fullgraph dynamo_use_dynamic dynamo_use_regional_compilation "
    "use_deepspeed use_fsdp use_parallelism_config use_megatron_lm same_network m module no_python tpu_cluster no_tpu_cluster "
    "tpu_use_sudo downcast_bf16 fp8_use_autocast_during_eval debug use_xpu use_mps_device mps ipex use_ipex fp16"
)
_PROCESSES: Final = ("--num_processes", "--num_process")
# What starts a command several times.
_STARTERS: Final = ("srun", "mpirun", "mpiexec")
_MACHINES: Final = ("--num_machines", "--num_machine")
_PARADIGMS: Final = ("--multi_gpu", "--tpu", "--use_deepspeed", "--use_fsdp", "--use_megatron_lm")
_EXCLUSIVE: Final = ("--cpu", "--multi_gpu", "--tpu", "--use_deepspeed", "--use_fsdp")
_PARALLEL: Final = {
    Name.TENSOR_PARALLEL_SIZE: "--parallelism_config_tp_size",
    Name.CONTEXT_PARALLEL_SIZE: "--parallelism_config_cp_size",
    Name.SEQUENCE_PARALLEL_SIZE: "--parallelism_config_sp_size",
}
_Size = Quantity | Unknown
# What names the configuration of DeepSpeed in the file, and its key.
_ENGINE: Final = ("deepspeed_config", "deepspeed_config_file")
_ACCUMULATION: Final = "gradient_accumulation_steps"


class AccelerateCommand(NamedTuple):
    """What an `accelerate launch` has to go by: its own words, the file they name, and what may hide more of them.

    `named` is the word that names the file; `file` is None if it can't be read. `key` is how the option for the processes is
    spelled, where another program hands it on. `visible` are the devices that a single process sees, None if the machine decides.
    `counted` are those of the only machine of a job, or the only one that there is: no file of a user's says otherwise. `engine` is the
    configuration of DeepSpeed that an option or the file names.
    """

    own: tuple[Word, ...]
    opaque: Word | None
    named: Word | None
    file: LauncherFile | None
    visible: Quantity | Unknown | None = None
    counted: Quantity | None = None
    engine: Document | None = None

    @property
    def chosen(self) -> bool:
        """True where an option says how to distribute, so that the file does not (ACC launch.py:1214-1221)."""
        return uses(self.own, *_PARADIGMS)

    @property
    def single(self) -> bool:
        """True if one process starts whatever the numbers say (ACC launch.py:1385-1407)."""
        return self.file is not None and not self.file.distributed and not self.chosen

    @property
    def deepspeed(self) -> bool:
        """True where DeepSpeed is used, to which the accumulation is exported (ACC utils/launch.py:568)."""
        return uses(self.own, "--use_deepspeed") or (self.file is not None and self.file.kind == "DEEPSPEED" and not self.chosen)

    def of_file(self, name: str) -> Quantity | None:
        """Size `name` as the file gives it."""
        found = self.file.quantities if self.file is not None else ()
        return next((each for each in found if each.name == name), None)


def given(parts: Split, command: Command, context: LauncherContext) -> AccelerateCommand:
    """What the options of `accelerate launch` and their file say."""
    named = option(parts.own, "--config_file")
    file = context.launcher_file(named[1], command) if named is not None else None
    counted = devices(command) if _is_alone(command) else None
    document = document_of(named[1], command, context) if named is not None else None
    visible = _visible(parts.own, document, command)
    at_machine = counted if isinstance(counted, Quantity) else _only_one(visible, parts, command)
    engine = option(parts.own, "--deepspeed_config_file") or (None, word_at(document, _ENGINE) if document is not None else None)
    configured = document_of(engine[1], command, context)
    return AccelerateCommand(parts.own, parts.opaque, named[1] if named is not None else None, file, visible, at_machine, configured)


def _visible(own: tuple[Word, ...], document: Document | None, command: Command) -> Quantity | Unknown | None:
    """The devices that a single process sees: those of `--gpu_ids`, or of the file, else those that the command sees.

    ACC launch.py:1249-1253, utils/launch.py:136-152 (prepare_simple_launcher_cmd_env).
    """
    if document is not None and value_at(document, ("use_cpu",), Loader.PYYAML) is True:
        return Unknown(Name.GPUS_PER_NODE, Reason.MISSING)
    key, word = option(own, "--gpu_ids") or ("gpu_ids", word_at(document, ("gpu_ids",)) if document is not None else None)
    return devices(command) if word is None or word.text == "all" else named_devices(word, key)


def _only_one(visible: Quantity | Unknown | None, parts: Split, command: Command) -> Quantity | None:
    """The one device that a command sees, on which more than one process can't run, whatever the user's own default file says."""
    grouped = gets_rank(command) or any(wrapper.name in _STARTERS for wrapper in command.wrappers)
    here = command.machines is None and not grouped and option(parts.own, *_MACHINES) is None
    return visible if here and isinstance(visible, Quantity) and visible.value == 1 else None


def _is_alone(command: Command) -> bool:
    """Whether a command runs on the only machine of a job."""
    nodes = command.machines.nodes if command.machines is not None else None
    return nodes is not None and nodes.value == 1


def sizes(of: AccelerateCommand) -> tuple[_Size, ...]:
    """The world, machines, processes on each, parallel sizes and the accumulation that is exported."""
    return (*_hardware(of), *_parallel(of), *_accumulation(of))


def _hardware(of: AccelerateCommand) -> Iterator[_Size]:
    total = _processes(of)
    if _sees_several(of, total) and of.visible is not None:
        yield Unknown(Name.WORLD_SIZE, Reason.MISSING, of.visible.at)
        return
    if of.single or uses(of.own, "--cpu") or isinstance(total, Unknown):
        single = of.of_file(Name.WORLD_SIZE) if of.single else None
        yield single or (total if isinstance(total, Unknown) else Unknown(Name.WORLD_SIZE, Reason.MISSING))
        return
    machines = _machines(of)
    if machines is None:
        yield total
        return
    if isinstance(machines, Unknown):
        yield Unknown(Name.WORLD_SIZE, machines.reason, machines.at)
        return
    each = total.value // machines.value
    if each == 0:
        yield Unknown(Name.WORLD_SIZE, Reason.NOT_WHOLE, total.at)
        return
    floored = Note(f"{total.value} asked for", Noted.ROUNDED) if total.value % machines.value else NO_NOTE
    yield total._replace(value=each * machines.value, note=together((floored, total.note)))
    yield machines
    note = Note(f"{total.value} processes on {machines.value} machines") if machines.value > 1 else total.note
    yield total._replace(name=Name.GPUS_PER_NODE, value=each, note=note)


def fed_gpus(of: AccelerateCommand, command: Command) -> Quantity | None:
    """The GPUs that one process without a group sees if these are several; its program may feed all of them."""
    several = _sees_several(of, _processes(of)) and of.opaque is None and not uses(of.own, "--cpu") and not gets_rank(command)
    written = of.file is not None and of.named is not None and of.file.path == command.at.source  # its list of GPUs is not read
    return of.visible if several and not written and isinstance(of.visible, Quantity) else None


def _sees_several(of: AccelerateCommand, total: _Size) -> bool:
    """Whether one process without a group sees several devices: transformers' Trainer feeds a micro batch to each, others do not.

    ACC launch.py:1385-1407 (simple_launcher); transformers 5.14.1, training_args.py (n_gpu, train_batch_size).
    """
    alone = of.single or (of.file is None and not of.chosen and isinstance(total, Quantity) and total.value == 1)
    return alone and isinstance(of.visible, Quantity) and of.visible.value > 1


def _processes(of: AccelerateCommand) -> _Size:
    """The processes asked for over all machines (ACC launch.py:1250-1299)."""
    stated = asked(Name.WORLD_SIZE, of.own, *_PROCESSES)
    if stated is not None:
        return stated
    if of.opaque is not None:
        return Unknown(Name.WORLD_SIZE, reason(of.opaque), of.opaque.at)
    found = of.of_file(Name.WORLD_SIZE)
    if found is None and of.counted is not None and of.named is None:
        return of.counted._replace(name=Name.WORLD_SIZE)  # ACC launch.py:1250-1299: all devices of the machine
    if found is None:
        return Unknown(Name.WORLD_SIZE, Reason.AUTO if of.named is None else Reason.MISSING, of.named.at if of.named else None)
    hidden = of.file is not None and not of.file.distributed  # an option chose otherwise: its number counts again
    if hidden or (found.note.kind == Noted.ROUNDED and option(of.own, *_MACHINES) is not None):
        return Unknown(Name.WORLD_SIZE, Reason.MISSING, found.at)  # the file's own number was rounded to its own machines
    return found


def _machines(of: AccelerateCommand) -> _Size | None:
    """The machines, 1 if nothing says otherwise (ACC launch.py:1321); None if a file that is not here may."""
    stated = option(of.own, *_MACHINES)
    if stated is not None and number(stated[1]) == 0:
        return Quantity(Name.NUM_NODES, 1, Origin.LAUNCH, at=stated[1].value_at, key=stated[0])
    found = asked(Name.NUM_NODES, of.own, *_MACHINES) or of.of_file(Name.NUM_NODES)
    if found is not None:
        return found
    if (of.named is not None and of.file is None) or of.opaque is not None:
        return None
    return fallback(Name.NUM_NODES, 1, "--num_machines", "accelerate", None)


def _parallel(of: AccelerateCommand) -> Iterator[_Size]:
    for name, key in _PARALLEL.items():
        stated = asked(name, of.own, key)
        found = of.of_file(name)
        if stated is not None and (found is not None or uses(of.own, "--use_parallelism_config")):
            yield stated
        elif found is not None:
            yield found


def _accumulation(of: AccelerateCommand) -> Iterator[_Size]:
    """Yield the accumulation that a DeepSpeed launch exports; elsewhere the recipe's own holds (ACC utils/launch.py:568-570).

    A number in a configuration of DeepSpeed is taken before all others (accelerate 1.15.0, accelerator.py:2207-2214).
    """
    stated = asked(Name.GRADIENT_ACCUMULATION_STEPS, of.own, "--gradient_accumulation_steps")
    found = of.of_file(Name.GRADIENT_ACCUMULATION_STEPS)
    engine = word_at(of.engine, (_ACCUMULATION,)) if of.deepspeed and of.engine is not None else None
    if engine is not None and (steps := number(engine) or 0) > 0:
        yield Quantity(Name.GRADIENT_ACCUMULATION_STEPS, steps, Origin.LAUNCHER, at=engine.value_at, key=_ACCUMULATION)
    elif of.deepspeed and stated is not None:
        yield stated
    elif of.deepspeed and found is not None:
        yield found


def problems(of: AccelerateCommand) -> Iterator[Problem]:
    """Yield what accelerate refuses, or does differently from what its options say."""
    stated, machines = option(of.own, *_PROCESSES), _machines(of)
    flags = [flag for flag in _EXCLUSIVE if uses(of.own, flag)]
    first = next((word for word in of.own if flags and word.text == flags[0]), None)
    if len(flags) > 1 and first is not None:
        yield Problem(f"{' and '.join(flags)} can't be combined; accelerate launch stops", first.at)  # ACC launch.py:1198
    elif stated is not None and number(stated[1]) in (0, 1) and "--multi_gpu" in flags:
        yield Problem("--multi_gpu needs at least 2 processes; accelerate launch stops", stated[1].value_at)  # ACC launch.py:1202
    elif stated is None and of.file is not None:
        yield from _left_out(of, of.file)
    if stated is None or number(stated[1]) is None:
        return
    total, at = number(stated[1]) or 0, stated[1].value_at
    if of.single:
        if total > 1 and of.file is not None:
            related = tuple((each.at, "no distribution") for each in of.file.quantities[:1] if each.at)
            yield Problem(f"accelerate launch starts 1 process, not {total}: distributed_type is NO", at, related, stops=False)
    elif isinstance(machines, Quantity):
        yield from _of_machines(total, machines, stated[1])


def _left_out(of: AccelerateCommand, file: LauncherFile) -> Iterator[Problem]:
    """Yield what the file leaves to the options, if they do not say it either."""
    for problem in file.problems:
        if problem.unless == _PROCESSES[0] and of.opaque is None and of.named is not None and not of.single:
            message = "neither --num_processes nor the configuration file gives a number of processes; accelerate launch stops"
            yield Problem(message, of.named.at, ((problem.at, "configuration"),))


def _of_machines(total: int, machines: Quantity, word: Word) -> Iterator[Problem]:
    at = word.value_at
    on = ((machines.at, "machines"),) if machines.at is not None and machines.at != at else ()
    each = total // machines.value
    if total < 1:
        yield Problem(f"the number of processes must be at least 1, not {total}; accelerate launch stops", at)
    elif each == 0:
        message = f"{total} processes on {machines.value} machines leave a machine without a process; accelerate launch stops"
        yield Problem(message, at, on, stops=not word.default and machines.note.kind not in (Noted.DEFAULT, Noted.BUILT_IN))
    elif total % machines.value:
        started = f"accelerate launch starts {each * machines.value} processes, {each} on each of {machines.value} machines, not {total}"
        yield Problem(started, at, on, stops=False)
