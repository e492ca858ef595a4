"""The names of sizes in messages, and how their arithmetic is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_gbs.arithmetic.admissible import ENOUGH
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.equation import Equation, Monomial
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Related
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity, Size
from pytest_gbs.model.record import Final, NamedTuple

# What a size is called in a sentence, and the short word behind its number in a product.
CALLED: Final[Mapping[str, tuple[str, str]]] = {
    Name.GLOBAL_BATCH_SIZE: ("global batch size", "global batch"),
    Name.MICRO_BATCH_SIZE: ("micro batch size", "micro"),
    Name.GRADIENT_ACCUMULATION_STEPS: ("accumulation", "accumulation"),
    Name.DATA_PARALLEL_SIZE: ("data-parallel size", "data-parallel"),
    Name.WORLD_SIZE: ("GPUs", "GPUs"),
    Name.NUM_NODES: ("nodes", "nodes"),
    Name.GPUS_PER_NODE: ("GPUs per node", "GPUs"),
    Name.TENSOR_PARALLEL_SIZE: ("tensor parallel size", "tensor"),
    Name.PIPELINE_PARALLEL_SIZE: ("pipeline parallel size", "pipeline"),
    Name.CONTEXT_PARALLEL_SIZE: ("context parallel size", "context"),
    Name.SEQUENCE_PARALLEL_SIZE: ("sequence parallel size", "sequence"),
    Name.EXPERT_PARALLEL_SIZE: ("expert parallel size", "expert"),
    Name.REPLICATE_SIZE: ("data-parallel replicas", "replicas"),
    Name.SHARD_SIZE: ("data-parallel shards", "shards"),
    Name.PIPELINE_MICRO_BATCH_SIZE: ("pipeline micro batch size", "pipeline micro"),
    Name.SEQUENCE_LENGTH: ("sequence length", "tokens"),
    Name.SEQUENCES_PER_SAMPLE: ("sequences per sample", "sequences"),
    Name.TOKENS_PER_STEP: ("tokens per step", "tokens per step"),
    Name.EVAL_MICRO_BATCH_SIZE: ("evaluation batch size per device", "evaluation micro"),
    Name.EVAL_GLOBAL_BATCH_SIZE: ("evaluation batch size", "evaluation batch"),
    Name.NUM_GENERATIONS: ("generations per prompt", "generations"),
    Name.EVAL_NUM_GENERATIONS: ("generations per prompt in evaluation", "generations"),
    Name.STEPS_PER_GENERATION: ("steps per generation", "steps per generation"),
    Name.GENERATION_BATCH_SIZE: ("generation batch size", "generation batch"),
    Name.PROMPTS_PER_STEP: ("prompts per step", "prompts"),
    Name.NUM_ITERATIONS: ("iterations", "iterations"),
    Name.GENERATION_NODES: ("nodes that generate", "nodes"),
    Name.GENERATION_GPUS_PER_NODE: ("GPUs per node that generate", "GPUs"),
    Name.JOB_NODES: ("nodes of the job", "nodes"),
    Name.ENVIRONMENT_NODES: ("nodes of the environment", "nodes"),
    Name.PROMPTS_PER_ROLLOUT: ("prompts per rollout", "prompts"),
    Name.STEPS_PER_ROLLOUT: ("steps per rollout", "steps"),
    Name.CRITIC_PROMPTS_PER_STEP: ("prompts per step of the critic", "prompts"),
    Name.RANK_BATCH_SIZE: ("per-rank batch", "per rank"),
    Name.RANK_ROLLOUT_SIZE: ("per-rank rollout", "per rank"),
    Name.MICRO_STEP_BATCH_SIZE: ("micro batch of all ranks", "micro"),
    Name.FORWARD_MICRO_BATCH_SIZE: ("micro batch size without gradients", "forward micro"),
    Name.FIXED_MICRO_BATCH_SIZE: ("micro batch size", "micro"),
    Name.NODES_PER_REPLICA: ("nodes per replica", "nodes"),
    Name.MAX_STEPS: ("steps", "steps"),
    Name.SAVE_STEPS: ("steps between saves", "save steps"),
    Name.EVAL_STEPS: ("steps between evaluations", "eval steps"),
    Name.LOGGING_STEPS: ("steps between log lines", "logging steps"),
}


def called(name: str) -> str:
    """What size `name` is called in a sentence."""
    return CALLED.get(name, (name.replace("_", " "), ""))[0]


def short(name: str) -> str:
    """The word that is behind the number of size `name` in a product."""
    return CALLED.get(name, ("", name.replace("_", " ")))[1]


def counted(number: int, noun: str) -> str:
    """`1 recipe`, `2,000 recipes`, `2 passes`."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith(('s', 'h')) else 's'}"


def count(value: int, name: str) -> str:
    """`value` with the word for `name`, singular where it is one: `1 node`, `8 GPUs per node`."""
    words = called(name)
    if value == 1:
        words = {"nodes": "node", "GPUs": "GPU", "GPUs per node": "GPU per node"}.get(words, words)
    return f"{value:,} {words}"


def degree(size: Quantity) -> str:
    """A parallel size: `tensor 2`, or `pipeline 8 (16, clamped to the GPUs)` where the framework takes another than is stated."""
    note = f" ({size.note.words})" if size.origin == Origin.DERIVED and size.note.words else ""
    return f"{short(size.name)} {size.value:,}{note}"


def product(size: Quantity) -> str:
    """The product of a derived size with what each factor is: `1 micro x 4 accumulation x 64 data-parallel (8 nodes x 8 GPUs)`."""
    return " x ".join(_factor(part) for part in size.because)


def _factor(part: Quantity) -> str:
    if part.name == Name.DATA_PARALLEL_SIZE and part.because:
        world, *divisors = part.because
        split = [d for d in divisors if d.value != 1]
        if split:
            return f"{part.value:,} data-parallel ({_hardware(world)} / {' / '.join(f'{d.value:,} {short(d.name)}' for d in split)})"
        return f"{part.value:,} data-parallel ({_hardware(world)})"
    return _hardware(part) if part.name == Name.WORLD_SIZE else f"{part.value:,} {short(part.name)}"


def _hardware(world: Quantity) -> str:
    """The world size as people say it: `8 nodes x 8 GPUs`, or `64 GPUs`."""
    nodes = next((q for q in world.because if q.name == Name.NUM_NODES), None)
    per_node = next((q for q in world.because if q.name == Name.GPUS_PER_NODE), None)
    if nodes and per_node:
        return f"{count(nodes.value, Name.NUM_NODES)} x {count(per_node.value, Name.WORLD_SIZE)}"
    return count(world.value, Name.WORLD_SIZE)


def symbolic_text(symbolic: Monomial) -> str:
    """A symbolic value for people: `16 x GPUs`; a coefficient of one is left out."""
    words = " x ".join(called(name) for name in symbolic.free)
    if symbolic.coefficient == 1 and words:
        return words
    number = f"{symbolic.coefficient.numerator:,}" if symbolic.coefficient.denominator == 1 else str(symbolic.coefficient)
    return f"{number} x {words}" if words else number


def symbolic_product(symbolic: Monomial) -> str:
    """A symbolic value in a sentence, in which the sizes alone would read as things: `1 x GPUs`."""
    text = symbolic_text(symbolic)
    return f"1 x {text}" if symbolic.coefficient == 1 and symbolic.free else text


class Fraction(NamedTuple):
    """The sizes that were multiplied, and those that their product was divided by."""

    top: tuple[Quantity, ...]
    bottom: tuple[Quantity, ...]


def fraction(size: Quantity, equations: Iterable[Equation]) -> Fraction | None:
    """What `size` was computed from, by the equation that has just these sizes; None if it was not computed."""
    if size.origin != Origin.DERIVED or not size.because:
        return None
    used = sorted(part.name for part in size.because)
    for equation in equations:
        if size.name in equation.names and sorted(name for name in equation.names if name != size.name) == used:
            below = equation.isolated(size.name)[1]
            parts = size.because
            return Fraction(tuple(part for part in parts if part.name not in below), tuple(part for part in parts if part.name in below))
    return Fraction(size.because, ())


def computed(size: Quantity, equations: Iterable[Equation]) -> str:
    """How a derived size was computed, with what each part is: `32 GPUs / 2 tensor`; divisors of one are left out."""
    found = fraction(size, equations)
    if found is None or not found.bottom:
        return product(size)
    return quotient(map(_factor, found.top), (_factor(part) for part in found.bottom if part.value != 1))


def arithmetic(size: Quantity, equations: Iterable[Equation]) -> tuple[str, ...]:
    """The detail of a finding that says how `size` was computed: `256 = 1 micro x 4 accumulation x 64 data-parallel`; nothing if not."""
    return (f"{size.value:,} = {computed(size, equations)}",) if size.because else ()


def beside(sizes: Iterable[Quantity], at: Location) -> tuple[Related, ...]:
    """The places of `sizes` other than `at`, each with its short word."""
    return tuple(Related(size.at, short(size.name)) for size in sizes if size.at and size.at != at)


def quotient(top: Iterable[str], bottom: Iterable[str], sign: str = "/") -> str:
    """A product divided by another: `a x b`, `a / b`, `a / (b x c)`."""
    above, below = " x ".join(top), list(bottom)
    if not below:
        return above
    return f"{above} {sign} ({' x '.join(below)})" if len(below) > 1 else f"{above} {sign} {below[0]}"


def listing(words: Iterable[str], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    parts = list(words)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def several(values: Sequence[int]) -> str:
    """Sorted numbers in words, the last one always named: `8`, `8 or 16`, `94 to 159`, `8, 16, ... or 128`."""
    if len(values) <= 3:
        return listing(f"{value:,}" for value in values)
    if len(values) >= ENOUGH:
        return f"{values[0]:,}, {values[1]:,}, {values[2]:,} or more"
    if values[-1] - values[0] == len(values) - 1:
        return f"{values[0]:,} to {values[-1]:,}"
    return f"{values[0]:,}, {values[1]:,}, ... or {values[-1]:,}"


def amounts(values: Sequence[int], name: str) -> str:
    """Numbers with the word for size `name`: `94 to 159 GPUs`, `1 node`, `micro batch size 30 to 41`."""
    if name not in HARDWARE:
        return f"{called(name)} {several(values)}"
    return count(values[0], name) if len(values) == 1 else f"{several(values)} {called(name)}"


def leaves(size: Size) -> tuple[Quantity, ...]:
    """The sizes that `size` rests on in the end, in the order of the product."""
    if not isinstance(size, Quantity):
        return ()
    if not size.because:
        return (size,)
    return tuple(leaf for part in size.because for leaf in leaves(part))


_ASSUMED: Final[Mapping[str, str]] = {
    Assuming.QUOTES: "the quoted text is one argument, although a bare quote inside it ends it",
    Assuming.NOTHING_ADDED: "the script gets no extra arguments",
    Assuming.ONE_PROCESS: "one process uses all GPUs of its node",
}


def assumed(assumption: Assumption) -> str:
    """An assumption for people: `8 GPUs per node: 3 launcher files agree (launch/b.yaml:3  num_processes: 16)`."""
    what, why = assumed_in_brief(assumption)
    where = f" ({assumption.where})" if assumption.where else ""
    return f"{what}: {why}{where}" if why else what


def assumed_in_brief(assumption: Assumption) -> tuple[str, str]:
    """What is assumed, and its evidence ("" if none is needed): `8 GPUs per node`, `3 launcher files agree`."""
    if assumption.kind == Assuming.NOT_SET:
        return _not_set(assumption.name), ""
    if assumption.kind in _ASSUMED:
        return _ASSUMED[assumption.kind], ""
    what = count(assumption.value, assumption.name)
    if assumption.kind == Assuming.LEFT_AS_IT_IS:
        return what, "a comment asks to adapt it"
    if assumption.kind == Assuming.FILES_NEARBY:
        return what, agreement(assumption.witnesses)
    return (what, "a launch starts them") if assumption.kind == Assuming.LAUNCHES else (f"{what}, which the comment needs", "")


def _not_set(name: str) -> str:
    if name.isdecimal():
        return f"argument {name} is not given"
    return f"{name} is not set" if name else "the script's default value is used"


def agreement(files: int) -> str:
    """Words for so many launcher files that say the same."""
    return "1 launcher file says so" if files == 1 else f"{files} launcher files agree"
