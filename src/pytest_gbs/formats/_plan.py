"""A plan, as text, Markdown or JSON."""

from __future__ import annotations

from typing import Any

from pytest_gbs.arithmetic.epoch import Epoch
from pytest_gbs.arithmetic.wording import count, listing, short
from pytest_gbs.formats._arithmetic import number
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._show_json import epoch_json
from pytest_gbs.formats._show_steps import epoch_text
from pytest_gbs.model.planning import Near, Pair, Plan
from pytest_gbs.model.quantity import Name

_FEWEST = "fewest passes for each update, if it fits in memory"


def render_plan(plan: Plan, format_name: str) -> str:
    """`plan` in one of the formats text, markdown and json."""
    if format_name == "json":
        return _json(plan)
    return _markdown(plan) if format_name == "markdown" else _text(plan)


def _text(plan: Plan) -> str:
    lines = [_equation(plan)]
    if plan.pairs:
        lines.append("  micro  accumulation")
        lines += [f"{p.micro_batch_size:>7}{p.gradient_accumulation_steps:>14}{_arrow(_remarks(p, plan))}" for p in plan.pairs]
    else:
        lines += [f"  {line}" for line in nothing_fits(plan)]
    lines += [f"  {line}" for line in (*_tokens(plan), *_epoch(plan))]
    return "\n".join(lines) + "\n"


def _arrow(remarks: str) -> str:
    return f"   <- {remarks}" if remarks else ""


def _markdown(plan: Plan) -> str:
    parts = [f"**{cell(_equation(plan))}**"]
    if plan.pairs:
        rows = ((str(p.micro_batch_size), str(p.gradient_accumulation_steps), cell(_remarks(p, plan))) for p in plan.pairs)
        parts.append(table(("micro", "accumulation", "remarks"), rows, 2))
    parts += [cell(line) for line in ([] if plan.pairs else nothing_fits(plan))]
    parts += [cell(line) for line in (*_tokens(plan), *_epoch(plan))]
    return "\n\n".join(parts) + "\n"


def _equation(plan: Plan) -> str:
    """`64 = micro x accumulation x 2 GPUs`, the processes divided by what shares a sample."""
    goal = plan.goal
    sharing = [f"{short(name)} {size}" for name, size in goal.parallel if size > 1]
    ranks = count(goal.world_size, Name.WORLD_SIZE)
    if sharing:
        bottom = f"({' x '.join(sharing)})" if len(sharing) > 1 else sharing[0]
        ranks = f"{plan.data_parallel_size or '?'} data-parallel ({ranks} / {bottom})"
    return f"{number(goal.global_batch_size)} = micro x accumulation x {ranks}"


def _remarks(pair: Pair, plan: Plan) -> str:
    first = [_FEWEST] if pair is plan.pairs[0] and len(plan.pairs) > 1 else []
    now = ["now"] if pair.now else []
    mixed = len({each.power_of_two for each in plan.pairs}) > 1
    powers = ["a power of two"] if mixed and pair.power_of_two else []
    return ", ".join((*now, *first, *powers))


def nothing_fits(plan: Plan) -> list[str]:
    """Why no pair fits, and what would."""
    goal = plan.goal
    if not plan.data_parallel_size:
        sharing = " x ".join(f"{short(name)} {size}" for name, size in goal.parallel if size > 1)
        return [f"{count(goal.world_size, Name.WORLD_SIZE)} can't be divided by {sharing}", *near(plan.near, 0)]
    why = f"no integer accumulation keeps the batch: {number(goal.global_batch_size)} is not a multiple of {plan.data_parallel_size}"
    return [why, *near(plan.near, goal.world_size)]


def near(found: Near, world: int) -> list[str]:
    """The batch sizes and numbers of GPUs that work, as lines."""
    batches = [number(value) for value in (found.below, found.above) if value]
    sizes = "nearest global batch sizes" if len(batches) > 1 else "nearest global batch size"
    lines = [f"{sizes} on {count(world, Name.WORLD_SIZE)}: {listing(batches, last='and')}"] if batches and world else []
    if found.world_sizes:
        lines.append(f"nearest numbers of GPUs that keep it: {listing(map(number, found.world_sizes), last='and')}")
    return lines


def _tokens(plan: Plan) -> list[str]:
    goal = plan.goal
    if not goal.sequence_length:
        return []
    product = f"{number(goal.global_batch_size)} x {number(goal.sequence_length)}"
    return [f"tokens per step  {number(plan.tokens_per_step)} = {product}, at most"]


def _epoch(plan: Plan) -> list[str]:
    epoch = Epoch(plan.goal.examples, plan.goal.global_batch_size)
    return [f"one epoch  {number(epoch.full_steps)} {epoch_text(epoch, plan.goal.unit)}"] if epoch.examples else []


def _json(plan: Plan) -> str:
    goal = plan.goal
    entry: dict[str, Any] = {
        "version": 1,
        Name.GLOBAL_BATCH_SIZE: goal.global_batch_size,
        "unit": goal.unit,
        Name.WORLD_SIZE: goal.world_size,
        Name.DATA_PARALLEL_SIZE: plan.data_parallel_size or None,
        **dict(goal.parallel),
        "max_micro_batch_size": goal.most or None,
        Name.SEQUENCE_LENGTH: goal.sequence_length or None,
        Name.TOKENS_PER_STEP: plan.tokens_per_step or None,
        "pairs": [pair._asdict() for pair in plan.pairs],
    }
    if goal.examples:
        entry["epoch"] = epoch_json(Epoch(goal.examples, goal.global_batch_size))
    if not plan.pairs:
        entry["near"] = near_json(plan.near)
    return dump(entry)


def near_json(found: Near) -> dict[str, Any]:
    """What is near as JSON has it."""
    return {"below": found.below or None, "above": found.above or None, "world_sizes": list(found.world_sizes)}
