"""MaxText (JAX): the batch is that of one device times all devices, whatever the mesh makes of them; a step accumulates so many of them.

MT is commit e591f30c of AI-Hypercomputer/maxtext; `MT configs/types.py:3458` is a line of src/maxtext/. TX is google-tunix 0.1.7, whose
trainers train on preferences, distil and learn by reinforcement. What a file leaves out comes from its `base_config`: the defaults are
those of MaxText's own base.yml, and not known where a file names another.

Accumulation has two readings. MaxText's own step takes all micro batches from one batch that is loaded; Tunix counts batches that are
loaded (TX sft/peft_trainer.py:212-215, 723), and only the Hugging Face pipeline cuts them up for it, when use_tunix_gradient_accumulation
is on (MT input_pipeline/hf_data_processing.py:314-317). Elsewhere an accumulation above 1 under Tunix is left unknown.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
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
    SameAs,
    Switch,
    Treatment,
)
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_TYPES: Final = "MT configs/types.py"
_BATCH: Final = f"{_TYPES}:3457-3479 (calculate_global_batch_sizes)"
_ACCUMULATION: Final = f"{_TYPES}:1872-1874; utils/gradient_accumulation.py:140-164; {_BATCH}"
_DEVICES: Final = f"{_TYPES}:3407-3427 (num_target_devices = len(jax.devices()))"
_MESH: Final = "MT utils/max_utils.py:461-484 (fill_unspecified_mesh_axes); utils/maxtext_utils.py:2183-2209 (create_device_mesh)"

# pydantic converts: "8", 8.0 and true are whole numbers, 8.5 and null are none.
_STEPS: Final = Reading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    why="MaxText takes only a whole number above 0",
)
# A device may take a part of a sample: 0.5 is one sample for two devices.
_MICRO: Final = _STEPS._replace(
    fraction=Treatment.AUTO, boolean=Treatment.AUTO, zero=Treatment.AUTO, negative=Treatment.AUTO, why="MaxText takes only a number"
)
_EVAL_MICRO: Final = _MICRO._replace(zero=Treatment.UNSET)
_OTHER: Final = LENIENT._replace(quoted=Treatment.ACCEPTS, whole_float=Treatment.ACCEPTS)
_SOMETIMES: Final = _STEPS._replace(words=((-1, Treatment.UNSET),), why="Tunix takes only a whole number above 0")

_OWN_DEFAULTS: Final = Condition(
    key("base_config"),
    (
        None,
        "base.yml",
        "../base.yml",
        "../../base.yml",
        "MaxText/configs/base.yml",
        "src/MaxText/configs/base.yml",
        "src/maxtext/configs/base.yml",
    ),
)
# A number may stand with a point: pydantic takes 1.0 for 1.
_EVALUATES: Final = Condition(key("eval_interval"), (-1, 0, -1.0, 0.0), negated=True, default=-1)
_TUNED: Final = Condition(key("use_sft"), (True,), default=False)
_NO_ACCUMULATION: Final = Condition(key("gradient_accumulation_steps"), (1, 1.0), default=1)
_CUT_UP: Final = (Condition(key("use_tunix_gradient_accumulation"), (True,)), Condition(key("dataset_type"), ("hf",)))
_FSDP: Final = Condition(key("ici_fsdp_parallelism"), (-1, 1), default=-1)
_DATA: Final = Condition(key("ici_data_parallelism"), (1,), default=1)
_EXPERTS: Final = Condition(key("ici_expert_parallelism"), (1,), default=1)


def _rows(word: str, name: str, default: int | SameAs | None, reading: Reading, source: str, *when: Condition) -> tuple[Row, ...]:
    """Return the rows of one key: with its default, if it has any, where that of MaxText's base.yml holds, and without it elsewhere."""
    row = Row(key(word), name, None, reading, source, when=when)
    return (row,) if default is None else (row._replace(default=default, when=(*when, _OWN_DEFAULTS)), row)


def _axis(axis: str, name: str, default: int | None, line: int) -> tuple[Row, ...]:
    return _rows(f"ici_{axis}_parallelism", name, default, _OTHER, f"{_TYPES}:{line}")


def _accumulation(default: int | None, *when: Condition) -> tuple[Row, ...]:
    return _rows("gradient_accumulation_steps", Name.GRADIENT_ACCUMULATION_STEPS, default, _STEPS, _ACCUMULATION, *when)


_STEP_OF_TUNIX: Final = (*_accumulation(1, _NO_ACCUMULATION), *_accumulation(None, *_CUT_UP))
_STEP_OF_MAXTEXT: Final = (*_accumulation(None, _TUNED._replace(negated=True), _OWN_DEFAULTS), *_STEP_OF_TUNIX)
_ROWS: Final = (
    *_rows("per_device_batch_size", Name.MICRO_BATCH_SIZE, 12, _MICRO, f"{_TYPES}:1400; {_BATCH}"),
    *_rows(
        "eval_per_device_batch_size",
        Name.EVAL_MICRO_BATCH_SIZE,
        SameAs(Name.MICRO_BATCH_SIZE),
        _EVAL_MICRO,
        f"{_TYPES}:1401-1404, 3293-3295 (0 is the training batch)",
        _EVALUATES,
    ),
    *_rows("max_target_length", Name.SEQUENCE_LENGTH, 2048, _OTHER, f"{_TYPES}:2028"),
    *_rows("steps", Name.MAX_STEPS, None, _OTHER, f"{_TYPES}:1719-1723 (-1 is learning_rate_schedule_steps)"),
    *_rows("checkpoint_period", Name.SAVE_STEPS, None, _OTHER, f"{_TYPES}:350; common/checkpointing.py:814"),
    *_rows("eval_interval", Name.EVAL_STEPS, None, _OTHER, f"{_TYPES}:1730-1733; trainers/pre_train/train.py:870-873", _EVALUATES),
    *_axis("data", Name.REPLICATE_SIZE, 1, 1245),
    *_axis("fsdp", Name.SHARD_SIZE, None, 1246),
    *_axis("expert", Name.EXPERT_PARALLEL_SIZE, 1, 1258),
)

_WORLD: Final = world("jax.device_count() = processes x local devices")


def _equations(unit: str) -> tuple[Equation, ...]:
    factors = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.WORLD_SIZE)
    evaluation = (Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE)
    return (
        _WORLD,
        Equation(Name.GLOBAL_BATCH_SIZE, factors, unit=unit, source=f"{_BATCH}; {_DEVICES}"),
        Equation(Name.EVAL_GLOBAL_BATCH_SIZE, evaluation, unit=unit, source=f"{_TYPES}:3481-3491"),
    )


def _fits(axes: tuple[str, ...], *when: Condition) -> Constraint:
    """Return the check that axes of a slice have room among its devices, where `when` holds; all slices have as many."""
    return Constraint("GBS201", (Name.WORLD_SIZE,), axes, when=when, label="the axes of a slice multiply to its devices", source=_MESH)


# A constraint stands for axes that somebody set: with every axis at its default nothing is asked of the devices. The other axes (tensor,
# pipeline, context) take their part of a slice too, but divide no batch here, as sizes of the same names do elsewhere.
_CONSTRAINTS: Final = (
    _fits((Name.SHARD_SIZE, Name.REPLICATE_SIZE, Name.EXPERT_PARALLEL_SIZE), _FSDP._replace(negated=True)),
    _fits((Name.REPLICATE_SIZE, Name.EXPERT_PARALLEL_SIZE), _FSDP, _DATA._replace(negated=True)),
    _fits((Name.EXPERT_PARALLEL_SIZE,), _FSDP, _DATA, _EXPERTS._replace(negated=True)),
)
_RAMPS_UP: Final = Switch(
    Condition(key("enable_rampup_batch_size"), (True,)),
    (Name.GLOBAL_BATCH_SIZE,),
    "enable_rampup_batch_size starts with the smaller batch of per_device_batch_size_start and reaches the one that is stated in the end",
    f"{_TYPES}:3493-3535; common/data_loader.py:104-175 (RampUpDataLoader)",
)

# Keys of base.yml that are near to others and hold no size of the batch; eval_steps is how many batches one evaluation takes.
_ALSO: Final = frozenset(
    (
        *("eval_steps", "eval_start_step", "local_checkpoint_period", "learning_rate_schedule_steps", "max_prefill_predict_length"),
        *("per_device_batch_size_start", "per_device_batch_size_increment", "ici_fsdp_transpose_parallelism", "ici_diloco_parallelism"),
    )
)
_OWN: Final = dotted("per_device_batch_size use_sft use_dpo")
_SIGNS: Final = dotted(
    "base_config base_output_directory learning_rate_schedule_steps ici_fsdp_parallelism ici_tensor_parallelism dcn_data_parallelism"
)
_ON_PREFERENCES: Final = (
    Condition(key("use_dpo"), (True,)),
    Condition(key("base_config"), ("dpo.yml", "post_train/dpo.yml", "src/maxtext/configs/post_train/dpo.yml")),
)
_DISTILLS: Final = dotted("student_overrides teacher_overrides")


def _table(title: str, recognition: Recognition, unit: str, accumulation: tuple[Row, ...], sequences: int = 1) -> Framework:
    return Framework(
        name="maxtext",
        title=title,
        recognition=recognition,
        unit=unit,
        rows=(*_ROWS, *accumulation),
        equations=_equations(unit),
        constraints=_CONSTRAINTS,
        switches=(_RAMPS_UP,),
        also=_ALSO,
        names=dotted("run_name"),
        sequences_per_sample=sequences,
        loader=Loader.OMEGACONF,
        version="maxtext e591f30c",
        source=f"{_BATCH}; MT configs/pyconfig.py:188-203, 430-586",
        arguments=Arguments.PAIRS,
    )


_TUNIX_RL: Final = "TX rl/rl_cluster.py:90-142 (RLTrainingConfig); MT trainers/post_train/rl/train_rl.py:505-509"
_AGENTIC: Final = Condition(key("rl.use_agentic_rollout"), (True,), negated=True, default=False)
_REINFORCEMENT: Final = Framework(
    name="maxtext",
    title="MaxText (RL)",
    recognition=Recognition(
        all_of=dotted("rl.num_generations"),
        one_of=(dotted("trainer_devices_fraction sampler_devices_fraction train_micro_batch_size rollout_data_parallelism chips_per_vm"),),
    ),
    unit="completions",
    rows=(
        *_rows("batch_size", Name.PROMPTS_PER_STEP, 1, _STEPS, f"{_TYPES}:2562; {_TUNIX_RL}", _AGENTIC),
        Row(key("num_generations"), Name.NUM_GENERATIONS, None, _STEPS, f"{_TYPES}:4584-4587 (a key of `rl` beside it wins)"),
        *_rows("rl.num_generations", Name.NUM_GENERATIONS, 2, _STEPS, f"{_TYPES}:2513"),
        *_rows("rl.num_iterations", Name.NUM_ITERATIONS, 1, _STEPS, f"{_TYPES}:2514"),
        *_rows("train_micro_batch_size", Name.MICRO_STEP_BATCH_SIZE, None, _SOMETIMES, f"{_TYPES}:2568; {_TUNIX_RL}"),
        *_rows("max_target_length", Name.SEQUENCE_LENGTH, 2048, _OTHER, f"{_TYPES}:4513"),
        *_rows("checkpoint_period", Name.SAVE_STEPS, None, _OTHER, f"{_TYPES}:350; trainers/post_train/rl/train_rl.py:445"),
    ),
    # No size depends on the devices: trainer and sampler have shares of them (MT configs/types.py:2423-2424).
    equations=(
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            (Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS),
            unit="completions",
            source=f"{_TUNIX_RL}; TX rl/rl_learner.py:401-410 (each prompt is repeated for its completions)",
        ),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.PROMPTS_PER_STEP,),
            (Name.MICRO_STEP_BATCH_SIZE,),
            when=(Condition(key("train_micro_batch_size"), (-1,), negated=True, default=-1), _AGENTIC),
            label="a batch of prompts holds whole micro batches",
            source="TX rl/rl_cluster.py:128-139 (check_divisibility)",
        ),
        Constraint(
            "GBS205",
            (Name.NUM_GENERATIONS,),
            at_least=2,
            when=(_AGENTIC,),
            label="an advantage needs two completions",
            source="TX rl/grpo/grpo_learner.py:100-105 (GRPOConfig.__post_init__)",
        ),
    ),
    also=frozenset(("eval_batch_size", "rollout_micro_batch_size", "num_test_batches")),
    names=dotted("run_name"),
    loader=Loader.OMEGACONF,
    version="maxtext e591f30c",
    source="MT trainers/post_train/rl/train_rl.py:375-378, 505-509",
    arguments=Arguments.PAIRS,
)

FRAMEWORKS = (
    _table(
        "MaxText",
        Recognition(
            one_of=(_OWN, _SIGNS),
            none_of=(*_DISTILLS, *dotted("rl.num_generations")),
            # Random tokens measure speed and train nothing (MT input_pipeline/input_pipeline_interface.py:66).
            when=(Condition(key("dataset_type"), ("synthetic",), negated=True),),
        ),
        "samples",
        _STEP_OF_MAXTEXT,
    ),
    _table(
        "MaxText (DPO)",
        Recognition(one_of=(_OWN, _SIGNS), none_of=_DISTILLS, when=_ON_PREFERENCES, weight=1),
        "pairs",
        _STEP_OF_TUNIX,
        2,
    ),
    _table("MaxText (distillation)", Recognition(one_of=(_DISTILLS, (*_OWN, *_SIGNS))), "samples", _STEP_OF_TUNIX),
    _REINFORCEMENT,
)
