"""Sizes with names, and the three ways of not having one."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import Final, NamedTuple, TypeAlias


class Name:
    """The names of all sizes, as the JSON output spells them."""

    # The batch equation, per optimizer step unless it says otherwise.
    GLOBAL_BATCH_SIZE: Final = "global_batch_size"
    MICRO_BATCH_SIZE: Final = "micro_batch_size"  # samples per rank per forward pass
    GRADIENT_ACCUMULATION_STEPS: Final = "gradient_accumulation_steps"
    DATA_PARALLEL_SIZE: Final = "data_parallel_size"
    # Hardware, in processes that train.
    WORLD_SIZE: Final = "world_size"
    NUM_NODES: Final = "num_nodes"
    GPUS_PER_NODE: Final = "gpus_per_node"
    TENSOR_PARALLEL_SIZE: Final = "tensor_parallel_size"
    PIPELINE_PARALLEL_SIZE: Final = "pipeline_parallel_size"
    CONTEXT_PARALLEL_SIZE: Final = "context_parallel_size"
    SEQUENCE_PARALLEL_SIZE: Final = "sequence_parallel_size"
    EXPERT_PARALLEL_SIZE: Final = "expert_parallel_size"  # ranks that share out the experts; they are not model parallelism
    # Parts of others: the data-parallel size is replicas x shards, a micro batch runs through a pipeline in pieces.
    REPLICATE_SIZE: Final = "replicate_size"
    SHARD_SIZE: Final = "shard_size"
    PIPELINE_MICRO_BATCH_SIZE: Final = "pipeline_micro_batch_size"
    # Sequences and tokens.
    SEQUENCE_LENGTH: Final = "sequence_length"  # tokens per packed row, or at most so many
    SEQUENCES_PER_SAMPLE: Final = "sequences_per_sample"  # a pair of preferences is two
    TOKENS_PER_STEP: Final = "tokens_per_step"  # tokens per optimizer step
    # Evaluation.
    EVAL_MICRO_BATCH_SIZE: Final = "eval_micro_batch_size"
    EVAL_GLOBAL_BATCH_SIZE: Final = "eval_global_batch_size"
    # Reinforcement learning.
    NUM_GENERATIONS: Final = "num_generations"  # completions per prompt
    EVAL_NUM_GENERATIONS: Final = "eval_num_generations"
    STEPS_PER_GENERATION: Final = "steps_per_generation"  # micro steps fed by one generation
    GENERATION_BATCH_SIZE: Final = "generation_batch_size"  # completions per generation over all ranks
    PROMPTS_PER_STEP: Final = "prompts_per_step"  # prompts per optimizer step
    NUM_ITERATIONS: Final = "num_iterations"
    GENERATION_NODES: Final = "generation_nodes"  # nodes that generate and do not train
    GENERATION_GPUS_PER_NODE: Final = "generation_gpus_per_node"  # GPUs of a node that generate and do not train
    JOB_NODES: Final = "job_nodes"  # nodes of the job that runs the recipe, said in it for others than the framework
    ENVIRONMENT_NODES: Final = "environment_nodes"  # nodes that serve the environment, beside those that are counted
    PROMPTS_PER_ROLLOUT: Final = "prompts_per_rollout"  # prompts whose completions are generated before a policy is trained on them
    STEPS_PER_ROLLOUT: Final = "steps_per_rollout"  # optimizer steps of one pass over a rollout
    CRITIC_PROMPTS_PER_STEP: Final = "critic_prompts_per_step"  # prompts per optimizer step of the critic
    # What one rank gets of a batch, where frameworks round it.
    RANK_BATCH_SIZE: Final = "rank_batch_size"  # samples per rank per optimizer step
    RANK_ROLLOUT_SIZE: Final = "rank_rollout_size"  # completions per rank per rollout
    MICRO_STEP_BATCH_SIZE: Final = "micro_step_batch_size"  # samples per forward pass over all ranks
    FORWARD_MICRO_BATCH_SIZE: Final = "forward_micro_batch_size"  # completions per rank per pass without gradients
    FIXED_MICRO_BATCH_SIZE: Final = "fixed_micro_batch_size"  # the micro batch size, unless micro batches are filled by tokens
    NODES_PER_REPLICA: Final = "nodes_per_replica"  # nodes that hold one sharded copy of the model
    # Intervals, in optimizer steps.
    MAX_STEPS: Final = "max_steps"
    SAVE_STEPS: Final = "save_steps"
    EVAL_STEPS: Final = "eval_steps"
    LOGGING_STEPS: Final = "logging_steps"
    # Where a framework counts in samples.
    TRAIN_SAMPLES: Final = "train_samples"  # samples after which training ends
    NUM_EPOCHS: Final = "num_epochs"
    EVAL_INTERVAL: Final = "eval_interval"  # samples between evaluations


# The sizes that say on how many GPUs a recipe runs; and with the size that follows from them, however it was stated.
HARDWARE: Final = (Name.NUM_NODES, Name.GPUS_PER_NODE, Name.WORLD_SIZE)
RANKS: Final = (*HARDWARE, Name.DATA_PARALLEL_SIZE)
# What a recipe says of its batch itself, whatever the hardware; what a global batch is the product of; and what people ask of it first.
RANK_FACTORS: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
FACTORS: Final = (*RANK_FACTORS, Name.DATA_PARALLEL_SIZE)
FIRST: Final = (Name.GLOBAL_BATCH_SIZE, *FACTORS, Name.WORLD_SIZE)
# The sizes that model parallelism divides the GPUs by.
PARALLEL: Final = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE)


class Origin:
    """Where a number came from, best evidence first in no particular order."""

    FILE: Final = "file"  # a key of the recipe
    COMMENT: Final = "comment"  # a comment of the recipe
    NAME: Final = "name"  # the file's or the run's name
    SETTINGS: Final = "settings"  # [tool.gbs]
    GIVEN: Final = "given"  # the command line of gbs or pytest
    LAUNCHER: Final = "launcher"  # a launcher file nearby
    LAUNCH: Final = "launch"  # the command that launches the recipe
    DEFAULT: Final = "default"  # the framework's default
    DERIVED: Final = "derived"  # an equation


class Reason:
    """Why a number is not known."""

    MISSING: Final = "missing"
    AUTO: Final = "auto"
    INTERPOLATED: Final = "interpolated"
    NOT_AN_INTEGER: Final = "not-an-integer"
    NOT_APPLIED: Final = "not-applied"
    OVERRIDDEN: Final = "overridden"
    PLACEHOLDER: Final = "placeholder"
    FROM_CHECKPOINT: Final = "from-checkpoint"
    SCHEDULE: Final = "schedule"
    ELASTIC: Final = "elastic"
    RESERVED: Final = "reserved"
    VERSION: Final = "version"
    COMPUTED: Final = "computed"  # by a Python program when it runs
    NOT_WHOLE: Final = "not-whole"


class Noted:
    """What kind of thing a note says, where that decides something."""

    WORDS: Final = "words"  # nothing but its words
    DEFAULT: Final = "default"  # the value of a variable or an argument that a user may set
    BUILT_IN: Final = "built-in"  # the launcher's own value, if nothing says another
    ROUNDED: Final = "rounded"  # not the number that is written down: it did not divide
    RAMP_UP: Final = "ramp-up"  # reached by a ramp-up: a rule of its own looks at the way there
    EITHER: Final = "either"  # GPUs in all, or those of each node
    FED: Final = "fed"  # GPUs that one process feeds, which is shown wherever they are


class Note(NamedTuple):
    """What the origin of a size does not say: in a few words for people, which are never compared, and what kind of thing it is.

    `variables` are those whose default it is, with a space between.
    """

    words: str = ""
    kind: str = Noted.WORDS
    variables: str = ""


NO_NOTE: Final = Note()
ONE_GPU: Final = Note("its trainer takes one GPU if no launcher starts it")


def together(notes: Iterable[Note]) -> Note:
    """Several notes as one that says each of them once."""
    stated = tuple(dict.fromkeys(note for note in notes if note.words))
    if len(stated) == 1:
        return stated[0]
    by_default = any(note.kind == Noted.DEFAULT for note in stated)
    return Note(", ".join(note.words for note in stated), Noted.DEFAULT if by_default else Noted.WORDS)


class Quantity(NamedTuple):
    """A size that is known: its value, unit, origin, place, and the numbers it was computed from.

    `key` is the key as the user wrote it, or what else named it ("8 nodes", "--nodes"). `note` says what the
    origin does not ("3 launcher files agree").

    Where a size changes while training runs, `stages` are its values one after the other, and `value` is the last of them.
    """

    name: str
    value: int
    origin: str
    unit: str = ""
    at: Location | None = None
    key: str = ""
    because: tuple[Quantity, ...] = ()
    note: Note = NO_NOTE
    stages: tuple[int, ...] = ()


class Unknown(NamedTuple):
    """A size that is not known, why, and the place that keeps it from being known."""

    name: str
    reason: str
    at: Location | None = None


class Conflict(NamedTuple):
    """A size that two sources state differently."""

    name: str
    values: tuple[Quantity, ...]


Size: TypeAlias = Quantity | Unknown | Conflict
