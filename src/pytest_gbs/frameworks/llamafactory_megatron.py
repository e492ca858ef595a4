"""LLaMA-Factory on Megatron: two backends that divide differently, and only a variable of the environment says which one runs.

Megatron-Bridge (USE_MEGATRON_BRIDGE=1) divides the GPUs by the expert parallel size as well, mcore_adapter (USE_MCA=1) does not. Where
neither a key, the path nor a comment tells them apart, experts in parallel leave the batch unknown.

LF is commit ff6d4d12e of hiyouga/LLaMA-Factory; `LF hparams/parser.py:336` is a line of src/llamafactory. MC is Megatron-LM d98e8a64, MA
mcore_adapter of alibaba/ROLL.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Arguments, Condition, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import (
    ACCUMULATION_AS_LOADED,
    INTERVAL_AS_LOADED,
    MAX_STEPS_AS_LOADED,
    MICRO_AS_LOADED,
    NAMES,
    WORLD,
    accumulation_row,
    interval_rows,
    keys,
    micro_rows,
)
from pytest_gbs.frameworks._known import Known
from pytest_gbs.frameworks._llamafactory import CUTOFF, LOADER, MEGATRON, OF_OTHERS, STREAMS, VERSION, stages

EXPERTS: Final = "expert_parallel_size"
_EXPERTS_KEY: Final = ("expert_model_parallel_size",)
# Arguments of Megatron-Bridge alone (LF hparams/megatron_bridge_args.py:121-150).
_BRIDGE_ONLY: Final = keys("use_packed_sequences mixed_precision megatron_pretrained_checkpoint export_hf_on_finish extra_config")
# More than any parallel size: whatever the file says is not known to count.
_NEVER: Final = 1 << 30

_BRIDGE_SAID: Final = Condition(("USE_MEGATRON_BRIDGE",), (1,), said="USE_MEGATRON_BRIDGE=1")
_MCA_NOT_SAID: Final = Condition(("USE_MCA",), (1,), negated=True, said="USE_MCA=1")
_NO_EXPERTS: Final = Condition(_EXPERTS_KEY, (1, None), default=1)

_SIZES: Final = Reading(whole_float=Treatment.STOPS_LATE, boolean=Treatment.ACCEPTS, null=Treatment.UNSET, why="the GPUs are divided by it")
_MICRO: Final = MICRO_AS_LOADED._replace(null=Treatment.STOPS, collection=Treatment.STOPS, why="the global batch is a multiple of it")
_STEPS: Final = ACCUMULATION_AS_LOADED._replace(
    null=Treatment.STOPS, collection=Treatment.STOPS, negative=Treatment.STOPS_LATE, why="the global batch is a multiple of it"
)
_ARGUMENTS: Final = "LF hparams/megatron_bridge_args.py:32-47, 153-160"
_BRIDGE: Final = "LF hparams/parser.py:336-348, train/megatron_bridge/config_builder.py:396-417 (_compute_train_schedule)"
_MCA: Final = "MA trainer.py (get_train_dataloader); MC megatron/core/parallel_state.py:815-825 (initialize_model_parallel)"


def _experts(reading: Reading, source: str, *when: Condition, minimum: int = 1) -> Row:
    return Row(_EXPERTS_KEY, EXPERTS, 1 if minimum == 1 else None, reading, source, minimum=minimum, when=when)


_UNTOLD: Final = (
    _experts(_SIZES, _BRIDGE, _BRIDGE_SAID),
    _experts(_SIZES, _BRIDGE, _NO_EXPERTS),
    _experts(_SIZES._replace(zero=Treatment.AUTO), f"{_BRIDGE}; {_MCA}", _MCA_NOT_SAID, minimum=_NEVER),
)


def _table(title: str, how: Recognition, experts: tuple[Row, ...], source: str) -> Framework:
    """Return the table of one backend; `experts` are its rows for expert parallelism, none where that does not divide."""
    split = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE)
    divisors = (*split, EXPERTS) if experts else split
    words = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
    return Framework(
        name="llamafactory",
        title=title,
        recognition=how,
        unit="samples",
        rows=(
            *micro_rows(_MICRO),
            accumulation_row(_STEPS),
            *(Row((word,), name, 1, _SIZES, _ARGUMENTS) for word, name in zip(words, split, strict=True)),
            *experts,
            *interval_rows(INTERVAL_AS_LOADED, MAX_STEPS_AS_LOADED),
            CUTOFF,
        ),
        equations=(
            WORLD,
            Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), divisors, source=source),
            Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit="samples", source=source),
        ),
        requirements=(STREAMS,),
        assumed=((EXPERTS, 1),) if experts else (),
        also=Known("transformers"),
        names=NAMES,
        loader=LOADER,
        version=VERSION,
        source=f"LF hparams/parser.py:395-412 (get_train_args); {source}",
        arguments=Arguments.PAIRS,
    )


def _recognition(paths: str = "", marks: tuple[KeyPath, ...] = (), weight: int = 0) -> Recognition:
    return Recognition(one_of=(*stages(), MEGATRON), none_of=OF_OTHERS, marks=marks, paths=tuple(paths.split()), weight=weight)


FRAMEWORKS = (
    _table("LLaMA-Factory (Megatron-Bridge)", _recognition("bridge mbridge", _BRIDGE_ONLY), (_experts(_SIZES, _BRIDGE),), _BRIDGE),
    _table("LLaMA-Factory (mcore_adapter)", _recognition("mca mcore"), (), _MCA),
    _table("LLaMA-Factory (Megatron)", _recognition(weight=1), _UNTOLD, f"{_BRIDGE}; {_MCA}"),
)
