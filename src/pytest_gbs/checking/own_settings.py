"""The settings of a trainer that no table knows, as far as their own names and the comments beside them say what they are.

A file of such a trainer is not a recipe: what its program makes of a number is not known. Where one mapping has a batch size and an
accumulation by their plain names, and a comment in it states the batch, the comment says which of them make it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from pytest_gbs.checking.runs import Context, build_runs
from pytest_gbs.checking.unknown_trainers import ACCUMULATIONS, BATCHES, OTHERWISE
from pytest_gbs.claims.factors import with_hardware
from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import CommentBlock, Document, Scalar
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Framework, Recognition
from pytest_gbs.model.limits import MOST_DIGITS, MOST_DOCUMENTS, MOST_PROGRAM_FILES, MOST_RECIPE_KEYS
from pytest_gbs.model.location import KeyPath, Location, Source, Tree, dotted, grouped
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import FACTORS, Name, Note, Origin, Quantity, Size
from pytest_gbs.model.record import Final
from pytest_gbs.model.run import Run

# Keys for the batch of all processes: with one of them the micro batch or the accumulation may follow from others.
_TOTALS: Final = words("global_batch_size global_train_batch_size total_batch_size effective_batch_size")
_BATCHES: Final = BATCHES - _TOTALS - {"mini_batch_size"} | words(
    "batch bs micro_batch micro_bs per_device_batch per_gpu_batch_size train_bs"
)
_LENGTHS: Final = words("seq_len seq_length sequence_length max_seq_len max_seq_length block_size context_length ctx_len max_length n_ctx")
_SIZES: Final = _BATCHES | _TOTALS | ACCUMULATIONS | _LENGTHS
_TRAINS: Final = (".backward(", "value_and_grad(")
_of_several = lazy_pattern(
    r"(?i)distributed(?:[.(]|sampler|data)|[._]distributed\b|import distributed|data_?parallel|parallelize_module|fsdp|\bddp\b|deepspeed"
    r"|accelerator\(|import accelerate|from accelerate|\bfabric\(|lightning|horovod|\bhvd|pmap|shard_map|namedsharding|partitionspec"
    r"|\.sharding\b|device_mesh|torch_xla|world_?size|(?:local|global|get)_rank|\bn_?gpus?\b|num_(?:gpus|devices)|\bnproc(?:_per|\b)"
    r"|torchrun|mpi4py|device_count\(\) ?\*|\* ?[\w.]{0,40}device_count|multi_?gpu|trainingarguments|\btrl\b|unsloth|import ray\b"
)
# What a trainer may make micro batches with: `micro = batch_size // accum`, but not `len(data) / batch_size / accum`.
_divides_batch = lazy_pattern(
    r"""(?i)(?<![\w.\["'/])(?<!/ )[\w.\["']{0,60}?(?:batch_?size|batch|\bbs)["'\]]{0,4} ?//? ?[\w.\["']{0,60}?(?:accum|micro)"""
)
_ALONE: Final = Note("no program here has a word for several processes")
_SAID: Final = Note("what the comment multiplies leaves no room for several processes")
_SOURCE: Final = "the names of the settings, and the comment beside them"
_OWN: Final = Framework(
    "own",
    "a trainer of its own",
    Recognition(),
    "samples",
    (),
    (
        Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source=_SOURCE),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=_SOURCE),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, source=_SOURCE),
    ),
)


def runs_of_own_settings(document: Document, context: Context, trains_alone: Callable[[], bool]) -> Iterator[Run]:
    """Yield a run for each mapping of `document` that has one batch size and one accumulation, with what comments in it state.

    If the file has one of each in all, it does not matter where. `trains_alone` is asked where the number of processes decides.
    """
    if not document.comments or len(document.keyed) > MOST_RECIPE_KEYS:
        return
    found = {key: number for key in document.keyed if (number := _size(document, key)) is not None}
    batches = [key for key in found if key[-1] in _BATCHES]
    accumulations = [key for key in found if key[-1] in ACCUMULATIONS]
    if not accumulations or any(key[-1] in _TOTALS for key in found):
        return
    alone = len(batches) == len(accumulations) == 1
    beside = grouped((key[:-1], key) for key in accumulations)
    lengths = {found[key].value: found[key] for key in found if key[-1] in _LENGTHS}
    comments = grouped((owner, block) for block in document.comments for owner in _owners(block))
    for mapping, keys in islice(grouped((key[:-1], key) for key in batches).items(), MOST_DOCUMENTS):
        counts = accumulations if alone else beside.get(mapping, [])
        if len(keys) != 1 or len(counts) != 1:
            continue
        sizes: dict[str, Size] = {
            Name.MICRO_BATCH_SIZE: found[keys[0]]._replace(name=Name.MICRO_BATCH_SIZE),
            Name.GRADIENT_ACCUMULATION_STEPS: found[counts[0]]._replace(name=Name.GRADIENT_ACCUMULATION_STEPS),
        }
        if len(lengths) == 1:
            sizes[Name.SEQUENCE_LENGTH] = next(iter(lengths.values()))
        near = dict.fromkeys((mapping, counts[0][:-1], *([None] if alone else [])))
        blocks = {block.pieces[0][1]: block for owner in near for block in comments.get(owner, ())}
        if blocks:
            within = document._replace(comments=tuple(blocks[place] for place in sorted(blocks)))
            yield _run(within, sizes, context, trains_alone)


def _owners(block: CommentBlock) -> tuple[KeyPath | None, ...]:
    """The mappings that a comment is in or above; None for one of the whole file."""
    return (None,) if block.owner is None else (block.owner, block.owner[:-1])


def _run(document: Document, sizes: dict[str, Size], context: Context, trains_alone: Callable[[], bool]) -> Run:
    """The run of one mapping with these sizes, of whose comments `document` has those that are about it."""
    run = build_runs(document, _OWN, sizes, context)[0]
    if all(claim.judgement.verified for claim in run.claims):
        return run
    if trains_alone():
        origin, note = Origin.DEFAULT, _ALONE
    elif run.open_claims and all(_leaves_no_room(claim.declaration, sizes) for claim in run.open_claims):
        origin, note = Origin.COMMENT, _SAID
    else:
        return run
    one = Quantity(Name.WORLD_SIZE, 1, origin, note=note)
    return build_runs(document, _OWN, {**sizes, Name.WORLD_SIZE: one}, context)[0]


def runs_of_programs(source: Source, context: Context, trains_alone: Callable[[], bool]) -> Iterator[Run]:
    """Yield a run for each class, dictionary and the like of a program that gives a batch size and an accumulation whole numbers."""
    from pytest_gbs.readers.python.own_settings import read_own_settings

    for document in read_own_settings(source, _SIZES):
        yield from runs_of_own_settings(document, context, trains_alone)


def _leaves_no_room(declaration: Declaration, sizes: dict[str, Size]) -> bool:
    """Whether a statement multiplies as many numbers as there are settings, so that none is left for the processes: `4 * 8 = 32`."""
    stated = declaration.sum
    if stated is None or stated.divisors or any(True for _ in with_hardware(declaration)):
        return False
    settings = [size.value for name, size in sizes.items() if isinstance(size, Quantity)]
    if declaration.unit != "tokens":
        settings = settings[:2]
    return sum(factor.value != 1 for factor in stated.factors) == sum(value != 1 for value in settings)


def is_one_process(tree: Tree, paths: Iterable[str]) -> bool:
    """Whether the programs at `paths` train, and none of them has a word for several processes or GPUs, or divides a batch."""
    programs = list(islice((path for path in paths if path.endswith(".py")), MOST_PROGRAM_FILES + 1))
    if len(programs) > MOST_PROGRAM_FILES:
        return False
    trains = False
    for path in programs:
        source = tree.read(path)
        if not isinstance(source, Source) or _of_several().search(source.text) or _divides_batch().search(source.text):
            return False
        trains = trains or any(sign in source.text for sign in _TRAINS)
    return trains


def _size(document: Document, key: KeyPath) -> Quantity | None:
    """The whole number that is written at `key` for a size of training, None if there is none."""
    name = key[-1]
    if name not in _SIZES or not OTHERWISE.isdisjoint(re.split(r"[._]", dotted(key).lower())):
        return None
    node = document.get(*key)
    number = whole_number(node.text, MOST_DIGITS) if isinstance(node, Scalar) and node.plain else None
    if not number or not isinstance(node, Scalar):
        return None
    return Quantity(
        Name.SEQUENCE_LENGTH, number, Origin.FILE, at=Location(document.source.path, node.start, node.stop, key), key=dotted(key)
    )
