"""The comment of a launch script names other hardware than the script starts, or that of a recipe other hardware than its keys.

`# 4 GPUs on each of 2 nodes` is above a command that starts four processes in total. A reader of the comment computes with
eight, and the batch per GPU, the job's size or the next script made from this one go wrong.

The rule compares what the script's own comments state (nodes, GPUs per node, GPUs in all) with what its launcher gives, and with
the GPUs that the job allocates: GPUs kept for generation are not a contradiction. A number that may be meant for each node or in all
holds if either reading does. Where the comments state none, the name of a script that trains once does: `run_8gpus.sh`.

A sentence of a document is compared in the same way if it points at the one command that it is about ("on 8 GPUs, run the following
command") or names the script ("`train.sh` uses 8 GPUs"). So is a comment in a code block that is above one command, or behind it.

In a recipe the comment is compared with the keys of the framework itself (`trainer.num_nodes`, `cluster.gpus_per_node`) and of the jobs
that test it (`ci.nodes`), if it heads the file or is beside a key of the same part; one that states a batch for that hardware is
compared by its batch.

What the launcher does: it never reads a comment. The processes that it starts are the world size.

How to fix it: correct the comment, or the launcher's flags or configuration file.

It stays silent if the script trains several times and the comment is not right above one, if commands share the GPUs at once in the
background, if the launcher's numbers are not known,
if more GPUs are named where some may generate rather than train, if the keys of a recipe say one GPU, which is what templates have, and
if the comment claims a batch for that hardware which the launch does not have: `launch-changes-batch` reports both.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import beside, count, counted, leaves
from pytest_gbs.claims.factors import with_hardware
from pytest_gbs.frameworks.conditions import serves_too
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.launch import Start
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import HARDWARE, Name, Noted, Origin, Quantity, Size, Unknown
from pytest_gbs.model.record import Final
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for each hardware size that comments of the launching script state and its launcher gives."""
    start = run.launch.start if run.launch is not None else None
    if start is None and run.launch is not None:
        return
    each_once = {(each.name, each.value if each.weak else each.at): each for each in run.declarations}.values()
    stated = [each for each in each_once if each.name in HARDWARE and each.force == Force.STATES]
    if start is None:
        yield from _in_recipe(run, [each for each in stated if not each.weak and each.at.source == run.path])
        return
    claimed = _claimed_with_a_batch(run)
    for declaration in stated:
        # Two numbers for one size are about several machines: one of them serves, say.
        if declaration.at not in claimed and len({each.value for each in stated if each.name == declaration.name}) == 1:
            yield from _judge(run, start, declaration)


def _claimed_with_a_batch(run: Run) -> set[Location]:
    """The places of the hardware for which a batch is claimed that this launch does not have: one finding reports both."""
    if any(claim.judgement.readings[0].holds is not False for claim in run.claims):
        return set()
    return {stated.at for claim in run.claims for stated in with_hardware(claim.declaration)}


def _in_recipe(run: Run, stated: list[Declaration]) -> Iterator[Outcome]:
    """Yield an outcome for each size that a comment of a recipe states, but for a batch, and that the recipe's own keys give."""
    with_batch = {place for each in run.declarations for place in each.condition_places}
    for declaration in stated:
        size = _size(run, declaration)
        others = {each.value for each in stated if each.name == declaration.name} - {declaration.value}
        if declaration.at in with_batch or others or not isinstance(size, Quantity) or run.geometry.value(Name.WORLD_SIZE) == 1:
            continue
        if any(leaf.origin != Origin.FILE for leaf in leaves(size)) or not _is_about(declaration, size):
            continue
        if _may_serve(run, declaration, size):
            continue
        also = (Name.WORLD_SIZE, Name.GPUS_PER_NODE) if declaration.ambiguous else ()
        values = [size.value, *(run.geometry.value(name) for name in also)]
        if declaration.value in values or _with_environment(run, declaration):
            yield Verified(ITS_RULE, declaration.at)
            continue
        related = tuple(beside(leaves(size), declaration.at))
        has = f"{size.key} has" if size.name == Name.JOB_NODES else "the settings have"
        message = f"comment says {count(declaration.value, declaration.name)}, but {has} {count(size.value, declaration.name)}"
        yield Finding(ITS_RULE, message, Severity.WARNING, declaration.at, "stated", related, holds=_to(size, declaration))


def _size(run: Run, declaration: Declaration) -> Size | None:
    """The size that a comment states, as the recipe has it; its nodes may be said for the job alone."""
    size = run.geometry.get(declaration.name)
    known = isinstance(size, Quantity) and all(leaf.origin != Origin.COMMENT for leaf in leaves(size))
    return size if known or declaration.name != Name.NUM_NODES else run.geometry.get(Name.JOB_NODES)


def _with_environment(run: Run, declaration: Declaration) -> bool:
    """Whether the nodes that serve the environment make up the difference."""
    from pytest_gbs.claims.named import with_environment  # few recipes have any

    return declaration.value in with_environment(run, declaration)


def _to(size: Quantity, declaration: Declaration) -> str:
    witness = "what is printed" if declaration.by else "the name" if declaration.weak else f"the {declaration.stands_in}"
    return f"change {witness} to {count(size.value, declaration.name)}"


def _is_about(declaration: Declaration, size: Quantity) -> bool:
    """Whether a comment is the head of its file, or is beside a key of the same part as those that give the size."""
    beside_key = declaration.at.path
    return not beside_key or any(leaf.at is not None and leaf.at.path and leaf.at.path[0] == beside_key[0] for leaf in leaves(size))


def _judge(run: Run, start: Start, declaration: Declaration) -> Iterator[Outcome]:
    """Yield the outcome of one statement; "8 GPUs on a single node" of a script for one or more is about those of each node."""
    size = run.geometry.get(declaration.name)
    each = run.geometry.get(Name.GPUS_PER_NODE)
    nodes = [other.value for other in run.declarations if other.name == Name.NUM_NODES and other.text == declaration.text]
    if isinstance(size, Quantity) and isinstance(each, Quantity) and _is_open(run, size) and run.geometry.value(Name.NUM_NODES) in nodes:
        size = each
    if not isinstance(size, Quantity) or _is_open(run, size) or _is_about_more(run, start, declaration, size):
        return
    if any(declaration.admits(value) for value in _meant(run, start, declaration)):
        yield Verified(ITS_RULE, declaration.at)
        return
    at = next((leaf.at for leaf in sorted(leaves(size), key=lambda each: each.value == 1) if leaf.at is not None), start.at)
    says = "the name says" if declaration.weak else f"{declaration.stands_in} says"
    source = f"the script {declaration.by}" if declaration.by else says
    message = f"{source} {count(declaration.value, declaration.name)}, but {start.name} starts {_processes(run, size)}"
    holds = f"{_to(size, declaration)}, or launch it on {count(declaration.value, declaration.name)}"
    yield Finding(ITS_RULE, message, Severity.WARNING, declaration.at, "stated", (Related(at, "started"),), holds=holds)


def _is_open(run: Run, size: Quantity) -> bool:
    """Whether who starts the script may choose another number without editing it, or is asked to, or the script may be read otherwise."""
    nodes = run.geometry.get(Name.NUM_NODES) if size.name == Name.WORLD_SIZE else None
    parts = (*leaves(size), *(leaves(nodes) if isinstance(nodes, Quantity) else ()))
    numbers = {Assumption(Assuming.LEFT_AS_IT_IS, leaf.name, leaf.value) for leaf in parts}
    # What is not set or added may be about anything; of the number itself its leaves say so.
    assumed = (each for each in run.assumptions if each.kind not in (Assuming.NOT_SET, Assuming.NOTHING_ADDED))
    doubted = any(each in numbers or each.kind != Assuming.LEFT_AS_IT_IS for each in assumed)
    return doubted or any(leaf.note.kind == Noted.DEFAULT for leaf in leaves(size))


def _is_about_more(run: Run, start: Start, declaration: Declaration, size: Quantity) -> bool:
    """Whether a comment may count GPUs that do not train, is beside keys that say one GPU, as templates do, or counts more than a node."""
    if all(isinstance(each, Unknown) for each in start.sizes) and run.geometry.value(Name.WORLD_SIZE) == 1:
        return True
    if declaration.paragraph is not None and _leaves_out_nodes(run, declaration):
        return True
    completes = run.framework.unit == "completions"
    on_one = declaration.name == Name.NUM_NODES and (run.geometry.value(Name.WORLD_SIZE) or 0) <= _OF_ONE_NODE
    if completes and on_one and declaration.value < size.value:
        return True  # several of the groups of GPUs that Ray's keys call nodes are on one machine
    # Of a trainer that generates, unless its table says when GPUs serve.
    generates = completes and not run.framework.reserves
    return _may_serve(run, declaration, size) or (generates and declaration.value > size.value)


def _leaves_out_nodes(run: Run, declaration: Declaration) -> bool:
    """Whether GPUs in all are those of several nodes, of which the command that a document shows says nothing."""
    nodes, of_each = run.geometry.get(Name.NUM_NODES), run.geometry.value(Name.GPUS_PER_NODE)
    by_default = isinstance(nodes, Quantity) and nodes.origin == Origin.DEFAULT
    several = declaration.name == Name.WORLD_SIZE and declaration.value > _OF_ONE_NODE
    return several and by_default and of_each is not None and declaration.value % of_each == 0


_OF_ONE_NODE: Final = 8  # GPUs that most machines have at most


def _may_serve(run: Run, declaration: Declaration, size: Quantity) -> bool:
    """Whether the GPUs that a comment names beyond those that train may serve."""
    return declaration.value > size.value and serves_too(run.framework, run.document)


def _meant(run: Run, start: Start, declaration: Declaration) -> Iterator[int]:
    """Yield the numbers for which the comment counts as true."""
    names = (Name.WORLD_SIZE, Name.GPUS_PER_NODE) if declaration.ambiguous else (declaration.name,)
    for name in names:
        value = run.geometry.value(name)
        if value is not None:
            yield value
    if start.allocated is not None:
        yield from (leaf.value for leaf in (start.allocated, *leaves(start.allocated)) if leaf.name in names)


def _processes(run: Run, size: Quantity) -> str:
    world = run.geometry.value(Name.WORLD_SIZE)
    if size.name == Name.WORLD_SIZE or world is None:
        return counted(size.value, "process")
    return f"{counted(world, 'process')} ({count(size.value, size.name)})"


_SCRIPT = "#!/bin/bash\n# runs on {gpus} GPUs\ntorchrun --nproc_per_node 4 train.py --config sft.yaml\n"
_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 4\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.DECLARATIONS,
    summary="a comment names other hardware than the launcher or the recipe",
    bad=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(gpus=8)))),),
    good=(Example((("sft.yaml", _RECIPE), ("run.sh", _SCRIPT.format(gpus=4)))),),
    check=check,
    severity=Severity.WARNING,
)
