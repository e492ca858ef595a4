"""dolomite-engine: micro batch and accumulation are given; the ranks are the GPUs over the tensor-parallel size, or given as well.

DE is commit 537a2f32 of ibm-granite/dolomite-engine; `DE arguments.py:148` is a line of dolomite_engine/. Both of its programs, for
pretraining and for fine-tuning, read the same keys.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Condition, Framework, Loader, Reading, Recognition, Requirement, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_STEP: Final = "DE train_utils.py:55-106 (train_step), pretrain.py:108-111"
_MESH: Final = "DE utils/parallel.py:52-63 (ProcessGroupManager)"
_TRAINING: Final = "DE arguments.py:138-161 (TrainingParameters)"
_DISTRIBUTED: Final = "DE arguments.py:300-338 (DistributedArgs)"
_TOPOLOGY: Final = "DE arguments.py:283-297 (ZeroTopologyArgs)"

# pydantic takes "8", 8.0 and true for whole numbers, unless it is told to be strict.
_LAX: Final = Reading(quoted=Treatment.ACCEPTS, whole_float=Treatment.ACCEPTS, boolean=Treatment.ACCEPTS)
_MICRO: Final = _LAX._replace(why="the samplers and the DataLoader take no batch of none")
# No step is without a micro batch; what becomes of the rest depends on the backend.
_STEPS: Final = _LAX._replace(zero=Treatment.AUTO, negative=Treatment.AUTO, why="pydantic takes a whole number only")
_DEGREE: Final = _LAX._replace(why="the product of the parallel sizes must be the number of processes")
_OPTIONAL: Final = _DEGREE._replace(null=Treatment.UNSET)
_INTERVAL: Final = _LAX._replace(zero=Treatment.STOPS_LATE, negative=Treatment.AUTO, why="the number of the step is divided by it")

_BATCH: Final = key("training_parameters.micro_batch_size")
_REPLICAS: Final = key("distributed_args.zero_topology.data_parallel_replication_world_size")
_SHARDS: Final = key("distributed_args.zero_topology.data_parallel_sharding_world_size")
_EVALUATES: Final = Condition(key("training_parameters.eval_during_training"), (False,), negated=True, default=True)


def _needed(needs: KeyPath, by: KeyPath) -> Requirement:
    given = Condition(by, (None,), negated=True)
    return Requirement((needs,), f"dolomite-engine takes it together with {by[-1]} and stops at start", (given,), _TOPOLOGY)


FRAMEWORK = Framework(
    name="dolomite-engine",
    title="dolomite-engine",
    recognition=Recognition(
        one_of=(
            dotted("training_parameters.micro_batch_size training_parameters.num_training_steps"),
            dotted("tuning_args.tuning_method save_args.save_interval model_args.model_class distributed_args.distributed_backend"),
        ),
        # Its successor (lm_engine/arguments at 36bad91e of open-lm-engine/lm-engine) may be given the batch, and divides the GPUs by more.
        none_of=dotted(
            """training_parameters.global_batch_size distributed_args.tensor_parallel_world_size distributed_args.num_pipeline_stages
            distributed_args.pipeline_parallel_world_size distributed_args.context_parallel_world_size"""
        ),
    ),
    unit="samples",
    rows=(
        Row(_BATCH, Name.MICRO_BATCH_SIZE, None, _MICRO, f"{_TRAINING}; DE data/__init__.py:197, 261; data/megatron/sampler.py:24"),
        Row(key("training_parameters.gradient_accumulation_steps"), Name.GRADIENT_ACCUMULATION_STEPS, 1, _STEPS, f"{_TRAINING}; {_STEP}"),
        Row(
            _BATCH,
            Name.EVAL_MICRO_BATCH_SIZE,
            None,
            _MICRO,
            "DE finetune.py:247-254; data/megatron/__init__.py:208-210",
            when=(_EVALUATES,),
        ),
        Row(key("distributed_args.data_parallel_size"), Name.DATA_PARALLEL_SIZE, None, _OPTIONAL, _DISTRIBUTED),
        Row(key("distributed_args.tensor_parallel_size"), Name.TENSOR_PARALLEL_SIZE, 1, _DEGREE, _DISTRIBUTED),
        Row(_REPLICAS, Name.REPLICATE_SIZE, None, _OPTIONAL, _TOPOLOGY),
        Row(_SHARDS, Name.SHARD_SIZE, None, _OPTIONAL, _TOPOLOGY),
        Row(key("training_parameters.num_training_steps"), Name.MAX_STEPS, None, _STEPS, f"{_TRAINING}; DE pretrain.py:148"),
        Row(
            key("training_parameters.eval_interval"),
            Name.EVAL_STEPS,
            None,
            _INTERVAL,
            f"{_TRAINING}; DE pretrain.py:192",
            when=(_EVALUATES,),
        ),
        Row(key("save_args.save_interval"), Name.SAVE_STEPS, None, _INTERVAL, "DE arguments.py:168, pretrain.py:195"),
        Row(key("logging_args.log_interval"), Name.LOGGING_STEPS, 1, _INTERVAL, "DE arguments.py:380, pretrain.py:169"),
    ),
    equations=(
        Equation(
            Name.WORLD_SIZE,
            (Name.NUM_NODES, Name.GPUS_PER_NODE),
            source="torchrun: nnodes x nproc_per_node (scripts/pretrain.sh:15-21 of its repository)",
        ),
        # The last one of a size is its law: where the GPUs are not known, the batch is told by their number.
        Equation(Name.DATA_PARALLEL_SIZE, (Name.REPLICATE_SIZE, Name.SHARD_SIZE), source=_MESH),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,), source=_MESH),
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            FACTORS,
            unit="samples",
            source=_STEP,
        ),
        Equation(
            Name.EVAL_GLOBAL_BATCH_SIZE,
            (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            unit="samples",
            source="DE data/__init__.py:247-261; data/megatron/__init__.py:194-200",
        ),
    ),
    requirements=(
        Requirement((_BATCH,), "dolomite-engine has no default for it and stops at start", source=_TRAINING),
        _needed(_SHARDS, _REPLICAS),
        _needed(_REPLICAS, _SHARDS),
    ),
    names=dotted("logging_args.wandb_args.name"),
    packing=Condition(key("tuning_args.tuning_method"), ("pretraining",)),
    loader=Loader.OMEGACONF_AS_READ,
    version="dolomite-engine 0.0.1.dev (537a2f32)",
    source=f"{_STEP}; {_MESH}; DE utils/yaml.py:6-23 (PyYAML, with floats as YAML 1.2 has them)",
    arguments=Arguments.NONE,
    package="dolomite-engine",
)
