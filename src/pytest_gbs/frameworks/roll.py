"""ROLL: one section for each worker, whose `device_mapping` lists the GPUs that train; all of its pipelines step alike.

An optimizer step takes micro batch x accumulation from each data-parallel rank of the worker that trains. What one step counts differs:
completions (RLVR), trajectories or their turns (agentic), pairs (DPO), samples (SFT, distillation).

ROLL is commit 8eb27cc2 of alibaba/ROLL; `ROLL configs/base_config.py:153` is a line of roll/, MA one of mcore_adapter/src/mcore_adapter/ in
the same commit. `num_nodes` and `num_gpus_per_node` say nothing: the machine's own count and the listed GPUs take their place
(ROLL configs/base_config.py:352, 397-414). On NPUs `ulysses_size` counts as 1 (ROLL platforms/npu.py:100, fsdp2_strategy.py:795-815).
"""

from __future__ import annotations

import re
from itertools import islice

from pytest_gbs.core.admissible import MOST_GPUS
from pytest_gbs.core.document import Alias, Document, Scalar
from pytest_gbs.core.equation import Enforcement, Equation, world
from pytest_gbs.core.framework import (
    LENIENT,
    Arguments,
    Condition,
    Constraint,
    Framework,
    Loader,
    Reading,
    Recognition,
    Row,
    Switch,
    Treatment,
)
from pytest_gbs.core.location import KeyPath, Location
from pytest_gbs.core.quantity import FACTORS, PARALLEL, Conflict, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.core.typed import Final
from pytest_gbs.core.wording import leaves
from pytest_gbs.frameworks._dotted import dotted, key

# dacite checks the types of the settings: true is a number to it, and nothing is converted (examples/start_rlvr_pipeline.py:27).
_SIZE: Final = Reading(
    boolean=Treatment.ACCEPTS,
    negative=Treatment.STOPS_LATE,
    why="types are checked when the settings are loaded, and batches are divided by it",
)
# start_onpolicy_distill_pipeline.py:63 checks no types.
_UNCHECKED: Final = _SIZE._replace(
    whole_float=Treatment.STOPS_LATE, fraction=Treatment.STOPS_LATE, why="a DataLoader takes whole numbers, and batches are divided by it"
)
# -1 takes whatever the environments yield.
_UNLIMITED: Final = _SIZE._replace(zero=Treatment.AUTO, negative=Treatment.AUTO)

_ACTOR: Final = "actor_train"
_STUDENT: Final = "student_train"
_TRAINING: Final = ("megatron_train", "fsdp2_train")
# More than any micro batch: with a limit in tokens, nobody knows how many samples fit.
_NEVER: Final = 1 << 30
# Another file may hold what is not here.
_NO_PARENTS: Final = Condition(("defaults",), (None,))

_RANKS: Final = "ROLL configs/worker_config.py:311-316, distributed/strategy/megatron_strategy.py:1203, fsdp2_strategy.py:818 (dp_size)"
_DEVICES: Final = "ROLL configs/worker_config.py:278-282, 311-316 (one process for each listed GPU)"
_STEP: Final = (
    "ROLL pipeline/base_worker.py:83-105 (train_step), distributed/strategy/megatron_strategy.py:1287-1292, fsdp2_strategy.py:1579-1674"
)
_WHOLE: Final = "ROLL pipeline/base_worker.py:95-100, distributed/scheduler/protocol.py:807 (make_iterator), decorator.py:111-145"
_CHECKS: Final = "ROLL configs/base_config.py:368-382, utils/config_utils.py:57-98 (validate_megatron_batch_size)"
_DYNAMIC: Final = "ROLL pipeline/base_worker.py:87-93, utils/dynamic_batching.py:141-180"
_SEQUENCE: Final = Row(("sequence_length",), Name.SEQUENCE_LENGTH, None, LENIENT, "ROLL configs/base_config.py:183, 272-278")


def _strategy(worker: str, *names: str) -> Condition:
    return Condition(key(f"{worker}.strategy_args.strategy_name"), names)


def _fixed(worker: str) -> Condition:
    """Return the condition that micro batches hold a number of samples, rather than being filled up to a number of tokens."""
    return Condition(key(f"{worker}.use_dynamic_batching_in_train"), (True,), negated=True, default=False)


def _unless_elsewhere(row: Row) -> tuple[Row, Row]:
    """Return the rows of a size whose default is that of ROLL unless another file may hold it."""
    return row._replace(default=None), row._replace(when=(_NO_PARENTS,))


def _rows(worker: str, reading: Reading, varies: bool) -> tuple[Row, ...]:
    """Return the rows of the worker that trains; where its micro batches may be filled by tokens, they are none of a fixed size then."""
    settings, engine = f"{worker}.training_args", f"{worker}.strategy_args.strategy_config"
    micro = Row(
        key(f"{settings}.per_device_train_batch_size"), Name.MICRO_BATCH_SIZE, 8, reading, f"ROLL configs/training_args.py:44; {_STEP}"
    )
    tokens = key(f"{worker}.max_tokens_per_microbatch_in_train")
    filled = Row(tokens, Name.MICRO_BATCH_SIZE, None, LENIENT, _DYNAMIC, minimum=_NEVER, when=(_fixed(worker)._replace(negated=False),))
    return (
        *(
            (filled, *(row._replace(when=(*row.when, _fixed(worker))) for row in _unless_elsewhere(micro)))
            if varies
            else _unless_elsewhere(micro)
        ),
        *_unless_elsewhere(
            Row(
                key(f"{settings}.gradient_accumulation_steps"),
                Name.GRADIENT_ACCUMULATION_STEPS,
                1,
                reading,
                f"ROLL configs/training_args.py:47; {_STEP}",
            )
        ),
        *(
            Row(
                key(f"{engine}.{word}_parallel_size"),
                name,
                1,
                LENIENT,
                f"ROLL configs/base_config.py:799-801 (1 by default); MA training_args.py:{line}, initialize.py:62-70",
                when=(_strategy(worker, "megatron_train"),),
            )
            for word, name, line in (
                ("tensor_model", Name.TENSOR_PARALLEL_SIZE, 28),
                ("pipeline_model", Name.PIPELINE_PARALLEL_SIZE, 32),
                ("context", Name.CONTEXT_PARALLEL_SIZE, 47),
            )
        ),
        Row(
            key(f"{worker}.model_args.ulysses_size"),
            Name.SEQUENCE_PARALLEL_SIZE,
            1,
            LENIENT,
            "ROLL configs/model_args.py:118, distributed/strategy/fsdp2_strategy.py:795-818, utils/context_parallel/globals.py:31-32",
            when=(_strategy(worker, "fsdp2_train"),),
        ),
        _SEQUENCE,
    )


def _equations(unit: str, source: str) -> tuple[Equation, ...]:
    return (
        world(_DEVICES),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), PARALLEL, source=_RANKS),
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            FACTORS,
            unit=unit,
            source=source,
        ),
    )


_TRAINS: Final = dotted("actor_train.device_mapping student_train.device_mapping sft_train.device_mapping student.device_mapping")
_LONGEST: Final = 10_000  # characters; the list of a thousand GPUs is half as long
_MOST_WORKERS: Final = 50
_LIST: Final = r"(list\()?(?:range\((\d{1,5}(?:,\d{1,5}){0,2})\)|\[((?:\d{1,5}(?:,\d{1,5})*,?)?)\])(?(1)\))"


def _devices(text: str) -> tuple[int, ...]:
    """Return the GPUs of a `device_mapping`, which ROLL evaluates: `list(range(0,8))`, `[0,1]`, or a sum of such; none of other text."""
    found: list[int] = []
    if len(text) > _LONGEST:
        return ()
    for part in "".join(text.split()).split("+"):
        listed = re.fullmatch(_LIST, part)
        if listed is None or len(found) > MOST_GPUS:
            return ()
        numbers = [int(number) for number in (listed[2] or listed[3]).split(",") if number]
        if listed[2] is None:
            found += numbers
        elif numbers[2:] != [0]:
            found += range(*numbers)
    return tuple(found)


def _listed(document: Document, path: KeyPath) -> tuple[int, ...]:
    """Return the GPUs that the text at `path` lists, none where that is not known."""
    node = document.keyed[path][1]
    target = node.target if isinstance(node, Alias) else node
    return _devices(target.text) if isinstance(target, Scalar) else ()


def count_the_devices(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the GPUs that train, as the `device_mapping` of the worker that does lists them, unless a command line says how many.

    A comment may count the GPUs of all workers. One that counts neither those nor the ones that train is about other hardware, and
    leaves the GPUs open.
    """
    path = next((path for path in _TRAINS if path in document.keyed), None)
    devices = _listed(document, path) if path else ()
    if path is None or not devices:
        return {}
    node = document.keyed[path][1]
    at = Location(document.source.path, node.start, node.stop, path)
    training = Quantity(Name.WORLD_SIZE, len(devices), Origin.FILE, at=at, key=".".join(map(str, path)))
    world = sizes.get(Name.WORLD_SIZE)
    if not isinstance(world, Quantity):
        return {} if isinstance(sizes.get(Name.NUM_NODES), Quantity) else {Name.WORLD_SIZE: training}
    origins = {leaf.origin for leaf in leaves(world)}
    if world.value == training.value or not origins <= {Origin.COMMENT, Origin.SETTINGS}:
        return {}
    nodes = Unknown(Name.NUM_NODES, Reason.OVERRIDDEN, at)
    workers = islice((each for each in document.keyed if each[-1:] == path[-1:]), _MOST_WORKERS)
    everywhere = {device for each in workers for device in _listed(document, each)}
    if Origin.COMMENT in origins and world.value != len(everywhere):
        return {Name.WORLD_SIZE: Conflict(Name.WORLD_SIZE, (training, world)), Name.NUM_NODES: nodes}
    return {Name.WORLD_SIZE: training, Name.NUM_NODES: nodes}


def _table(kind: str, worker: str, unit: str, source: str, *, reading: Reading = _SIZE, varies: bool = False) -> Framework:
    """Return what all pipelines share: the table of one whose `worker` trains."""
    strategy = key(f"{worker}.strategy_args.strategy_name")
    return Framework(
        name="roll",
        title=f"ROLL ({kind})",
        recognition=Recognition(all_of=(strategy,), when=(_strategy(worker, *_TRAINING),)),
        unit=unit,
        rows=_rows(worker, reading, varies),
        equations=_equations(unit, source),
        switches=(
            Switch(
                _fixed(worker)._replace(negated=False),
                (Name.MICRO_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE),
                "dynamic batching fills micro batches up to a number of tokens, and a step takes as many samples as fit",
                _DYNAMIC,
            ),
        )
        if varies
        else (),
        assumed=tuple((name, 1) for name in PARALLEL),
        names=(("exp_name",),),
        loader=Loader.OMEGACONF,
        version="ROLL 8eb27cc2",
        source=f"{source}; {_RANKS}",
        arguments=Arguments.NONE,
        settle=count_the_devices,
    )


def _divides(name: str, worker: str, label: str) -> Constraint:
    """Return the check that Megatron's data-parallel ranks divide the rollout, made of every pipeline that has an `actor_train`."""
    when = (_strategy(worker, "megatron_train"),)
    return Constraint("GBS202", (name,), (Name.DATA_PARALLEL_SIZE,), when=when, label=label, source=_CHECKS)


_ROLLOUT: Final = ("rollout_batch_size",)
_AMONG_RANKS: Final = "the rollout must divide among Megatron's data-parallel ranks"


def _of_prompts(kind: str, worker: str, generates: str, none_of: str, reading: Reading) -> Framework:
    """Return the table of a pipeline whose rollouts are groups of completions: `worker` trains, `generates` is the one that does."""
    table = _table(kind, worker, "completions", _STEP, reading=reading, varies=True)
    returned = "ROLL distributed/scheduler/generate_scheduler.py:661-674; pipeline/rlvr/rlvr_config.py:163"
    return table._replace(
        recognition=table.recognition._replace(all_of=(*table.recognition.all_of, (generates,)), none_of=dotted(none_of)),
        rows=(
            *table.rows,
            *_unless_elsewhere(Row(_ROLLOUT, Name.PROMPTS_PER_ROLLOUT, 128, reading, "ROLL configs/base_config.py:153", "prompts")),
            *_unless_elsewhere(
                Row(("num_return_sequences_in_group",), Name.NUM_GENERATIONS, 1, reading, "ROLL pipeline/rlvr/rlvr_config.py:95, 163")
            ),
            Row(key(f"{worker}.infer_batch_size"), Name.FORWARD_MICRO_BATCH_SIZE, 16, LENIENT, "ROLL configs/worker_config.py:129"),
        ),
        equations=(
            *table.equations,
            Equation(Name.GENERATION_BATCH_SIZE, (Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS), unit="completions", source=returned),
            Equation(
                Name.PROMPTS_PER_STEP,
                (Name.GLOBAL_BATCH_SIZE,),
                (Name.NUM_GENERATIONS,),
                mismatch=Enforcement.IGNORES,  # completions are shuffled, and no step needs whole groups
                unit="prompts",
                source=returned,
            ),
            Equation(
                Name.STEPS_PER_ROLLOUT,
                (Name.GENERATION_BATCH_SIZE,),
                (Name.GLOBAL_BATCH_SIZE,),
                mismatch=Enforcement.IGNORES,  # a remainder is an error of its own
                source=_WHOLE,
            ),
        ),
        constraints=(
            _divides(Name.PROMPTS_PER_ROLLOUT, worker, _AMONG_RANKS),
            Constraint(
                "GBS202",
                (Name.GENERATION_BATCH_SIZE,),
                (Name.GLOBAL_BATCH_SIZE,),
                enforcement=Enforcement.STOPS_LATE,
                when=(_fixed(worker),),
                label="the completions of a rollout must be whole batches of all ranks",
                source=_WHOLE,
            ),
        ),
    )


def _agentic() -> Framework:
    """Return the table of the agentic pipeline, which fits each rollout to whole batches by copying or leaving out samples."""
    adjusted = f"{_STEP}; pipeline/agentic/agentic_pipeline.py:676-750 (adjust_batch)"
    table = _table("agentic", _ACTOR, "samples", adjusted, varies=True)
    groups, validated = "ROLL pipeline/agentic/agentic_config.py:330-337", "ROLL pipeline/agentic/agentic_config.py:339-350"
    of_group = "ROLL pipeline/agentic/agentic_config.py:122-124"
    return table._replace(
        recognition=table.recognition._replace(all_of=(*table.recognition.all_of, ("train_env_manager",)), none_of=((_STUDENT,),)),
        rows=(
            *table.rows,
            *_unless_elsewhere(
                Row(_ROLLOUT, Name.GENERATION_BATCH_SIZE, 128, _UNLIMITED, "ROLL configs/base_config.py:153", "trajectories")
            ),
            *_unless_elsewhere(Row(key("train_env_manager.group_size"), Name.NUM_GENERATIONS, 1, _SIZE, of_group)),
            *_unless_elsewhere(
                Row(("val_batch_size",), Name.EVAL_GLOBAL_BATCH_SIZE, 128, _UNLIMITED, "ROLL configs/base_config.py:160", "trajectories")
            ),
            *_unless_elsewhere(Row(key("val_env_manager.group_size"), Name.EVAL_NUM_GENERATIONS, 1, _SIZE, of_group)),
            Row(key(f"{_ACTOR}.infer_batch_size"), Name.FORWARD_MICRO_BATCH_SIZE, 16, LENIENT, "ROLL configs/worker_config.py:129"),
        ),
        constraints=(
            _divides(Name.GENERATION_BATCH_SIZE, _ACTOR, _AMONG_RANKS),
            Constraint(
                "GBS205", (Name.GENERATION_BATCH_SIZE,), (Name.NUM_GENERATIONS,), label="a rollout must hold whole groups", source=groups
            ),
            Constraint(
                "GBS205",
                (Name.EVAL_GLOBAL_BATCH_SIZE,),
                (Name.EVAL_NUM_GENERATIONS,),
                label="a validation must hold whole groups",
                source=validated,
            ),
        ),
    )


def _of_data(kind: str, worker: str, unit: str, source: str, steps: str, **intervals: str) -> Framework:
    """Return the table of a pipeline that reads a data set: one step of it is an optimizer step."""
    table = _table(kind, worker, unit, source)
    return table._replace(
        rows=(
            *table.rows,
            Row(key(f"{worker}.infer_batch_size"), Name.EVAL_MICRO_BATCH_SIZE, 16, LENIENT, f"ROLL configs/worker_config.py:129; {source}"),
            *(Row((word,), name, None, LENIENT, f"ROLL configs/base_config.py:133-152; {steps}") for name, word in intervals.items()),
        ),
        equations=(
            *table.equations,
            Equation(
                Name.EVAL_GLOBAL_BATCH_SIZE,
                (Name.EVAL_MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
                unit=unit,
                source=source,
            ),
        ),
    )


def _dpo() -> Framework:
    """Return the table of DPO, whose micro batch is doubled at start because a pair is two sequences."""
    pipeline = "ROLL pipeline/dpo/dpo_pipeline.py:155-168, 180-190; dpo_config.py:76-80"
    table = _of_data(
        "DPO",
        _ACTOR,
        "pairs",
        pipeline,
        "pipeline/dpo/dpo_pipeline.py:213, 258, base_pipeline.py:109-111",
        max_steps="max_steps",
        save_steps="save_steps",
        eval_steps="eval_steps",
    )
    rollout = "rollout_batch_size"
    return table._replace(
        recognition=table.recognition._replace(none_of=dotted("actor_infer train_env_manager student_train")),
        rows=(*table.rows, *_unless_elsewhere(Row(_ROLLOUT, rollout, 128, _SIZE, "ROLL configs/base_config.py:153"))),
        constraints=(
            _divides(rollout, _ACTOR, "rollout_batch_size (128 by default) is checked in DPO too, and must divide among Megatron's ranks"),
        ),
        sequences_per_sample=2,
    )


FRAMEWORKS = (
    _of_prompts("RLVR", _ACTOR, "actor_infer", "train_env_manager student_train", _SIZE),
    _of_prompts("on-policy distillation", _STUDENT, "student_infer", "train_env_manager actor_train", _UNCHECKED),
    _agentic(),
    _dpo(),
    _of_data(
        "SFT",
        "sft_train",
        "samples",
        "ROLL pipeline/sft/sft_pipeline.py:144-160, 169-177",
        "pipeline/sft/sft_pipeline.py:202, base_pipeline.py:109-111",
        save_steps="save_steps",
        eval_steps="eval_steps",
    ),
    _of_data(
        "distillation",
        "student",
        "samples",
        "ROLL pipeline/distill/distill_pipeline.py:237-243, 252-261",
        "pipeline/distill/distill_pipeline.py:281, base_pipeline.py:109-111",
        save_steps="save_steps",
        eval_steps="eval_steps",
    ),
)
