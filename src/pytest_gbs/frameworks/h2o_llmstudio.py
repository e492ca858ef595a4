"""H2O LLM Studio: micro batch and accumulation under `training`, one process for each GPU, no model parallelism.

HS is commit a4971c11 of h2oai/h2o-llmstudio; `HS train.py:256` is a line of llm_studio/, CFG its file
python_configs/text_causal_language_modeling_config.py. The GPUs of `environment.gpus` are those that the web interface starts a
process on; on a command line torchrun says how many there are.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Framework, Recognition, Row, SameAs, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import key

_STEP: Final = "HS train.py:256-330 (run_train: a step after each grad_accumulation forward passes of a DataLoader's batch)"
_RANKS: Final = "HS train.py:499 (one process for each GPU); src/utils/data_utils.py:405-442 (DistributedSampler over all of them)"
_MICRO: Final = LENIENT._replace(zero=Treatment.STOPS_LATE, negative=Treatment.STOPS_LATE, why="a DataLoader takes no batch of none")
_STEPS: Final = LENIENT._replace(zero=Treatment.STOPS_LATE, why="the number of the forward pass is divided by it")
_OTHER: Final = LENIENT._replace(zero=Treatment.UNSET)
_PAIRS: Final = Condition(("problem_type",), ("text_dpo_modeling",))

_ROWS: Final = (
    Row(key("training.batch_size"), Name.MICRO_BATCH_SIZE, 2, _MICRO, f"CFG:178; {_STEP}"),
    Row(key("training.grad_accumulation"), Name.GRADIENT_ACCUMULATION_STEPS, 1, _STEPS, f"CFG:187; {_STEP}"),
    Row(
        key("prediction.batch_size_inference"),
        Name.EVAL_MICRO_BATCH_SIZE,
        SameAs(Name.MICRO_BATCH_SIZE),
        _OTHER,
        "HS src/utils/data_utils.py:610-622 (get_inference_batch_size: 0 is the training batch)",
    ),
    Row(key("tokenizer.max_length"), Name.SEQUENCE_LENGTH, 512, _OTHER, "CFG:342"),
)


_BATCH: Final = (key("training.batch_size"), key("training.grad_accumulation"))


def _table(title: str, when: Condition, unit: str, sequences: int) -> Framework:
    return Framework(
        name="h2o-llmstudio",
        title=title,
        recognition=Recognition(
            all_of=(key("problem_type"),),
            one_of=(
                _BATCH,
                (("llm_backbone",), key("dataset.train_dataframe")),
            ),
            when=(when,),
        ),
        unit=unit,
        rows=_ROWS,
        equations=(
            world("torch 2.13.0 distributed/run.py"),
            Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=_RANKS),
            Equation(
                Name.GLOBAL_BATCH_SIZE,
                FACTORS,
                unit=unit,
                source=_STEP,
            ),
            Equation(Name.EVAL_GLOBAL_BATCH_SIZE, (Name.EVAL_MICRO_BATCH_SIZE, Name.WORLD_SIZE), unit=unit, source="HS train.py:575-582"),
        ),
        names=(("experiment_name",),),
        sequences_per_sample=sequences,
        version="h2o-llmstudio a4971c11",
        source=f"{_STEP}; {_RANKS}",
        arguments=Arguments.NONE,
    )


FRAMEWORKS = (
    _table("H2O LLM Studio", _PAIRS._replace(negated=True), "samples", 1),
    _table("H2O LLM Studio (DPO)", _PAIRS, "pairs", 2),
)
