"""Megatron-LM: micro batch and global batch are given, and the accumulation follows; without a global batch it is 1.

MG is commit d98e8a64 of NVIDIA/Megatron-LM. Its settings are command-line arguments; its functional tests hold them in YAML files
below `MODEL_ARGS`, which become arguments again.
"""

from __future__ import annotations

from pytest_gbs.core.framework import (
    Arguments,
    Condition,
    Constraint,
    Exclusion,
    Framework,
    Reading,
    Recognition,
    Requirement,
    Row,
    SameAs,
    Treatment,
)
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._megatron import (
    DECREASES,
    OPTIONAL,
    TORCHRUN,
    absent,
    batch,
    data_parallel,
    evaluation,
    following_accumulation,
    keys,
    present,
    realise_running_batch,
    whole_accumulation,
)

_ARGUMENTS: Final = "MG megatron/training/arguments.py"
_CALCULATOR: Final = "MG megatron/core/num_microbatches_calculator.py:381-391"
_EXPERTS: Final = "MG megatron/core/parallel_state.py:874-884"

# Each value is text to argparse, which calls int() on it; nothing at all is an argument that is not given.
_INTEGER: Final = Reading(quoted=Treatment.ACCEPTS, null=Treatment.UNSET, why="argparse converts it with int()")
_SCHEDULE: Final = OPTIONAL._replace(text=Treatment.SCHEDULE)
_NO_CONTRADICTION: Final = "Megatron-LM refuses both together, since the schedule says which global batch there is when"


def _table(title: str, how: Recognition, parent: KeyPath, dashes: bool) -> Framework:
    """Return the table of arguments that stand below `parent`, written `--micro-batch-size` or `micro_batch_size`."""

    def key(name: str) -> KeyPath:
        return (*parent, f"--{name}" if dashes else name.replace("-", "_"))

    def row(name: str, size: str, default: int | SameAs | None = None, *, line: str, reading: Reading = _INTEGER) -> Row:
        return Row(key(name), size, default, reading, f"{_ARGUMENTS}:{line}")

    given, schedule, evaluates = key("global-batch-size"), key("step-batch-size-schedule"), key("eval-global-batch-size")
    experts = key("expert-tensor-parallel-size")
    stated = tuple(condition for condition in DECREASES if condition.key == key("decrease-batch-size-if-needed"))
    strict = tuple(condition._replace(negated=True) for condition in stated)
    mixture = present(key("num-experts"))
    several = Condition(key("expert-model-parallel-size"), (1, "1", None), negated=True)
    return Framework(
        name="megatron-lm",
        title=title,
        recognition=how,
        unit="samples",
        rows=(
            row("global-batch-size", Name.GLOBAL_BATCH_SIZE, line="702-705"),
            Row(schedule, Name.GLOBAL_BATCH_SIZE, None, _SCHEDULE, f"{_ARGUMENTS}:698-703; {_CALCULATOR}"),
            Row(given, Name.GRADIENT_ACCUMULATION_STEPS, 1, _INTEGER, f"{_ARGUMENTS}:702-703", when=(absent(given), absent(schedule))),
            row("micro-batch-size", Name.MICRO_BATCH_SIZE, line="693-694"),
            row("tensor-model-parallel-size", Name.TENSOR_PARALLEL_SIZE, 1, line="424-448"),
            row("pipeline-model-parallel-size", Name.PIPELINE_PARALLEL_SIZE, 1, line="424-448"),
            row("context-parallel-size", Name.CONTEXT_PARALLEL_SIZE, 1, line="424-448"),
            row("expert-model-parallel-size", Name.EXPERT_PARALLEL_SIZE, 1, line="587-588"),
            row("eval-global-batch-size", Name.EVAL_GLOBAL_BATCH_SIZE, line="708-709"),
            row("eval-micro-batch-size", Name.EVAL_MICRO_BATCH_SIZE, SameAs(Name.MICRO_BATCH_SIZE), line="710-711"),
            row("seq-length", Name.SEQUENCE_LENGTH, line="1335-1338", reading=OPTIONAL),
            row("train-iters", Name.MAX_STEPS, line="1276-1302", reading=OPTIONAL),
            row("save-interval", Name.SAVE_STEPS, line="1361-1363", reading=OPTIONAL),
            row("eval-interval", Name.EVAL_STEPS, line="1276-1302", reading=OPTIONAL),
        ),
        equations=(
            TORCHRUN,
            data_parallel(f"{_ARGUMENTS}:424-448"),
            batch(_CALCULATOR),
            following_accumulation(_CALCULATOR),
        ),
        constraints=(
            whole_accumulation(f"{_ARGUMENTS}:708-720; {_CALCULATOR}", strict),
            whole_accumulation(f"{_ARGUMENTS}:708-720", (*stated, absent(evaluates))),
            *evaluation(f"{_ARGUMENTS}:708-720", evaluates),
            Constraint(
                "GBS202",
                (Name.WORLD_SIZE,),
                (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.EXPERT_PARALLEL_SIZE),
                when=(mixture, several, absent(experts)),
                label="the processes must divide among experts, tensor and pipeline ranks",
                source=_EXPERTS,
            ),
            Constraint(
                "GBS202",
                (Name.WORLD_SIZE,),
                (Name.PIPELINE_PARALLEL_SIZE, Name.EXPERT_PARALLEL_SIZE),
                when=(mixture, several, present(experts)),
                label="the processes must divide among experts and pipeline ranks",
                source=_EXPERTS,
            ),
        ),
        exclusions=(Exclusion((given, schedule), _NO_CONTRADICTION, f"{_ARGUMENTS}:698-701"),),
        requirements=(
            Requirement((key("micro-batch-size"),), "Megatron-LM has no default for it and stops at start", source=f"{_ARGUMENTS}:693"),
        ),
        version="Megatron-LM d98e8a64",
        source=f"{_ARGUMENTS}:424-448, 693-720; {_CALCULATOR}",
        derive=realise_running_batch,
        arguments=Arguments.FLAGS if not dashes else Arguments.NONE,
    )


_TESTS: Final = tuple(
    ("MODEL_ARGS", f"--{name}") for name in ("global-batch-size", "step-batch-size-schedule", "train-iters", "train-samples")
)
FRAMEWORKS = (
    _table(
        "Megatron-LM",
        Recognition(
            one_of=(
                keys("micro_batch_size global_batch_size"),
                keys("num_layers hidden_size num_attention_heads use_checkpoint_args encoder_num_layers yaml_cfg language_model"),
                keys("train_iters train_samples lr_decay_iters lr_decay_samples"),
            ),
            none_of=keys("base_model trainer MODEL_ARGS pipe_parallel_size"),
        ),
        (),
        dashes=False,
    ),
    _table("Megatron-LM (functional test)", Recognition(all_of=(("MODEL_ARGS",),), one_of=(_TESTS,)), ("MODEL_ARGS",), dashes=True),
)
