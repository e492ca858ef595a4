"""HALOs of Contextual AI: the batch is that of all processes and all accumulation, and everything else is divided out of it.

H is commit 4831988 of ContextualAI/HALOs; `H launch.py:66` is a line of it. `base_model.yaml` and `config.yaml` lie below config/.
The configuration is composed by Hydra. Where its tree is not at hand, `loss` is the name of an option and the defaults are these.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import WORLD, keys

_BATCH: Final = ("model", "batch_size")
_STEPS: Final = ("model", "gradient_accumulation_steps")
_EVAL: Final = ("model", "eval_batch_size")

# Every value goes through Python's own `%` and `//` as OmegaConf has it, so that true is 1 and 32.0 is 32.
_DIVIDED: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    negative=Treatment.AUTO,
    why="launch.py divides with it before anything else",
)
_LENIENT: Final = LENIENT._replace(whole_float=Treatment.ACCEPTS)
_EXAMPLES: Final = _DIVIDED._replace(fraction=Treatment.AUTO, null=Treatment.UNSET, zero=Treatment.AUTO, why="the plan of steps divides it")
_INTERVAL: Final = _DIVIDED._replace(
    fraction=Treatment.AUTO,
    zero=Treatment.STOPS_LATE,
    why="the count of examples is taken modulo it at each step",
)


def _rows(unit: str, *, stops: bool, counts_tokens: bool) -> tuple[Row, ...]:
    """Return the rows of one kind of loader; `stops` tells that it refuses a micro batch of nothing or less.

    The others yield one sample at a time, or none, and the loss is divided by an accumulation below zero (H train/trainers.py:354).
    """
    nothing = Treatment.STOPS if stops else Treatment.AUTO
    batch = _DIVIDED._replace(negative=Treatment.STOPS if stops else Treatment.GOES_ON)
    accumulation = batch._replace(fraction=Treatment.AUTO)
    evaluation = batch._replace(zero=nothing, negative=nothing)
    rows = (
        Row(_BATCH, Name.GLOBAL_BATCH_SIZE, 32, batch, "H base_model.yaml:40, launch.py:65", unit),
        Row(_STEPS, Name.GRADIENT_ACCUMULATION_STEPS, 1, accumulation, "H base_model.yaml:44, launch.py:65, train/trainers.py:341"),
        Row(_EVAL, Name.EVAL_GLOBAL_BATCH_SIZE, 32, evaluation, "H base_model.yaml:47, launch.py:70", unit),
        Row(("n_examples",), Name.TRAIN_SAMPLES, None, _EXAMPLES, "H config.yaml:56, train/dataloader.py:323, 337-342", unit),
        Row(("n_epochs",), Name.NUM_EPOCHS, 1, _LENIENT, "H config.yaml:53, train/dataloader.py:333"),
        Row(("eval_every",), Name.EVAL_INTERVAL, 1024, _INTERVAL, "H config.yaml:62, launch.py:75, train/trainers.py:325", unit),
    )
    length = Row(("model", "max_length"), Name.SEQUENCE_LENGTH, 1250, _LENIENT, "H base_model.yaml:31, train/dataloader.py:136-137")
    return (*rows, length) if counts_tokens else rows


def _equations(unit: str) -> tuple[Equation, ...]:
    # No key states a micro batch that counts; that it is whole is checked as a constraint.
    parts = (Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)
    each = (Name.GLOBAL_BATCH_SIZE,)
    return (
        WORLD,
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source="H launch.py:65 (accelerator.num_processes)"),
        Equation(Name.MICRO_BATCH_SIZE, each, parts, unit=unit, source="H launch.py:66"),
        Equation(Name.EVAL_MICRO_BATCH_SIZE, (Name.EVAL_GLOBAL_BATCH_SIZE,), parts, unit=unit, source="H launch.py:71"),
        Equation(Name.EVAL_STEPS, (Name.EVAL_INTERVAL,), each, Rounding.FLOOR, Enforcement.CORRECTS, source="H launch.py:75-78"),
    )


def _divides(batch: str, label: str, source: str) -> Constraint:
    return Constraint("GBS202", (batch,), (Name.WORLD_SIZE, Name.GRADIENT_ACCUMULATION_STEPS), label=label, source=source)


_CHECKS: Final = (
    _divides(Name.GLOBAL_BATCH_SIZE, "each process takes an equal part of the batch in each accumulation step", "H launch.py:65-68"),
    _divides(Name.EVAL_GLOBAL_BATCH_SIZE, "the evaluation batch is divided by the accumulation as well", "H launch.py:70-73"),
)
# The number of processes cancels out of micro batch x processes: no hardware mends it.
_UNPAIRED_CHECKS: Final = tuple(
    Constraint(
        "GBS204",
        (batch,),
        (Name.GRADIENT_ACCUMULATION_STEPS,),
        at_least=2,
        label="a loader for unpaired data refuses a batch of one over all processes",
        source="H train/dataloader.py:465-466",
    )
    for batch in (Name.GLOBAL_BATCH_SIZE, Name.EVAL_GLOBAL_BATCH_SIZE)
)


def realise_evaluation(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the evaluation batch that one forward pass really has: the accumulation divides it too, and evaluation never accumulates.

    H launch.py:71; train/trainers.py:283-286. Nothing where the processes are not known.
    """
    stated, micro, world = (sizes.get(name) for name in (Name.EVAL_GLOBAL_BATCH_SIZE, Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE))
    if type(stated) is not Quantity or type(micro) is not Quantity or type(world) is not Quantity:
        return {}
    value = micro.value * world.value
    return {stated.name: Quantity(stated.name, value, Origin.DERIVED, stated.unit, because=(micro, world))} if value != stated.value else {}


_KNOWN: Final = """
KL_coef activation_checkpointing attn_implementation batch_size beta beta1 beta2 block_name cache_dir cache_reference_logprobs chosen
cliprange control_tokens critic_coef dataloader debug defaults desirable_weight do_first_eval dtype enabled entity eps epsilon
eval_batch_size eval_every eval_microbatch_size exp_name frac_unique_desirable frac_unique_undesirable from_checkpoint gamma
gamma_beta_ratio gradient_accumulation_steps humanline intermediate_checkpoints lam lambda_coef load_from load_lora_from
load_reference_logprobs local_run_dir log_epsilon_P log_epsilon_R lora_alpha lora_dropout lora_r loss lr max_grad_norm max_length
max_prompt_length microbatch_size minimum_log_interval_secs model model_class n_epochs n_eval_examples n_examples name_or_path online
optimizer path peft policy_dtype ppo_epochs project reference_dtype rejected reward_model reward_model_path save_every seed
sequence_level step_scheduler_with_optimizer sync_reference target_modules tau template_tokens test_datasets tokenizer_name_or_path
train_datasets trainer undesirable_weight use_peft v_head_max_grad_norm wandb warmup weight_decay
"""


def _table(title: str, unit: str, losses: str, loaders: str, *, unpaired: bool = False) -> Framework:
    """Return the table of the losses whose loaders are among `loaders`; of any other loss where none are named."""
    when = (Condition(("loss", "dataloader"), tuple(loaders.split())), Condition(("loss",), tuple(losses.split())))
    return Framework(
        name="halos",
        title=title,
        recognition=Recognition(
            one_of=(
                (("train_datasets",),),
                (("test_datasets",),),
                (("exp_name",),),
                (("loss",),),
                (("model", "name_or_path"), _BATCH, _STEPS, _EVAL),
            ),
            weight=1 if loaders else 0,
            when=when if loaders else (),
        ),
        unit=unit,
        rows=_rows(unit, stops=unpaired, counts_tokens=bool(loaders)),
        equations=_equations(unit),
        constraints=(*_CHECKS, *_UNPAIRED_CHECKS) if unpaired else _CHECKS,
        also=frozenset(str(key) for (key,) in keys(_KNOWN)),
        names=keys("exp_name"),
        sequences_per_sample=2 if unit == "pairs" else 1,
        loader=Loader.OMEGACONF,
        version="HALOs 4831988",
        source="H launch.py:65-78; config/loss/*.yaml (dataloader); train/dataloader.py:337-342, 440-449",
        derive=realise_evaluation,
        arguments=Arguments.HYDRA,
    )


FRAMEWORKS = (
    _table("HALOs (SFT)", "samples", "sft csft", "SFTDataLoader ConditionalSFTDataLoader"),
    _table("HALOs (pairs)", "pairs", "dpo cdpo ipo simpo slic bradley-terry", "PairedPreferenceDataLoader"),
    _table(
        "HALOs (unpaired)",
        "samples",
        "kto ppo grpo",
        "UnpairedPreferenceDataLoader GroupUnpairedPreferenceDataLoader ScoreDataLoader HalfPrefDataLoader",
        unpaired=True,
    ),
    _table("HALOs", "samples", "", ""),
)
