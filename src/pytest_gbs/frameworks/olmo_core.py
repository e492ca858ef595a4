"""OLMo-core: both the global batch and the micro batch of a rank are given, in tokens; its recipes are Python, its records JSON or YAML.

OC is commit fa6c501 of allenai/OLMo-core; `OC data/data_loader.py:274` is a line of src/olmo_core/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Constraint, Framework, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final

_CHECK: Final = "OC train/train_module/train_module.py:281-291"
_MESH: Final = "OC distributed/parallel/__init__.py:158-190 (build_world_mesh)"

_TOKENS: Final = LENIENT
_DEGREE: Final = _TOKENS._replace(null=Treatment.UNSET)

_MODULE: Final = "train_module"
_ROWS: Final = (
    Row(("data_loader", "global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _TOKENS, "OC data/data_loader.py:274", "tokens"),
    Row(
        (_MODULE, "rank_microbatch_size"), Name.MICRO_BATCH_SIZE, None, _TOKENS, "OC train/train_module/transformer/config.py:306", "tokens"
    ),
    Row((_MODULE, "tp_config", "degree"), Name.TENSOR_PARALLEL_SIZE, 1, _DEGREE, _MESH),
    Row((_MODULE, "cp_config", "degree"), Name.CONTEXT_PARALLEL_SIZE, 1, _DEGREE, _MESH),
    Row((_MODULE, "pp_config", "degree"), Name.PIPELINE_PARALLEL_SIZE, 1, _DEGREE, _MESH),
)
_EQUATIONS: Final = (
    world("torchrun: WORLD_SIZE = nnodes x nproc_per_node"),
    Equation(
        Name.DATA_PARALLEL_SIZE,
        (Name.WORLD_SIZE,),
        (Name.TENSOR_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE),
        source=_MESH,
    ),
    Equation(
        Name.GLOBAL_BATCH_SIZE,
        FACTORS,
        unit="tokens",
        source=_CHECK,
    ),
    Equation(Name.TOKENS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), unit="tokens", source="OC data/data_loader.py:274"),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        label="a step holds whole micro batches of all ranks",
        source=_CHECK,
    ),
)

FRAMEWORK = Framework(
    name="olmo-core",
    title="OLMo-core",
    recognition=Recognition(all_of=((_MODULE, "rank_microbatch_size"), ("data_loader", "global_batch_size"))),
    unit="tokens",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    names=(("run_name",),),
    version="OLMo-core fa6c501",
    source=f"{_CHECK}; {_MESH}",
)
