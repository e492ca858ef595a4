"""Where a number comes from, in a few words, and how one that is not known can be made known."""

from __future__ import annotations

from typing import Final

from pytest_gbs.arithmetic.wording import called, listing
from pytest_gbs.formats._arithmetic import number
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._places import Places
from pytest_gbs.model.quantity import Conflict, Name, Noted, Origin, Quantity, Reason, Size, Unknown

_REASONS: Final = {
    Reason.MISSING: "not stated",
    Reason.AUTO: "filled in when training starts",
    Reason.INTERPOLATED: "a variable that something else fills in",
    Reason.NOT_AN_INTEGER: "not a whole number",
    Reason.NOT_APPLIED: "an override that Hydra refuses, or that gbs does not read",
    Reason.OVERRIDDEN: "overridden",
    Reason.PLACEHOLDER: "a placeholder that something else fills in",
    Reason.FROM_CHECKPOINT: "may come from a checkpoint",
    Reason.SCHEDULE: "changes during training",
    Reason.ELASTIC: "changes with the number of GPUs",
    Reason.RESERVED: "some GPUs may generate instead of train",
    Reason.VERSION: "depends on the version",
    Reason.COMPUTED: "computed when the program runs",
    Reason.NOT_WHOLE: "the division leaves a remainder",
}
_MOST_STAGES: Final = 6
# How to state what nothing states.
_HOW_TO_STATE: Final = {
    Name.WORLD_SIZE: "--world-size N, or num-nodes and gpus-per-node in [tool.gbs]",
    Name.NUM_NODES: "--nodes N, or num-nodes in [tool.gbs]",
    Name.GPUS_PER_NODE: "--gpus-per-node N, or gpus-per-node in [tool.gbs]",
}


def origin(size: Quantity, places: Places, here: str) -> str:
    """Where `size` comes from, as seen from file `here`: `max_length, line 214`."""
    place = places.line(size.at, here) if size.at else ""
    if size.origin in (Origin.FILE, Origin.LAUNCH):
        fed = size.note.words if size.note.kind == Noted.FED else ""
        return ", ".join(filter(None, (escape(size.key), place, fed))) + changes(size.stages)
    if size.origin == Origin.DEFAULT:
        if size.because:
            return f"as {escape(size.because[0].key or called(size.because[0].name))} by default"
        return f"default of {escape(size.key)}" if size.key else "unless something else is stated"
    if size.origin in (Origin.COMMENT, Origin.LAUNCHER):
        return place or escape(size.note.words or size.key)
    if size.origin == Origin.NAME:
        return "a name"
    return escape(size.note.words if size.origin == Origin.SETTINGS and size.note.words else size.key)


def changes(stages: tuple[int | None, ...]) -> str:
    """The stages of a size that changes during training: `: first 16, 32, then 64`; nothing if it does not."""
    if not stages:
        return ""
    shown = ["-" if value is None else number(value) for value in stages]
    between = shown[:-1] if len(shown) <= _MOST_STAGES else [*shown[: _MOST_STAGES - 1], "..."]
    return f": first {', '.join(between)}, then {shown[-1]}"


def unknown(size: Size, name: str, places: Places, here: str) -> str:
    """Why `size` has no number, and how to give it one."""
    if isinstance(size, Conflict):
        return "stated as " + listing((f"{number(q.value)} ({origin(q, places, here) or 'computed'})" for q in size.values), last="and as")
    if isinstance(size, Unknown) and size.reason != Reason.MISSING:
        place = places.line(size.at, here) if size.at else ""
        return " ".join(filter(None, (_REASONS.get(size.reason, size.reason), f"({place})" if place else "")))
    return f"unknown: {_HOW_TO_STATE[name]}" if name in _HOW_TO_STATE else "not stated"
