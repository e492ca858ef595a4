"""`gbs plan`: every micro batch and accumulation that reach a global batch size on given hardware."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_gbs.arithmetic.admissible import hardware
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._output import emit
from pytest_gbs.cli._shared import number, of_recipe
from pytest_gbs.fixes.plan import plan
from pytest_gbs.formats._plan import render_plan
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.planning import Goal
from pytest_gbs.model.quantity import PARALLEL, RANK_FACTORS, Name
from pytest_gbs.model.run import Geometry, Run

FORMATS: Final = ("text", "json", "markdown")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--global-batch-size", type=number, metavar="N", help="samples per optimizer step")
    parser.add_argument("--world-size", type=number, metavar="N", help="training processes in total")
    parser.add_argument("--nodes", type=number, metavar="N", help="machines")
    parser.add_argument("--gpus-per-node", type=number, metavar="N", help="training processes on each machine")
    parser.add_argument("--max-micro-batch-size", type=number, metavar="N", help="the largest micro batch that fits")
    for name, what in zip(PARALLEL, ("tensor", "pipeline", "context", "sequence"), strict=True):
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=number, metavar="N", help=f"{what}-parallel processes, which share a sample"
        )
    parser.add_argument("--sequence-length", type=number, metavar="N", help="tokens per sample, for the tokens per step")
    parser.add_argument("--dataset-size", type=number, metavar="N", help="size of the data set, for the steps of one epoch")
    parser.add_argument("--from", dest="recipe", metavar="RECIPE", help="start from what a recipe has; other flags win over it")
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format (default: text)")
    parser.add_argument("--output-file", metavar="FILE", help="write there instead of standard output")


def run(arguments: argparse.Namespace) -> int:
    """Write the plan; the exit code is 1 if nothing fits."""
    found = plan(_goal(arguments))
    emit(render_plan(found, arguments.format), arguments.output_file)
    return 0 if found.pairs else 1


def _goal(arguments: argparse.Namespace) -> Goal:
    """What to plan for.

    Raises:
        UsageError: neither flags nor a recipe say the batch or the number of GPUs.
    """
    given = hardware(arguments.nodes, arguments.gpus_per_node, arguments.world_size)
    recipe = of_recipe(arguments.recipe, given) if arguments.recipe else None
    sizes = recipe.geometry if recipe else None
    whole = _whole(given.num_nodes, given.gpus_per_node, sizes)
    batch = arguments.global_batch_size or (_claimed(recipe) if recipe else None) or (sizes.global_batch_size if sizes else None)
    world = given.world_size or whole or (sizes.value(Name.WORLD_SIZE) if sizes else None)
    if batch is None and (recipe is None or world is not None):
        raise UsageError("gbs plan needs --global-batch-size N, or --from RECIPE that has one on the given hardware")
    if batch is None or world is None:
        raise UsageError("gbs plan needs --world-size N, or --nodes N and --gpus-per-node N")
    length = arguments.sequence_length or ((sizes.value(Name.SEQUENCE_LENGTH) or 0) if sizes else 0)
    per_sample = recipe.framework.sequences_per_sample if recipe and not arguments.sequence_length else 1
    unit = recipe.framework.unit if recipe else "samples"
    return Goal(
        batch,
        world,
        _parallel(arguments, recipe),
        arguments.max_micro_batch_size or 0,
        length * per_sample,
        _now(recipe),
        unit,
        arguments.dataset_size or 0,
    )


def _whole(nodes: int | None, each: int | None, sizes: Geometry | None) -> int | None:
    """The processes of nodes with `each` GPUs; what the flags leave open is as in the recipe. None if they say nothing.

    Raises:
        UsageError: nothing says how many GPUs a node has, or how many nodes there are.
    """
    if not nodes and not each:
        return None
    nodes, each = nodes or (sizes and sizes.value(Name.NUM_NODES)), each or (sizes and sizes.value(Name.GPUS_PER_NODE))
    if not nodes or not each:
        raise UsageError(f"gbs plan needs {'--gpus-per-node' if nodes else '--nodes'} N too")
    return nodes * each


def _claimed(recipe: Run) -> int | None:
    """The global batch size that a comment of the recipe claims: what is meant, whatever the settings give here."""
    claims = (claim.declaration for claim in recipe.claims)
    others = {"tokens", "prompts"} - {recipe.framework.unit}
    return next((d.value for d in claims if d.name == Name.GLOBAL_BATCH_SIZE and d.unit not in others), None)


def _parallel(arguments: argparse.Namespace, recipe: Run | None) -> tuple[tuple[str, int], ...]:
    """The parallel sizes: of the flags, else those by which the recipe's framework divides its processes."""
    flags = {name: value for name in PARALLEL if (value := getattr(arguments, name)) is not None}
    equations = recipe.framework.equations if recipe else ()
    divisors = next((equation.divisors for equation in equations if equation.result == Name.DATA_PARALLEL_SIZE), ())
    own = {name: value for name in divisors if recipe and (value := recipe.geometry.value(name))}
    return tuple({**own, **flags}.items())


def _now(recipe: Run | None) -> tuple[int, int] | None:
    if recipe is None:
        return None
    micro, accumulation = (recipe.geometry.value(name) for name in RANK_FACTORS)
    return (micro, accumulation) if micro and accumulation else None


COMMAND = SubCommand("list the micro batches and accumulations that reach a batch size", _add_arguments, run, "[FLAG ...]")
