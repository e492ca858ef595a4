"""axolotl: one flat file, checked by pydantic and handed to trainers of transformers and TRL, which `rl` chooses.

AX is explained in `_axolotl.py`.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import Condition, Constraint, Framework, Row
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._axolotl import OPTIONAL, table
from pytest_gbs.frameworks._huggingface import SHRINKS


def _is_one_of(words: str) -> Condition:
    return Condition(("rl",), tuple(words.split()))


_PAIRS: Final = "dpo ipo orpo simpo"
_GROUPS: Final = "grpo gdpo"
_OTHERS: Final = "kto ebft"
_GROUP: Final = ("trl", "num_generations")
_GENERATED: Final = ("trl", "generation_batch_size")
_IS_GRPO: Final = Condition(("rl",), ("grpo",))
_NO_GENERATED: Final = Condition(_GENERATED, (None,))


def _group(
    label: str, dividend: tuple[str, ...], divisor: tuple[str, ...] = (), at_least: int | None = None, when: tuple[Condition, ...] = ()
) -> Constraint:
    """Return what the schema asks of a group of completions that the file gives; TRL's own default it leaves to TRL."""
    source = "AX schemas/validation.py:789-866 (check_grpo_batch_size_divisibility)"
    return Constraint(
        "GBS205", dividend, divisor, at_least, when=(_IS_GRPO, *when), needs=(Name.NUM_GENERATIONS,), label=label, source=source
    )


_OWN: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
_WHOLE_GROUPS: Final = "the generation batch must hold whole groups"
_GROUPS_OF: Final = (
    _group("an advantage needs two completions", (Name.NUM_GENERATIONS,), at_least=2),
    _group(_WHOLE_GROUPS, _OWN, (Name.NUM_GENERATIONS,), when=(_NO_GENERATED,)),
    Constraint(
        "GBS205",
        (Name.GENERATION_BATCH_SIZE,),
        (Name.NUM_GENERATIONS,),
        when=(_IS_GRPO,),
        needs=(Name.NUM_GENERATIONS, Name.GENERATION_BATCH_SIZE),
        label=_WHOLE_GROUPS,
        source="AX schemas/validation.py:821-851",
    ),
    # The schema compares with all processes (cli/config.py:369). Those of one node are the least that there can be.
    _group("each GPU must get a whole group", _OWN, (Name.NUM_GENERATIONS, Name.GPUS_PER_NODE), at_least=1, when=(_NO_GENERATED,)),
)


def _online(base: Framework) -> Framework:
    """Return `base` with the groups of completions that GRPO's trainer makes for each prompt.

    The schema looks at the product of micro batch and accumulation, whatever the number of GPUs.
    """
    group, batch = "AX schemas/trl.py:75, core/trainers/grpo/__init__.py:89-90; trl 1.8.0", "AX schemas/trl.py:69"
    prompts = Equation(Name.PROMPTS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), (Name.NUM_GENERATIONS,), unit="prompts", source=group)
    return base._replace(
        rows=(
            *base.rows,
            Row(_GROUP, Name.NUM_GENERATIONS, 8, OPTIONAL, group),
            Row(_GENERATED, Name.GENERATION_BATCH_SIZE, None, OPTIONAL, batch, unit="completions"),
        ),
        equations=(*base.equations, prompts),
        constraints=(*base.constraints, *_GROUPS_OF),
        reserves=Condition(("trl", "use_vllm"), (True,)),
        shares=Condition(("trl", "vllm_mode"), ("colocate",)),
    )


_BASE: Final = table("axolotl", "samples", Condition(("rl",), tuple(f"{_PAIRS} {_GROUPS} {_OTHERS}".split()), negated=True))
_STRIDED: Final = table("axolotl (EBFT, strided)", "samples", Condition(("ebft", "mode"), ("strided",)))

FRAMEWORKS = (
    _BASE._replace(switches=(SHRINKS._replace(source="AX core/builders/causal.py:239-242; " + SHRINKS.source),)),
    table("axolotl (preference pairs)", "pairs", _is_one_of(_PAIRS)),
    table("axolotl (KTO)", "samples", _is_one_of("kto")),
    _online(table("axolotl (GRPO)", "completions", _is_one_of(_GROUPS))),
    _online(table("axolotl (EBFT)", "completions", _is_one_of("ebft"))),
    _STRIDED._replace(recognition=_STRIDED.recognition._replace(weight=1)),
)
