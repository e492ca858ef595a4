"""The page: a summary, a plot, a table to sort and filter, what each recipe comes to, and the findings."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from pytest_gbs.files.plugins import read_beside
from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity
from pytest_gbs.formats._show_recipe import lines as lines_of
from pytest_gbs.formats._show_recipe import title
from pytest_gbs.formats._show_text import aligned
from pytest_gbs.formats._summary import headline, remarks
from pytest_gbs.formats.text import render_finding
from pytest_gbs.model.report import VERDICTS, Report
from pytest_gbs.report.lines import Line, lines
from pytest_gbs.report.markup import Markup, element, joined, text
from pytest_gbs.report.plot import plot
from pytest_gbs.report.timeline import Timeline

_SIZES: Final = ("global batch", "GPUs", "micro", "accumulation", "data-parallel", "tokens per step")
_HEADS: Final = ("recipe", "verdict", *_SIZES, "claim", "framework")


def page(report: Report, options: FormatOptions, name: str, history: Timeline | None = None) -> str:
    """The whole page on the repository called `name`. The runs of the report must have been kept."""
    places = Places(report, options)
    found = list(lines(report, places))
    body = (
        element("header", element("h1", f"Batch sizes of {name}"), element("p", headline(report)), _remarks(report, places)),
        element("main", *_parts(report, found, places, history)),
        element("footer", element("p", "Written by gbs, which reads recipes and never runs them.")),
        element("script", _asset("page.js")),
    )
    return "".join(("<!doctype html>\n", element("html", _head(name), element("body", *body), lang="en"), "\n"))


def _parts(report: Report, found: Sequence[Line], places: Places, history: Timeline | None) -> Iterator[Markup]:
    problems = by_severity(report)
    if problems:
        yield element("nav", element("a", f"Findings ({len(problems)})", href="#findings"))
    drawing = plot(found)
    if drawing:
        yield element("section", element("h2", "Global batch size against GPUs"), drawing)
    if found:
        yield element("section", element("h2", "Recipes and launches"), _filters(found), _table(found, history))
        yield element("section", element("h2", "Number by number"), *_blocks(found, places))
    if problems:
        texts = (element("pre", render_finding(each, report, places.options), class_=each.severity) for each in problems)
        yield element("section", element("h2", "Findings", id="findings"), *texts)


def _head(name: str) -> Markup:
    style, script = _asset("page.css"), _asset("page.js")
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", f"Batch sizes of {name}"),
        element("style", style),
    )


def _asset(name: str) -> Markup:
    data = read_beside("pytest_gbs.report", name)
    assert data is not None, f"{name} lies beside this module"
    return Markup(data.decode("utf-8"))


def _digest(content: str) -> str:
    """What the page's own policy lets in: nothing that a stranger wrote can be a style or a script."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _remarks(report: Report, places: Places) -> Markup:
    said = [element("li", line) for line in remarks(report, places)]
    return element("ul", *said) if said else Markup("")


def _filters(found: Sequence[Line]) -> Markup:
    """What the script shows above the table: without it the table is whole."""
    verdicts = Counter(line.verdict for line in found if line.verdict)
    frameworks = Counter(line.run.framework.title for line in found)
    return element(
        "form",
        element("label", "Filter ", Markup('<input type="search" name="words" autocomplete="off">')),
        _select("verdict", [(each, verdicts[each]) for each in VERDICTS if verdicts[each]]),
        _select("framework", sorted(frameworks.items())),
        element("output", "", aria_live="polite"),
        hidden=True,
    )


def _select(name: str, options: list[tuple[str, int]]) -> Markup:
    listed = (element("option", f"{each} ({number})", value=each) for each, number in options)
    return element("label", f"{name.capitalize()} ", element("select", element("option", "all", value=""), *listed, name=name))


def _table(found: Sequence[Line], history: Timeline | None) -> Markup:
    heads = (*_HEADS, *((f"since {history.since}",) if history else ()))
    head = joined(element("th", each, scope="col", class_="number" if each in _SIZES else None) for each in heads)
    rows = (_row(index, line, history) for index, line in enumerate(found))
    table = element("table", element("thead", element("tr", head)), element("tbody", *rows))
    return element("div", table, class_="wide", tabindex="0", role="region", aria_label="Recipes and launches")


def _row(index: int, line: Line, history: Timeline | None) -> Markup:
    name = Markup(text(line.name).replace("/", "/<wbr>"))
    cells = [element("th", element("a", name, href=f"#r{index}"), scope="row", data_head="recipe")]
    verdict = element("span", line.verdict, class_=f"verdict {line.verdict}") if line.verdict else ""
    cells.append(element("td", verdict, data_head="verdict"))
    for head, shown, value in zip(_SIZES, line.shown, line.values, strict=True):
        cells.append(element("td", shown, class_="number", data_head=head, data_value=value))
    cells.append(element("td", line.claims, data_head="claim"))
    cells.append(element("td", line.run.framework.title, data_head="framework"))
    if history:
        is_recipe = line.run.launch is None
        said = history.line((line.file.path, line.file.document)) if is_recipe else Markup("")
        cells.append(element("td", said, data_head=f"since {history.since}"))
    return element("tr", *cells)


def _blocks(found: Sequence[Line], places: Places) -> Iterator[Markup]:
    """Yield what each recipe comes to, number by number, to be opened; a link to it opens it."""
    for index, line in enumerate(found):
        launched = line.file.runs[1:] if line.run.launch is None else ()
        block = "\n".join((title(line.run), *aligned(lines_of(line.run, launched, places))))
        yield element("details", element("summary", line.name), element("pre", block, id=f"r{index}"))
