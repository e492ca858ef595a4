"""The recipe lines of a Makefile: variables of make filled in, each line a shell of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.command import OtherFiles, Part, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.owners import ABOVE
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import LONGEST_VALUE, TOO_LONG, Exhausted
from pytest_gbs.shell.quotes import closing
from pytest_gbs.shell.state import ShellState, Variable, lowered, unknown
from pytest_gbs.shell.text import Parts, ShellText, parse, whole

_DEEPEST: Final = 10
_CONDITIONS: Final = ("ifeq", "ifneq", "ifdef", "ifndef", "else")


class _LogicalLine(NamedTuple):
    """A logical line: backslashes at the end of a line join it with the next."""

    start: int
    stop: int


class _Makefile:
    """The state of reading a Makefile: its variables as written, and which are exported."""

    def __init__(self, source: Source, interpreter: Interpreter) -> None:
        self.source, self.interpreter = source, interpreter
        self.variables: dict[str, Parts] = {}
        self.exported: set[str] = set()
        self.all_exported = False
        self.filling = set[str]()
        self.conditions = 0
        self.defining = False
        self.target = ""
        self.named: dict[str, Parts] = {}  # `$@` and `$<` of the rule at hand
        self.recipes: list[tuple[str, int, int, dict[str, Parts]]] = []
        self.one_shell = False


def read_makefile(source: Source, others: OtherFiles | None) -> Script:
    """What the recipes of a Makefile run, whichever target is made."""
    interpreter = Interpreter(source, others)
    makefile = _Makefile(source, interpreter)
    try:
        for line in _logical(source.text):
            _read_line(makefile, line)
        for target, text in _recipes(makefile):
            interpreter.context = target
            if not interpreter.read_text(text, parse(text, interpreter.budget), state=_state(makefile)):
                break
    except Exhausted as exhausted:
        interpreter.stopped = interpreter.stopped or exhausted.stop(interpreter.at_start)
    return interpreter.script(source.path, _comments(source))


def _logical(text: str) -> Iterator[_LogicalLine]:
    start = place = 0
    while place < len(text):
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop
        if text[place:stop].rstrip("\r").endswith("\\") and stop < len(text):
            place = stop + 1
            continue
        yield _LogicalLine(start, stop)
        start = place = stop + 1
    if start < len(text):
        yield _LogicalLine(start, len(text))


_assignment = lazy_pattern(r"\s*(?:(export|override)\s+)?([A-Za-z_][\w.-]*)\s*(:::=|::=|:=|\?=|\+=|!=|=)[ \t]*")


def _read_line(makefile: _Makefile, line: _LogicalLine) -> None:
    text = makefile.source.text[line.start : line.stop]
    word = text.split(None, 1)[0] if text.strip() else ""
    if makefile.defining or word == "define":
        makefile.defining = word != "endef"
    elif text.startswith("\t") and makefile.target:
        makefile.recipes.append((makefile.target, line.start + 1, line.stop, makefile.named))
    elif not word or word.startswith("#"):
        return
    elif word in _CONDITIONS:
        makefile.conditions += word != "else"
    elif word == "endif":
        makefile.conditions -= makefile.conditions > 0
    elif match := _assignment().match(text):
        _assign(makefile, match, line)
    elif word == "export":
        makefile.all_exported = text.strip() == "export"
        makefile.exported.update(text.split()[1:])
    elif ":" in text:
        _read_rule(makefile, line, text)


def _read_rule(makefile: _Makefile, line: _LogicalLine, text: str) -> None:
    """Note the target of a rule; its own assignments make a variable unknown."""
    targets, _, rest = text.partition(":")
    makefile.target = targets.strip()
    makefile.one_shell = makefile.one_shell or makefile.target == ".ONESHELL"
    own = _assignment().match(rest.lstrip(":"))
    if own:
        at = Location(makefile.source.path, line.start, line.stop)
        makefile.variables[own.group(2)] = (unknown(own.group(2), at),)
        return
    makefile.named = {name: parts for name, parts in _automatic(makefile.source, line, text) if parts}
    if ";" in rest:
        start = line.start + text.index(";") + 1
        makefile.recipes.append((makefile.target, start, line.stop, makefile.named))


def _automatic(source: Source, line: _LogicalLine, text: str) -> Iterator[tuple[str, Parts]]:
    """Yield `$@`, the only target of a rule, and `$<`, its first prerequisite; a pattern is any of several, and nothing is known of it."""
    rule = _rule().match(text)
    if rule is not None and "%" not in rule.group():
        for name in ("@", "<"):
            first, last = rule.span(1 if name == "@" else 2)
            yield name, (whole(source.path, source.text, line.start + first, line.start + last),) if last > first else ()


_rule = lazy_pattern(r"[ ]*([^\s:#=$;|\\]+)[ \t]*::?(?:[ \t]+([^\s:#=$;|()\\]+))?(?=[\s;]|$)")


def _assign(makefile: _Makefile, match: re.Match[str], line: _LogicalLine) -> None:
    makefile.interpreter.budget.step()
    name, sign = match.group(2), match.group(3)
    text = makefile.source.text
    start, stop = line.start + match.end(), line.stop
    comment = re.search(r"(?<!\\)#", text[start:stop])
    stop = start + comment.start() if comment else stop
    stop = start + len(text[start:stop].rstrip())
    if match.group(1) == "export":
        makefile.exported.add(name)
    at = Location(makefile.source.path, start, stop)
    parts: Parts = (whole(makefile.source.path, text, start, stop),) if stop > start else ()
    known = makefile.variables.get(name)
    if sign == "!=" or (makefile.conditions and sign != "?=" and known != parts):
        parts = (unknown(name, at),)
    elif sign == "?=":
        parts = known if known is not None else lowered(parts, at, name)
    elif sign == "+=" and known:
        parts = (*known, Part(" ", at, at), *parts)
    elif sign in (":=", "::=", ":::="):
        parts = _fill(makefile, parts, 0, keep=True)
    makefile.variables[name] = _bounded(makefile, parts, at)


def _bounded(makefile: _Makefile, parts: Parts, at: Location) -> Parts:
    length = sum(len(part.text or "") for part in parts)
    makefile.interpreter.budget.write(len(parts), length)
    return (unknown(TOO_LONG, at),) if length + len(parts) > LONGEST_VALUE else parts


_reference = lazy_pattern(r"\$(?:\$|\(([^()\n]*)\)|\{([^{}\n]*)\}|(\())|\$(.)?", re.DOTALL)


def _fill(makefile: _Makefile, parts: Parts, depth: int, keep: bool = False) -> Parts:
    """`parts` with references to variables of make filled in; `keep` leaves `$$` for later."""
    makefile.interpreter.budget.step()
    found: list[Part] = []
    for part in parts:
        if part.text is None or "$" not in part.text:
            found.append(part)
            continue
        place = 0
        while place < len(part.text):
            match = _reference().search(part.text, place)
            if match is None:
                break
            stop = closing(part.text, match.end() - 1, len(part.text)) if match.group(3) else match.end()
            found.append(part.cut(place, match.start()))
            found += _referred(makefile, part, match, stop, depth, keep=keep)
            place = stop
        found.append(part.cut(place, len(part.text)))
    kept = tuple(part for part in found if part.text != "")
    return _bounded(makefile, kept, parts[0].use if parts else Location(makefile.source.path))


def _referred(makefile: _Makefile, part: Part, match: re.Match[str], stop: int, depth: int, *, keep: bool) -> Parts:
    """What one reference expands to."""
    makefile.interpreter.budget.step()
    text = part.text or ""
    if text[match.start() : stop] == "$$":
        return (part.cut(match.start(), stop),) if keep else (part.cut(match.start() + 1, stop),)
    name = (match.group(1) or match.group(2) or match.group(4) or "").strip()
    use = part.cut(match.start(), stop).use
    variable = makefile.variables.get(name)
    if name in makefile.filling:
        return (unknown(name, use),)  # make refuses a variable of itself
    if variable is None or depth >= _DEEPEST:
        simple = name.replace("_", "a").isalnum()
        return (unknown(name if simple else text[match.start() : stop][:40], use, default=simple and depth < _DEEPEST),)
    makefile.filling.add(name)
    filled = _fill(makefile, variable, depth + 1, keep=keep)
    makefile.filling.discard(name)
    return tuple(entry._replace(use=use) for entry in filled) if len(filled) == 1 else filled


def _recipes(makefile: _Makefile) -> Iterator[tuple[str, ShellText]]:
    """Yield the recipe lines as texts for a shell, each with its target."""
    text = makefile.source.text
    grouped: list[tuple[str, list[Part]]] = []
    for target, first, stop, named in makefile.recipes:
        for name in "@<":
            makefile.variables.pop(name, None)
        makefile.variables |= named
        start = first + len(text[first:stop]) - len(text[first:stop].lstrip("@-+ \t"))
        parts = _without_tabs(makefile.source.path, text, start, stop)
        filled = list(_fill(makefile, parts, 0))
        end = Part("\n", Location(makefile.source.path, stop, stop), Location(makefile.source.path, stop, stop))
        if makefile.one_shell and grouped and grouped[-1][0] == target:
            grouped[-1][1].extend([*filled, end])
        else:
            grouped.append((target, [*filled, end]))
    for target, listed in grouped:
        yield target, ShellText(tuple(listed))


def _without_tabs(path: str, text: str, start: int, stop: int) -> Parts:
    """A recipe line without the tab that starts each of its physical lines."""
    found: list[Part] = []
    for line in re.split(r"(?<=\n)", text[start:stop]):
        skip = 1 if line.startswith("\t") else 0
        if len(line) > skip:
            found.append(whole(path, text, start + skip, start + len(line)))
        start += len(line)
    return tuple(found)


def _state(makefile: _Makefile) -> ShellState:
    """The state in which a recipe's shell starts."""
    state = ShellState(makefile.interpreter.budget)
    state.arguments = ()
    for name in makefile.variables if makefile.all_exported else makefile.exported:
        if name in makefile.variables:
            state.variables[name] = Variable(_fill(makefile, makefile.variables[name], 0), exported=True)
    return state


def _comments(source: Source) -> Iterator[CommentBlock]:
    """Yield the comments on lines of their own."""
    for match in re.finditer(r"^#+[ \t]*(.*)$", source.text, re.MULTILINE):
        if match.group(1).strip():
            yield CommentBlock(match.group(1), ((0, match.start(1)),), None, ABOVE)
