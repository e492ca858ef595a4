"""How often each rule fired."""

from __future__ import annotations

from collections import Counter

from pytest_gbs.formats._format import Format, Options
from pytest_gbs.formats._problems import problems, title
from pytest_gbs.formats._summary import headline
from pytest_gbs.model.report import Report


def render(report: Report, options: Options) -> str:
    """A line for each rule that fired, most often first, and the headline of the summary."""
    fired = Counter((title(finding, report), finding.severity) for finding in problems(report))
    lines = [
        f"{number:>6,}  {severity:<7}  {name}" for (name, severity), number in sorted(fired.items(), key=lambda item: (-item[1], item[0]))
    ]
    if options.verbosity >= 0:
        lines += [*([""] if lines else []), headline(report)]
    return "".join(f"{line}\n" for line in lines)


FORMAT = Format("statistics", "how often each rule fired", render)
