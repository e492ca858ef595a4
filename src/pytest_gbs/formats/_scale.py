"""What became of recipes on other hardware, as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

from pytest_gbs.arithmetic.wording import assumed, called, count, counted, listing
from pytest_gbs.formats._arithmetic import number
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._plan import near, near_json
from pytest_gbs.model.location import Lines
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.scaling import ScaleChange, Scaled, Shape, Stuck, What


def render_scaled(results: Sequence[Scaled | Stuck], format_name: str, options: FormatOptions) -> str:
    """What became of each recipe in one of the formats text, markdown and json."""
    if format_name == "json":
        return dump({"version": 1, "results": [_entry(each, options) for each in results]})
    if format_name == "markdown":
        rows = ([cell(text) for text in _row(each, options)] for each in results)
        return table(("recipe", "global batch", "hardware", "changes"), rows) + "\n"
    return "\n".join("".join(f"{line}\n" for line in _lines(each, options)) for each in results)


def _path(result: Scaled | Stuck, options: FormatOptions) -> str:
    return escape(options.seen(result.launch or result.path))


def _lines(result: Scaled | Stuck, options: FormatOptions) -> Iterator[str]:
    if isinstance(result, Stuck):
        yield f"{_path(result, options)}{result.which}: {escape(result.reason)}"
        yield from (f"  {line}" for line in near(result.near, result.world_size))
        return
    yield f"{_path(result, options)}{result.which}: {_headline(result)}"
    yield from (f"  {_line_of(change, result):<9} {_change(change)}" for change in result.changes)
    yield from (f"  {line}" for line in remarks(result))
    if result.back:
        yield f"  back with: gbs scale {_in_shell(_path(result, options))} {result.back}"


def _in_shell(path: str) -> str:
    """A path as one word of a command line that people paste."""
    return quote(f"./{path}" if path.startswith("-") else path)


def _headline(result: Scaled) -> str:
    kept = f"global batch size {number(result.target)} {result.unit} kept on {_hardware(result.after)}"
    was = f" (was {_hardware(result.before)})" if result.before.world_size else ""
    return f"{kept}{was}{'' if result.changes else ', nothing to change'}"


def _hardware(sizes: Shape) -> str:
    nodes, per_node, world = sizes.num_nodes, sizes.gpus_per_node, sizes.world_size
    if nodes and per_node and nodes * per_node == world:
        return f"{count(nodes, Name.NUM_NODES)} x {count(per_node, Name.WORLD_SIZE)}"
    return count(world, Name.WORLD_SIZE)


def _line_of(change: ScaleChange, result: Scaled) -> str:
    source = next((old for old, _ in result.files if old.path == change.at.source), None)
    return f"line {Lines(source.text).line_of(change.at.start)}" if source else ""


def _change(change: ScaleChange) -> str:
    if change.what == What.COMMENT:
        return f"comment: {called(change.name)} {change.old} -> {change.new}"
    key = escape(change.key)
    if not change.old:
        return f"{key}: {change.new}, put in"
    return f"{key}: {change.old} -> {change.new}" if change.new else f"{key}: {change.old} removed, since the default is the same"


def remarks(result: Scaled) -> Iterator[str]:
    """Yield what the change means: the arithmetic, what it costs, and what stays as it was."""
    old, new = result.before, result.after
    if new.micro_batch_size * new.gradient_accumulation_steps * new.data_parallel_size == result.target:
        factors = f"{new.micro_batch_size} micro x {new.gradient_accumulation_steps} accumulation x {new.data_parallel_size} data-parallel"
        yield f"{number(result.target)} = {factors}"
    if old.gradient_accumulation_steps and new.gradient_accumulation_steps not in (0, old.gradient_accumulation_steps):
        passes = counted(new.gradient_accumulation_steps, "pass")
        yield f"steps: as many as before, each of {passes} per GPU instead of {old.gradient_accumulation_steps}"
    elif old.world_size != new.world_size:
        yield "steps: as many as before"
    yield from _memory(old, new)
    if result.counted:
        keys = dict.fromkeys(result.counted)
        verb = "counts" if len(keys) == 1 else "count"
        yield f"unchanged: {escape(listing(keys, last='and'))}, which {verb} optimizer steps of the same batch"
    yield from (f"assuming {escape(assumed(each))}" for each in result.assumptions)
    yield from (f"note: {escape(line)}" for line in result.notes)


def _memory(old: Shape, new: Shape) -> Iterator[str]:
    """Yield which way the memory of a GPU goes."""
    if old.micro_batch_size and new.micro_batch_size and old.micro_batch_size != new.micro_batch_size:
        way = "less" if new.micro_batch_size < old.micro_batch_size else "more"
        yield f"memory: {way} for activations, {new.micro_batch_size} samples in a pass instead of {old.micro_batch_size}"
    if old.world_size and new.world_size and old.world_size != new.world_size:
        way = "more" if new.world_size < old.world_size else "less"
        yield f"memory: {way} per GPU for all that is sharded over {count(new.world_size, Name.WORLD_SIZE)} instead of {old.world_size}"


def _row(result: Scaled | Stuck, options: FormatOptions) -> tuple[str, ...]:
    path = _path(result, options) + result.which
    if isinstance(result, Stuck):
        text = "; ".join((escape(result.reason), *near(result.near, result.world_size)))
        return (path, number(result.target) if result.target else "-", "can't be scaled", text)
    hardware = f"{_hardware(result.before)} -> {_hardware(result.after)}" if result.before.world_size else _hardware(result.after)
    return (path, f"{number(result.target)} (same)", hardware, ", ".join(map(_change, result.changes)) or "none")


def _entry(result: Scaled | Stuck, options: FormatOptions) -> dict[str, Any]:
    head: dict[str, Any] = {"path": _path(result._replace(launch=""), options), "launch": result.launch or None}
    if isinstance(result, Stuck):
        sizes = {Name.GLOBAL_BATCH_SIZE: result.target or None, Name.WORLD_SIZE: result.world_size or None}
        return {**head, "status": "stuck", **sizes, "reason": result.reason, "near": near_json(result.near)}
    return {
        **head,
        "status": "scaled" if result.changes else "unchanged",
        Name.GLOBAL_BATCH_SIZE: result.target,
        "unit": result.unit,
        "before": _sizes(result.before),
        "after": _sizes(result.after),
        "changes": list(_changes(result)),
        "counted": list(dict.fromkeys(result.counted)),
        "assumptions": list(map(assumed, result.assumptions)),
        "notes": list(result.notes),
        "back": result.back,
    }


def _sizes(sizes: Shape) -> dict[str, int | None]:
    return {name: value or None for name, value in sizes._asdict().items()}


def _changes(result: Scaled) -> Iterator[dict[str, Any]]:
    texts = {old.path: Lines(old.text) for old, _ in result.files}
    for change in result.changes:
        line = texts[change.at.source].line_of(change.at.start)
        sizes = {"size": change.name, "what": change.what, "key": change.key}
        yield {**sizes, "old": change.old or None, "new": change.new or None, "path": change.at.source, "line": line}
