"""SageMaker HyperPod recipes: Amazon's launcher around trainers of its own (LLMFT, Nova), around NeMo 2 (checkpointless) and verl.

HP is commit 26319955 of aws/sagemaker-hyperpod-recipes; `HP config_validator/...` is a file of launcher/. LLMFT and Nova run in images
that are not public: what is not said in the recipe or checked by the launcher, defaults and accumulation among it, is not known.

HC is commit 08c4ff60 of aws/sagemaker-hyperpod-checkpointless-training (1.0.1), whose programs the launcher starts (HP
nemo/constants.py:28-31) and which asks for megatron-core 0.13.1, MC here (HC pyproject.toml:43). NL is nemo/lightning/ of commit 8cfedd72
of NVIDIA/NeMo.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key
from pytest_gbs.frameworks._megatron import absent, batch, data_parallel, present, whole_accumulation

_LLMFT: Final = (
    "HP config_validator/schema/llmft_schema_validation.py:12-34; recipe_templatization/llmft/llmft_recipe_template_parameters.json:91"
)
_NOVA: Final = "HP config_validator/schema/nova_schema_validation.py:5-9"
_VERL: Final = "HP recipe_templatization/verl/verl_recipe_template_parameters.json:60; verl b178a3cd5 trainer/config/data/legacy_data.yaml"

_LENIENT: Final = LENIENT._replace(null=Treatment.UNSET)
# pydantic: an integer above 0; a number in quotes and a float without a fraction are taken.
_POSITIVE: Final = _LENIENT._replace(
    text=Treatment.AUTO, zero=Treatment.STOPS, negative=Treatment.STOPS, why="the launcher's validator takes numbers above 0"
)
_CALCULATED: Final = Reading(
    text=Treatment.AUTO,
    whole_float=Treatment.STOPS_LATE,
    boolean=Treatment.AUTO,
    null=Treatment.AUTO,
    collection=Treatment.AUTO,
    why="the number of micro batches is computed from it at start, and neither a DataLoader nor a loop takes a float",
)
_ARGUMENTS: Final = ("training_config", "training_args")
_SCALES: Final = Condition(("scale_config",), (None,))
_FILLED: Final = Condition(key("training_config.data.use_dynamic_bsz"), (True,), negated=True, default=False)
_PIECES: Final = Condition(key("training_config.actor_rollout_ref.actor.use_dynamic_bsz"), (True,), negated=True, default=True)

_NODES: Final = (
    Row(key("trainer.num_nodes"), Name.NUM_NODES, None, _LENIENT, "HP config_validator/schema/base.py:9-13"),
    Row(key("trainer.devices"), Name.GPUS_PER_NODE, None, _LENIENT, "HP config_validator/schema/base.py:9-13"),
)
_WORLD: Final = world("HP config_validator/schema/base.py:9-13")


def _table(
    title: str, how: Recognition, rows: tuple[Row, ...], source: str, *, unit: str = "samples", equations: tuple[Equation, ...] = ()
) -> Framework:
    return Framework(
        name="sagemaker-hyperpod",
        title=title,
        recognition=how,
        unit=unit,
        rows=rows,
        equations=(_WORLD, *equations),
        names=dotted("run.name"),
        loader=Loader.OMEGACONF,
        version="sagemaker-hyperpod-recipes 26319955",
        source=source,
        arguments=Arguments.HYDRA,
    )


def _data(name: str) -> KeyPath:
    return ("training_config", "data", name)


_TUNING: Final = _table(
    "SageMaker HyperPod (LLMFT)",
    Recognition(all_of=(_ARGUMENTS,), one_of=(dotted("training_config.model_config run.name"),)),
    (
        # With a scale_config the launcher puts other sizes in their place, by the number of nodes.
        Row((*_ARGUMENTS, "train_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _POSITIVE, _LLMFT, when=(_SCALES,)),
        Row((*_ARGUMENTS, "micro_train_batch_size"), Name.MICRO_BATCH_SIZE, None, _POSITIVE, _LLMFT, when=(_SCALES,)),
        *_NODES,
    ),
    _LLMFT,
)._replace(
    constraints=(
        Constraint(
            "GBS207",
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE,),
            at_least=1,
            label="train_batch_size must be at least micro_train_batch_size",
            source=_LLMFT,
        ),
    )
)

_HANDED: Final = (
    "HC examples/llama3/llama3_70b_pretrain_checkpointless.py:87-98, examples/dataloader/data_module.py:146-151, 278-281; "
    "NL pytorch/strategies/megatron_strategy.py:624-626, pytorch/plugins/data_sampler.py:83, data.py:100-107"
)
_CALCULATOR: Final = "MC num_microbatches_calculator.py:339-350 (ConstantNumMicroBatchesCalculator)"
_STRATEGY: Final = "HC examples/llama3/llama3_70b_pretrain_checkpointless.py:124-128; NL pytorch/strategies/megatron_strategy.py:239-250"
_TRAINER: Final = "HP nemo/stages.py:1201-1202 (ntasksPerNode, nodes); HC examples/llama3/llama3_70b_pretrain_checkpointless.py:152-158"
# Nobody has tried what Lightning's own accumulation does on top of Megatron's: every recipe turns it off.
_ONE: Final = Condition(key("trainer.accumulate_grad_batches"), (1, None))
_EXPERTS: Final = key("strategy.expert_model_parallel_size")

_CHECKPOINTLESS: Final = _table(
    "SageMaker HyperPod (checkpointless)",
    Recognition(
        all_of=(key("data.global_batch_size"), key("data.micro_batch_size"), key("run.model_type")),
        when=(Condition(key("run.model_type"), ("hyperpod_checkpointless_nemo",)),),
    ),
    (
        Row(key("data.global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _CALCULATED, _HANDED, when=(_ONE,)),
        Row(key("data.micro_batch_size"), Name.MICRO_BATCH_SIZE, None, _CALCULATED, _HANDED),
        Row(key("data.seq_length"), Name.SEQUENCE_LENGTH, None, _LENIENT, _HANDED),
        Row(key("strategy.tensor_model_parallel_size"), Name.TENSOR_PARALLEL_SIZE, 1, _LENIENT, _STRATEGY),
        Row(key("strategy.pipeline_model_parallel_size"), Name.PIPELINE_PARALLEL_SIZE, 1, _LENIENT, _STRATEGY),
        Row(key("strategy.context_parallel_size"), Name.CONTEXT_PARALLEL_SIZE, 1, _LENIENT, _STRATEGY),
        Row(_EXPERTS, Name.EXPERT_PARALLEL_SIZE, 1, _LENIENT, _STRATEGY),
        Row(key("trainer.num_nodes"), Name.NUM_NODES, None, _LENIENT, _TRAINER),
        Row(key("trainer.devices"), Name.GPUS_PER_NODE, None, _LENIENT, _TRAINER),
        Row(key("trainer.max_steps"), Name.MAX_STEPS, None, _LENIENT, _TRAINER),
    ),
    _HANDED,
)._replace(
    equations=(
        world(_TRAINER),
        data_parallel("MC parallel_state.py:710-713; NL _strategy_lib.py:124-147 (data_parallel_size)"),
        batch(f"{_HANDED}; {_CALCULATOR}"),
    ),
    constraints=(
        whole_accumulation(f"{_CALCULATOR}; NL data.py:106 (decrease_batch_size_if_needed=False)", (_ONE,)),
        Constraint(
            "GBS202",
            (Name.WORLD_SIZE,),
            (Name.EXPERT_PARALLEL_SIZE, Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE),
            when=(present(_EXPERTS), absent(key("strategy.expert_tensor_parallel_size"))),
            label="the processes must divide among experts, tensor and pipeline ranks",
            source="MC parallel_state.py:780-789 (expert_tensor_model_pipeline_parallel size)",
        ),
    ),
    version="sagemaker-hyperpod-checkpointless-training 08c4ff60",
)

_PPO: Final = "HP recipe_templatization/nova/nova_recipe_template_parameters.json:1538-1539, 1592 (samples for each optimizer step)"
FRAMEWORKS = (
    _TUNING,
    _CHECKPOINTLESS,
    _table(
        "SageMaker HyperPod (Nova)",
        Recognition(all_of=(key("training_config.global_batch_size"), key("run.model_type")), one_of=(dotted("run.replicas run.name"),)),
        (
            Row(key("training_config.global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _POSITIVE, _NOVA),
            Row(key("training_config.max_length"), Name.SEQUENCE_LENGTH, None, _LENIENT, _NOVA),
            Row(key("run.replicas"), Name.NUM_NODES, None, _LENIENT, "HP recipes nova_1_0 (Number of compute instances for training)"),
        ),
        _NOVA,
    ),
    _table(
        "SageMaker HyperPod (Nova, PPO)",
        Recognition(all_of=(key("ppo_actor_train.model.global_batch_size"),), one_of=(dotted("run.actor_train_replicas run.name"),)),
        (
            # The validator looks at training_config alone (HP config_validator/schema/nova_schema_validation.py:38-54), which is not there.
            Row(key("ppo_actor_train.model.global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _LENIENT, _PPO),
            Row(
                key("ppo_actor_train.max_length"),
                Name.SEQUENCE_LENGTH,
                None,
                _LENIENT,
                "HP recipe_templatization/nova/nova_recipe_template_processor.py:246",
            ),
            # The recipes' trainer.num_nodes, which the launcher reads, is an interpolation of it: ${recipes.run.actor_train_replicas}.
            Row(
                key("run.actor_train_replicas"),
                Name.NUM_NODES,
                None,
                _LENIENT,
                "HP nova/launchers.py:803, recipes nova_1_0/nova_lite/PPO/nova_lite_1_0_p5_gpu_ppo.yaml:9, 61",
            ),
        ),
        _PPO,
    ),
    _table(
        "SageMaker HyperPod (verl, RL)",
        Recognition(all_of=(("training_config", "actor_rollout_ref"),), one_of=(dotted("run.name run.model_type trainer.num_nodes"),)),
        (
            Row(_data("train_batch_size"), Name.PROMPTS_PER_ROLLOUT, None, _LENIENT, _VERL, unit="prompts"),
            Row(
                key("training_config.actor_rollout_ref.actor.ppo_mini_batch_size"),
                Name.PROMPTS_PER_STEP,
                None,
                _LENIENT,
                "verl b178a3cd5 trainer/config/actor/actor.yaml (ppo_mini_batch_size)",
                unit="prompts",
            ),
            Row(
                key("training_config.actor_rollout_ref.rollout.n"),
                Name.NUM_GENERATIONS,
                None,
                _LENIENT,
                "verl b178a3cd5 trainer/config/rollout/rollout.yaml:108",
            ),
            Row(
                key("training_config.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"),
                Name.MICRO_BATCH_SIZE,
                None,
                _LENIENT,
                "verl b178a3cd5 trainer/config/actor/actor.yaml (ppo_micro_batch_size_per_gpu)",
                when=(_PIECES,),
            ),
            *_NODES,
        ),
        _VERL,
        unit="completions",
        equations=(
            Equation(
                Name.GLOBAL_BATCH_SIZE,
                (Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS),
                unit="completions",
                source="verl b178a3cd5 workers/fsdp_workers.py:239-262 (ppo_mini_batch_size *= rollout.n)",
            ),
        ),
    ),
    _table(
        "SageMaker HyperPod (verl, fine-tuning)",
        Recognition(
            all_of=(_data("train_batch_size"), _data("micro_batch_size_per_gpu")),
            one_of=(dotted("run.name run.model_type trainer.num_nodes"),),
            none_of=(("training_config", "actor_rollout_ref"),),
        ),
        (
            Row(_data("train_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _LENIENT, _VERL),
            Row(_data("micro_batch_size_per_gpu"), Name.MICRO_BATCH_SIZE, None, _LENIENT, _VERL, when=(_FILLED,)),
            *_NODES,
        ),
        _VERL,
    ),
)
