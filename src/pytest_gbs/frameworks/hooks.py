"""What no table can say: the few pure functions that a framework's table names as `derive` or `settle`.

Each takes the document and the sizes that were solved so far. One under `derive` returns the sizes that really hold where the
framework rounds or corrects; one under `settle` the sizes that it fills in, with which the equations are solved again.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import islice
from types import FunctionType
from typing import Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.arithmetic.schedules import RAMP_UP, ramp
from pytest_gbs.arithmetic.wording import count, leaves
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import Document, Mapping, Scalar, Sequence, followed
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import KeyPath, Location, dotted
from pytest_gbs.model.quantity import Conflict, Name, Note, Origin, Quantity, Reason, Size, Unknown

# Of Megatron, its YAML files and Megatron Bridge.
_DECREASES: Final = tuple(
    Condition(key, (True, "true", "True"), default=False)
    for key in (
        ("MODEL_ARGS", "--decrease-batch-size-if-needed"),
        ("decrease_batch_size_if_needed",),
        ("train", "decrease_batch_size_if_needed"),
    )
)

_LEVANTER_BATCH: Final = ("trainer", "train_batch_size")
_LEVANTER_PER_DEVICE: Final = ("trainer", "per_device_parallelism")
_LIGHTNING_SCHEDULER: Final = "GradientAccumulationScheduler"
_SWIFT_TARGET: Final = 16  # samples per optimizer step
_NEMO_RAMP: Final = ("model", "rampup_batch_size")
_NEMO_RAMP_LENGTH: Final = 3  # start, increment, samples
_NEMO_MOST_DIGITS: Final = 11

_NEMO_RL_APART: Final = Condition(("policy", "generation", "colocated", "enabled"), (False,))
_NEMO_RL_REWARDS: Final = Condition(("env", "reward_model", "enabled"), (True,))
_NEMO_RL_TEACHERS: Final = (("on_policy_distillation", "non_colocated_teachers"), ("non_colocated_teachers",))

_NANOCHAT_SHAPE: Final = ("model_layers", "width_per_layer", "head_width")
_NANOCHAT_REFERENCE: Final = 12  # layers
_NANOCHAT_VOCABULARIES: Final = (2**8, 2**16)  # of its tokenizers; the ratio of parameters only rises or only falls between them
_NANOCHAT_MOST: Final = 10_000

_ROLL_TRAINS: Final = tuple((worker, "device_mapping") for worker in ("actor_train", "student_train", "sft_train", "student"))
_ROLL_LONGEST: Final = 10_000  # characters; the list of a thousand GPUs is half as long
_ROLL_MOST_WORKERS: Final = 50
_ROLL_LIST: Final = r"(list\()?(?:range\((\d{1,5}(?:,\d{1,5}){0,2})\)|\[((?:\d{1,5}(?:,\d{1,5})*,?)?)\])(?(1)\))"


def realise_rank_batches(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The global batch that the ranks have together, where what each gets of the stated one was rounded down."""
    stated, rank, ranks = (sizes.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.RANK_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(stated, Quantity) and isinstance(rank, Quantity) and isinstance(ranks, Quantity)):
        return {}
    real = rank.value * ranks.value
    if real in (0, stated.value):  # a rank without a sample is an error elsewhere
        return {}
    return {stated.name: Quantity(stated.name, real, Origin.DERIVED, stated.unit, because=(rank, ranks))}


def realise_rollout_batch(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The global batch that the ranks have together, of which a rollout that has fewer completions makes a smaller one."""
    realised = realise_rank_batches(document, sizes)
    batch, rollout = realised.get(Name.GLOBAL_BATCH_SIZE, sizes.get(Name.GLOBAL_BATCH_SIZE)), sizes.get(Name.GENERATION_BATCH_SIZE)
    if not (isinstance(batch, Quantity) and isinstance(rollout, Quantity)) or not 0 < rollout.value < batch.value:
        return realised
    found: dict[str, Size] = {batch.name: Quantity(batch.name, rollout.value, Origin.DERIVED, batch.unit, because=(rollout,))}
    micro, ranks = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.DATA_PARALLEL_SIZE)
    if isinstance(micro, Quantity) and isinstance(ranks, Quantity) and micro.value * ranks.value > 0:
        steps = -(-rollout.value // (micro.value * ranks.value))
        found[Name.GRADIENT_ACCUMULATION_STEPS] = Quantity(
            Name.GRADIENT_ACCUMULATION_STEPS, steps, Origin.DERIVED, because=(rollout, micro, ranks)
        )
    return found


def realise_running_batch(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The batch and the accumulation that really run where Megatron may decrease them to whole micro batches, else nothing."""
    stated, micro, ranks = (sizes.get(n) for n in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(stated, Quantity) and isinstance(micro, Quantity) and isinstance(ranks, Quantity)):
        return {}
    if not any(holds(condition, document, Loader.PYYAML) for condition in _DECREASES):
        return {}
    each = micro.value * ranks.value
    if each < 1 or stated.value < each:
        return {}
    steps = Quantity(Name.GRADIENT_ACCUMULATION_STEPS, stated.value // each, Origin.DERIVED, because=(stated, micro, ranks))
    running = Quantity(stated.name, steps.value * each, Origin.DERIVED, stated.unit, because=(micro, steps, ranks))
    return {running.name: running, steps.name: steps}


def realise_divided_batches(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The batches that HALOs really trains and evaluates, where they are not the stated ones.

    With an accumulation of 0.5 a micro batch is twice the share of a process, and a step takes one (H launch.py:66, train/trainers.py:341).
    """
    accumulation, name = sizes.get(Name.GRADIENT_ACCUMULATION_STEPS), Name.GLOBAL_BATCH_SIZE
    if isinstance(accumulation, Unknown) and accumulation.reason == Reason.NOT_AN_INTEGER:
        return {**_evaluated(sizes), name: accumulation._replace(name=name)}
    return _evaluated(sizes)


def _evaluated(sizes: dict[str, Size]) -> dict[str, Size]:
    """The evaluation batch of one forward pass: the accumulation divides it too, and evaluation never accumulates.

    H launch.py:71; train/trainers.py:283-286. Nothing where the processes are not known.
    """
    stated, micro, world = (sizes.get(name) for name in (Name.EVAL_GLOBAL_BATCH_SIZE, Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE))
    if type(stated) is not Quantity or type(micro) is not Quantity or type(world) is not Quantity:
        return {}
    value = micro.value * world.value
    return {stated.name: Quantity(stated.name, value, Origin.DERIVED, stated.unit, because=(micro, world))} if value != stated.value else {}


def realise_whole_micro_batches(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The global batch that is left where the accumulation was rounded down, else nothing."""
    factors = tuple(
        size
        for name in (Name.GRADIENT_ACCUMULATION_STEPS, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
        if isinstance(size := sizes.get(name), Quantity)
    )
    stated = sizes.get(Name.GLOBAL_BATCH_SIZE)
    if len(factors) < 3 or not isinstance(stated, Quantity):
        return {}
    real = factors[0].value * factors[1].value * factors[2].value
    if real in (0, stated.value):
        return {}
    return {stated.name: Quantity(stated.name, real, Origin.DERIVED, "samples", because=factors)}


def accumulate_where_both_are_given(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The default global batch, and one micro batch per step unless both sizes are given (LV trainer.py:919-935)."""
    found: dict[str, Size] = {}
    if Name.GLOBAL_BATCH_SIZE not in sizes and _LEVANTER_BATCH not in document.keyed:
        found[Name.GLOBAL_BATCH_SIZE] = Quantity(Name.GLOBAL_BATCH_SIZE, 512, Origin.DEFAULT, "samples", key=".".join(_LEVANTER_BATCH))
    given = {*found, *(name for name, size in sizes.items() if not isinstance(size, Quantity) or size.origin != Origin.DERIVED)}
    if not given >= {Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE}:
        name = Name.GRADIENT_ACCUMULATION_STEPS
        found[name] = Quantity(name, 1, Origin.DEFAULT, key=".".join(_LEVANTER_PER_DEVICE), note=Note("not both sizes are given"))
    return found


def accumulate_where_a_global_batch_is_given(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """One local batch per step where no global batch is given (TT train.py:196-200), else nothing."""
    given = sizes.get(Name.GLOBAL_BATCH_SIZE)
    if given is not None and not (isinstance(given, Quantity) and given.origin == Origin.DERIVED):
        return {}
    note = Note("no global batch is given")
    one = Quantity(Name.GRADIENT_ACCUMULATION_STEPS, 1, Origin.DEFAULT, key="training.global_batch_size", note=note)
    return {Name.GRADIENT_ACCUMULATION_STEPS: one}


def fill_accumulation(_document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The accumulation that ms-swift chooses if none is stated: enough micro batches of all ranks for 16 samples.

    It counts all ranks, those that share a sequence too (SW trainers/arguments.py:284), so that such a step has fewer.
    """
    micro, world = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.WORLD_SIZE)
    if Name.GRADIENT_ACCUMULATION_STEPS in sizes or type(micro) is not Quantity or type(world) is not Quantity:
        return {}
    at_once = micro.value * world.value
    if at_once < 1:
        return {}
    name, steps = Name.GRADIENT_ACCUMULATION_STEPS, max(1, -(-_SWIFT_TARGET // at_once))
    return {name: Quantity(name, steps, Origin.DEFAULT, key="gradient_accumulation_steps", because=(micro, world))}


def run_alone(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Sizes of 1 for a single process, which LLaMA-Factory v1 runs without a look at its degrees.

    LF accelerator/interface.py:72, 87; helper.py:77.
    """
    world = sizes.get(Name.WORLD_SIZE)
    if type(world) is not Quantity or world.value != 1:
        return {}
    names = (Name.DATA_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, "model_replicas", "model_shards")
    return {name: Quantity(name, 1, Origin.DERIVED, because=(world,), note=Note("a single process")) for name in names}


def reduce_micro_batch(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The batch of one device as the micro batch where that was larger (LF config_utils.py:450-455), else nothing."""
    batch, micro, ranks = (sizes.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(batch, Quantity) and isinstance(micro, Quantity) and isinstance(ranks, Quantity)):
        return {}
    if ranks.value < 1 or batch.value % ranks.value or micro.value * ranks.value <= batch.value:
        return {}
    note = Note(f"{micro.key} {micro.value} is more than the batch per GPU")
    reduced = Quantity(micro.name, batch.value // ranks.value, Origin.DERIVED, "samples", micro.at, micro.key, (batch, ranks), note)
    return {micro.name: reduced}


def schedule_accumulation(document: Document, _: dict[str, Size]) -> dict[str, Size]:
    """An accumulation that changes where a callback schedules it (PL callbacks/gradient_accumulation_scheduler.py), else nothing."""
    callbacks = document.get("trainer", "callbacks")
    for item in callbacks.items if isinstance(callbacks, Sequence) else ():
        for key, value in item.entries if isinstance(item, Mapping) else ():
            if getattr(key, "text", "") == "class_path" and isinstance(value, Scalar) and value.text.endswith(_LIGHTNING_SCHEDULER):
                at = Location(document.source.path, value.start, value.stop)
                return {Name.GRADIENT_ACCUMULATION_STEPS: Unknown(Name.GRADIENT_ACCUMULATION_STEPS, Reason.SCHEDULE, at)}
    return {}


def clamp_to_the_processes(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The parallel sizes as the processes allow them, and the global batch with the stages of its ramp-up."""
    return {**_clamp_to_the_processes(sizes), **_ramp_up(document, sizes)}


def _ramp_up(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The global batch with the stages on the way to it (MC num_microbatches_calculator.py:380-508)."""
    end, node = sizes.get(Name.GLOBAL_BATCH_SIZE), document.get(*_NEMO_RAMP)
    if not isinstance(end, Quantity) or end.origin == Origin.DERIVED or not isinstance(node, Sequence):
        return {}
    numbers = [whole_number(item.text, _NEMO_MOST_DIGITS) if isinstance(item, Scalar) and item.plain else None for item in node.items]
    start, increment = numbers[:2] if len(numbers) == _NEMO_RAMP_LENGTH and None not in numbers else (None, None)
    stages = ramp(start, increment, end.value) if start is not None and increment is not None else ()
    return {end.name: end._replace(stages=stages, note=RAMP_UP)} if stages else {}


def _clamp_to_the_processes(sizes: dict[str, Size]) -> dict[str, Size]:
    """Each model-parallel size that is more than there are processes as so many, which NeMo does without a word.

    A node that can't hold the model by the product of these sizes is a placeholder: a launcher or a search for a good layout fills
    the number of nodes in (auto_configurator/base_configs of NeMo-Framework-Launcher).
    """
    processes = sizes.get(Name.WORLD_SIZE)
    if not isinstance(processes, Quantity):
        return {}
    clamped: dict[str, Size] = {}
    degree = 1
    for name in (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE):
        size = sizes.get(name)
        if isinstance(size, Quantity) and size.value > processes.value:
            note = Note(f"{size.value}, clamped to the GPUs")
            clamped[name] = Quantity(name, processes.value, Origin.DERIVED, at=size.at, key=size.key, because=(processes,), note=note)
        degree *= size.value if isinstance(size, Quantity) else 1
    nodes = sizes.get(Name.NUM_NODES)
    if not clamped and degree > processes.value and isinstance(nodes, Quantity) and nodes.origin == Origin.FILE and nodes.value == 1:
        return {Name.NUM_NODES: Unknown(Name.NUM_NODES, Reason.PLACEHOLDER, nodes.at)}
    return clamped


def leave_out_generation(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The nodes, or the GPUs of the one node, that train where others only generate; unknown if their number is."""
    reserved: dict[str, Size] = {name: Unknown(name, Reason.RESERVED) for name in (Name.NUM_NODES, Name.WORLD_SIZE)}
    if holds(_NEMO_RL_REWARDS, document, Loader.OMEGACONF) or any(key in document.keyed for key in _NEMO_RL_TEACHERS):
        return reserved
    if not holds(_NEMO_RL_APART, document, Loader.OMEGACONF):
        return {}
    nodes = sizes.get(Name.NUM_NODES)
    if not isinstance(nodes, Quantity):
        return reserved
    names = (Name.GPUS_PER_NODE, Name.GENERATION_GPUS_PER_NODE) if nodes.value == 1 else (Name.NUM_NODES, Name.GENERATION_NODES)
    all_of_them, generating = sizes.get(names[0]), sizes.get(names[1])
    if not isinstance(all_of_them, Quantity) or not isinstance(generating, Quantity) or all_of_them.value <= generating.value:
        return reserved
    note = Note(f"{count(all_of_them.value, names[0])} - {generating.value:,} that generate")
    training = Quantity(names[0], all_of_them.value - generating.value, Origin.DERIVED, at=all_of_them.at, key=all_of_them.key, note=note)
    return {names[0]: training}


def _devices(text: str) -> tuple[int, ...]:
    """The GPUs of a `device_mapping`, which ROLL evaluates: `list(range(0,8))`, `[0,1]`, or a sum of such; none of other text."""
    found: list[int] = []
    if len(text) > _ROLL_LONGEST:
        return ()
    for part in "".join(text.split()).split("+"):
        listed = re.fullmatch(_ROLL_LIST, part)
        if listed is None or len(found) > MOST_GPUS:
            return ()
        numbers = [int(number) for number in (listed[2] or listed[3]).split(",") if number]
        if listed[2] is None:
            found += numbers
        elif numbers[2:] != [0]:
            found += range(*numbers)
    return tuple(found)


def _listed(document: Document, path: KeyPath) -> tuple[int, ...]:
    """The GPUs that the text at `path` lists, none if that is not known."""
    node = document.keyed[path][1]
    target = followed(node)
    return _devices(target.text) if isinstance(target, Scalar) else ()


def count_the_devices(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The GPUs that train, as the `device_mapping` of the worker that does lists them, unless a command line says how many.

    A comment may count the GPUs of all workers. One that counts neither those nor the ones that train is about other hardware, and
    leaves the GPUs open.
    """
    path = next((path for path in _ROLL_TRAINS if path in document.keyed), None)
    devices = _listed(document, path) if path else ()
    if path is None or not devices:
        return {}
    node = document.keyed[path][1]
    at = Location(document.source.path, node.start, node.stop, path)
    training = Quantity(Name.WORLD_SIZE, len(devices), Origin.FILE, at=at, key=dotted(path))
    world = sizes.get(Name.WORLD_SIZE)
    if not isinstance(world, Quantity):
        return {} if isinstance(sizes.get(Name.NUM_NODES), Quantity) else {Name.WORLD_SIZE: training}
    origins = {leaf.origin for leaf in leaves(world)}
    if world.value == training.value or not origins <= {Origin.COMMENT, Origin.SETTINGS}:
        return {}
    nodes = Unknown(Name.NUM_NODES, Reason.OVERRIDDEN, at)
    workers = islice((each for each in document.keyed if each[-1:] == path[-1:]), _ROLL_MOST_WORKERS)
    everywhere = {device for each in workers for device in _listed(document, each)}
    if Origin.COMMENT in origins and world.value != len(everywhere):
        return {Name.WORLD_SIZE: Conflict(Name.WORLD_SIZE, (training, world)), Name.NUM_NODES: nodes}
    return {Name.WORLD_SIZE: training, Name.NUM_NODES: nodes}


def raise_micro_batch_to_groups(_document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The micro batch that unsloth makes of one that does not hold whole groups: `num_generations`."""
    micro, group = sizes.get(Name.MICRO_BATCH_SIZE), sizes.get(Name.NUM_GENERATIONS)
    if not (isinstance(micro, Quantity) and isinstance(group, Quantity)) or micro.value % group.value == 0:
        return {}
    return {Name.MICRO_BATCH_SIZE: group._replace(name=Name.MICRO_BATCH_SIZE, unit=micro.unit, because=(group,))}


def raise_step_to_groups(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The micro batch that unsloth makes of one of which an optimizer step does not hold whole groups: `num_generations`.

    It is unknown as long as the accumulation or the processes are. A notebook is one process.
    """
    raised = raise_micro_batch_to_groups(document, sizes)
    if not raised or any(document.get(key) is not None for key in ("steps_per_generation", "generation_batch_size")):
        return {}
    micro, group = sizes[Name.MICRO_BATCH_SIZE], sizes[Name.NUM_GENERATIONS]
    accumulation, world = sizes.get(Name.GRADIENT_ACCUMULATION_STEPS), sizes.get(Name.WORLD_SIZE)
    assert isinstance(micro, Quantity)
    assert isinstance(group, Quantity)
    processes = 1 if document.source.path.endswith(".ipynb") else world.value if isinstance(world, Quantity) else 0
    if not isinstance(accumulation, Quantity) or not processes:
        return {Name.MICRO_BATCH_SIZE: Unknown(Name.MICRO_BATCH_SIZE, Reason.ELASTIC, micro.at)}
    return raised if micro.value * accumulation.value * processes % group.value else {}


def raise_to_whole_groups(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """What `raise_micro_batch_to_groups` and `raise_step_to_groups`, of two versions of unsloth, agree on; else it is unknown."""
    first, last = raise_micro_batch_to_groups(document, sizes), raise_step_to_groups(document, sizes)
    micro = sizes.get(Name.MICRO_BATCH_SIZE)
    if first and not last and isinstance(micro, Quantity):
        return {Name.MICRO_BATCH_SIZE: Unknown(Name.MICRO_BATCH_SIZE, Reason.VERSION, micro.at)}
    return last


def size_from_the_depth(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The tokens that nanochat makes of `total_batch_size` -1, if they are the same with every vocabulary that its tokenizers may have.

    NC scripts/base_train.py:130-143, 264-284; gpt.py:390-417: 2^19 tokens times the ratio of the parameters to those of 12 layers to the
    0.383, rounded to a power of two.
    """
    node = document.get("total_batch_size")
    shape = [size.value for name in _NANOCHAT_SHAPE if isinstance(size := sizes.get(name), Quantity) and 0 < size.value <= _NANOCHAT_MOST]
    if not isinstance(node, Scalar) or node.text != "-1" or len(shape) < len(_NANOCHAT_SHAPE) or document.get("depth") is None:
        return {}
    layers, aspect, head = shape
    ratios = (
        _parameters(layers, aspect, head, words) / _parameters(_NANOCHAT_REFERENCE, aspect, head, words) for words in _NANOCHAT_VOCABULARIES
    )
    exponents = {round(math.log2(2**19 * ratio**0.383)) for ratio in ratios}
    name, words = Name.GLOBAL_BATCH_SIZE, f"total_batch_size -1: chosen for {layers} layers"
    return {name: Quantity(name, 2 ** exponents.pop(), Origin.DERIVED, "tokens", key=words)} if len(exponents) == 1 else {}


def _parameters(layers: int, aspect: int, head: int, vocabulary: int) -> int:
    """The parameters in the matrices of a model of nanochat and in its head."""
    heads = -(-layers * aspect // head)
    width = heads * head
    return layers * 12 * width**2 + (layers + 1) // 2 * 12 * heads + vocabulary * width


def accumulate_to_a_nominal_batch(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """The nominal batch of Ultralytics as near as whole batches come to it (UL engine/trainer.py, _build_train_pipeline)."""
    batch, nominal = sizes.get("shared_batch_size"), sizes.get("nominal_batch_size")
    if not (isinstance(batch, Quantity) and isinstance(nominal, Quantity)) or batch.value < 1:
        return {}
    steps = max(round(Fraction(nominal.value, batch.value)), 1)
    return {nominal.name: nominal._replace(value=steps * batch.value)}


# The functions of this module, by the names under which tables have them.
HOOKS: Final = {
    name: each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and each.__module__ == __name__ and not name.startswith("_")
}
