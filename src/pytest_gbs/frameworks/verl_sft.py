"""verl's SFT trainers: the global batch is given; the older trainer stops where it does not divide, the newer rounds it down.

VERL is commit b178a3cd5 of volcengine/verl. torchrun starts both, so that their own `trainer.nnodes` says nothing.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Recognition, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._rollouts import AS_LOADED, OPTIONAL, megatron_rows, rank_equations, realise_rank_batches

_BATCH: Final = Row(
    key("data.train_batch_size"),
    Name.GLOBAL_BATCH_SIZE,
    256,
    AS_LOADED,
    "VERL trainer/config/sft_trainer.yaml (data.train_batch_size)",
    "samples",
)
_MICRO: Final = key("data.micro_batch_size_per_gpu")
_LENGTH: Final = Row(key("data.max_length"), Name.SEQUENCE_LENGTH, 1024, LENIENT, "VERL trainer/config/sft_trainer.yaml (data.max_length)")
_NORMALISES: Final = "VERL trainer/fsdp_sft_trainer.py:144-155 (_normalize_config_bsz)"
_FIXED: Final = Condition(key("data.use_dynamic_bsz"), (False,), default=True)
_LAUNCHED: Final = world("torchrun: nnodes x nproc_per_node")

_TRAINER: Final = Framework(
    name="verl",
    title="verl (SFT)",
    recognition=Recognition(
        one_of=(dotted("model.partial_pretrain"), dotted("data.train_files data.train_batch_size data.micro_batch_size_per_gpu")),
        none_of=(("actor_rollout_ref",),),
    ),
    unit="samples",
    rows=(
        _BATCH,
        Row(_MICRO, Name.MICRO_BATCH_SIZE, 4, AS_LOADED, "VERL trainer/config/sft_trainer.yaml (data.micro_batch_size_per_gpu)"),
        Row(
            key("ulysses_sequence_parallel_size"),
            Name.SEQUENCE_PARALLEL_SIZE,
            1,
            LENIENT,
            "VERL trainer/config/sft_trainer.yaml (ulysses_sequence_parallel_size)",
        ),
        _LENGTH,
    ),
    equations=(
        _LAUNCHED,
        Equation(
            Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.SEQUENCE_PARALLEL_SIZE,), source="VERL trainer/fsdp_sft_trainer.py:808-818"
        ),
        Equation(
            Name.GRADIENT_ACCUMULATION_STEPS,
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            source=_NORMALISES,
        ),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            label="the batch must hold whole micro batches of all ranks",
            source=_NORMALISES,
        ),
    ),
    names=dotted("trainer.experiment_name trainer.default_local_dir"),
    loader=Loader.OMEGACONF,
    version="verl b178a3cd5",
    source=_NORMALISES,
    arguments=Arguments.HYDRA,
)

_ENGINE: Final = "VERL trainer/config/sft_trainer_engine.yaml"

FRAMEWORKS = (
    _TRAINER,
    _TRAINER._replace(
        title="verl (SFT, engine)",
        recognition=Recognition(
            one_of=(
                dotted("data.max_token_len_per_gpu data.pad_mode data.messages_key"),
                dotted("data.train_batch_size data.micro_batch_size_per_gpu data.use_dynamic_bsz"),
                dotted("engine trainer model.path optim.lr"),
            ),
            none_of=(("actor_rollout_ref",), ("model", "partial_pretrain")),
        ),
        rows=(
            _BATCH._replace(source=f"{_ENGINE} (data.train_batch_size)"),
            Row(_MICRO, Name.MICRO_BATCH_SIZE, 4, OPTIONAL, f"{_ENGINE} (data.micro_batch_size_per_gpu)", when=(_FIXED,)),
            Row(_MICRO, Name.FIXED_MICRO_BATCH_SIZE, 4, OPTIONAL, f"{_ENGINE} (data.micro_batch_size_per_gpu)", when=(_FIXED,)),
            Row(
                key("engine.ulysses_sequence_parallel_size"),
                Name.SEQUENCE_PARALLEL_SIZE,
                1,
                LENIENT,
                "VERL trainer/config/engine/fsdp.yaml:45",
            ),
            *megatron_rows("engine"),
            _LENGTH._replace(source=f"{_ENGINE} (data.max_length)"),
        ),
        equations=(
            _LAUNCHED,
            Equation(
                Name.DATA_PARALLEL_SIZE,
                (Name.WORLD_SIZE,),
                (Name.SEQUENCE_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE),
                source="VERL workers/engine/fsdp/transformer_impl.py:475, megatron/transformer_impl.py:405 (get_data_parallel_size)",
            ),
            *rank_equations("VERL trainer/sft_trainer.py:187-206 (_build_dataloader)"),
        ),
        constraints=(),
        source="VERL trainer/sft_trainer.py:187-206 (_build_dataloader)",
        derive=realise_rank_batches,
    ),
)
