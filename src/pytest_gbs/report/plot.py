"""The global batch size of each recipe against its GPUs, as a drawing: both on scales of powers of two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log2, sqrt
from statistics import median_low
from typing import Final

from pytest_gbs.formats._arithmetic import number
from pytest_gbs.model.location import grouped
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Verdict
from pytest_gbs.report.lines import Line
from pytest_gbs.report.markup import Markup, element, joined

_WIDTH: Final = 760
_HEIGHT: Final = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 20, 48
_NAMED_AT_A_DOT: Final = 6
_FAR: Final = 8  # times the usual batch
_LABELLED: Final = 8
_WORST: Final = (Verdict.VIOLATED, Verdict.WARNED, Verdict.UNDETERMINED, Verdict.VERIFIED, Verdict.UNCLAIMED)


class _Scale(NamedTuple):
    """Powers of two from `low` to `high`, from pixel `start` to pixel `stop`."""

    low: int
    high: int
    start: float
    stop: float

    def at(self, value: float) -> float:
        """The pixel of `value`."""
        return self.start + (log2(value) - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[int]:
        """The powers of two to be written: at most about ten."""
        step = ceil((self.high - self.low + 1) / 10)
        return [2**exponent for exponent in range(self.low, self.high + 1, step)]


def plot(lines: Sequence[Line]) -> Markup:
    """The drawing with a sentence on what it leaves out; nothing if no recipe has both numbers."""
    points = grouped(((line.world_size, line.batch), line) for line in lines if line.world_size and line.batch)
    if not points:
        return Markup("")
    across = _scale((gpus for gpus, _ in points), _LEFT, _WIDTH - _RIGHT)
    up = _scale((batch for _, batch in points), _HEIGHT - _BOTTOM, _TOP)
    usual = median_low(batch for (_, batch), there in points.items() for _ in there)
    far = {point for point in points if not usual / _FAR < point[1] < usual * _FAR}
    drawn = sum(map(len, points.values()))
    svg = element(
        "svg",
        element("title", "Global batch size against GPUs"),
        *_axes(across, up),
        _usual(usual, up),
        *(_point(point, there, across, up) for point, there in sorted(points.items())),
        *(_label(point, points[point], across, up) for point in (sorted(far) if len(far) <= _LABELLED else ())),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"Global batch size against GPUs: {number(drawn)} recipes and launches; the table has the numbers",
    )
    return element("figure", svg, element("figcaption", _caption(len(lines) - drawn, len(far))))


def _caption(left_out: int, far: int) -> str:
    said = ["Larger dots stand for several recipes or launches; point at one for their names."]
    if far:
        said.append(f"{number(far)} {'dot is' if far == 1 else 'dots are'} at least {_FAR} times above or below the median.")
    if left_out:
        said.append(f"Not drawn, since the batch or the GPUs are not known: {number(left_out)}.")
    return " ".join(said)


def _scale(values: Iterable[int], start: float, stop: float) -> _Scale:
    known = list(values)
    low, high = floor(log2(min(known))), ceil(log2(max(known)))
    return _Scale(low, max(high, low + 1), start, stop)


def _axes(across: _Scale, up: _Scale) -> list[Markup]:
    parts = []
    for tick in across.ticks():
        x = _pixel(across.at(tick))
        parts.append(_stroke(x, _TOP, x, _HEIGHT - _BOTTOM))
        parts.append(element("text", number(tick), x=x, y=_HEIGHT - _BOTTOM + 18, text_anchor="middle"))
    for tick in up.ticks():
        y = _pixel(up.at(tick))
        parts.append(_stroke(_LEFT, y, _WIDTH - _RIGHT, y))
        parts.append(element("text", number(tick), x=_LEFT - 8, y=y, dy="0.32em", text_anchor="end"))
    parts.append(element("text", "GPUs", x=(_LEFT + _WIDTH - _RIGHT) // 2, y=_HEIGHT - 8, text_anchor="middle", class_="axis"))
    middle = (_HEIGHT - _BOTTOM + _TOP) // 2
    words = "global batch size"
    parts.append(element("text", words, x=16, y=middle, transform=f"rotate(-90 16 {middle})", text_anchor="middle", class_="axis"))
    return parts


def _stroke(x1: object, y1: object, x2: object, y2: object, class_: str = "grid") -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def _usual(batch: int, up: _Scale) -> Markup:
    y = _pixel(up.at(batch))
    words = element("text", f"median {number(batch)}", x=_WIDTH - _RIGHT - 4, y=y, dy="-0.4em", text_anchor="end", class_="median")
    return joined((_stroke(_LEFT, y, _WIDTH - _RIGHT, y, "median"), words))


def _point(point: tuple[int, int], there: list[Line], across: _Scale, up: _Scale) -> Markup:
    x, y = _pixel(across.at(point[0])), _pixel(up.at(point[1]))
    verdict = min((line.verdict or Verdict.UNCLAIMED for line in there), key=_WORST.index)
    judged = f", {verdict}" if any(line.verdict for line in there) else ""
    names = [line.name for line in there[:_NAMED_AT_A_DOT]]
    names += [f"and {number(len(there) - _NAMED_AT_A_DOT)} more"] if len(there) > _NAMED_AT_A_DOT else []
    title = element("title", "\n".join((f"{number(point[1])} on {number(point[0])} GPUs{judged}", *names)))
    radius = _pixel(min(4 + 2 * sqrt(len(there) - 1), 14))
    if verdict == Verdict.VIOLATED:  # another shape, for those who do not see the colour
        size = _pixel(radius * 0.9)
        shape = element("rect", title, x=_pixel(x - size), y=_pixel(y - size), width=2 * size, height=2 * size, class_=verdict)
        return element("g", shape, transform=f"rotate(45 {x} {y})")
    return element("circle", title, cx=x, cy=y, r=radius, class_=verdict)


def _label(point: tuple[int, int], there: list[Line], across: _Scale, up: _Scale) -> Markup:
    x, y = _pixel(across.at(point[0])), _pixel(up.at(point[1]))
    name = there[0].file.path.rpartition("/")[2]
    words = (name if len(name) <= 32 else f"{name[:31]}…") + (f" and {len(there) - 1} more" if len(there) > 1 else "")
    is_left = x > (_LEFT + _WIDTH - _RIGHT) / 2
    return element("text", words, x=x + (-12 if is_left else 12), y=y, dy="0.32em", text_anchor="end" if is_left else "start", class_="far")


def _pixel(value: float) -> float:
    return round(value, 1)
