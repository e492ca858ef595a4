"""For people: each finding with the lines it is about, the arithmetic, and what would make it true; then a summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._paint import DIM, STRONG, Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import commands, notes, title
from pytest_gbs.formats._summary import headline, remarks, word_of
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.record import Final
from pytest_gbs.model.report import Report, Role

_ROOM: Final = 106
_LEAST: Final = 40


def render(report: Report, options: FormatOptions) -> str:
    """All findings and the summary."""
    places, paint = Places(report, options), Paint(options.color, options.ascii, options.links)
    blocks = [_block(finding, places, paint) for finding in report.findings()]
    if options.verbosity > 0:
        blocks.append("\n".join(_listing(report, places, paint)))
    if options.verbosity >= 0:
        below = (line for remark in remarks(report, places) for line in _on_terminal(remark, options.columns))
        blocks.append("\n".join([*_headline(report, paint, options.columns), *below]))
    blocks = [*filter(None, blocks)]
    if blocks:
        blocks[-1] += "\n"  # not behind all of them: that would be one more copy of the whole, which may be of megabytes
    return "\n\n".join(blocks)


def _headline(report: Report, paint: Paint, columns: int) -> list[str]:
    """The headline, without colours in several lines if the terminal is narrow."""
    if columns:
        from pytest_gbs.formats._width import wrapped

        lines = list(wrapped(headline(report), columns, "  "))
        if lines[1:]:
            return lines
    return [headline(report, paint)]


def render_finding(finding: Finding, report: Report, options: FormatOptions | None = None) -> str:
    """One finding as `gbs check` prints it, without a line break at the end."""
    options = options or FormatOptions()
    return _block(finding, Places(report, options), Paint(options.color, options.ascii))


def show(report: Report, options: FormatOptions) -> str:
    """The batch geometry: a block for one recipe, a table for many."""
    from pytest_gbs.formats._show_text import show_text

    return show_text(report, options)


def _block(finding: Finding, places: Places, paint: Paint) -> str:
    """The lines of one finding."""
    from pytest_gbs.formats._excerpt import excerpt
    from pytest_gbs.formats._width import wrapped
    from pytest_gbs.model.documentation import page_of

    severity = paint(finding.severity, finding.severity)
    name = paint.link(paint(title(finding, places.report), STRONG), page_of(finding.code))
    lines = [f"{paint(places.where(finding.at), STRONG)}  {severity} {name}"]
    columns = places.options.columns
    lines.extend(f"  {line}" for line in wrapped(escape(finding.message), _room(columns)))
    whole = set(commands(finding, places))  # what is copied is not broken
    said = [line for note in notes(finding, places) for line in _on_terminal(note, 0 if note in whole else columns)]
    for part in (list(excerpt(finding, places, paint)), said):
        if part:
            lines.extend(("", *part))
    return "\n".join(lines)


def _room(columns: int) -> int:
    """What a line may take behind its indentation: about a hundred columns, or as many as the terminal has."""
    return min(_ROOM, max(_LEAST, columns - 2)) if columns else _ROOM


def _on_terminal(line: str, columns: int) -> Iterator[str]:
    """Yield an indented line, in several if the terminal is narrow."""
    if not columns:
        yield f"  {line}"
        return
    from pytest_gbs.formats._width import wrapped

    yield from (f"  {part}" for part in wrapped(line, max(_LEAST, columns - 2), "  "))


def _listing(report: Report, places: Places, paint: Paint) -> Iterator[str]:
    """Yield a line for each file: its verdict, or what it is if it is not a recipe."""
    for file in report.files:
        word = word_of(file, report) or file.role
        framework = paint(f"  {file.framework}" if file.framework else "", DIM)
        problem = f"  {escape(file.problem)}" if file.problem and file.role in (Role.UNREADABLE, Role.NEITHER) else ""
        yield f"{paint(f'{word:<12}', word)} {escape(places.path(file.path))}{file.which}{framework}{problem}"


FORMAT = Format("text", "for people: source excerpts, arithmetic, and a summary", render, show)
