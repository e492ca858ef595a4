"""The batch of each recipe over the history, as a small line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import log2
from typing import Final

from pytest_gbs.formats._show_steps import batch_text
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report
from pytest_gbs.report.markup import Markup, element

_WIDTH: Final = 120
_HEIGHT: Final = 24
_EDGE: Final = 3
_STEPS_SHOWN: Final = 6


class State(NamedTuple):
    """The batch of a recipe at one commit: for people, and its number (on one GPU, if the GPUs are not known) or None."""

    text: str
    value: int | None


class Timeline(NamedTuple):
    """What recipes were at some commits, oldest first: the days of the commits, and the states by path and document; None: not there."""

    since: str
    days: tuple[str, ...]
    states: Mapping[tuple[str, int], tuple[State | None, ...]]

    def line(self, key: tuple[str, int]) -> Markup:
        """The drawing and the words for one recipe; words alone if nothing changed, nothing if it is not known."""
        states = self.states.get(key)
        if states is None:
            return Markup("")
        steps = [next(found) for _, found in groupby(zip(self.days, states, strict=True), key=lambda each: each[1])]
        words = " → ".join(state.text for _, state in steps if state is not None)
        if len(steps) == 1:
            return element("span", "same", class_="dim")
        steps_text = "; ".join(f"{day}: {state.text if state else 'not there'}" for day, state in steps[-_STEPS_SHOWN:])
        return Markup(_drawing([state.value if state else None for state in states], steps_text) + element("span", words, class_="steps"))


def timeline(since: str, days: Sequence[str], reports: Iterable[Report]) -> Timeline:
    """What the recipes of `reports`, one for each commit, were at the commits of `days`."""
    states: dict[tuple[str, int], list[State | None]] = {}
    for index, report in enumerate(reports):
        for file in report.files:
            if file.runs and file.runs[0].launch is None:
                of_one = states.setdefault((file.path, file.document), [None] * len(days))
                run = file.runs[0]
                value = run.geometry.value(Name.GLOBAL_BATCH_SIZE) or run.geometry.value(Name.MICRO_BATCH_SIZE)
                of_one[index] = State(batch_text(run), value)
    return Timeline(since, tuple(days), {key: tuple(of_one) for key, of_one in states.items()})


def _drawing(values: Sequence[int | None], steps_text: str) -> Markup:
    """A line that goes up and down in steps, broken where the recipe was not there."""
    known = [log2(value) for value in values if value]
    low, high = (min(known), max(known)) if known else (0, 0)
    path, pen = [], "M"
    for index, value in enumerate(values):
        if not value:
            pen = "M"
            continue
        left, right = (_EDGE + (index + more) / len(values) * (_WIDTH - 2 * _EDGE) for more in (0, 1))
        y = _HEIGHT / 2 if low == high else _HEIGHT - _EDGE - (log2(value) - low) / (high - low) * (_HEIGHT - 2 * _EDGE)
        path.append(f"{pen}{left:.1f} {y:.1f}H{right:.1f}")
        pen = "L"
    title = element("title", steps_text)
    line = element("path", title, d="".join(path))
    return element(
        "svg", line, class_="line", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", width=_WIDTH, height=_HEIGHT, role="img", aria_label=steps_text
    )
