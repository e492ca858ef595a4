"""A file or run name states a batch size or hardware that the recipe contradicts.

People find recipes and runs by their names: `sft-2n8g.yaml`, `output_dir: data/llama-bs128`. A name is a weaker
witness than a comment, so this is a warning. A batch size in a name may be the micro batch, the batch on one GPU, or the global one: the
rule fires only if it is none of them for any number of GPUs. Nodes and GPUs in a name are compared with what a comment or the
recipe's own keys state.

How to fix it: rename the file or the run, or correct the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import count, symbolic_text
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.outcome import Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import Example, Needs, Rule, Scope
from pytest_gbs.model.run import Run

CODE = "GBS106"
_STATED = (Origin.FILE, Origin.COMMENT)


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each size in a name of `run` that the recipe contradicts."""
    if run.launch is not None:
        return
    for declaration in run.declarations:
        if not declaration.weak:
            continue
        finding = _batch(run, declaration) if declaration.name == Name.GLOBAL_BATCH_SIZE else _hardware(run, declaration)
        if finding is not None:
            yield finding


def _batch(run: Run, declaration: Declaration) -> Finding | None:
    """Return the finding of a batch size in a name that no number of GPUs makes true."""
    micro = run.geometry.get(Name.MICRO_BATCH_SIZE)
    accumulation = run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    if not isinstance(micro, Quantity) or not isinstance(accumulation, Quantity) or micro.origin != Origin.FILE:
        return None
    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if declaration.value in (micro.value, micro.value * accumulation.value) or (
        isinstance(size, Quantity) and size.value == declaration.value
    ):
        return None
    given = symbolic(Name.GLOBAL_BATCH_SIZE, {n: s for n, s in run.geometry.stated.items() if n in _RECIPE_SIZES}, run.framework.equations)
    if isinstance(size, Quantity) and any(part.origin in _STATED for part in _hardware_of(run)):
        return _finding(run, declaration, f"{size.value:,}", f"{size.value:,}")
    if given is None or reaching(given, declaration.holds) != ():
        return None
    whole = given.coefficient.denominator == 1 and given.free
    return _finding(
        run, declaration, symbolic_text(given), f"a multiple of {given.coefficient.numerator:,}" if whole else symbolic_text(given)
    )


_RECIPE_SIZES = (
    Name.MICRO_BATCH_SIZE,
    Name.GRADIENT_ACCUMULATION_STEPS,
    Name.TENSOR_PARALLEL_SIZE,
    Name.CONTEXT_PARALLEL_SIZE,
    Name.SEQUENCE_PARALLEL_SIZE,
    Name.PIPELINE_PARALLEL_SIZE,
)


def _hardware_of(run: Run) -> list[Quantity]:
    names = (Name.WORLD_SIZE, Name.NUM_NODES)
    return [size for name in names if isinstance(size := run.geometry.get(name), Quantity)]


def _finding(run: Run, declaration: Declaration, given: str, fits: str) -> Finding:
    message = f"the name says batch size {declaration.value:,}, but the settings give {given}"
    holds = f"change the name to {fits}"
    sizes = (run.geometry.get(name) for name in (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS))
    related = tuple(Related(size.at, "") for size in sizes if isinstance(size, Quantity) and size.at)
    return Finding(CODE, message, Severity.WARNING, declaration.at, declaration.text, related, holds=holds)


def _hardware(run: Run, declaration: Declaration) -> Finding | None:
    """Return the finding of hardware in a name that a comment or a key of the recipe contradicts."""
    size = run.geometry.get(declaration.name)
    if not isinstance(size, Quantity) or size.origin not in _STATED or size.value == declaration.value:
        return None
    says, has = count(declaration.value, declaration.name), count(size.value, size.name)
    message = f"the name says {says}, but the recipe has {has}"
    related = (Related(size.at, ""),) if size.at else ()
    holds = f"change the name to {has}, or the recipe to {says}"
    return Finding(CODE, message, Severity.WARNING, declaration.at, declaration.text, related, holds=holds)


_RECIPE = """\
# {nodes} nodes of 8 GPUs
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""

RULE = Rule(
    code=CODE,
    name="name-disagrees",
    scope=Scope.RUN,
    needs=Needs.DECLARATIONS,
    summary="a file or run name states a batch size or hardware that the recipe contradicts",
    bad=(Example((("sft-2n8g.yaml", _RECIPE.format(nodes=4)),)),),
    good=(Example((("sft-2n8g.yaml", _RECIPE.format(nodes=2)),)),),
    check=check,
    explained_by=("unsatisfiable-batch",),
    severity=Severity.WARNING,
)
