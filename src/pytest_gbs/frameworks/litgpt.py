"""litgpt: the global batch is given, and what every rank accumulates is rounded down in silence.

LG is commit 26857050 of Lightning-AI/litgpt; `LG args.py:58` is a line of litgpt/.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Constraint, Exclusion, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_FLOORS: Final = "LG args.py:55-66"

# jsonargparse 4.53 checks the types: it takes "8" for 8, and neither 8.0 nor true.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    why="a whole number above 0 is asked for",
)
_DEVICES: Final = Reading(
    quoted=Treatment.ACCEPTS,
    words=(("auto", Treatment.AUTO), (-1, Treatment.AUTO)),
    why="devices must be 'auto' or a positive whole number",
)
_NODES: Final = _SIZE._replace(why="the global batch is divided by devices x num_nodes")
_OTHER: Final = LENIENT._replace(null=Treatment.UNSET)


def _rows(script: str, batch: int, micro: int, devices: int | None, lines: tuple[int, int, int, int]) -> tuple[Row, ...]:
    """Return the rows of one script, whose defaults stand at `lines`."""
    of_batch, of_micro, of_devices, of_nodes = (f"LG {script}:{line}" for line in lines)
    return (
        Row(("train", "global_batch_size"), Name.GLOBAL_BATCH_SIZE, batch, _SIZE, f"{of_batch}; {_FLOORS}"),
        Row(("train", "micro_batch_size"), Name.MICRO_BATCH_SIZE, micro, _SIZE, f"{of_micro}; {_FLOORS}"),
        Row(("devices",), Name.GPUS_PER_NODE, devices, _DEVICES, f"{of_devices}; LG utils.py:555-560"),
        Row(("num_nodes",), Name.NUM_NODES, 1, _NODES, f"{of_nodes}; {_FLOORS}"),
        Row(("train", "max_seq_length"), Name.SEQUENCE_LENGTH, None, _OTHER, "LG args.py:32"),
        Row(("train", "max_steps"), Name.MAX_STEPS, None, _OTHER, "LG args.py:28"),
        Row(("train", "save_interval"), Name.SAVE_STEPS, 1000, _OTHER, "LG args.py:11"),
        Row(("eval", "interval"), Name.EVAL_STEPS, 600, _OTHER, "LG args.py:81"),
    )


_EQUATIONS: Final = (
    world("LG finetune/full.py:118 (Fabric), pretrain.py:147"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=_FLOORS),
    Equation(
        Name.GRADIENT_ACCUMULATION_STEPS,
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        Rounding.FLOOR,
        Enforcement.CORRECTS,
        source=_FLOORS,
    ),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GRADIENT_ACCUMULATION_STEPS,),
        at_least=1,
        enforcement=Enforcement.STOPS_LATE,
        label="every rank has at least one micro batch",
        source="LG args.py:59, 65",
    ),
)
_EXCLUSIONS: Final = (
    Exclusion(
        dotted("train.lr_warmup_fraction train.lr_warmup_steps"),
        "litgpt stops: it takes only one of the two (null switches the other off)",
        "LG args.py:41-45",
    ),
)


def realise_whole_micro_batches(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the global batch that is left where the accumulation was rounded down, else nothing."""
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


def _table(script: str, rows: tuple[Row, ...], marks: tuple[KeyPath, ...], paths: tuple[str, ...], weight: int) -> Framework:
    return Framework(
        name="litgpt",
        title=f"litgpt ({script})",
        recognition=Recognition(
            one_of=(
                dotted("train.global_batch_size train.micro_batch_size train.lr_warmup_steps"),
                dotted("train.save_interval train.lr_warmup_steps train.max_tokens train.log_interval train.max_seq_length"),
                dotted("checkpoint_dir model_name model_config out_dir"),
            ),
            none_of=dotted("stage trainer model_name_or_path actor_rollout_ref"),
            marks=marks,
            paths=paths,
            weight=weight,
        ),
        unit="samples",
        rows=rows,
        equations=_EQUATIONS,
        constraints=_CONSTRAINTS,
        exclusions=_EXCLUSIONS,
        names=dotted("out_dir"),
        version="litgpt 0.5.13 (26857050)",
        source=_FLOORS,
        derive=realise_whole_micro_batches,
    )


_OF_PRETRAINING: Final = "model_name model_config initial_checkpoint_dir tokenizer_dir train.max_tokens train.tie_embeddings"
_OF_FINETUNING: Final = "checkpoint_dir quantize lora_r train.epochs eval.max_new_tokens"

FRAMEWORKS = (
    _table(
        "finetune",
        _rows("finetune/full.py", 16, 1, 1, (55, 56, 48, 49)),
        dotted(_OF_FINETUNING),
        ("finetune", "full", "lora", "qlora", "adapter"),
        2,
    ),
    _table("pretrain", _rows("pretrain.py", 512, 4, None, (59, 60, 70, 71)), dotted(_OF_PRETRAINING), ("pretrain",), 1),
)
