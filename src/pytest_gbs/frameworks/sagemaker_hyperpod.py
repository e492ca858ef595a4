"""SageMaker HyperPod recipes: Amazon's launcher around trainers of its own (LLMFT, Nova) and around verl.

HP is commit 26319955 of aws/sagemaker-hyperpod-recipes; `HP config_validator/...` is a file of launcher/. The trainers run in images that
are not public: what is not said in the recipe or checked by the launcher, defaults and accumulation among it, is not known.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Condition, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_LLMFT: Final = (
    "HP config_validator/schema/llmft_schema_validation.py:12-34; recipe_templatization/llmft/llmft_recipe_template_parameters.json:91"
)
_NOVA: Final = "HP config_validator/schema/nova_schema_validation.py:5-9"
_VERL: Final = "HP recipe_templatization/verl/verl_recipe_template_parameters.json:60; verl b178a3cd5 trainer/config/data/legacy_data.yaml"

_LENIENT: Final = Reading(*(Treatment.AUTO,) * 9)._replace(null=Treatment.UNSET)
# pydantic: an integer above 0; a number in quotes and a float without a fraction are taken.
_POSITIVE: Final = _LENIENT._replace(
    text=Treatment.AUTO, zero=Treatment.STOPS, negative=Treatment.STOPS, why="the launcher's validator takes numbers above 0"
)
_ARGUMENTS: Final = ("training_config", "training_args")
_SCALES: Final = Condition(("scale_config",), (None,))
_FILLED: Final = Condition(key("training_config.data.use_dynamic_bsz"), (True,), negated=True, default=False)
_PIECES: Final = Condition(key("training_config.actor_rollout_ref.actor.use_dynamic_bsz"), (True,), negated=True, default=True)

_NODES: Final = (
    Row(key("trainer.num_nodes"), Name.NUM_NODES, None, _LENIENT, "HP config_validator/schema/base.py:9-13"),
    Row(key("trainer.devices"), Name.GPUS_PER_NODE, None, _LENIENT, "HP config_validator/schema/base.py:9-13"),
)
_WORLD: Final = Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source="HP config_validator/schema/base.py:9-13")


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
FRAMEWORKS = (
    _TUNING,
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
