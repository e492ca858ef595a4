"""Which hardware the settings state for one recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_gbs.files.globs import matches_any
from pytest_gbs.model.settings import Hardware, Settings

KEYS: Final = {"num_nodes": "num-nodes", "gpus_per_node": "gpus-per-node", "world_size": "world-size"}


def hardware_for(settings: Settings, path: str) -> Hardware | None:
    """The hardware that `settings` state for the recipe at `path`, or None if they state none.

    Of several entries that match, the last one that has a field gives it. A field that an earlier entry gave is dropped where it
    contradicts what a later one says: 4 nodes of 8 GPUs make an earlier world size of 64 untrue. `origin` names what was used.
    """
    values: dict[str, int] = {}
    folders: dict[str, str] = {}
    for entry in settings.hardware:
        if matches_any(path, entry.paths):
            values = _agreeing(entry.sizes, values)
            folders.update(dict.fromkeys(entry.sizes, entry.origin.partition(" in ")[2]))
    if not values:
        return None
    used = {folders[name]: [n for n in KEYS if n in values and folders[n] == folders[name]] for name in values}
    origin = " and ".join(origin_of(names, home) for home, names in used.items())
    nodes, each, world = map(values.get, KEYS)
    return Hardware((path,), nodes, each, world, origin)


def origin_of(names: Sequence[str], home: str) -> str:
    """Where fields stand, for people: `num-nodes and gpus-per-node in [tool.gbs] of pyproject.toml`."""
    keys = [KEYS[name] for name in names]
    return f"{' and '.join([', '.join(keys[:-1]), keys[-1]] if len(keys) > 1 else keys)} in {home}"


def contradiction(values: dict[str, int]) -> str:
    """What is wrong with the world size beside the other fields ("64 is not ..."), or nothing."""
    world = values.get("world_size")
    nodes, gpus = values.get("num_nodes"), values.get("gpus_per_node")
    if world is None:
        return ""
    if nodes and gpus:
        return "" if world == nodes * gpus else f"{world:,} is not num-nodes {nodes:,} x gpus-per-node {gpus:,} = {nodes * gpus:,}"
    for name, value in (("num-nodes", nodes), ("gpus-per-node", gpus)):
        if value and world % value:
            return f"{world:,} is not a multiple of {name} {value:,}"
    return ""


def _agreeing(stated: dict[str, int], earlier: dict[str, int]) -> dict[str, int]:
    """`stated` with as much of `earlier` as does not contradict it; GPUs per node, being a fact of a cluster, go last."""
    kept = {**earlier, **stated}
    for name in ("world_size", "num_nodes", "gpus_per_node"):
        if not contradiction(kept):
            break
        if name not in stated:
            kept.pop(name, None)
    return kept
