"""How often each rule fired."""

from __future__ import annotations

from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._problems import how_often, title_of
from pytest_gbs.formats._summary import headline
from pytest_gbs.model.report import Report


def render(report: Report, options: FormatOptions) -> str:
    """A line for each rule that fired, most often first, and the headline of the summary."""
    lines = [f"{number:>6,}  {severity:<7}  {title_of(code, report)}" for (code, severity), number in how_often(report)]
    if options.verbosity >= 0:
        lines += [*([""] if lines else []), headline(report)]
    return "".join(f"{line}\n" for line in lines)


FORMAT = Format("statistics", "how often each rule fired", render)
