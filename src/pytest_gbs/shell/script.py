"""A whole script: its directives, its commands, its comments."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Assignment, Command, Directive, Invocation, OtherFiles, Part, Script
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import slurm
from pytest_gbs.shell.comments import read_comments
from pytest_gbs.shell.interpreter import Interpreter
from pytest_gbs.shell.limits import MOST_PIECES, Exhausted, ShellBudget
from pytest_gbs.shell.state import ShellState, Variable, unknown
from pytest_gbs.shell.text import Parts, ShellText, parse, whole

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_PARSED: Final = 8
_SHORT: Final = 5_000  # characters of a script of which many are kept
_MOST_SHORT: Final = 128


class _Parsed(NamedTuple):
    """A script, its syntax tree, its directives and its comments."""

    text: ShellText
    root: Node
    directives: tuple[Directive, ...]
    comments: tuple[CommentBlock, ...]


def read_script(source: Source, others: OtherFiles | None, started: Invocation | None = None) -> Script:
    """What a script runs."""
    interpreter = Interpreter(source, others)
    try:
        text, root, interpreter.directives, comments = _parsed(source)
    except Exhausted as exhausted:
        return Script(source.path, (), stopped=exhausted.stop(interpreter.at_start))
    interpreter.directives += started.directives if started is not None else ()
    tasks = slurm.array_tasks(interpreter.directives) if slurm.ARRAY_TASK in source.text else ()
    for task in tasks or (None,):
        state = _starting(interpreter, started)
        if task is not None:
            state.variables[slurm.ARRAY_TASK] = Variable((task,), exported=True)
        if not interpreter.read_text(text, root, interpreter.directives, state, started.wrappers if started is not None else ()):
            break
    if len(tasks) > 1:
        interpreter.commands = list({_sign(command): command for command in interpreter.commands}.values())
    return interpreter.script(source.path, comments)._replace(unread=interpreter.behind)


def _starting(interpreter: Interpreter, started: Invocation | None) -> ShellState:
    """The state in which a script starts: the arguments and the variables that it is given."""
    state = ShellState(interpreter.budget)
    if started is not None:
        state.arguments = tuple(word.parts for word in started.arguments)
        for name, value in started.environment:
            state.variables[name] = Variable(value.parts, exported=True)
    return state


def _sign(command: Command) -> tuple[object, ...]:
    """What a command has that may be another in another task of a job array, but for the number of the task itself."""
    words = (tuple((part.text, part.name) for part in word.parts) for word in command.words)
    variables = (
        (each.name, tuple((part.text, part.name) for part in each.value.parts))
        for each in command.environment
        if each.name != slurm.ARRAY_TASK
    )
    return command.at, tuple(words), tuple(variables), command.conditional


def read_environment(source: Source, others: OtherFiles) -> tuple[Assignment, ...]:
    """The variables that are exported when a script has been sourced; none if it is not read to its end."""
    interpreter = Interpreter(source, others)
    try:
        text, root, _, _ = _parsed(source)
    except Exhausted:
        return ()
    if not interpreter.read_text(text, root):
        return ()
    return interpreter.environment()


def _parsed(source: Source) -> _Parsed:
    """What is the same however a script is started; others start it often, each time with other arguments."""
    return (_parsed_short if len(source.text) <= _SHORT else _parsed_long)(source)


def _parse(source: Source) -> _Parsed:
    text = ShellText(masked(source.path, source.text, 0, len(source.text)))
    root = parse(text, ShellBudget())
    return _Parsed(text, root, slurm.read_directives(text, root), read_comments(text, root))


_parsed_long: Final = lru_cache(maxsize=_MOST_PARSED)(_parse)
_parsed_short: Final = lru_cache(maxsize=_MOST_SHORT)(_parse)


def masked(path: str, text: str, start: int, stop: int, placeholders: bool = False) -> Parts:
    """The text of a file between two offsets, holes where a template will be filled in.

    With `placeholders` also for those that documents alone have: `{steps}`, `--nproc_per_node=<N>`.

    Raises: Exhausted: there are too many.
    """
    found: list[Part] = []
    place = start
    for match in (_placeholder() if placeholders else _template()).finditer(text, start, stop):
        at = Location(path, match.start(), match.end())
        if match.start() > place:
            found.append(whole(path, text, place, match.start()))
        if not match.group().startswith(("{%", "{#")):
            found.append(unknown(match.group(), at))
        place = match.end()
        if len(found) > MOST_PIECES:
            raise Exhausted(f"more than {MOST_PIECES:,} placeholders")
    if place < stop:
        found.append(whole(path, text, place, stop))
    return tuple(found)


# What engines fill in (`{{ x }}`), and what people do: `{batch size; 4, say}` and `<your path>`, which no shell command but awk has.
_FILLED_IN: Final = r"(?<!\$)\{\{[^{}\n]{0,200}\}\}|\{%[^%\n]{0,200}%\}"
_IN_WORDS: Final = r"(?<![$\\{\w])\{(?!print )[A-Za-z][\w-]{0,40}(?:(?: [\w-]{1,40}){1,9}(?:;[^{}\n]{0,80})?|;[^{}\n]{1,80})\}"
# tree-sitter-bash 0.25 reads none of a script behind `${NAME/'/'/_}`: it takes the quote for that of a string, which does not end.
_QUOTED: Final = r"\$\{\w{1,60}//?'[^'\n]{0,60}'/[^{}\n]{0,60}\}"
_template = lazy_pattern(rf"{_FILLED_IN}|{_IN_WORDS}|{_QUOTED}|(?<=[\s=\"'])<[A-Za-z](?:[\w ./:|-]{{0,60}}[\w./:|-])?>(?=[\s\"'])")
_placeholder = lazy_pattern(
    rf"{_FILLED_IN}|{_IN_WORDS}|(?<![<&])<[A-Za-z][\w ./:|,\"-]{{0,60}}>(?!>)|(?<![$\\{{])\{{[A-Za-z_]\w{{0,40}}\}}(?!\}})"
)
